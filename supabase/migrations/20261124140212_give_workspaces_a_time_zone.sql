-- A workspace has a time zone, whose days its daily sums are of.

alter table public.workspaces add column time_zone text not null default 'UTC';
comment on column public.workspaces.time_zone is 'The zone whose days, weeks and months the daily sums are of. Set with a new workspace; later changed by `time_zone_changes` alone.';
grant insert (time_zone) on public.workspaces to authenticated;

alter function private.check_budget_time_zone() rename to check_time_zone;
create trigger workspace_time_zones_exist before insert or update of time_zone
  on public.workspaces for each row when (new.time_zone <> 'UTC') execute function private.check_time_zone();

-- The clock of a time zone at an instant. A cost of a day without a time, such as a subscription from the first of a month, is
-- recorded at midnight UTC: it is a cost of that day in every zone. So an instant of exactly midnight UTC is midnight everywhere.
create function private.local_time(instant timestamptz, zone text)
returns timestamp
language sql immutable
return case
    when zone = 'UTC' or (instant at time zone 'UTC')::time = '00:00' then instant at time zone 'UTC'
    else instant at time zone zone
  end;
revoke execute on function private.local_time(timestamptz, text) from public;
grant execute on function private.local_time(timestamptz, text) to authenticated, outlay_key, outlay_service, service_role;

-- Whether an instant is on the days of a time zone from the first until before the second. The bounds are those of all zones, so
-- that Postgres can find the instants by an index.
create function private.is_on_days(instant timestamptz, zone text, first_day date, until_day date)
returns boolean
language sql immutable
return instant >= (first_day::timestamp - interval '14 hours') at time zone 'UTC'
    and instant < (until_day::timestamp + interval '12 hours') at time zone 'UTC'
    and private.local_time(instant, zone) >= first_day and private.local_time(instant, zone) < until_day;
revoke execute on function private.is_on_days(timestamptz, text, date, date) from public;
grant execute on function private.is_on_days(timestamptz, text, date, date) to authenticated, outlay_key, outlay_service, service_role;

-- The time zone of a workspace. The caller has checked who asks.
create function private.time_zone_of(workspace uuid)
returns text
language sql stable security definer set search_path = ''
as $$
  select coalesce((select w.time_zone from public.workspaces as w where w.id = workspace), 'UTC')
$$;
revoke execute on function private.time_zone_of(uuid) from public;
grant execute on function private.time_zone_of(uuid) to outlay_key, outlay_service, service_role;

-- A change of a workspace's time zone that is under way. The messages before `covered_until` are summed for the new zone: what the
-- sums will change by is kept as sums of the id `staging_id`, which is no workspace, so that no policy shows them. What is recorded
-- before that instant meanwhile is added to them, too. At last the difference is added to the sums of the workspace, in one transaction.
create table public.time_zone_changes (
  workspace_id uuid primary key references public.workspaces (id) on delete cascade,
  time_zone text not null,
  staging_id uuid not null unique default gen_random_uuid(),
  covered_until timestamptz not null default '-infinity',
  requested_by uuid default auth.uid() references public.profiles (id) on delete set null,
  requested_by_email text default auth.email(),
  requested_at timestamptz not null default now()
);

create index time_zone_changes_requested_by_idx on public.time_zone_changes (requested_by);

alter table public.time_zone_changes enable row level security;
revoke all on public.time_zone_changes from anon, authenticated, service_role;
grant select on public.time_zone_changes to authenticated, service_role;
grant insert (workspace_id, time_zone) on public.time_zone_changes to authenticated;

create policy "A member reads the change of their workspaces' zone"
  on public.time_zone_changes for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "An admin changes the time zone of their workspaces"
  on public.time_zone_changes for insert to authenticated
  with check (workspace_id in (select private.member_workspaces(array['owner', 'admin'])));

create trigger changed_time_zones_exist before insert on public.time_zone_changes
  for each row execute function private.check_time_zone();

-- A closed month is one of the zone in which it was closed. Whoever closes one holds the same lock.
create function private.demand_open_books()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || new.workspace_id, 0));
  if private.closed_until(new.workspace_id) is not null then
    raise exception 'a month is closed' using errcode = 'object_not_in_prerequisite_state';
  end if;
  return new;
end
$$;
revoke execute on function private.demand_open_books() from public;

create trigger time_zones_change_in_open_books before insert on public.time_zone_changes
  for each row execute function private.demand_open_books();

-- Who asked for which zone. That it is in use is logged with the change of the workspace.
create function private.audit_time_zone_request()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, after, address)
  values (
    new.workspace_id, auth.uid(), auth.email(), 'workspace.time_zone_requested', 'workspace ' || new.workspace_id,
    jsonb_build_object('time_zone', new.time_zone), nullif(current_setting('request.address', true), '')
  );
  return null;
end
$$;
revoke execute on function private.audit_time_zone_request() from public;

create trigger time_zone_requests_are_audited after insert on public.time_zone_changes
  for each row execute function private.audit_time_zone_request();

create function private.remove_staged_sums()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  delete from public.daily_spend where workspace_id = old.staging_id;
  delete from public.daily_totals where workspace_id = old.staging_id;
  return null;
end
$$;
revoke execute on function private.remove_staged_sums() from public;

create trigger staged_sums_go_with_their_change after delete on public.time_zone_changes
  for each row execute function private.remove_staged_sums();

-- Where a posting is summed: on the day of its workspace; and, while a change of zone is under way and has come past it, added to the
-- day of the new zone and taken from that of the present one (`side` -1) among the staged sums. Whoever uses it holds the workspace's
-- lock (`hold_budgets`), so that the change waits. Without a security context of its own, so that Postgres merges it into statements.
create function private.places_of(workspace uuid, occurred_at timestamptz)
returns table (workspace_id uuid, day date, side integer)
language sql stable
begin atomic
  select workspace, private.local_time(occurred_at, coalesce((select w.time_zone from public.workspaces as w where w.id = workspace), 'UTC'))::date, 1
  union all
  select c.staging_id, private.local_time(occurred_at, of.zone)::date, of.side
  from public.time_zone_changes as c
  join public.workspaces as w on w.id = c.workspace_id
  cross join lateral (values (c.time_zone, 1), (w.time_zone, -1)) as of (zone, side)
  where c.workspace_id = workspace and occurred_at < c.covered_until
    and private.local_time(occurred_at, c.time_zone)::date <> private.local_time(occurred_at, w.time_zone)::date;
end;
revoke execute on function private.places_of(uuid, timestamptz) from public;

-- Does one step of the oldest change of a time zone that no process is working on: sums the next messages for the new zone, so many
-- and all that occurred at the same instant; or, where all are summed, puts the new days in the place of the present ones. Recording
-- in the workspace waits while a step is done.
--
-- returns: how many postings or sums it changed, at least 1; null where there is nothing to do
create function private.change_time_zone_step(at_most integer)
returns integer
language plpgsql security definer set search_path = '' set "TimeZone" = 'UTC'
as $$
declare
  change public.time_zone_changes;
  workspace public.workspaces;
  covered timestamptz;
  changes public.daily_spend[];
  changed integer;
begin
  select c.* into change
  from public.time_zone_changes as c join public.workspaces as w on w.id = c.workspace_id
  where w.deleted_at is null
  order by c.requested_at, c.workspace_id
  limit 1
  for update of c skip locked;
  if change.workspace_id is null then
    return null;
  end if;
  -- Groups of calls hold this lock from the look-up of their keys until they are written (private.load_admission).
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || change.workspace_id, 0));
  select * into workspace from public.workspaces where id = change.workspace_id;

  if change.covered_until = 'infinity' then
    return private.switch_time_zone(change, workspace);
  end if;

  -- All lines of a batch occurred at one instant, and the index has the first of them.
  select case when count(*) < at_most then 'infinity' else max(next.occurred_at) + interval '1 microsecond' end into covered
  from (
    select m.occurred_at from public.messages as m
    where m.workspace_id = change.workspace_id and (m.part = 0 or m.type <> 'batch') and m.occurred_at >= change.covered_until
    order by m.occurred_at
    limit at_most
  ) as next;
  with listed as (
    select m.* from public.messages as m
    where m.workspace_id = change.workspace_id and (m.part = 0 or m.type <> 'batch')
      and m.occurred_at >= change.covered_until and m.occurred_at < covered
  ), postings as (
    select * from listed
    union all
    select line.*
    from listed
    join public.messages as line
      on line.workspace_id = change.workspace_id and line.id = listed.id and line.occurred_at = listed.occurred_at and line.part > 0
        -- From this, which is known beforehand, partitions are chosen.
        and line.occurred_at >= change.covered_until and line.occurred_at < covered
    where listed.type = 'batch' and listed.part = 0
  ), sums as (
    select private.local_time(p.occurred_at, of.zone)::date as day, p.project_id, p.api_key_id, p.type, p.provider, p.model,
      p.feature, p.source, p.environment, p.end_user, p.tags, sum(of.side * p.amount_usd) as amount_usd,
      coalesce(sum(of.side * private.sign_of(p.voids)) filter (where p.part = 0), 0) as message_count,
      sum(of.side * private.sign_of(p.voids)) as item_count,
      coalesce(sum(of.side * private.sign_of(p.voids)) filter (where p.cost_status = 'unpriced'), 0) as unpriced_count,
      coalesce(sum(of.side * p.list_price_usd), 0) as included_usd
    from postings as p
    cross join lateral (values (change.time_zone, 1), (workspace.time_zone, -1)) as of (zone, side)
    where private.local_time(p.occurred_at, change.time_zone)::date <> private.local_time(p.occurred_at, workspace.time_zone)::date
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  )
  select array_agg(row(
    change.staging_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )::public.daily_spend), (select count(*) from postings)
  into changes, changed
  from sums;
  perform private.add_daily_spend(coalesce(changes, '{}'));
  update public.time_zone_changes set covered_until = covered where workspace_id = change.workspace_id;
  return greatest(changed, 1);
