-- Past days are folded by month alone. Sums by week and slices of months by three names are dropped: every read keeps its target
-- without them, and a late cost has half as many sums to change.
drop function if exists private.months_to_slice();
drop function if exists private.claim_month_to_slice(uuid, date);
drop function if exists private.slice_month(uuid, date, integer, integer, integer);
drop function if exists private.slice_lock(uuid);
drop function if exists private.week_in_month(date);
drop table if exists public.monthly_slices;
drop table if exists public.sliced_months;
drop table if exists public.weekly_totals;

-- What processes of the version before read until they are replaced: weeks are summed from days, and no month has slices. A later
-- migration drops both views.
create or replace view public.weekly_totals with (security_invoker = true) as
  select t.workspace_id, t.environment, t.dimension,
    greatest(date_trunc('week', t.day::timestamp), date_trunc('month', t.day::timestamp))::date as first_day, t.value, t.type,
    sum(t.amount_usd) as amount_usd, sum(t.message_count) as message_count, sum(t.unpriced_count) as unpriced_count,
    sum(t.included_usd) as included_usd
  from public.daily_totals as t
  join public.spend_folds as f on f.workspace_id = t.workspace_id and t.day < f.folded_until
  group by 1, 2, 3, 4, 5, 6;
-- Processes of the version before read it during an upgrade: no month is sliced.
create or replace view public.sliced_months with (security_invoker = true) as
  select f.workspace_id, f.folded_until as month, 'changed' as state, '{}'::text[] as slices from public.spend_folds as f where false;
revoke all on public.weekly_totals, public.sliced_months from public, anon, authenticated, service_role;
grant select on public.weekly_totals, public.sliced_months to authenticated, service_role;

-- The day before which days are past: twelve hours after the day that follows them has ended. No transaction that took one for a
-- present day is still open then (see `private.add_daily_spend`).
create or replace function private.past_until(at timestamptz)
 returns date
 language sql
 stable
 set search_path to ''
return ((at - interval '12 hours') at time zone 'UTC')::date - 1;
revoke all on function private.past_until(timestamptz) from public, anon, authenticated, service_role;

-- Adds changes of the daily sums to the folded sums: those of days that are folded.
create or replace function private.add_folded_spend(changes public.daily_spend[])
 returns void
 language plpgsql
 set search_path to ''
as $function$
begin
  perform pg_advisory_xact_lock_shared(private.fold_lock(workspace_id))
  from (
    select distinct workspace_id from unnest(changes) where day < (now() at time zone 'UTC')::date - 1 order by 1
  ) as changed;
  -- Each statement sees what is committed at its beginning, so those below see what was folded before the lock was held.
  if not exists (
    select from unnest(changes) as c join public.spend_folds as f using (workspace_id) where c.day < f.folded_until
  ) then
    return;
  end if;

  insert into public.monthly_spend as kept (
    workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )
  select c.workspace_id, date_trunc('month', c.day::timestamp)::date, c.project_id, c.api_key_id, c.type, c.provider, c.model,
    c.feature, c.source, c.environment, sum(c.amount_usd), sum(c.message_count), sum(c.item_count), sum(c.unpriced_count),
    c.end_user, c.tags, sum(c.included_usd)
  from unnest(changes) as c join public.spend_folds as f using (workspace_id)
  where c.day < f.folded_until
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16
  order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16
  on conflict (
    workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment,
    (case when end_user is not null or tags is not null then private.attribution_of(end_user, tags) end)
  ) do update
    set amount_usd = kept.amount_usd + excluded.amount_usd,
        message_count = kept.message_count + excluded.message_count,
        item_count = kept.item_count + excluded.item_count,
        unpriced_count = kept.unpriced_count + excluded.unpriced_count,
        included_usd = kept.included_usd + excluded.included_usd;

  insert into public.monthly_totals as kept (
    workspace_id, environment, dimension, first_day, value, type, amount_usd, message_count, unpriced_count, included_usd
  )
  select c.workspace_id, c.environment, slice.dimension, date_trunc('month', c.day::timestamp)::date, slice.value, c.type,
    sum(c.amount_usd), sum(c.message_count), sum(c.unpriced_count), sum(c.included_usd)
  from unnest(changes) as c join public.spend_folds as f using (workspace_id)
  cross join lateral (
    values ('project', c.project_id::text), ('key', c.api_key_id::text), ('provider', c.provider), ('model', c.model),
      ('feature', c.feature)
    union all
    select 'user', c.end_user where c.end_user is not null
    union all
    select 'tag', tag from unnest(c.tags) as tag
  ) as slice (dimension, value)
  where c.day < f.folded_until
  group by 1, 2, 3, 4, 5, 6
  order by 1, 2, 3, 4, 5, 6
  on conflict on constraint monthly_totals_key do update
    set amount_usd = kept.amount_usd + excluded.amount_usd,
        message_count = kept.message_count + excluded.message_count,
        unpriced_count = kept.unpriced_count + excluded.unpriced_count,
        included_usd = kept.included_usd + excluded.included_usd;
