-- Messages with lines keep the sum of their lines, so that an index can sort messages by amount.
alter table public.messages add column lines_usd numeric;
comment on column public.messages.lines_usd is 'Of the first line of several: what all of them cost.';

-- Sums the lines of messages again, after their amounts have changed.
create function private.sum_lines(workspaces uuid[], ids uuid[])
returns void
language sql volatile security definer set search_path = ''
as $$
  update public.messages as m set lines_usd = entry.total
  from (
    select line.workspace_id, line.id, line.occurred_at, sum(line.amount_usd) as total
    from public.messages as line
    where (line.workspace_id, line.id) in (select * from unnest(workspaces, ids)) and line.type in ('usage', 'batch')
    group by 1, 2, 3
    having count(*) > 1 or bool_or(line.lines_usd is not null)
  ) as entry
  where m.workspace_id = entry.workspace_id and m.id = entry.id and m.part = 0 and m.occurred_at = entry.occurred_at
    and m.lines_usd is distinct from entry.total
$$;
revoke execute on function private.sum_lines(uuid[], uuid[]) from public;

create or replace function private.store_messages(projects jsonb, messages jsonb, replays jsonb, shared jsonb default '{}')
returns void
language plpgsql security definer set search_path = '' set "TimeZone" = 'UTC' set plan_cache_mode = force_generic_plan
as $$
declare
  written integer;
  first_part public.messages := jsonb_populate_record(null::public.messages, '{"part": 0}');
  changes public.daily_spend[];
  budgeted private.budget_posting[];
  -- What a version before this one recorded: it does not sum the lines of its messages.
  unsummed uuid[];
  unsummed_of uuid[];
begin
  -- Without groups, all rows are one.
  if jsonb_typeof(shared) = 'object' then
    shared := jsonb_build_array(shared);
    messages := jsonb_build_array(messages);
  end if;

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
    -- Without `on conflict`, which looks each key up twice.
    begin
      insert into private.idempotency (workspace_id, environment, key, message_id, request, response, created_at)
      select r.workspace_id, r.request ->> 'environment', named.key, r.message_id, r.request, r.response, r.created_at
      from jsonb_to_recordset(replays)
        as r (workspace_id uuid, keys text[], key text, message_id uuid, request jsonb, response jsonb, created_at timestamptz)
      -- Versions before this one name one key.
      cross join lateral unnest(coalesce(r.keys, array[r.key])) as named (key)
      order by 1, 2, 3;
    exception when unique_violation then
      raise exception 'another request used the idempotency key first' using errcode = 'serialization_failure';
    end;
  end if;

  with stored as (
    insert into public.messages
    select completed.*
    from jsonb_array_elements(shared) with ordinality as groups (common, place)
    cross join lateral jsonb_populate_recordset(
      jsonb_populate_record(first_part, groups.common), messages -> (groups.place - 1)::integer
    ) as completed
    returning workspace_id, id, part, occurred_at, created_at, project_id, api_key_id, type, provider, model, feature, source,
      environment, amount_usd, cost_status, end_user, tags, list_price_usd, lines_usd
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
  ), (select array_agg(id) from stored where part = 1 and type in ('usage', 'batch') and (select count(lines_usd) from stored) = 0),
    (select array_agg(workspace_id) from stored where part = 1 and type in ('usage', 'batch'))
  into changes, budgeted, unsummed, unsummed_of
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
  if unsummed is not null then
    perform private.sum_lines(unsummed_of, unsummed);
  end if;
end
$$;

create or replace function private.post_voids()
returns trigger
language plpgsql security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  wrong record;
begin
  perform private.hold_budgets(array(select distinct workspace_id from added order by 1));
  perform 1 from public.messages as m join added as a on a.workspace_id = m.workspace_id and a.message_id = m.id
  order by m.workspace_id, m.id, m.part for update of m;
  select a.message_id, found_now.stored, found_now.is_void into wrong
  from added as a
  cross join lateral (
    select count(*) as stored, bool_or(m.voids is not null) as is_void,
      case when bool_or(m.type = 'subscription' and m.details ->> 'interval' = 'year') then 12 else max(m.part) + 1 end as wanted
    from public.messages as m where m.workspace_id = a.workspace_id and m.id = a.message_id
  ) as found_now
  where found_now.stored = 0 or found_now.is_void or found_now.stored <> found_now.wanted
  limit 1;
  if wrong.stored = 0 then
    raise exception 'there is no message %', wrong.message_id using errcode = 'no_data_found';
  elsif wrong.is_void then
    raise exception 'a void cannot be voided' using errcode = 'raise_exception';
  elsif wrong.stored > 0 then
    raise exception 'entries of the message were removed' using errcode = 'raise_exception';
  end if;

  update public.messages as m set voided_by = a.void_id from added as a
  where m.workspace_id = a.workspace_id and m.id = a.message_id;
  insert into public.messages
  select (jsonb_populate_record(m, jsonb_build_object(
    'id', a.void_id, 'voids', m.id, 'voided_by', null, 'created_at', a.created_at,
    'counted_at', coalesce(m.counted_at, m.created_at), 'user_id', a.user_id, 'notes', a.reason,
    'quantity', -m.quantity, 'amount_usd', -m.amount_usd, 'lines_usd', -m.lines_usd, 'original_amount', -m.original_amount,
    'list_price_usd', -m.list_price_usd, 'given_cost_usd', -m.given_cost_usd
  ))).*
  from added as a
  join public.messages as m on m.workspace_id = a.workspace_id and m.id = a.message_id;
  perform private.count_messages(array_agg(workspace_id), array_agg(void_id)) from added having count(*) > 0;
  return null;
