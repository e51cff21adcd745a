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
