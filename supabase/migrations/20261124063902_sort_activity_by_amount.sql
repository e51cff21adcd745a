-- Repeat until 0: select private.sum_earlier_lines(50000)
-- Sums the lines of earlier messages, and makes the indexes by which activity is sorted by amount and found by session.
do $$
begin
  loop
    exit when private.sum_earlier_lines(50000) = 0;
  end loop;
end
$$;
drop function private.sum_earlier_lines(integer);

create index messages_amount_idx on public.messages (workspace_id, coalesce(lines_usd, amount_usd) desc, occurred_at desc, id desc)
  where part = 0 or type <> 'batch' and type <> 'usage';
create index messages_session_idx on public.messages (workspace_id, session, occurred_at desc)
  where session is not null and (part = 0 or type = 'batch');