end
$$;

create or replace function private.record_corrections(corrections jsonb)
returns void
language plpgsql security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  voided integer;
begin
  update public.message_voids as v set corrected_by = (c.postings -> 0 ->> 'id')::uuid
  from jsonb_to_recordset(corrections) as c (workspace_id uuid, message_id uuid, postings jsonb)
  where v.workspace_id = c.workspace_id and v.message_id = c.message_id and v.corrected_by is null
    and v.xmin::text = pg_current_xact_id_if_assigned()::xid::text;
  get diagnostics voided = row_count;
  if voided <> jsonb_array_length(corrections) then
    raise exception 'the message was not voided in this transaction' using errcode = 'raise_exception';
  end if;
  insert into public.messages
  select (jsonb_populate_record(null::public.messages, '{"part": 0}' || posting || jsonb_build_object(
    'workspace_id', c.workspace_id, 'api_key_id', original.api_key_id, 'environment', original.environment,
    'source', original.source, 'emitter', coalesce(posting ->> 'emitter', original.emitter), 'user_id', auth.uid(),
    'counted_at', coalesce(original.counted_at, original.created_at)
  ))).*
  from jsonb_to_recordset(corrections) as c (workspace_id uuid, message_id uuid, postings jsonb)
  cross join lateral (
    select m.api_key_id, m.environment, m.source, m.emitter, m.counted_at, m.created_at from public.messages as m
    where m.workspace_id = c.workspace_id and m.id = c.message_id
    order by m.part limit 1
  ) as original
  cross join lateral jsonb_array_elements(c.postings) as posting;
  perform private.sum_lines(array_agg(c.workspace_id), array_agg((c.postings -> 0 ->> 'id')::uuid)),
    private.count_messages(array_agg(c.workspace_id), array_agg((c.postings -> 0 ->> 'id')::uuid))
  from jsonb_to_recordset(corrections) as c (workspace_id uuid, postings jsonb)
  having count(*) > 0;
end
$$;

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
  perform private.sum_lines(array_agg(workspace), array_agg(id))
  from (select distinct id from jsonb_to_recordset(changes) as c (id uuid)) as changed;
  perform private.add_daily_spend(per_day);
  if budgeted is not null then
    perform private.add_budget_spend(budgeted);
  end if;
  return total;
end
$function$;

-- Sums the lines of so many messages that were recorded before, in the months from the latest on. Returns how many it found.
create function private.sum_earlier_lines(at_most integer)
returns integer
language plpgsql security definer set search_path = ''
as $$
declare
  month regclass;
  summed integer;
begin
  for month in select inhrelid::regclass from pg_catalog.pg_inherits where inhparent = 'public.messages'::regclass order by inhrelid::regclass::text desc loop
    execute format($sql$
      with found as (
        select m.workspace_id, m.id, m.occurred_at from %1$s as m
        where m.part = 0 and m.lines_usd is null
          and (m.type = 'usage' and m.details ? 'lines' or m.type = 'batch' and exists (
            select from %1$s as line where line.workspace_id = m.workspace_id and line.id = m.id and line.part = 1
          ))
        limit %2$s
      )
      update %1$s as m set lines_usd = (
        select sum(line.amount_usd) from %1$s as line where line.workspace_id = m.workspace_id and line.id = m.id
      )
      from found where m.workspace_id = found.workspace_id and m.id = found.id and m.part = 0 and m.occurred_at = found.occurred_at
    $sql$, month, at_most);
    get diagnostics summed = row_count;
    if summed > 0 then
      return summed;
    end if;
  end loop;
  return 0;
end
$$;
revoke execute on function private.sum_earlier_lines(integer) from public;
