-- Everything that is recorded or corrected counts towards its budgets in the same transaction. What no budget can ask for
-- costs one look into an index.

-- Writes admitted messages with everything that must be true at the same moment: their projects, the sums, the keys'
-- spend and the answers to their idempotency keys. One transaction, always in this order.
--
-- messages: [{ column: value }], the postings, without the columns that `shared` has and without those that are null.
-- shared: { column: value }, what all of them have in common.
-- Raises serialization_failure (40001) where another process was first with a project or an idempotency key; the caller
-- then loads again and decides again.
create or replace function private.store_messages(projects jsonb, messages jsonb, replays jsonb, shared jsonb default '{}'::jsonb)
 returns void
 language plpgsql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
 set plan_cache_mode to 'force_generic_plan'
as $function$
declare
  written integer;
  common public.messages := jsonb_populate_record(null::public.messages, '{"part": 0}' || shared);
  changes public.daily_spend[];
  budgeted private.budget_posting[];
begin
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
    insert into private.idempotency (workspace_id, environment, key, message_id, request, response, created_at)
    select workspace_id, request ->> 'environment', key, message_id, request, response, created_at
    from jsonb_to_recordset(replays)
      as r (workspace_id uuid, key text, message_id uuid, request jsonb, response jsonb, created_at timestamptz)
    order by workspace_id, request ->> 'environment', key
    on conflict (workspace_id, key, environment) do nothing;
    get diagnostics written = row_count;
    if written <> jsonb_array_length(replays) then
      raise exception 'another request used the idempotency key first' using errcode = 'serialization_failure';
    end if;
  end if;

  with stored as (
    insert into public.messages
    select * from jsonb_populate_recordset(common, messages)
    returning workspace_id, part, occurred_at, created_at, project_id, api_key_id, type, provider, model, feature, source,
      environment, amount_usd, cost_status, end_user, tags, list_price_usd
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
  ) into changes, budgeted
  from (
    select
      workspace_id, occurred_at::date as day, project_id, api_key_id, type, provider, model, feature, source, environment,
      end_user, tags,
      sum(amount_usd) as amount_usd,
      -- A message counts once, on its first posting.
      count(*) filter (where part = 0) as message_count,
      count(*) as item_count,
      count(*) filter (where cost_status = 'unpriced') as unpriced_count,
      coalesce(sum(list_price_usd), 0) as included_usd
    from stored
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
  ) as sums;
  perform private.add_daily_spend(changes);
  if budgeted is not null then
    perform private.add_budget_spend(budgeted);
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
    select m.workspace_id, m.occurred_at, m.created_at, m.project_id, m.api_key_id, m.type, m.provider, m.model, m.feature,
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
        select workspace_id, occurred_at::date as day, project_id, api_key_id, type, provider, model, feature, source,
          environment, end_user, tags, sum(amount_usd) as amount_usd, sum(unpriced_count) as unpriced_count,
          sum(included_usd) as included_usd
        from difference
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
  perform private.add_daily_spend(per_day);
  if budgeted is not null then
    perform private.add_budget_spend(budgeted);
  end if;
  return total;
end
$function$;

-- The budgets of before this migration count from their present period on. What is being recorded is waited for, and what
-- comes later is counted by the functions above.
select pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace_id, 0))
from (select distinct workspace_id from public.budgets order by workspace_id) as budgeted;
alter table public.budgets disable trigger budgets_are_audited;
update public.budgets as b set counted_from = private.budget_period(b, clock_timestamp());
alter table public.budgets enable trigger budgets_are_audited;
delete from public.budget_spend;
select private.count_budget(b) from public.budgets as b;
select private.alert_on_budgets(array[workspace_id], array[id], true) from public.budgets;
alter table public.budgets alter column counted_from set not null;
