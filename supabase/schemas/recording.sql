-- How messages that were admitted are recorded: the postings and their sums.

-- What projects have spent in ranges of days, for allocations: no allocation may move more than its source has spent in
-- that month. So the caller locks the source, environment and month until its transaction ends, and the next caller sees
-- what it moved. The locks are taken in one order, after the keys' locks and before any row is written.
--
-- What is booked as an adjustment of a closed month counts for the days that it adjusts, as an allocation of these does.
--
-- In plpgsql and volatile: each statement has its own snapshot, and that of the second is taken under the locks.
--
-- wanted: [{ workspace_id, project_id, environment, from, until }] → [{ …, amount_usd }]
create function private.load_project_spend(wanted jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  spend jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.allocations.' || source, 0))
  from (
    select distinct concat_ws(' ', workspace_id, project_id, environment, date_trunc('month', "from")::date) as source
    from jsonb_to_recordset(wanted) as w (workspace_id uuid, project_id uuid, environment text, "from" date)
    order by 1
  ) as sources;

  select coalesce(jsonb_agg(jsonb_build_object(
    'project_id', w.project_id, 'environment', w.environment, 'from', w.from, 'until', w.until,
    'amount_usd', (coalesce((
      select sum(d.amount_usd) from public.daily_spend as d
      where d.workspace_id = w.workspace_id and d.project_id = w.project_id and d.environment = w.environment
        and d.day >= w.from and d.day < w.until
    ), 0) + coalesce((
      select sum(m.amount_usd * (
        private.is_on_days(m.adjusts, of.zone, w.from, w.until)::int - private.is_on_days(m.occurred_at, of.zone, w.from, w.until)::int
      ))
      from public.messages as m cross join (select private.time_zone_of(w.workspace_id) as zone) as of
      where m.workspace_id = w.workspace_id and m.project_id = w.project_id and m.environment = w.environment
        and m.adjusts is not null
    ), 0))::text
  )), '[]') into spend
  from (
    select distinct * from jsonb_to_recordset(wanted)
      as w (workspace_id uuid, project_id uuid, environment text, "from" date, until date)
  ) as w;
  return spend;
end
$$;
grant execute on function private.load_project_spend(jsonb) to outlay_service, service_role;

-- Writes admitted messages with everything that must be true at the same moment: their projects, the sums, the keys'
-- spend and the answers to their idempotency keys. One transaction, always in this order.
--
-- messages: [[{ column: value }]], the postings in groups, without the columns that `shared` has and without those that are null.
-- shared: [{ column: value }], what the postings of each group have in common. Instead of both, one group: [{ column: value }]
-- and an object.
-- replays: [{ workspace_id, keys, message_id, request, response, created_at }], each with the keys that have the same answer.
-- Raises serialization_failure (40001) where another process was first with a project or an idempotency key; the caller
-- then loads again and decides again.
create function private.store_messages(projects jsonb, messages jsonb, replays jsonb, shared jsonb default '{}')
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
      place.workspace_id, place.day, project_id, api_key_id, type, provider, model, feature, source, environment,
      end_user, tags,
      sum(side * amount_usd) as amount_usd,
      -- A message counts once, on its first posting.
      coalesce(sum(side) filter (where part = 0), 0) as message_count,
      sum(side) as item_count,
      coalesce(sum(side) filter (where cost_status = 'unpriced'), 0) as unpriced_count,
      coalesce(sum(side * list_price_usd), 0) as included_usd
    from stored
    cross join lateral private.places_of(stored.workspace_id, occurred_at) as place (workspace_id, day, side)
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
grant execute on function private.store_messages(jsonb, jsonb, jsonb, jsonb) to outlay_service, service_role;