end
$$;
revoke execute on function private.change_time_zone_step(integer) from public;
grant execute on function private.change_time_zone_step(integer) to outlay_service, service_role;

-- Puts the days of the new zone in the place of the present ones: adds what was staged. Sums of messages that were removed stay with
-- the day they had. Folded sums are made again by the job.
create function private.switch_time_zone(change public.time_zone_changes, workspace public.workspaces)
returns integer
language plpgsql security definer set search_path = ''
as $$
declare
  changed integer;
begin
  perform private.unfold_days(workspace.id);

  insert into public.daily_spend as daily (
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )
  select
    workspace.id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  from public.daily_spend
  where workspace_id = change.staging_id
  order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16
  on conflict (
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    (case when end_user is not null or tags is not null then private.attribution_of(end_user, tags) end)
  ) do update
    set amount_usd = daily.amount_usd + excluded.amount_usd,
        message_count = daily.message_count + excluded.message_count,
        item_count = daily.item_count + excluded.item_count,
        unpriced_count = daily.unpriced_count + excluded.unpriced_count,
        included_usd = daily.included_usd + excluded.included_usd;
  get diagnostics changed = row_count;

  insert into public.daily_totals as total (
    workspace_id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count, included_usd
  )
  select workspace.id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count, included_usd
  from public.daily_totals
  where workspace_id = change.staging_id
  order by 1, 2, 3, 4, 5, 6
  on conflict on constraint daily_totals_key do update
    set amount_usd = total.amount_usd + excluded.amount_usd,
        message_count = total.message_count + excluded.message_count,
        unpriced_count = total.unpriced_count + excluded.unpriced_count,
        included_usd = total.included_usd + excluded.included_usd;

  -- Sums of a person may stand for messages and their voids, by which an erasure finds these: they stay.
  delete from public.daily_spend
  where workspace_id = workspace.id and end_user is null
    and amount_usd = 0 and message_count = 0 and item_count = 0 and unpriced_count = 0 and included_usd = 0;
  delete from public.daily_totals
  where workspace_id = workspace.id and environment in ('live', 'test')
    and dimension in ('project', 'key', 'provider', 'model', 'feature', 'tag')
    and amount_usd = 0 and message_count = 0 and unpriced_count = 0 and included_usd = 0;

  update public.workspaces set time_zone = change.time_zone where id = workspace.id;
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, before, after)
  select workspace.id, change.requested_by, change.requested_by_email, 'workspace.changed', 'workspace ' || workspace.id,
    to_jsonb(workspace), to_jsonb(w)
  from public.workspaces as w where w.id = workspace.id;
  delete from public.time_zone_changes where workspace_id = workspace.id;
  return greatest(changed, 1);
end
$$;
revoke execute on function private.switch_time_zone(public.time_zone_changes, public.workspaces) from public;

comment on column public.workspaces.closed_until is 'The first day of its time zone that is open: the months before it are closed. Null where none is.';

alter table private.removed_messages add column month_of_days date;
update private.removed_messages set month_of_days = month;
alter table private.removed_messages
  alter column month_of_days set not null,
  drop constraint removed_messages_pkey,
  add primary key (month_of_days, workspace_id, environment, month);

-- The totals of the present month of the workspace's time zone, of each project that a key may see, by type, for each of several keys. The function runs with the
-- rights of its caller: it sets the claims of each key before it reads for it, so row-level security admits what that key
-- may see. Folded days are read from the totals of the month. Postgres caches its plans per connection.
--
-- callers: an array of the claims of keys, each as JSON text (see `private.key_claims()`).
-- returns: a row for each caller, by its place in the array, from 1. `totals` has an array for each project and type that
--   cost something in the month: slug, name, type, USD as exact text, messages, unpriced messages,
--   and USD of included usage as exact text.
create or replace function private.month_totals(callers json)
returns table (place integer, totals json)
language plpgsql set search_path = '' set enable_sort = off
as $$
#variable_conflict use_column
declare
  month_start date;
  month_end date;
  caller text;
  caller_place integer := 0;
  workspace uuid;
  in_environment text;
begin
  for caller in select value from json_array_elements_text(callers) loop
    caller_place := caller_place + 1;
    perform set_config('request.api_key', caller, true);
    workspace := private.key_workspace();
    in_environment := private.key_environment();
    month_start := date_trunc('month', now() at time zone private.time_zone_of(workspace));
    month_end := month_start + interval '1 month';
    -- The totals have no rows by project and person together.
    if private.key_users() is null then
      return query
        select caller_place, coalesce(
          json_agg(json_build_array(
            projects.slug, projects.name, spend.type, spend.total::text, spend.messages, spend.unpriced, spend.included::text
          )),
          '[]'
        )
        -- Summed before the names are joined, which are far fewer than the rows.
        from (
          select value::uuid as project_id, type, sum(amount_usd) as total, sum(message_count) as messages,
            sum(unpriced_count) as unpriced, sum(included_usd) as included
          from (
            select value, type, amount_usd, message_count, unpriced_count, included_usd
            from public.monthly_totals as folded
            where workspace_id = workspace and environment = in_environment and dimension = 'project'
              and folded.first_day = month_start
            union all
            select value, type, amount_usd, message_count, unpriced_count, included_usd
            from public.daily_totals
            where workspace_id = workspace and environment = in_environment and dimension = 'project'
              -- Read in this statement, so that no day is folded between the two reads.
              and day >= greatest(month_start, (select folded_until from public.spend_folds where workspace_id = workspace))
              and day < month_end
          ) as totals
          group by value, type
        ) as spend
        join public.projects on projects.workspace_id = workspace and projects.id = spend.project_id;
    else
      return query
        select caller_place, coalesce(
          json_agg(json_build_array(
            projects.slug, projects.name, spend.type, spend.total::text, spend.messages, spend.unpriced, spend.included::text
          )),
          '[]'
        )
        -- Summed before the names are joined, which are far fewer than the rows.
        from (
          select project_id, type, sum(amount_usd) as total, sum(message_count) as messages,
            sum(unpriced_count) as unpriced, sum(included_usd) as included
          from public.daily_spend
          where workspace_id = workspace and environment = in_environment
            and day >= month_start and day < month_end
          group by 1, 2
        ) as spend
        join public.projects on projects.workspace_id = workspace and projects.id = spend.project_id;
    end if;
  end loop;
end
$$;

-- The next postings that a correction may change, in the order of their messages, locked for the caller: as many as asked
-- for, and the rest of the last one's message, so that no message is corrected in two steps. What is booked in a closed month stays
-- as it is. What was voided does, too,
-- and its void: the update that voids a posting makes a correction that waits for it look again.
create or replace function private.lock_repriceable(workspace uuid, repricing uuid, at_most integer)
 returns setof public.messages
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  job public.repricings;
  zone constant text := private.time_zone_of(workspace);
  first_open constant date := coalesce(private.closed_until(workspace), '-infinity');
begin
  select * into job from public.repricings where workspace_id = workspace and id = repricing;
  -- The bound of all zones. Which instants are on open days is asked of each.
  job.from_at := greatest(job.from_at, first_open::timestamptz - interval '14 hours');
  if job.includes_priced then
    -- Lines are found by the first one of their batch.
    return query
    select line.*
    from public.messages as head
    join public.messages as line
      on line.workspace_id = head.workspace_id and line.id = head.id and line.occurred_at = head.occurred_at
    where head.workspace_id = workspace and head.part = 0 and head.type in ('usage', 'batch')
      and head.occurred_at >= coalesce(job.cursor_at, job.from_at) and head.occurred_at < job.to_at
      and (job.cursor_at is null or (head.occurred_at, head.id) > (job.cursor_at, job.cursor_id))
      and lower(head.provider) = lower(job.provider)
      and line.workspace_id = workspace and line.cost_status <> 'client'
      and line.voids is null and line.voided_by is null
      -- What a client gave as the list price of included usage stays, as a cost that it gave does.
      and (line.cost_status <> 'included' or line.price is not null or line.list_price_usd is null)
      and line.occurred_at >= coalesce(job.cursor_at, job.from_at) and line.occurred_at < job.to_at
      and private.local_time(line.occurred_at, zone) >= first_open
    order by head.occurred_at, head.id
    fetch first at_most rows with ties
    for update of line;
  else
    return query
    select m.*
    from public.messages as m
    where m.workspace_id = workspace and m.voids is null and m.voided_by is null
      and (m.cost_status = 'unpriced' or m.cost_status = 'included' and m.list_price_usd is null)
      and m.occurred_at >= coalesce(job.cursor_at, job.from_at) and m.occurred_at < job.to_at
      and (job.cursor_at is null or (m.occurred_at, m.id) > (job.cursor_at, job.cursor_id))
      and m.type in ('usage', 'batch')
      and lower(m.provider) = lower(job.provider)
      and private.local_time(m.occurred_at, zone) >= first_open
    order by m.occurred_at, m.id
    fetch first at_most rows with ties
    for update of m;
  end if;
end
$function$;

-- Changes what postings cost and, in the same transaction, the sums they are part of.
-- changes: [{ id, part, occurred_at, amount_usd, cost_status, price, list_price_usd }]. Returns the change of the total, USD.
create or replace function private.apply_repricing(workspace uuid, changes jsonb)
 returns numeric
 language plpgsql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
as $function$
declare
  per_day public.daily_spend[];
  budgeted private.budget_posting[];
  total numeric;
