-- The correction of what was recorded at other prices.

-- A correction of the cost of messages after a price was set. A job processes a few hundred messages per transaction, in
-- any process; the cursor stores its progress.
create table public.repricings (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  provider text not null,
  from_at timestamptz not null
    constraint repricings_from_at_is_a_moment
    check (from_at >= '0001-01-01T00:00:00Z' and from_at < '10000-01-01T00:00:00Z'),
  -- A correction may have no end.
  to_at timestamptz not null default 'infinity'
    constraint repricings_to_at_is_a_moment
    check (to_at >= '0001-01-01T00:00:00Z' and (to_at < '10000-01-01T00:00:00Z' or to_at = 'infinity')),
  -- False: only messages without a price. True: also messages with one, but never those with the client's own cost.
  includes_priced boolean not null default false,
  requested_by uuid default auth.uid(),
  requested_by_email text default auth.email(),
  status text not null default 'pending' check (status in ('pending', 'running', 'done')),
  examined_count bigint not null default 0,
  changed_count bigint not null default 0,
  change_usd numeric not null default 0,
  cursor_at timestamptz,
  cursor_id uuid,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (workspace_id, id)
);

create index repricings_open_idx on public.repricings (created_at) where status <> 'done';

alter table public.repricings enable row level security;
revoke all on public.repricings from anon, authenticated, service_role;
grant select on public.repricings to authenticated;
grant all on public.repricings to service_role;
grant insert (workspace_id, provider, from_at, to_at, includes_priced) on public.repricings to authenticated;

create policy "A member reads the repricings of their workspaces"
  on public.repricings for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "An admin asks for a correction in their workspaces"
  on public.repricings for insert to authenticated
  with check (
    workspace_id in (select private.member_workspaces(array['owner', 'admin']))
    and requested_by = (select auth.uid())
    and requested_by_email is not distinct from (select auth.email())
  );

-- The oldest correction that no process is working on, locked for the caller.
create function private.lock_next_repricing()
 returns setof public.repricings
 language sql
 security definer
 set search_path = ''
as $$
  select * from public.repricings as r
  where status <> 'done'
    and not exists (select from public.workspaces as w where w.id = r.workspace_id and w.deleted_at is not null)
  order by created_at, id
  limit 1
  for update skip locked
$$;
grant execute on function private.lock_next_repricing() to outlay_service, service_role;

-- The next postings that a correction may change, in the order of their messages, locked for the caller: as many as asked
-- for, and the rest of the last one's message, so that no message is corrected in two steps. What is booked in a closed month stays
-- as it is. What was voided does, too,
-- and its void: the update that voids a posting makes a correction that waits for it look again.
create function private.lock_repriceable(workspace uuid, repricing uuid, at_most integer)
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
grant execute on function private.lock_repriceable(uuid, uuid, integer) to outlay_service, service_role;

-- Changes what postings cost and, in the same transaction, the sums they are part of.
-- changes: [{ id, part, occurred_at, amount_usd, cost_status, price, list_price_usd }]. Returns the change of the total, USD.
create function private.apply_repricing(workspace uuid, changes jsonb)
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
grant execute on function private.apply_repricing(uuid, jsonb) to outlay_service, service_role;

-- Stores the progress of a correction; when it is done, adds an entry to the audit log.
create function private.advance_repricing(
  workspace uuid, repricing uuid, examined integer, changed integer, change numeric, at_moment timestamptz, at_id uuid, is_done boolean
)
returns void
language sql volatile security definer set search_path = ''
as $$
  with advanced as (
    update public.repricings
    set status = case when is_done then 'done' else 'running' end,
        finished_at = case when is_done then now() end,
        examined_count = examined_count + examined,
        changed_count = changed_count + changed,
        change_usd = change_usd + change,
        cursor_at = coalesce(at_moment, cursor_at),
        cursor_id = coalesce(at_id, cursor_id)
    where workspace_id = workspace and id = repricing
    returning *
  )
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, after)
  select workspace_id, requested_by, requested_by_email, 'messages.repriced', 'repricing ' || id, jsonb_build_object(
    'provider', provider, 'from', from_at, 'includes_priced', includes_priced,
    'examined', examined_count, 'changed', changed_count, 'change_usd', trim_scale(change_usd)
  )
  from advanced where is_done
$$;
grant execute on function private.advance_repricing(uuid, uuid, integer, integer, numeric, timestamp with time zone, uuid, boolean) to outlay_service, service_role;

-- The usage without a price, of all workspaces.
create function private.unpriced_usage()
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
grant execute on function private.unpriced_usage() to outlay_service, service_role;
