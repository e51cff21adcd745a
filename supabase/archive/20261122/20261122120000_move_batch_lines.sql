-- A line of a batch becomes a posting: part 0 to n-1 of its message, where the ledger had one row with its lines as JSON.
-- This is the means to move what is stored. Those who migrate call it again and again before the next migration, so that
-- no transaction is long and nothing is lost where one is cut off; the next migration moves whatever is left.

-- How far each month has come: the message that was looked at last.
create table private.batch_moves (
  month date primary key,
  workspace_id uuid not null default '00000000-0000-0000-0000-000000000000',
  message_id uuid not null default '00000000-0000-0000-0000-000000000000',
  is_done boolean not null default false
);
alter table private.batch_moves enable row level security;

insert into private.batch_moves (month)
select to_date(right(c.relname, 7), 'YYYY_MM')
from pg_catalog.pg_inherits as i join pg_catalog.pg_class as c on c.oid = i.inhrelid
where i.inhparent = 'public.messages'::regclass;

-- Nothing is served while the database is migrated. Without these indexes the lines cost one entry each; the ones that
-- come in their place are of a message's first posting alone.
drop index public.messages_recent_idx, public.messages_project_recent_idx, public.messages_unpriced_idx;

-- Looks at so many messages of a month, or at fewer that have as many lines, and moves the lines of those that are batches.
-- When a month is through, it counts the postings of its other messages and makes the month's new indexes. Returns how
-- many messages it has looked at, 1 at least; 0 when every month is through.
create function private.move_batch_lines(at_most integer)
returns integer
language plpgsql volatile set search_path = '' set timezone = 'UTC'
as $$
declare
  place private.batch_moves;
  message record;
  workspaces uuid[] := '{}';
  batches uuid[] := '{}';
  seen integer := 0;
  moved integer := 0;
begin
  select * into place from private.batch_moves where not is_done order by month limit 1 for update;
  if not found then
    return 0;
  end if;

  for message in
    select m.workspace_id, m.id, m.items
    from public.messages as m
    where m.occurred_at >= place.month and m.occurred_at < place.month + interval '1 month'
      and (m.workspace_id, m.id) > (place.workspace_id, place.message_id)
    order by m.workspace_id, m.id
    limit at_most
  loop
    seen := seen + 1;
    place.workspace_id := message.workspace_id;
    place.message_id := message.id;
    continue when message.items is null;
    workspaces := workspaces || message.workspace_id;
    batches := batches || message.id;
    moved := moved + jsonb_array_length(message.items);
    exit when moved >= at_most;
  end loop;

  insert into public.messages (
    workspace_id, id, part, occurred_at, created_at, project_id, api_key_id, user_id, type, source, environment, provider,
    batch_id, model, feature, unit_type, quantity, amount_usd, cost_status, price, details
  )
  select m.workspace_id, m.id, line.number - 1, m.occurred_at, m.created_at, m.project_id, m.api_key_id, m.user_id, m.type,
    m.source, m.environment, m.provider, m.batch_id, line.model, line.feature, line.unit_type, line.quantity,
    line.amount_usd, line.cost_status, line.price, case when coalesce(line.cached, line.request) is not null then
      jsonb_strip_nulls(jsonb_build_object('cached_quantity', line.cached, 'request_input_tokens', line.request)) end
  from unnest(workspaces, batches) as batch (workspace_id, id)
  join public.messages as m on m.workspace_id = batch.workspace_id and m.id = batch.id
  cross join rows from (
    jsonb_to_recordset(m.items) as (
      model text, feature text, unit_type text, quantity numeric, amount_usd numeric, cost_status text, price jsonb,
      cached_quantity jsonb, request_input_tokens jsonb
    )
  ) with ordinality
    as line (model, feature, unit_type, quantity, amount_usd, cost_status, price, cached, request, number)
  where m.occurred_at >= place.month and m.occurred_at < place.month + interval '1 month' and line.number > 1;

  -- What is said of the batch as a whole stays with its first line.
  update public.messages as m
  set model = line.model, feature = line.feature, unit_type = line.unit_type, quantity = line.quantity,
      amount_usd = line.amount_usd, cost_status = line.cost_status, price = line.price, details = line.details, items = null
  from (
    select stored.workspace_id, stored.id, stored.occurred_at, first.*,
      case when coalesce(first.cached_quantity, first.request_input_tokens) is not null then
        jsonb_strip_nulls(jsonb_build_object(
          'cached_quantity', first.cached_quantity, 'request_input_tokens', first.request_input_tokens
        )) end as details
    from unnest(workspaces, batches) as batch (workspace_id, id)
    join public.messages as stored on stored.workspace_id = batch.workspace_id and stored.id = batch.id
    cross join jsonb_to_record(stored.items -> 0) as first (
      model text, feature text, unit_type text, quantity numeric, amount_usd numeric, cost_status text, price jsonb,
      cached_quantity jsonb, request_input_tokens jsonb
    )
    where stored.occurred_at >= place.month and stored.occurred_at < place.month + interval '1 month'
      and stored.items is not null
  ) as line
  where m.workspace_id = line.workspace_id and m.id = line.id and m.part = 0 and m.occurred_at = line.occurred_at
    and m.occurred_at >= place.month and m.occurred_at < place.month + interval '1 month';

  if seen < at_most and moved < at_most then
    perform private.finish_batch_month(place.month);
    place.is_done := true;
  end if;
  update private.batch_moves
  set workspace_id = place.workspace_id, message_id = place.message_id, is_done = place.is_done
  where month = place.month;
  return greatest(seen, 1);
end
$$;

-- `item_count` is a count of postings from now on, and so of both of an allocation and of a yearly charge's in their
-- months. Of batches it was one of lines already. Added is what is lacking, so that a second time adds nothing.
create function private.finish_batch_month(month date)
returns void
language plpgsql volatile set search_path = '' set timezone = 'UTC'
as $$
declare
  partition_name text := 'messages_' || to_char(month, 'YYYY_MM');
begin
  insert into public.daily_spend as daily (
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count
  )
  select workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment, 0, 0, sum(items), 0
  from (
    select workspace_id, occurred_at::date as day, project_id, api_key_id, type, provider, model, feature, source,
      environment, 1 as items
    from public.messages
    where occurred_at >= month and occurred_at < month + interval '1 month' and type in ('allocation', 'subscription')
    union all
    select workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment, -item_count
    from public.daily_spend
    where day >= month and day < month + interval '1 month' and type in ('allocation', 'subscription')
  ) as sides
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  having sum(items) <> 0
  order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  on conflict on constraint daily_spend_key do update set item_count = daily.item_count + excluded.item_count;

  -- Made month by month; the next migration makes them those of the whole ledger.
  execute format(
    'create index if not exists %I on private.%I (workspace_id, occurred_at desc, id desc) where part = 0 or type <> ''batch''',
    partition_name || '_recent_idx', partition_name
  );
  execute format(
    'create index if not exists %I on private.%I (workspace_id, project_id, occurred_at desc, id desc)
     where part = 0 or type <> ''batch''',
    partition_name || '_project_recent_idx', partition_name
  );
  execute format(
    'create index if not exists %I on private.%I (workspace_id, occurred_at, id) where cost_status = ''unpriced''',
    partition_name || '_unpriced_idx', partition_name
  );
end
$$;

revoke all on function private.move_batch_lines(integer), private.finish_batch_month(date) from public;