begin
  perform private.hold_budgets(array[workspace]);
  with change as (
    select id, part, occurred_at, amount_usd, cost_status, price, list_price_usd
    from jsonb_to_recordset(changes) as c (
      id uuid, part smallint, occurred_at timestamptz, amount_usd numeric, cost_status text, price jsonb,
      list_price_usd numeric
    )
  ), difference as (
    select m.workspace_id, m.occurred_at,
      -- Of a correction, the spend of its key is that of the month in which the cost was first recorded.
      coalesce(m.counted_at, m.created_at) as created_at, m.project_id, m.api_key_id, m.type, m.provider, m.model, m.feature,
      m.source, m.environment, m.end_user, m.tags, c.amount_usd - m.amount_usd as amount_usd,
      coalesce(c.list_price_usd, 0) - coalesce(m.list_price_usd, 0) as included_usd,
      (c.cost_status = 'unpriced')::int - (m.cost_status = 'unpriced')::int as unpriced_count
    from public.messages as m
    join change as c using (id, part, occurred_at)
    where m.workspace_id = workspace
  ), updated as (
    update public.messages as m
    set amount_usd = c.amount_usd, cost_status = c.cost_status, price = c.price, list_price_usd = c.list_price_usd
    from change as c
    where m.workspace_id = workspace and m.id = c.id and m.part = c.part and m.occurred_at = c.occurred_at
  ), per_key as (
    insert into public.key_spend as spend (workspace_id, api_key_id, month, amount_usd, message_count)
    select workspace_id, api_key_id, date_trunc('month', created_at)::date, sum(amount_usd), 0
    from difference
    where api_key_id is not null
    group by 1, 2, 3
    order by 1, 2, 3
    on conflict (workspace_id, api_key_id, month) do update set amount_usd = spend.amount_usd + excluded.amount_usd
  )
  select
    (
      select array_agg(row(
        workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
        amount_usd, 0, 0, unpriced_count, end_user, tags, included_usd
      )::public.daily_spend)
      from (
        select place.workspace_id, place.day, project_id, api_key_id, type, provider, model, feature, source,
          environment, end_user, tags, sum(side * amount_usd) as amount_usd, sum(side * unpriced_count) as unpriced_count,
          sum(side * included_usd) as included_usd
        from difference
        cross join lateral private.places_of(difference.workspace_id, occurred_at) as place (workspace_id, day, side)
        group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
      ) as sums
    ),
    (
      select array_agg(row(
        workspace_id, environment, occurred_at, type, amount_usd, project_id, api_key_id, provider, model, feature, end_user, tags
      )::private.budget_posting)
      from difference
      where exists (select from public.budgets where budgets.workspace_id = difference.workspace_id)
    ),
    (select coalesce(sum(amount_usd), 0) from difference)
  into per_day, budgeted, total;
  perform private.sum_lines(array_agg(workspace), array_agg(id))
  from (select distinct id from jsonb_to_recordset(changes) as c (id uuid)) as changed;
  perform private.add_daily_spend(per_day);
  if budgeted is not null then
    perform private.add_budget_spend(budgeted);
  end if;
  return total;
end
$function$;

-- The usage without a price, of all workspaces.
create or replace function private.unpriced_usage()
returns table (
  workspace_id uuid, provider text, model text, unit_type text, service_tier text, first_at timestamptz, last_at timestamptz
)
language sql stable security definer set search_path = ''
begin atomic
  select m.workspace_id, lower(m.provider), m.model, m.unit_type, m.details ->> 'service_tier', min(m.occurred_at), max(m.occurred_at)
  from public.messages as m
  join public.workspaces as w on w.id = m.workspace_id and w.deleted_at is null
  where (m.cost_status = 'unpriced' or (m.cost_status = 'included' and m.list_price_usd is null))
    and m.type in ('usage', 'batch') and m.provider is not null and m.voids is null and m.voided_by is null
    and private.local_time(m.occurred_at, w.time_zone) >= coalesce(w.closed_until, '-infinity'::date)
  group by 1, 2, 3, 4, 5
  limit 50000;
end;

-- Blocking budgets are loaded together with the keys of a group: no further round trip.
-- The state of the keys of a group of requests that the guard needs, at one point in time.
--
-- requested: { hashes: [hex], tokens: [hex], ids: [uuid], projects: [{ slug }], idempotency: [{ key }] }; hashes (of secrets),
--   tokens (hashes of access tokens) and ids are how the requests name their keys. Besides, of what emitters tell: tellers:
--   [lookup], the keys that they tell with; tellings and marks, see `private.load_tellings`.
-- returns: { now: ms, keys: [...], projects: [{ workspace_id, slug, id }], idempotency: [{ workspace_id, key, request, response }], tellings }
--
-- Keys that have a limit are locked first, in order of id. Only then the time is taken and the state read, each statement
-- with its own snapshot: state that was read before the lock could let limits be exceeded.
create or replace function private.load_admission(requested jsonb)
returns json
language plpgsql
security definer
set search_path to ''
set "TimeZone" to 'UTC'
set plan_cache_mode to 'force_generic_plan'
as $$
declare
  key_ids uuid[];
  limited_ids uuid[];
  workspace_ids uuid[];
  now_at timestamptz;
  window_start timestamptz;
  usage jsonb := '{}';
  keys json;
  projects json := '[]';
  replays json := '[]';
  budgets jsonb;
  teller_ids uuid[];
  tellings jsonb;
begin
  -- The key of SVC_API_KEY is created, with the demo workspace that it belongs to, when it is first used. A member's own
  -- key is created when it is first needed.
  if requested -> 'ids' ? '00000000-0000-4000-8000-0000000000e1' then
    insert into public.workspaces (id, slug, name, type)
    values ('00000000-0000-4000-8000-0000000000d0', 'demo', 'Demo', 'demo')
    on conflict do nothing;
    insert into public.api_keys (workspace_id, id, name, prefix, last_four, permissions, kind)
    values (
      '00000000-0000-4000-8000-0000000000d0', '00000000-0000-4000-8000-0000000000e1', 'Environment key', 'SVC_API_KEY', 'none',
      array['log_usage', 'add_expenses', 'manage_subscriptions', 'read_summaries'], 'environment'
    )
    on conflict do nothing;
  end if;

  select array_agg(id) into key_ids from private.keys_named(requested);

  -- Shared with other groups; a change of the workspace's prices and the closing of a month take this lock exclusively.
  perform pg_advisory_xact_lock_shared(hashtextextended('outlay.prices.' || workspace_id, 0))
  from (select distinct workspace_id from public.api_keys where id = any (key_ids) order by workspace_id) as sending;

  limited_ids := array(
    select id from public.api_keys
    where id = any (key_ids) and (monthly_limit is not null or rate_limit_rpm is not null)
    order by id
    for no key update
  );

  -- What is told with one key is decided by one group after another, so that each sees the calls that the others recorded.
  if requested ? 'tellers' then
    teller_ids := array(
      select distinct id from private.keys_named(requested)
      where lookup = any (array(select jsonb_array_elements_text(requested -> 'tellers')))
      order by id
    );
    perform pg_advisory_xact_lock(hashtextextended('outlay.tellings.' || id, 0)) from unnest(teller_ids) as id;
  end if;

  now_at := date_trunc('milliseconds', clock_timestamp());
  window_start := now_at - interval '60 seconds';

  if cardinality(limited_ids) > 0 then
    select jsonb_object_agg(k.id, jsonb_build_object(
      'spent', case when k.monthly_limit is not null then coalesce((
        select spend.amount_usd from public.key_spend as spend
        where spend.workspace_id = k.workspace_id and spend.api_key_id = k.id
          and spend.month = date_trunc('month', now_at)::date
      ), 0)::text end,
      'rate_window', case when k.rate_limit_rpm is not null then (
        select jsonb_build_object(
          'total', latest.total,
          'used', latest.total - coalesce(oldest.total - oldest.admitted, latest.total),
          'latest_at', (extract(epoch from latest.at) * 1000)::bigint,
          'frees_at', (
            select (extract(epoch from w.at) * 1000)::bigint + 60000
            from private.rate_windows as w
            where w.api_key_id = k.id
              and w.total > greatest(latest.total - k.rate_limit_rpm, oldest.total - oldest.admitted)
            order by w.total limit 1
          )
        )
        from (
          select w.total, w.at from private.rate_windows as w
          where w.api_key_id = k.id order by w.total desc limit 1
        ) as latest
        left join lateral (
          select w.total, w.admitted from private.rate_windows as w
          where w.api_key_id = k.id and w.at > window_start order by w.at, w.total limit 1
        ) as oldest on true
      ) end
    )) into usage
    from public.api_keys as k
    where k.id = any (limited_ids);
  end if;

  select coalesce(json_agg(json_build_object(
    'lookup', named.lookup,
    'token', named.token,
    'id', k.id,
    'kind', k.kind,
    'workspace_id', k.workspace_id,
    'prices_version', w.prices_version,
    'time_zone', w.time_zone,
    'closed_until', w.closed_until,
    'environment', k.environment,
    'permissions', k.permissions,
    'project', (select p.slug from public.projects as p where p.workspace_id = k.workspace_id and p.id = k.project_id),
    'project_id', k.project_id,
    'conditions', k.conditions,
    'monthly_limit', k.monthly_limit::text,
    'spent', usage -> k.id::text ->> 'spent',
    'expires_at', (extract(epoch from k.expires_at) * 1000)::bigint,
    'revoked', k.revoked_at is not null,
    'last_used_at', (extract(epoch from k.last_used_at) * 1000)::bigint,
    'allowed_cidrs', k.allowed_cidrs,
    'rate_limit_rpm', k.rate_limit_rpm,
    'source_settings', k.source_settings,
    'rate_window', usage -> k.id::text -> 'rate_window'
  )), '[]'), array_agg(distinct k.workspace_id) into keys, workspace_ids
  -- Reads the keys again under the locks: a secret that was rotated or a token that was revoked meanwhile is not found.
  from private.keys_named(requested) as named
  join public.api_keys as k on k.id = named.id
  join public.workspaces as w on w.id = k.workspace_id
  where k.id = any (key_ids);

  -- A group names few workspaces and few names. A name that only another workspace of the group asked for is harmless: the
  -- service looks a name up together with its workspace.
  if jsonb_array_length(requested -> 'projects') > 0 then
    select coalesce(json_agg(json_build_object('workspace_id', p.workspace_id, 'slug', p.slug, 'id', p.id)), '[]')
    into projects
    from public.projects as p
    where p.workspace_id = any (workspace_ids)
      and p.slug = any (array(select wanted.value ->> 'slug' from jsonb_array_elements(requested -> 'projects') as wanted));
  end if;

  -- Only calls that record name projects. Locked after the keys, so that no two groups wait for each other.
  if jsonb_array_length(requested -> 'projects') > 0 and exists (
    select from public.budgets as b where b.blocks and b.workspace_id = any (workspace_ids)
  ) then
    budgets := private.load_blocking_budgets(workspace_ids);
  end if;

  if jsonb_array_length(requested -> 'idempotency') > 0 then
    select coalesce(json_agg(json_build_object(
      'workspace_id', i.workspace_id, 'key', i.key, 'request', i.request, 'response', i.response
    )), '[]')
    into replays
    from private.idempotency as i
    where i.workspace_id = any (workspace_ids)
      and i.key = any (array(select wanted.value ->> 'key' from jsonb_array_elements(requested -> 'idempotency') as wanted));
  end if;

  if cardinality(teller_ids) > 0 then
    tellings := private.load_tellings(
      teller_ids, workspace_ids, (
        select coalesce(jsonb_agg(wanted.value || jsonb_build_object('key', named.id)), '[]')
        from jsonb_array_elements(requested -> 'tellings') as wanted
        left join private.keys_named(requested) as named on named.lookup = requested -> 'tellers' ->> (wanted.value ->> 'teller')::integer
        where named.id is not null or not wanted.value ? 'teller'
      ), array(select jsonb_array_elements_text(requested -> 'marks'))
    );
  end if;

  return json_build_object(
    'now', (extract(epoch from now_at) * 1000)::bigint,
    'keys', keys, 'projects', projects, 'idempotency', replays, 'budgets', budgets, 'tellings', tellings
  );
