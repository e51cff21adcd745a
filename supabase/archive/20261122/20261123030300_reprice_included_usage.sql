-- The list price of included usage follows prices as amounts do: where none was known, a correction adds it.
--
-- The index is replaced by one that has these postings, too. As for a new index on the ledger before: built while the
-- migration runs, partition by partition.
drop index public.messages_unpriced_idx;
create index messages_unpriced_idx on public.messages (workspace_id, occurred_at, id)
  where cost_status = 'unpriced' or cost_status = 'included' and list_price_usd is null;

-- The next postings that a correction may change, in the order of their messages, locked for the caller: as many as asked
-- for, and the rest of the last one's message, so that no message is corrected in two steps.
create or replace function private.lock_repriceable(workspace uuid, repricing uuid, at_most integer)
 returns setof public.messages
 language plpgsql
 security definer
 set search_path to ''
as $function$
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
      -- What a client gave as the list price of included usage stays, as a cost that it gave does.
      and (line.cost_status <> 'included' or line.price is not null or line.list_price_usd is null)
      and line.occurred_at >= coalesce(job.cursor_at, job.from_at) and line.occurred_at < job.to_at
    order by head.occurred_at, head.id
    fetch first at_most rows with ties
    for update of line;
  else
    return query
    select m.*
    from public.messages as m
    where m.workspace_id = workspace
      and (m.cost_status = 'unpriced' or m.cost_status = 'included' and m.list_price_usd is null)
      and m.occurred_at >= coalesce(job.cursor_at, job.from_at) and m.occurred_at < job.to_at
      and (job.cursor_at is null or (m.occurred_at, m.id) > (job.cursor_at, job.cursor_id))
      and m.type in ('usage', 'batch')
      and lower(m.provider) = lower(job.provider)
    order by m.occurred_at, m.id
    fetch first at_most rows with ties
    for update of m;
  end if;
end
$function$;
