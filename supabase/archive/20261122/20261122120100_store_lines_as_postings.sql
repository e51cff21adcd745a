-- Repeat until 0: select private.move_batch_lines(10000)
--
-- The lines of batches are postings from here on, and `items` is gone. Whoever applies this without repeating that first
-- has it all moved here, in one transaction.
lock table public.messages in access exclusive mode;

-- What came in since, from a process of the version before that nobody has stopped.
insert into private.batch_moves (month)
select distinct date_trunc('month', occurred_at at time zone 'UTC')::date from public.messages where items is not null
on conflict (month) do update
  set is_done = false, workspace_id = excluded.workspace_id, message_id = excluded.message_id;

do $$
begin
  while private.move_batch_lines(10000) > 0 loop
  end loop;
end
$$;

drop function private.move_batch_lines(integer), private.finish_batch_month(date);
drop table private.batch_moves;
alter table public.messages drop column items;
comment on column public.messages.part is
  'Parts 0 to n-1 share the id of their message and sum to its amount: the two sides of an allocation, the months of a yearly charge, the lines of a batch.';

-- Lists show a batch as one row and find it by its first line; its other lines are read by its id, which is what the
-- primary key is for. So a line costs no more than an entry there, and a list passes over a batch of 1,000 lines in one
-- step.
create index messages_recent_idx on public.messages (workspace_id, occurred_at desc, id desc)
  where part = 0 or type <> 'batch';
create index messages_project_recent_idx on public.messages (workspace_id, project_id, occurred_at desc, id desc)
  where part = 0 or type <> 'batch';
-- Every line counts here: a correction finds what it has to correct, and a list whether a batch has any of it.
create index messages_unpriced_idx on public.messages (workspace_id, occurred_at, id) where cost_status = 'unpriced';