end
$$;

-- What projects have spent in ranges of days, for allocations: no allocation may move more than its source has spent in
-- that month. So the caller locks the source, environment and month until its transaction ends, and the next caller sees
-- what it moved. The locks are taken in one order, after the keys' locks and before any row is written.
--
-- What is booked as an adjustment of a closed month counts for the days that it adjusts, as an allocation of these does.
--
-- In plpgsql and volatile: each statement has its own snapshot, and that of the second is taken under the locks.
--
-- wanted: [{ workspace_id, project_id, environment, from, until }] → [{ …, amount_usd }]
create or replace function private.load_project_spend(wanted jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  spend jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.allocations.' || source, 0))
  from (
    select distinct concat_ws(' ', workspace_id, project_id, environment, date_trunc('month', "from")::date) as source
    from jsonb_to_recordset(wanted) as w (workspace_id uuid, project_id uuid, environment text, "from" date)
    order by 1
  ) as sources;

  select coalesce(jsonb_agg(jsonb_build_object(
    'project_id', w.project_id, 'environment', w.environment, 'from', w.from, 'until', w.until,
    'amount_usd', (coalesce((
      select sum(d.amount_usd) from public.daily_spend as d
      where d.workspace_id = w.workspace_id and d.project_id = w.project_id and d.environment = w.environment
        and d.day >= w.from and d.day < w.until
    ), 0) + coalesce((
      select sum(m.amount_usd * (
        private.is_on_days(m.adjusts, of.zone, w.from, w.until)::int - private.is_on_days(m.occurred_at, of.zone, w.from, w.until)::int
      ))
      from public.messages as m cross join (select private.time_zone_of(w.workspace_id) as zone) as of
      where m.workspace_id = w.workspace_id and m.project_id = w.project_id and m.environment = w.environment
        and m.adjusts is not null
    ), 0))::text
  )), '[]') into spend
  from (
    select distinct * from jsonb_to_recordset(wanted)
      as w (workspace_id uuid, project_id uuid, environment text, "from" date, until date)
  ) as w;
  return spend;
end
$$;

-- Writes admitted messages with everything that must be true at the same moment: their projects, the sums, the keys'
-- spend and the answers to their idempotency keys. One transaction, always in this order.
--
-- messages: [[{ column: value }]], the postings in groups, without the columns that `shared` has and without those that are null.
-- shared: [{ column: value }], what the postings of each group have in common. Instead of both, one group: [{ column: value }]
-- and an object.
-- replays: [{ workspace_id, keys, message_id, request, response, created_at }], each with the keys that have the same answer.
-- Raises serialization_failure (40001) where another process was first with a project or an idempotency key; the caller
-- then loads again and decides again.
create or replace function private.store_messages(projects jsonb, messages jsonb, replays jsonb, shared jsonb default '{}')
returns void
language plpgsql security definer set search_path = '' set "TimeZone" = 'UTC' set plan_cache_mode = force_generic_plan
as $$
declare
  written integer;
  first_part public.messages := jsonb_populate_record(null::public.messages, '{"part": 0}');
  changes public.daily_spend[];
  budgeted private.budget_posting[];
  -- What a version before this one recorded: it does not sum the lines of its messages.
  unsummed uuid[];
  unsummed_of uuid[];
begin
  -- Without groups, all rows are one.
  if jsonb_typeof(shared) = 'object' then
    shared := jsonb_build_array(shared);
    messages := jsonb_build_array(messages);
  end if;

  if jsonb_array_length(projects) > 0 then
    insert into public.projects (workspace_id, id, slug, name)
    select workspace_id, id, slug, name
    from jsonb_to_recordset(projects) as p (workspace_id uuid, id uuid, slug text, name text)
    order by workspace_id, slug
    on conflict (workspace_id, slug) do nothing;
    get diagnostics written = row_count;
    if written <> jsonb_array_length(projects) then
      raise exception 'another request made the project first' using errcode = 'serialization_failure';
    end if;
  end if;

  if jsonb_array_length(replays) > 0 then
    -- Without `on conflict`, which looks each key up twice.
    begin
      insert into private.idempotency (workspace_id, environment, key, message_id, request, response, created_at)
      select r.workspace_id, r.request ->> 'environment', named.key, r.message_id, r.request, r.response, r.created_at
      from jsonb_to_recordset(replays)
        as r (workspace_id uuid, keys text[], key text, message_id uuid, request jsonb, response jsonb, created_at timestamptz)
      -- Versions before this one name one key.
      cross join lateral unnest(coalesce(r.keys, array[r.key])) as named (key)
      order by 1, 2, 3;
    exception when unique_violation then
      raise exception 'another request used the idempotency key first' using errcode = 'serialization_failure';
    end;
  end if;

  with stored as (
    insert into public.messages
    select completed.*
    from jsonb_array_elements(shared) with ordinality as groups (common, place)
    cross join lateral jsonb_populate_recordset(
      jsonb_populate_record(first_part, groups.common), messages -> (groups.place - 1)::integer
    ) as completed
    returning workspace_id, id, part, occurred_at, created_at, project_id, api_key_id, type, provider, model, feature, source,
      environment, amount_usd, cost_status, end_user, tags, list_price_usd, lines_usd
  ), per_key as (
    insert into public.key_spend as spend (workspace_id, api_key_id, month, amount_usd, message_count)
    select workspace_id, api_key_id, date_trunc('month', created_at)::date, sum(amount_usd), count(*) filter (where part = 0)
    from stored
    where api_key_id is not null
    group by 1, 2, 3
    order by 1, 2, 3
    on conflict (workspace_id, api_key_id, month) do update
      set amount_usd = spend.amount_usd + excluded.amount_usd,
          message_count = spend.message_count + excluded.message_count
  )
  select array_agg(row(
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )::public.daily_spend), (
    select array_agg(row(
      workspace_id, environment, occurred_at, type, amount_usd, project_id, api_key_id, provider, model, feature, end_user, tags
    )::private.budget_posting)
    from stored
    where exists (select from public.budgets where budgets.workspace_id = stored.workspace_id)
  ), (select array_agg(id) from stored where part = 1 and type in ('usage', 'batch') and (select count(lines_usd) from stored) = 0),
    (select array_agg(workspace_id) from stored where part = 1 and type in ('usage', 'batch'))
  into changes, budgeted, unsummed, unsummed_of
  from (
    select
      place.workspace_id, place.day, project_id, api_key_id, type, provider, model, feature, source, environment,
      end_user, tags,
      sum(side * amount_usd) as amount_usd,
      -- A message counts once, on its first posting.
      coalesce(sum(side) filter (where part = 0), 0) as message_count,
      sum(side) as item_count,
      coalesce(sum(side) filter (where cost_status = 'unpriced'), 0) as unpriced_count,
      coalesce(sum(side * list_price_usd), 0) as included_usd
    from stored
    cross join lateral private.places_of(stored.workspace_id, occurred_at) as place (workspace_id, day, side)
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
  ) as sums;
  perform private.add_daily_spend(changes);
  if budgeted is not null then
    perform private.add_budget_spend(budgeted);
  end if;
  if unsummed is not null then
    perform private.sum_lines(unsummed_of, unsummed);
  end if;
end
$$;

-- Removes every message of a past month, of all workspaces, and stores their sums, in one transaction. The partition stays,
-- empty, so that recording never misses it. Only the owner of the schema may run this.
--
-- Whoever writes to this one month waits while its postings are summed; readers wait only while the partition is emptied.
-- Raises lock_not_available (55P03) where others hold the month too long; nothing has happened then.
create or replace function private.remove_messages_month(first_day date)
 returns void
 language plpgsql
 set search_path to ''
 set "TimeZone" to 'UTC'
 set lock_timeout to '200ms'
as $function$
declare
  partition_name text := 'messages_' || to_char(first_day, 'YYYY_MM');
begin
  if first_day >= date_trunc('month', now())::date then
    raise exception 'the month of % is not over', first_day using errcode = 'invalid_parameter_value';
  end if;
  -- The sums of what is removed would change their days later.
  if exists (select from public.time_zone_changes) then
    raise exception 'the days of a workspace are being summed anew for another time zone' using errcode = 'lock_not_available';
  end if;
  execute format('lock table only private.%I in share row exclusive mode', partition_name);
  execute format(
    $statement$
      with gone as materialized (
        select workspace_id, environment, api_key_id, date_trunc('month', coalesce(counted_at, created_at))::date as recorded_in,
          date_trunc('month', private.local_time(occurred_at, coalesce(w.time_zone, 'UTC')))::date as month_of_days,
          sum(amount_usd) as amount_usd,
          coalesce(sum(private.sign_of(voids)) filter (where part = 0), 0) as message_count,
          sum(private.sign_of(voids)) as item_count,
          coalesce(sum(private.sign_of(voids)) filter (where cost_status = 'unpriced'), 0) as unpriced_count,
          coalesce(sum(list_price_usd), 0) as included_usd
        from private.%I as m
        left join (select id, time_zone from public.workspaces) as w on w.id = m.workspace_id
        group by 1, 2, 3, 4, 5
      ), per_key as (
        insert into private.removed_key_spend as kept (workspace_id, api_key_id, month, amount_usd, message_count)
        select workspace_id, api_key_id, recorded_in, sum(amount_usd), sum(message_count)
        from gone where api_key_id is not null
        group by 1, 2, 3
        on conflict (workspace_id, api_key_id, month) do update
          set amount_usd = kept.amount_usd + excluded.amount_usd,
              message_count = kept.message_count + excluded.message_count
      )
      insert into private.removed_messages as kept
        (workspace_id, month, environment, month_of_days, amount_usd, message_count, item_count, unpriced_count, included_usd, removed_at)
      select workspace_id, $1, environment, month_of_days, sum(amount_usd), sum(message_count), sum(item_count), sum(unpriced_count),
        sum(included_usd), clock_timestamp()
      from gone
      group by 1, 3, 4
      on conflict (month_of_days, workspace_id, environment, month) do update
        set amount_usd = kept.amount_usd + excluded.amount_usd,
            message_count = kept.message_count + excluded.message_count,
            item_count = kept.item_count + excluded.item_count,
            unpriced_count = kept.unpriced_count + excluded.unpriced_count,
            included_usd = kept.included_usd + excluded.included_usd,
            removed_at = excluded.removed_at
    $statement$, partition_name
  ) using first_day;
  -- Readers come and go; each attempt holds up new ones for at most the lock timeout.
  for attempt in 1..20 loop
    begin
      execute format('lock table only private.%I in access exclusive mode', partition_name);
      exit;
    exception when lock_not_available then
      if attempt = 20 then
        raise;
      end if;
    end;
    perform pg_catalog.pg_sleep(0.05);
  end loop;
  execute format('truncate table only private.%I', partition_name);
end
$function$;

-- The first day of a workspace of which no message was removed; null where none were. The caller has checked who asks.
create or replace function private.messages_removed_before(workspace uuid)
returns date
language sql stable security definer set search_path = ''
as $$
  select ((max(month)::timestamp + interval '1 month' - interval '1 microsecond') at time zone 'UTC' at time zone private.time_zone_of(workspace))::date + 1
  from private.removed_messages where workspace_id = workspace
$$;

-- Does one step of the oldest erasure that no process is working on. First a day of postings with all their sums, at most as
-- many as asked for at a time; then the answers to idempotency keys, ten times as many; then what else names the person. Sums
-- of messages that were removed change as they are.
--
-- returns: how many postings and answers it changed; null where there is nothing to do
create or replace function private.erase_some(at_most integer)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
as $function$
declare
  job public.erasures;
  first_day date;
  of_month date;
  zone text;
  changes public.daily_spend[];
  changed integer;
  last_key text;
  last_environment text;
  seen integer;
  old_json text;
  new_json text;
begin
  -- While the days of a workspace are summed anew, its people wait.
  select * into job from public.erasures as e
  where status <> 'done' and not exists (select from public.time_zone_changes as c where c.workspace_id = e.workspace_id)
  order by created_at, id limit 1 for update skip locked;
  if job.id is null then
    return null;
  end if;
  -- No change of zone begins or ends until the transaction ends.
  perform private.hold_budgets(array[job.workspace_id]);
  if exists (select from public.time_zone_changes as c where c.workspace_id = job.workspace_id) then
    return null;
  end if;
  zone := private.time_zone_of(job.workspace_id);
  select min(day) into first_day from public.daily_spend
  where workspace_id = job.workspace_id and end_user = job.end_user;

  if first_day is not null then
    of_month := date_trunc('month', first_day)::date;
    with found as (
      select m.id, m.part, m.occurred_at from public.messages as m
      where m.workspace_id = job.workspace_id and m.end_user = job.end_user
        and private.is_on_days(m.occurred_at, zone, first_day, first_day + 1)
      limit at_most
      for update
    ), renamed as (
      update public.messages as m set end_user = job.pseudonym
      from found
      where m.workspace_id = job.workspace_id and m.id = found.id and m.part = found.part
        and m.occurred_at = found.occurred_at
      returning m.*
    ), sums as (
      select project_id, api_key_id, type, provider, model, feature, source, environment, tags,
        sum(amount_usd) as amount_usd, count(*) as posting_count,
        coalesce(sum(private.sign_of(voids)) filter (where part = 0), 0) as message_count,
        sum(private.sign_of(voids)) as item_count,
        coalesce(sum(private.sign_of(voids)) filter (where cost_status = 'unpriced'), 0) as unpriced_count,
        coalesce(sum(list_price_usd), 0) as included_usd
      from renamed
      group by 1, 2, 3, 4, 5, 6, 7, 8, 9
    )
    select array_agg(row(
        job.workspace_id, first_day, project_id, api_key_id, type, provider, model, feature, source, environment,
        side * amount_usd, side * message_count, side * item_count, side * unpriced_count,
        case side when 1 then job.pseudonym else job.end_user end, tags, side * included_usd
      )::public.daily_spend),
      coalesce(sum(posting_count) filter (where side = 1), 0)
    into changes, changed
    from sums cross join (values (1), (-1)) as sides (side);
    if changed = 0 then
      select array_agg(row(
          d.workspace_id, d.day, d.project_id, d.api_key_id, d.type, d.provider, d.model, d.feature, d.source, d.environment,
          side * d.amount_usd, side * d.message_count, side * d.item_count, side * d.unpriced_count,
          case side when 1 then job.pseudonym else job.end_user end, d.tags, side * d.included_usd
        )::public.daily_spend)
      into changes
      from public.daily_spend as d cross join (values (1), (-1)) as sides (side)
      where d.workspace_id = job.workspace_id and d.end_user = job.end_user and d.day = first_day;
    end if;
    perform private.add_daily_spend(changes);
    perform private.count_waiting_spend(job.workspace_id);
    delete from private.waiting_spend where workspace_id = job.workspace_id;
    -- Sums of nothing may stand for messages and their voids, which are to be found by them: they go after the last posting.
    if changed < at_most then
      delete from public.daily_spend
      where workspace_id = job.workspace_id and end_user = job.end_user and day = first_day
        and amount_usd = 0 and message_count = 0 and item_count = 0 and unpriced_count = 0 and included_usd = 0;
      delete from public.daily_totals
      where workspace_id = job.workspace_id and dimension = 'user' and value = job.end_user and day = first_day
        and amount_usd = 0 and message_count = 0 and unpriced_count = 0 and included_usd = 0;
      delete from public.monthly_spend
      where workspace_id = job.workspace_id and end_user = job.end_user and month = of_month
        and amount_usd = 0 and message_count = 0 and item_count = 0 and unpriced_count = 0 and included_usd = 0;
      delete from public.monthly_totals as t
      where t.workspace_id = job.workspace_id and t.environment in ('live', 'test') and t.dimension = 'user'
        and t.first_day = of_month and t.value = job.end_user
        and t.amount_usd = 0 and t.message_count = 0 and t.unpriced_count = 0 and t.included_usd = 0;
    end if;
    update public.erasures set status = 'running', changed_count = changed_count + changed
    where workspace_id = job.workspace_id and id = job.id;
    return changed;
  end if;

  with next as materialized (
    select key, environment from private.idempotency
    where workspace_id = job.workspace_id
      and (job.cursor_key is null or (key, environment) > (job.cursor_key, job.cursor_environment))
    order by key, environment
    limit at_most * 10
  ), forgotten as (
    update private.idempotency as i set request = private.without_person(i.request, job.end_user)
    from next
    where i.workspace_id = job.workspace_id and i.key = next.key and i.environment = next.environment
      and i.request is distinct from private.without_person(i.request, job.end_user)
    returning 1
  )
  select count(*), (array_agg(key order by key desc, environment desc))[1],
    (array_agg(environment order by key desc, environment desc))[1], (select count(*) from forgotten)
  into seen, last_key, last_environment, changed
  from next;
  if seen > 0 then
    update public.erasures
    set status = 'running', cursor_key = last_key, cursor_environment = last_environment
    where workspace_id = job.workspace_id and id = job.id;
    return changed;
  end if;

  update public.budgets
  set scope_value = job.pseudonym, name = case when name = left(job.end_user, 120) then job.pseudonym else name end
  where workspace_id = job.workspace_id and scope_type = 'user' and scope_value = job.end_user;
  -- A condition without its name would allow every user; with the pseudonym it allows nobody in the place of the person.
  update public.api_keys
  set conditions = jsonb_set(conditions, '{users}', (
    select jsonb_agg(case when name = job.end_user then job.pseudonym else name end order by place)
    from jsonb_array_elements_text(conditions -> 'users') with ordinality as users (name, place)
  ))
  where workspace_id = job.workspace_id and conditions -> 'users' ? job.end_user;

  old_json := to_jsonb(job.end_user)::text;
  new_json := to_jsonb(job.pseudonym)::text;
  delete from public.refused_exports
  where workspace_id = job.workspace_id and position(old_json in records::text) > 0;
  update private.call_tellings set names = names - 'user'
  where workspace_id = job.workspace_id and names ->> 'user' = job.end_user;
  update public.alerts set details = replace(details::text, old_json, new_json)::jsonb
  where workspace_id = job.workspace_id and position(old_json in details::text) > 0;
  update public.source_refusals set example = null
  where workspace_id = job.workspace_id and position(old_json in example::text) > 0;
  -- The only change of the audit log there is: what was changed, when and by whom stays.
  update public.audit_log
  set before = replace(before::text, old_json, new_json)::jsonb, after = replace(after::text, old_json, new_json)::jsonb
  where workspace_id = job.workspace_id and (subject like 'budget %' or subject like 'api\_key %')
    and (position(old_json in before::text) > 0 or position(old_json in after::text) > 0);

  update public.erasures
  set status = 'done', end_user = null, cursor_key = null, cursor_environment = null, finished_at = now()
  where workspace_id = job.workspace_id and id = job.id;
  return 0;
end
$function$;

-- A day whose usage is far above the same weekdays of the four weeks before. Subscriptions and expenses are left out: they
-- are booked on days of the month. A workspace younger than four weeks is not judged. The last minutes of a day are judged
-- after it.
create or replace function private.judge_unusual_days(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with spent as materialized (
    select w.id as workspace_id, w.name, w.time_zone, today.day, coalesce(r.parameter, d.parameter) as least_usd, usage.*
    from public.workspaces as w
    cross join lateral (select ((at - interval '5 minutes') at time zone w.time_zone)::date as day) as today
    join private.alert_rule_defaults() as d on d.rule = 'unusual_day'
    left join public.alert_rules as r on r.workspace_id = w.id and r.rule = 'unusual_day'
    cross join lateral (
      -- One look into the index for the five days.
      select coalesce(sum(t.amount_usd) filter (where t.day = today.day), 0) as spent_usd,
        coalesce(sum(t.amount_usd) filter (where t.day = today.day - 7), 0) as first_usd,
        coalesce(sum(t.amount_usd) filter (where t.day = today.day - 14), 0) as second_usd,
        coalesce(sum(t.amount_usd) filter (where t.day = today.day - 21), 0) as third_usd,
        coalesce(sum(t.amount_usd) filter (where t.day = today.day - 28), 0) as fourth_usd
      from public.daily_totals as t
      where t.workspace_id = w.id and t.environment = 'live' and t.dimension = 'provider'
        and t.day = any (array[today.day, today.day - 7, today.day - 14, today.day - 21, today.day - 28])
        and t.type not in ('subscription', 'expense')
    ) as usage
    where coalesce(r.is_on, true)
  ), unusual as materialized (
    select spent.*, usual.*
    from spent
    cross join lateral private.unusual_above(array[first_usd, second_usd, third_usd, fourth_usd], least_usd) as usual
    where spent_usd >= least_usd
      -- Twice the median of four, without sorting: most days end here.
      and spent_usd >= first_usd + second_usd + third_usd + fourth_usd
        - greatest(first_usd, second_usd, third_usd, fourth_usd) - least(first_usd, second_usd, third_usd, fourth_usd)
      and spent_usd >= usual.above_usd
      and not exists (
        select from public.alert_states as s
        where s.workspace_id = spent.workspace_id and s.rule = 'unusual_day' and s.period = spent.day
      )
      and exists (
        select from public.daily_totals as t
        where t.workspace_id = spent.workspace_id and t.environment = 'live' and t.dimension = 'provider'
          and t.day <= spent.day - 28
      )
  )
  (
    select jsonb_build_object(
      'workspace_id', c.workspace_id, 'rule', 'unusual_day', 'subject_type', 'workspace', 'subject_id', c.workspace_id,
      'period', c.day, 'state', 'warning',
      'details', jsonb_build_object(
        'subject', c.name, 'day', c.day, 'time_zone', c.time_zone, 'spent_usd', trim_scale(c.spent_usd)::text,
        'median_usd', trim_scale(c.median_usd)::text, 'mad_usd', trim_scale(c.mad_usd)::text,
        'above_usd', trim_scale(c.above_usd)::text,
        'compared', jsonb_build_array(
          jsonb_build_object('day', c.day - 28, 'spent_usd', trim_scale(c.fourth_usd)::text),
          jsonb_build_object('day', c.day - 21, 'spent_usd', trim_scale(c.third_usd)::text),
          jsonb_build_object('day', c.day - 14, 'spent_usd', trim_scale(c.second_usd)::text),
          jsonb_build_object('day', c.day - 7, 'spent_usd', trim_scale(c.first_usd)::text)
        ),
        'period_from', c.day, 'period_until', c.day + 1
      )
    )
    from unusual as c
    limit 1000
  )
  union all
  (
    -- A day passes by itself.
    select jsonb_build_object(
      'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
      'period', s.period, 'state', 'forget'
    )
    from public.alert_states as s
    join public.workspaces as w on w.id = s.workspace_id
    where s.rule = 'unusual_day' and s.period < ((at - interval '5 minutes') at time zone w.time_zone)::date
      -- The new day may be unusual, too.
      and not exists (select from unusual as c where c.workspace_id = s.workspace_id)
    limit 1000
  )
$$;

-- Models that are used in the present month and have no price, and models whose usage is now all priced.
create or replace function private.judge_unpriced_usage(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with unpriced as (
    select w.id as workspace_id, month.first_day, usage.model, usage.line_count
    from public.workspaces as w
    cross join lateral (select date_trunc('month', at at time zone w.time_zone)::date as first_day) as month
    cross join lateral (
      select t.value as model, sum(t.unpriced_count) as line_count
      from public.daily_totals as t
      where t.workspace_id = w.id and t.environment = 'live' and t.dimension = 'model' and t.day >= month.first_day
        and t.unpriced_count > 0
      group by t.value
    ) as usage
  ), fresh as materialized (
    select u.*, coalesce(u.model, '(no model)') as subject_id
    from unpriced as u
    where not exists (
      select from public.alert_states as s
      where s.workspace_id = u.workspace_id and s.rule = 'unpriced_usage' and s.subject_id = coalesce(u.model, '(no model)')
    )
    and private.alert_rule_parameter(u.workspace_id, 'unpriced_usage') is not null
    limit 1000
  )
  select jsonb_build_object(
    'workspace_id', f.workspace_id, 'rule', 'unpriced_usage', 'subject_type', 'model', 'subject_id', left(f.subject_id, 256),
    'period', f.first_day, 'state', 'warning',
    'details', jsonb_build_object(
      'subject', coalesce(f.model, 'no model'), 'model', f.model, 'line_count', f.line_count,
      'provider', (
        select d.provider from public.daily_spend as d
        where d.workspace_id = f.workspace_id and d.environment = 'live' and d.model is not distinct from f.model
          and d.day >= f.first_day and d.unpriced_count > 0
        order by d.day desc
        limit 1
      ),
      'period_from', f.first_day, 'period_until', (f.first_day + interval '1 month')::date
    )
  )
  from fresh as f
  union all
  (
    select jsonb_build_object(
      'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
      'period', s.period, 'state', 'ok', 'details', jsonb_build_object('line_count', 0)
    )
    from public.alert_states as s
    where s.rule = 'unpriced_usage'
      and not exists (
        select from public.daily_totals as t
        where t.workspace_id = s.workspace_id and t.environment = 'live' and t.dimension = 'model' and t.day >= s.period
          and t.unpriced_count > 0 and coalesce(t.value, '(no model)') = s.subject_id
      )
    limit 1000
  )
$$;

-- The spend in a budget's scope between two moments, from its daily totals. A day that is partly within counts in
-- proportion to its hours.
create or replace function private.estimate_budget_spend(budget public.budgets, begins timestamptz, ends timestamptz)
returns numeric
language sql stable security definer set search_path = ''
as $$
  select coalesce(sum(
    t.amount_usd * extract(epoch from (
      least((t.day + 1)::timestamp at time zone zone, ends) - greatest(t.day::timestamp at time zone zone, begins)
    ))::numeric / extract(epoch from (t.day + 1)::timestamp at time zone zone - t.day::timestamp at time zone zone)::numeric
  ), 0)
  from (select private.time_zone_of(budget.workspace_id) as zone) as of
  cross join public.daily_totals as t
  where t.workspace_id = budget.workspace_id and t.environment = 'live'
    -- Each dimension sums to the whole; there are fewest providers.
    and t.dimension = case budget.scope_type when 'global' then 'provider' else budget.scope_type end
    and t.day >= (begins at time zone zone)::date and t.day::timestamp at time zone zone < ends
    and case budget.scope_type when 'global' then true when 'provider' then lower(t.value) = lower(budget.scope_value)
      else t.value = budget.scope_value end
$$;

-- Counts what was recorded before a budget was made: days of the workspace that are wholly in its period from the daily totals; what
-- is on other days, and what is booked ahead, from the messages. A day is wholly in the period where it is so in the zone of the
-- workspace and in UTC: what is recorded at midnight UTC is on that day in every zone (see `private.local_time`).
create or replace function private.count_budget(budget public.budgets)
returns void
language plpgsql security definer set search_path = ''
as $$
declare
  begins timestamptz := greatest(budget.counted_from, budget.starts_on)::timestamp at time zone budget.time_zone;
  ends timestamptz := least(private.budget_period_end(budget, budget.counted_from), budget.ends_on + 1)::timestamp
    at time zone budget.time_zone;
  zone text := private.time_zone_of(budget.workspace_id);
  almost_day constant interval := interval '1 day' - interval '1 microsecond';
  first_whole date := greatest((begins at time zone zone) + almost_day, (begins at time zone 'UTC') + almost_day);
  after_whole date := greatest(least((ends at time zone zone)::date, (ends at time zone 'UTC')::date), first_whole);
  -- By how much days of the zone may begin or end at other instants than those of UTC.
  spread constant interval := case when zone = 'UTC' then interval '0' else interval '14 hours' end;
begin
  insert into public.budget_counts (workspace_id, budget_id, environment, period_from, spent_usd, booked_usd)
  select budget.workspace_id, budget.id, environment, first_day, sum(amount_usd),
    coalesce(sum(amount_usd) filter (where type in ('subscription', 'expense')), 0)
  from (
    select environment, budget.counted_from as first_day, type, amount_usd
    from public.daily_totals
    where workspace_id = budget.workspace_id
      -- Each dimension sums to the whole; there are fewest providers.
      and dimension = case budget.scope_type when 'global' then 'provider' else budget.scope_type end
      and day >= first_whole and day < after_whole
      and case budget.scope_type when 'global' then true when 'provider' then lower(value) = lower(budget.scope_value)
        else value = budget.scope_value end
    union all
    select m.environment, private.budget_period(budget, m.occurred_at), m.type, m.amount_usd
    from public.messages as m
    where m.workspace_id = budget.workspace_id
      and (
        m.occurred_at >= begins and m.occurred_at < (first_whole::timestamp + spread) at time zone 'UTC'
        or m.occurred_at >= (after_whole::timestamp - spread) at time zone 'UTC'
      )
      and not (private.local_time(m.occurred_at, zone) >= first_whole and private.local_time(m.occurred_at, zone) < after_whole)
      and private.is_in_budget(budget, m)
  ) as counted
  where first_day is not null
  group by 3, 4
  having sum(amount_usd) <> 0;
end
$$;

-- A posting as it is booked while the days before `closed_until` are closed: one of a closed day of the time zone at the time of its
-- recording, as an adjustment. The same as `bookOpen` of the service.
create function private.book_open(posting public.messages, closed_until date, zone text)
returns public.messages
language plpgsql immutable set search_path = '' set timezone = 'UTC'
as $$
begin
  if private.local_time(posting.occurred_at, zone) < closed_until then
    posting.adjusts := posting.occurred_at;
    posting.occurred_at := posting.created_at;
  end if;
  return posting;
end
$$;
revoke execute on function private.book_open(public.messages, date, text) from public;

-- Closes a month of the workspace's time zone and the open ones before it, as an admin of the workspace: the user of the transaction's
-- claims. Groups of messages that are being recorded are counted before; later ones wait until this commits, and are booked after.
create or replace function private.close_months(workspace uuid, through date)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  first_open date;
  zone text;
begin
  if workspace not in (select private.member_workspaces(array['owner', 'admin'])) then
    raise exception 'only an admin closes a month' using errcode = 'insufficient_privilege';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
  select w.closed_until, w.time_zone into first_open, zone from public.workspaces as w where w.id = workspace for no key update;
  if exists (select from public.time_zone_changes as c where c.workspace_id = workspace) then
    raise exception 'the days are being summed anew for another time zone' using errcode = 'lock_not_available';
  end if;
  if through <> date_trunc('month', through)::date or through < first_open
    or clock_timestamp() < (through + interval '1 month') at time zone zone + private.closing_delay()
  then
    raise exception 'the month of % cannot be closed', through using errcode = 'object_not_in_prerequisite_state';
  end if;
  first_open := coalesce(first_open, least(through, (
    select date_trunc('month', min(t.day))::date from public.daily_totals as t
    where t.workspace_id = workspace and t.environment = 'live' and t.dimension = 'project'
  )));
  insert into public.closed_months (workspace_id, month, amount_usd, adjustments_usd, message_count, unpriced_count)
  select workspace, first_day, coalesce(filed.amount_usd, 0), coalesce(adjustments.amount_usd, 0),
    coalesce(filed.message_count, 0), coalesce(filed.unpriced_count, 0)
  from generate_series(first_open::timestamp, through, interval '1 month') as months (first_day)
  cross join lateral (
    select sum(t.amount_usd) as amount_usd, sum(t.message_count) as message_count, sum(t.unpriced_count) as unpriced_count
    from public.daily_totals as t
    where t.workspace_id = workspace and t.environment = 'live' and t.dimension = 'project'
      and t.day >= first_day and t.day < first_day + interval '1 month'
  ) as filed
  cross join lateral (
    select sum(m.amount_usd) as amount_usd from public.messages as m
    where m.workspace_id = workspace and m.environment = 'live' and m.adjusts is not null
      and private.is_on_days(m.occurred_at, zone, first_day::date, (first_day + interval '1 month')::date)
  ) as adjustments
  order by first_day;
  update public.workspaces set closed_until = (through + interval '1 month')::date where id = workspace;
end
$$;

-- The live figures of a month by day, for the filed export: by everything but the person, whose name an erasure has to replace.
create or replace function private.figures_to_file(workspace uuid, of_month date)
returns table (
  day date, project text, project_name text, type text, provider text, model text, feature text, key_id uuid, key_name text,
  source text, tags text[], amount_usd numeric, adjustments_usd numeric, message_count bigint, line_count bigint,
  unpriced_count bigint, included_usd numeric
)
language sql stable security definer set search_path = '' set timezone = 'UTC'
as $$
  select f.day, p.slug, p.name, f.type, f.provider, f.model, f.feature, f.api_key_id, k.name, f.source, f.tags,
    trim_scale(sum(f.amount_usd)), trim_scale(sum(f.adjustments_usd)), sum(f.message_count)::bigint, sum(f.item_count)::bigint,
    sum(f.unpriced_count)::bigint, trim_scale(sum(f.included_usd))
  from (
    select d.day, d.project_id, d.type, d.provider, d.model, d.feature, d.api_key_id, d.source, d.tags, d.amount_usd,
      0 as adjustments_usd, d.message_count, d.item_count, d.unpriced_count, d.included_usd
    from public.daily_spend as d
    where d.workspace_id = workspace and d.environment = 'live'
      and d.day >= of_month and d.day < of_month + interval '1 month'
    union all
    select private.local_time(m.occurred_at, private.time_zone_of(workspace))::date, m.project_id, m.type, m.provider, m.model, m.feature, m.api_key_id, m.source, m.tags, 0,
      m.amount_usd, 0, 0, 0, 0
    from public.messages as m
    where m.workspace_id = workspace and m.environment = 'live' and m.adjusts is not null
      and private.is_on_days(m.occurred_at, private.time_zone_of(workspace), of_month, (of_month + interval '1 month')::date)
  ) as f
  join public.projects as p on p.workspace_id = workspace and p.id = f.project_id
  left join public.api_keys as k on k.workspace_id = workspace and k.id = f.api_key_id
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  order by 1, 2, 4, 5, 6, 7, 8, 10, 11
$$;

-- Posts voids, those of what is booked in a closed month as adjustments of it. Raises an error of class P0 where there is nothing to void.
create or replace function private.post_voids()
returns trigger
language plpgsql security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  wrong record;
begin
  perform private.hold_budgets(array(select distinct workspace_id from added order by 1));
  perform 1 from public.messages as m join added as a on a.workspace_id = m.workspace_id and a.message_id = m.id
  order by m.workspace_id, m.id, m.part for update of m;
  select a.message_id, found_now.stored, found_now.is_void into wrong
  from added as a
  cross join lateral (
    select count(*) as stored, bool_or(m.voids is not null) as is_void,
      case when bool_or(m.type = 'subscription' and m.details ->> 'interval' = 'year') then 12 else max(m.part) + 1 end as wanted
    from public.messages as m where m.workspace_id = a.workspace_id and m.id = a.message_id
  ) as found_now
  where found_now.stored = 0 or found_now.is_void or found_now.stored <> found_now.wanted
  limit 1;
  if wrong.stored = 0 then
    raise exception 'there is no message %', wrong.message_id using errcode = 'no_data_found';
  elsif wrong.is_void then
    raise exception 'a void cannot be voided' using errcode = 'raise_exception';
  elsif wrong.stored > 0 then
    raise exception 'entries of the message were removed' using errcode = 'raise_exception';
  end if;

  update public.messages as m set voided_by = a.void_id from added as a
  where m.workspace_id = a.workspace_id and m.id = a.message_id;
  insert into public.messages
  select booked.*
  from added as a
  join public.messages as m on m.workspace_id = a.workspace_id and m.id = a.message_id
  cross join lateral private.book_open(jsonb_populate_record(m, jsonb_build_object(
    'id', a.void_id, 'voids', m.id, 'voided_by', null, 'created_at', a.created_at,
    'counted_at', coalesce(m.counted_at, m.created_at), 'user_id', a.user_id, 'notes', a.reason,
    'quantity', -m.quantity, 'amount_usd', -m.amount_usd, 'lines_usd', -m.lines_usd, 'original_amount', -m.original_amount,
    'list_price_usd', -m.list_price_usd, 'given_cost_usd', -m.given_cost_usd
  )), private.closed_until(a.workspace_id), private.time_zone_of(a.workspace_id)) as booked;
  perform private.count_messages(array_agg(workspace_id), array_agg(void_id)) from added having count(*) > 0;
  return null;
end
$$;

-- Adds the postings of voids or corrections to every sum, as those of other messages are added when they are recorded.
create or replace function private.count_messages(workspaces uuid[], ids uuid[])
returns void
language plpgsql security definer set search_path = '' set timezone = 'UTC' set plan_cache_mode = force_generic_plan
as $$
declare
  changes public.daily_spend[];
  budgeted private.budget_posting[];
begin
  with posted as (
    select *, private.sign_of(voids) as sign from public.messages
    where (workspace_id, id) in (select * from unnest(workspaces, ids))
  ), per_key as (
    insert into public.key_spend as spend (workspace_id, api_key_id, month, amount_usd, message_count)
    select workspace_id, api_key_id, date_trunc('month', coalesce(counted_at, created_at))::date, sum(amount_usd),
      coalesce(sum(sign) filter (where part = 0), 0)
    from posted
    where api_key_id is not null
    group by 1, 2, 3
    on conflict (workspace_id, api_key_id, month) do update
      set amount_usd = spend.amount_usd + excluded.amount_usd,
          message_count = spend.message_count + excluded.message_count
  )
  select array_agg(row(
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )::public.daily_spend), (
    select array_agg(row(
      workspace_id, environment, occurred_at, type, amount_usd, project_id, api_key_id, provider, model, feature, end_user, tags
    )::private.budget_posting)
    from posted
    where exists (select from public.budgets where budgets.workspace_id = posted.workspace_id)
  ) into changes, budgeted
  from (
    select place.workspace_id, place.day, project_id, api_key_id, type, provider, model, feature, source, environment,
      end_user, tags, sum(side * amount_usd) as amount_usd,
      coalesce(sum(side * sign) filter (where part = 0), 0) as message_count,
      sum(side * sign) as item_count,
      coalesce(sum(side * sign) filter (where cost_status = 'unpriced'), 0) as unpriced_count,
      coalesce(sum(side * list_price_usd), 0) as included_usd
    from posted
    cross join lateral private.places_of(posted.workspace_id, occurred_at) as place (workspace_id, day, side)
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
  ) as sums;
  perform private.add_daily_spend(changes);
  if budgeted is not null then
    perform private.add_budget_spend(budgeted);
  end if;
end
$$;

-- Records the replacements of messages that were voided in this transaction.
-- corrections: [{ workspace_id, message_id, postings: rows of `messages` }]
create or replace function private.record_corrections(corrections jsonb)
returns void
language plpgsql security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  voided integer;
begin
  update public.message_voids as v set corrected_by = (c.postings -> 0 ->> 'id')::uuid
  from jsonb_to_recordset(corrections) as c (workspace_id uuid, message_id uuid, postings jsonb)
  where v.workspace_id = c.workspace_id and v.message_id = c.message_id and v.corrected_by is null
    and v.xmin::text = pg_current_xact_id_if_assigned()::xid::text;
  get diagnostics voided = row_count;
  if voided <> jsonb_array_length(corrections) then
    raise exception 'the message was not voided in this transaction' using errcode = 'raise_exception';
  end if;
  insert into public.messages
  select booked.*
  from jsonb_to_recordset(corrections) as c (workspace_id uuid, message_id uuid, postings jsonb)
  cross join lateral (
    select m.api_key_id, m.environment, m.source, m.emitter, m.counted_at, m.created_at from public.messages as m
    where m.workspace_id = c.workspace_id and m.id = c.message_id
    order by m.part limit 1
  ) as original
  cross join lateral jsonb_array_elements(c.postings) as posting
  cross join lateral private.book_open(jsonb_populate_record(null::public.messages, '{"part": 0}' || posting || jsonb_build_object(
    'workspace_id', c.workspace_id, 'api_key_id', original.api_key_id, 'environment', original.environment,
    'source', original.source, 'emitter', coalesce(posting ->> 'emitter', original.emitter), 'user_id', auth.uid(),
    'counted_at', coalesce(original.counted_at, original.created_at)
  )), private.closed_until(c.workspace_id), private.time_zone_of(c.workspace_id)) as booked;
  perform private.sum_lines(array_agg(c.workspace_id), array_agg((c.postings -> 0 ->> 'id')::uuid)),
    private.count_messages(array_agg(c.workspace_id), array_agg((c.postings -> 0 ->> 'id')::uuid))
  from jsonb_to_recordset(corrections) as c (workspace_id uuid, postings jsonb)
  having count(*) > 0;
end
$$;

-- Records messages again under new ids, with every sum that they are part of. They count for the same keys as before. Those of a closed
-- month are booked as adjustments of it.
--
-- change: what is different: { project_id, feature (null for none), tags: added as `name:value`, untagged: names of tags that are
--   removed, factor: the amounts are multiplied by it }; a member that is missing changes nothing
create or replace function private.copy_messages(workspace uuid, ids uuid[], new_ids uuid[], change jsonb)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC' set plan_cache_mode = force_generic_plan
as $$
declare
  factor constant numeric := (change ->> 'factor')::numeric;
  tagged constant text[] := array(select jsonb_array_elements_text(change -> 'tags'));
  untagged constant text[] := array(select jsonb_array_elements_text(change -> 'untagged'))
    || array(select split_part(tag, ':', 1) from unnest(tagged) as tag);
begin
  insert into public.messages
  select booked.*
  from unnest(ids, new_ids) as copy (id, new_id)
  join public.messages as m on m.workspace_id = workspace and m.id = copy.id
  cross join lateral private.book_open(jsonb_populate_record(m, jsonb_build_object(
    'id', copy.new_id, 'created_at', date_trunc('milliseconds', clock_timestamp()), 'voids', null, 'voided_by', null,
    'counted_at', coalesce(m.counted_at, m.created_at), 'user_id', auth.uid(),
    'project_id', coalesce((change ->> 'project_id')::uuid, m.project_id),
    'feature', case when change ? 'feature' then change ->> 'feature' else m.feature end,
    'tags', nullif(array(
      select tag from unnest(m.tags || tagged) with ordinality as of (tag, place)
      where place > coalesce(cardinality(m.tags), 0) or split_part(tag, ':', 1) <> all (untagged)
      order by tag collate "C"
    ), '{}')
  ) || case when factor is null then '{}' else jsonb_build_object(
    'amount_usd', round(m.amount_usd * factor, 18), 'lines_usd', round(m.lines_usd * factor, 18),
    'original_amount', m.original_amount * factor,
    'cost_status', case m.cost_status when 'converted' then 'converted' else 'client' end,
    'price', case m.cost_status when 'converted' then m.price end
  ) end), private.closed_until(workspace), private.time_zone_of(workspace)) as booked;
  if factor is not null then
    perform private.sum_lines(array_fill(workspace, array[cardinality(new_ids)]), new_ids);
  end if;
  perform private.count_messages(array_fill(workspace, array[cardinality(new_ids)]), new_ids);
end
$$;

-- What messages that this transaction added, voids among them, do to sums, budgets and alerts; for the preview of an action.
--
-- returns: {
--   projects: [{ slug, name, environment, days: [{ day, before_usd, after_usd }] }], what the projects cost on each day;
--   budgets: [{ id, name, from, until, limit_usd, before_usd, after_usd }], a row a period;
--   alerts: [{ budget, percent, threshold_usd }], those that are raised
-- }, money as exact text
create or replace function private.effects_of_messages(workspace uuid, added uuid[])
returns jsonb
language plpgsql stable security definer set search_path = '' set timezone = 'UTC'
as $$
begin
  return jsonb_build_object(
    'projects', coalesce((
      select jsonb_agg(jsonb_build_object('slug', p.slug, 'name', p.name, 'environment', by_project.environment, 'days', by_project.days)
        order by p.name, p.slug, by_project.environment)
      from (
        select changed.project_id, changed.environment, jsonb_agg(jsonb_build_object(
          'day', changed.day, 'before_usd', trim_scale(total.usd - changed.usd)::text, 'after_usd', trim_scale(total.usd)::text
        ) order by changed.day) as days
        from (
          select m.project_id, m.environment, private.local_time(m.occurred_at, private.time_zone_of(workspace))::date as day,
            sum(m.amount_usd) as usd
          from public.messages as m
          where m.workspace_id = workspace and m.id = any (added)
          group by 1, 2, 3
          having sum(m.amount_usd) <> 0
        ) as changed
        cross join lateral (
          select coalesce(sum(t.amount_usd), 0) as usd from public.daily_totals as t
          where t.workspace_id = workspace and t.environment = changed.environment and t.dimension = 'project'
            and t.day = changed.day and t.value = changed.project_id::text
        ) as total
        group by 1, 2
      ) as by_project
      join public.projects as p on p.workspace_id = workspace and p.id = by_project.project_id
    ), '[]'),
    'budgets', coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', b.id, 'name', b.name, 'from', found.period -> 'from', 'until', found.period -> 'until',
        'limit_usd', found.period -> 'limit_usd', 'before_usd', trim_scale(spend.usd - changed.usd)::text,
        'after_usd', trim_scale(spend.usd)::text
      ) order by b.name, b.id, changed.first_day)
      from private.budget_changes(workspace, added) as changed
      join public.budgets as b on b.workspace_id = workspace and b.id = changed.budget_id
      cross join lateral private.budget_periods(b, changed.at) as found
      cross join lateral (
        select coalesce(sum(s.spent_usd), 0) as usd from public.budget_spend as s
        where s.workspace_id = workspace and s.budget_id = b.id and s.environment = 'live' and s.period_from = changed.first_day
      ) as spend
    ), '[]'),
    'alerts', coalesce((
      select jsonb_agg(jsonb_build_object(
        'budget', a.details -> 'budget', 'percent', a.details -> 'percent', 'threshold_usd', a.details -> 'threshold_usd'
      ) order by a.number)
      from public.alerts as a
      where a.workspace_id = workspace and a.rule = 'budget_threshold' and not a.is_quiet
        and a.xmin::text = pg_current_xact_id_if_assigned()::xid::text
    ), '[]')
  );
end
$$;

drop function private.book_open(public.messages, date);
