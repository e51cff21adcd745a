-- Voids and corrections of what was recorded.

-- The sign with which a posting counts: a void subtracts what it voids.
create function private.sign_of(voids uuid)
returns integer
language sql immutable set search_path = ''
return case when voids is null then 1 else -1 end;

-- Posts voids, those of what is booked in a closed month as adjustments of it. Raises an error of class P0 where there is nothing to void.
create function private.post_voids()
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
  select booked.*
  from added as a
  join public.messages as m on m.workspace_id = a.workspace_id and m.id = a.message_id
  cross join lateral private.book_open(jsonb_populate_record(m, jsonb_build_object(
    'id', a.void_id, 'voids', m.id, 'voided_by', null, 'created_at', a.created_at,
    'counted_at', coalesce(m.counted_at, m.created_at), 'user_id', a.user_id, 'notes', a.reason,
    'quantity', -m.quantity, 'amount_usd', -m.amount_usd, 'lines_usd', -m.lines_usd, 'original_amount', -m.original_amount,
    'list_price_usd', -m.list_price_usd, 'given_cost_usd', -m.given_cost_usd
  )), private.closed_until(a.workspace_id), private.time_zone_of(a.workspace_id)) as booked;
  perform private.count_messages(array_agg(workspace_id), array_agg(void_id)) from added having count(*) > 0;
  return null;
end
$$;

create trigger voids_are_posted after insert on public.message_voids
  referencing new table as added for each statement execute function private.post_voids();

-- Writes to the audit log who voided which cost, and why. Reads the row again, because by then it names what replaced it, or the
-- action that is logged for all its voids.
create function private.audit_void()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, after, address)
  select
    v.workspace_id, auth.uid(), auth.email(),
    case when v.corrected_by is null then 'message.voided' else 'message.corrected' end, 'message ' || v.message_id,
    jsonb_strip_nulls(jsonb_build_object('void_id', v.void_id, 'corrected_by', v.corrected_by, 'reason', v.reason)),
    nullif(current_setting('request.address', true), '')
  from public.message_voids as v
  where v.workspace_id = new.workspace_id and v.message_id = new.message_id and v.action_id is null;
  return null;
end
$$;

-- Deferred to the end of the transaction, when a correction has been recorded. Corrections by the service itself, after another
-- program reported the same call, are not logged.
create constraint trigger voids_are_audited after insert on public.message_voids
  deferrable initially deferred for each row when (new.user_id is not null) execute function private.audit_void();

-- Adds the postings of voids or corrections to every sum, as those of other messages are added when they are recorded.
create function private.count_messages(workspaces uuid[], ids uuid[])
returns void
language plpgsql security definer set search_path = '' set timezone = 'UTC' set plan_cache_mode = force_generic_plan
as $$
declare
  changes public.daily_spend[];
  budgeted private.budget_posting[];
begin
  with posted as (
    select *, private.sign_of(voids) as sign from public.messages
    where (workspace_id, id) in (select * from unnest(workspaces, ids))
  ), per_key as (
    insert into public.key_spend as spend (workspace_id, api_key_id, month, amount_usd, message_count)
    select workspace_id, api_key_id, date_trunc('month', coalesce(counted_at, created_at))::date, sum(amount_usd),
      coalesce(sum(sign) filter (where part = 0), 0)
    from posted
    where api_key_id is not null
    group by 1, 2, 3
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
    from posted
    where exists (select from public.budgets where budgets.workspace_id = posted.workspace_id)
  ) into changes, budgeted
  from (
    select place.workspace_id, place.day, project_id, api_key_id, type, provider, model, feature, source, environment,
      end_user, tags, sum(side * amount_usd) as amount_usd,
      coalesce(sum(side * sign) filter (where part = 0), 0) as message_count,
      sum(side * sign) as item_count,
      coalesce(sum(side * sign) filter (where cost_status = 'unpriced'), 0) as unpriced_count,
      coalesce(sum(side * list_price_usd), 0) as included_usd
    from posted
    cross join lateral private.places_of(posted.workspace_id, occurred_at) as place (workspace_id, day, side)
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
  ) as sums;
  perform private.add_daily_spend(changes);
  if budgeted is not null then
    perform private.add_budget_spend(budgeted);
  end if;
end
$$;

-- Records the replacements of messages that were voided in this transaction.
-- corrections: [{ workspace_id, message_id, postings: rows of `messages` }]
create function private.record_corrections(corrections jsonb)
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
  select booked.*
  from jsonb_to_recordset(corrections) as c (workspace_id uuid, message_id uuid, postings jsonb)
  cross join lateral (
    select m.api_key_id, m.environment, m.source, m.emitter, m.counted_at, m.created_at from public.messages as m
    where m.workspace_id = c.workspace_id and m.id = c.message_id
    order by m.part limit 1
  ) as original
  cross join lateral jsonb_array_elements(c.postings) as posting
  cross join lateral private.book_open(jsonb_populate_record(null::public.messages, '{"part": 0}' || posting || jsonb_build_object(
    'workspace_id', c.workspace_id, 'api_key_id', original.api_key_id, 'environment', original.environment,
    'source', original.source, 'emitter', coalesce(posting ->> 'emitter', original.emitter), 'user_id', auth.uid(),
    'counted_at', coalesce(original.counted_at, original.created_at)
  )), private.closed_until(c.workspace_id), private.time_zone_of(c.workspace_id)) as booked;
  perform private.sum_lines(array_agg(c.workspace_id), array_agg((c.postings -> 0 ->> 'id')::uuid)),
    private.count_messages(array_agg(c.workspace_id), array_agg((c.postings -> 0 ->> 'id')::uuid))
  from jsonb_to_recordset(corrections) as c (workspace_id uuid, postings jsonb)
  having count(*) > 0;
end
$$;

-- Records the replacement of one message.
create function private.record_correction(workspace uuid, message uuid, postings jsonb)
returns void
language sql volatile security definer set search_path = ''
as $$
  select private.record_corrections(jsonb_build_array(
    jsonb_build_object('workspace_id', workspace, 'message_id', message, 'postings', postings)
  ))
$$;
grant execute on function private.record_correction(uuid, uuid, jsonb) to outlay_service, service_role;