end
$function$;

-- Folds the past days of a workspace, at most to the end of a month.
--
-- returns: the number of sums that were folded; null where there is nothing to do
create or replace function private.fold_past_days()
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
#variable_conflict use_variable
declare
  past_until date := private.past_until(now());
  workspace uuid;
  first_day date;
  until_day date;
  folded integer;
begin
  select w.id into workspace
  from public.workspaces as w
  left join public.spend_folds as f on f.workspace_id = w.id
  where w.deleted_at is null and exists (
    select from public.daily_spend as d
    where d.workspace_id = w.id and d.day >= coalesce(f.folded_until, '-infinity') and d.day < past_until
  )
  order by f.folded_until nulls first, w.id
  limit 1;
  if workspace is null then
    return null;
  end if;
  perform pg_advisory_xact_lock(private.fold_lock(workspace));
  select f.folded_until into first_day from public.spend_folds as f where f.workspace_id = workspace;
  select min(d.day) into first_day from public.daily_spend as d
  where d.workspace_id = workspace and d.day >= coalesce(first_day, '-infinity') and d.day < past_until;
  if first_day is null then
    -- Another process was first.
    return 0;
  end if;
  until_day := least(past_until, (date_trunc('month', first_day::timestamp) + interval '1 month')::date);

  insert into public.monthly_spend as kept (
    workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )
  select d.workspace_id, date_trunc('month', d.day::timestamp)::date, d.project_id, d.api_key_id, d.type, d.provider, d.model,
    d.feature, d.source, d.environment, sum(d.amount_usd), sum(d.message_count), sum(d.item_count), sum(d.unpriced_count),
    d.end_user, d.tags, sum(d.included_usd)
  from public.daily_spend as d
  where d.workspace_id = workspace and d.day >= first_day and d.day < until_day
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16
  order by 1, 10, 3, 2
  on conflict (
    workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment,
    (case when end_user is not null or tags is not null then private.attribution_of(end_user, tags) end)
  ) do update
    set amount_usd = kept.amount_usd + excluded.amount_usd,
        message_count = kept.message_count + excluded.message_count,
        item_count = kept.item_count + excluded.item_count,
        unpriced_count = kept.unpriced_count + excluded.unpriced_count,
        included_usd = kept.included_usd + excluded.included_usd;
  get diagnostics folded = row_count;

  insert into public.monthly_totals as kept (
    workspace_id, environment, dimension, first_day, value, type, amount_usd, message_count, unpriced_count, included_usd
  )
  select t.workspace_id, t.environment, t.dimension, date_trunc('month', t.day::timestamp)::date, t.value, t.type,
    sum(t.amount_usd), sum(t.message_count), sum(t.unpriced_count), sum(t.included_usd)
  from public.daily_totals as t
  where t.workspace_id = workspace and t.environment in ('live', 'test')
    and t.dimension in ('project', 'key', 'provider', 'model', 'feature', 'user', 'tag')
    and t.day >= first_day and t.day < until_day
  group by 1, 2, 3, 4, 5, 6
  -- Rows that are read together are stored together.
  order by 1, 2, 3, 4
  on conflict on constraint monthly_totals_key do update
    set amount_usd = kept.amount_usd + excluded.amount_usd,
        message_count = kept.message_count + excluded.message_count,
        unpriced_count = kept.unpriced_count + excluded.unpriced_count,
        included_usd = kept.included_usd + excluded.included_usd;

  insert into public.spend_folds (workspace_id, folded_until) values (workspace, until_day)
  on conflict (workspace_id) do update set folded_until = excluded.folded_until;
  return folded;
end
$function$;

-- Forgets the folded sums of a workspace. Its days are read one by one until they are folded again.
create or replace function private.unfold_days(workspace uuid)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform pg_advisory_xact_lock(private.fold_lock(workspace));
  delete from public.spend_folds where workspace_id = workspace;
  delete from public.monthly_spend where workspace_id = workspace;
  delete from public.monthly_totals where workspace_id = workspace;
end
$function$;

-- Goes on with the oldest erasure that no process is working on, by one step. First a day of postings with all their sums, at
-- most as many as asked for at a time; then the answers to idempotency keys, ten times as many; then what else names the person.
-- Sums of messages that were removed change as they are.
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
  changes public.daily_spend[];
  changed integer;
  last_key text;
  last_environment text;
  seen integer;
  old_json text;
  new_json text;
begin
  select * into job from public.erasures where status <> 'done' order by created_at, id limit 1 for update skip locked;
  if job.id is null then
    return null;
  end if;
  select min(day) into first_day from public.daily_spend
  where workspace_id = job.workspace_id and end_user = job.end_user;

  if first_day is not null then
    of_month := date_trunc('month', first_day)::date;
    with found as (
      select m.id, m.part, m.occurred_at from public.messages as m
      where m.workspace_id = job.workspace_id and m.end_user = job.end_user
        and m.occurred_at >= first_day and m.occurred_at < first_day + 1
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
