-- As before, and by way of `private.add_daily_spend`.
--
-- Changes what messages cost and, in the same transaction, the sums they are part of.
-- changes: [{ id, occurred_at, amount_usd, cost_status, price, items }]. Returns the change of the total, USD.
create or replace function private.apply_repricing(workspace uuid, changes jsonb)
returns numeric
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  per_day public.daily_spend[];
  total numeric;
begin
  with change as (
    select id, occurred_at, amount_usd, cost_status, price, items
    from jsonb_to_recordset(changes)
      as c (id uuid, occurred_at timestamptz, amount_usd numeric, cost_status text, price jsonb, items jsonb)
  ), before as (
    select m.* from public.messages as m
    join change using (id, occurred_at)
    where m.workspace_id = workspace and m.part = 0
  ), updated as (
    update public.messages as m
    set amount_usd = change.amount_usd, cost_status = change.cost_status, price = change.price, items = change.items
    from change
    where m.workspace_id = workspace and m.id = change.id and m.occurred_at = change.occurred_at and m.part = 0
  ), entry as (
    select b.id, -1 as side, b.amount_usd, b.cost_status, b.items from before as b
    union all
    select c.id, 1, c.amount_usd, c.cost_status, c.items from change as c
  ), sums as (
    select
      b.workspace_id, b.occurred_at::date as day, b.project_id, b.api_key_id, b.type, b.provider,
      case when e.items is null then b.model else line.model end as model,
      case when e.items is null then b.feature else line.feature end as feature,
      b.source, b.environment,
      sum(e.side * case when e.items is null then e.amount_usd else line.amount_usd end) as amount_usd,
      sum(e.side * (case when e.items is null then e.cost_status else line.cost_status end = 'unpriced')::int)
        as unpriced_count
    from entry as e
    join before as b on b.id = e.id
    left join lateral jsonb_to_recordset(e.items)
      as line (model text, feature text, amount_usd numeric, cost_status text) on true
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  ), per_key as (
    insert into public.key_spend as spend (workspace_id, api_key_id, month, amount_usd, message_count)
    select b.workspace_id, b.api_key_id, date_trunc('month', b.created_at)::date, sum(e.side * e.amount_usd), 0
    from entry as e
    join before as b on b.id = e.id
    where b.api_key_id is not null
    group by 1, 2, 3
    order by 1, 2, 3
    on conflict (workspace_id, api_key_id, month) do update set amount_usd = spend.amount_usd + excluded.amount_usd
  )
  select
    (
      select array_agg(row(
        workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
        amount_usd, 0, 0, unpriced_count
      )::public.daily_spend)
      from sums
    ),
    (select coalesce(sum(side * amount_usd), 0) from entry)
  into per_day, total;
  perform private.add_daily_spend(per_day);
  return total;
end
$$;
