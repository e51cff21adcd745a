-- The next postings that a correction may change, in the order of their messages, locked for the caller: as many as asked
-- for, and the rest of the last one's message, so that no message is corrected in two steps.
create or replace function private.lock_repriceable(workspace uuid, repricing uuid, at_most integer)
returns setof public.messages
language plpgsql volatile security definer set search_path = ''
as $$
declare
  job public.repricings;
begin
  select * into job from public.repricings where workspace_id = workspace and id = repricing;
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
      and line.occurred_at >= coalesce(job.cursor_at, job.from_at) and line.occurred_at < job.to_at
    order by head.occurred_at, head.id
    fetch first at_most rows with ties
    for update of line;
  else
    return query
    select m.*
    from public.messages as m
    where m.workspace_id = workspace and m.cost_status = 'unpriced'
      and m.occurred_at >= coalesce(job.cursor_at, job.from_at) and m.occurred_at < job.to_at
      and (job.cursor_at is null or (m.occurred_at, m.id) > (job.cursor_at, job.cursor_id))
      and m.type in ('usage', 'batch')
      and lower(m.provider) = lower(job.provider)
    order by m.occurred_at, m.id
    fetch first at_most rows with ties
    for update of m;
  end if;
end
$$;

-- Changes what postings cost and, in the same transaction, the sums they are part of.
-- changes: [{ id, part, occurred_at, amount_usd, cost_status, price }]. Returns the change of the total, USD.
create or replace function private.apply_repricing(workspace uuid, changes jsonb)
returns numeric
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  per_day public.daily_spend[];
  total numeric;
begin
  with change as (
    select id, part, occurred_at, amount_usd, cost_status, price
    from jsonb_to_recordset(changes)
      as c (id uuid, part smallint, occurred_at timestamptz, amount_usd numeric, cost_status text, price jsonb)
  ), difference as (
    select m.workspace_id, m.occurred_at, m.created_at, m.project_id, m.api_key_id, m.type, m.provider, m.model, m.feature,
      m.source, m.environment, c.amount_usd - m.amount_usd as amount_usd,
      (c.cost_status = 'unpriced')::int - (m.cost_status = 'unpriced')::int as unpriced_count
    from public.messages as m
    join change as c using (id, part, occurred_at)
    where m.workspace_id = workspace
  ), updated as (
    update public.messages as m
    set amount_usd = c.amount_usd, cost_status = c.cost_status, price = c.price
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
        amount_usd, 0, 0, unpriced_count
      )::public.daily_spend)
      from (
        select workspace_id, occurred_at::date as day, project_id, api_key_id, type, provider, model, feature, source,
          environment, sum(amount_usd) as amount_usd, sum(unpriced_count) as unpriced_count
        from difference
        group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
      ) as sums
    ),
    (select coalesce(sum(amount_usd), 0) from difference)
  into per_day, total;
  perform private.add_daily_spend(per_day);
  return total;
end
$$;
