-- Voids and corrections of what was recorded.

-- How a posting counts: a void takes away one that was counted.
create function private.sign_of(voids uuid)
returns integer
language sql immutable set search_path = ''
return case when voids is null then 1 else -1 end;

-- Posts a void. Raises an error of class P0 where there is nothing to void.
create function private.post_void()
returns trigger
language plpgsql security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  stored bigint;
  wanted bigint;
  is_void boolean;
begin
  perform private.hold_budgets(array[new.workspace_id]);
  perform 1 from public.messages
  where workspace_id = new.workspace_id and id = new.message_id
  order by part for update;
  select count(*), bool_or(voids is not null),
    case when bool_or(type = 'subscription' and details ->> 'interval' = 'year') then 12 else max(part) + 1 end
  into stored, is_void, wanted
  from public.messages where workspace_id = new.workspace_id and id = new.message_id;
  if stored = 0 then
    raise exception 'there is no message %', new.message_id using errcode = 'no_data_found';
  elsif is_void then
    raise exception 'a void cannot be voided' using errcode = 'raise_exception';
  elsif stored <> wanted then
    raise exception 'entries of the message were removed' using errcode = 'raise_exception';
  end if;

  update public.messages set voided_by = new.void_id
  where workspace_id = new.workspace_id and id = new.message_id;
  insert into public.messages
  select (jsonb_populate_record(m, jsonb_build_object(
    'id', new.void_id, 'voids', m.id, 'voided_by', null, 'created_at', new.created_at,
    'counted_at', coalesce(m.counted_at, m.created_at), 'user_id', new.user_id, 'notes', new.reason,
    'quantity', -m.quantity, 'amount_usd', -m.amount_usd, 'original_amount', -m.original_amount,
    'list_price_usd', -m.list_price_usd, 'given_cost_usd', -m.given_cost_usd
  ))).*
  from public.messages as m
  where m.workspace_id = new.workspace_id and m.id = new.message_id;
  perform private.count_message(new.workspace_id, new.void_id);
  return null;
end
$$;

create trigger voids_are_posted after insert on public.message_voids for each row execute function private.post_void();

-- The audit log says who voided which cost, and why. Reads the row again, which has by then what was recorded in its place.
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
  where v.workspace_id = new.workspace_id and v.message_id = new.message_id;
  return null;
end
$$;

-- Deferred to the end of the transaction, when a correction has been recorded. What the service corrects by itself, because
-- a call is told again, is no act of anybody.
create constraint trigger voids_are_audited after insert on public.message_voids
  deferrable initially deferred for each row when (new.user_id is not null) execute function private.audit_void();

-- Adds the postings of a void or a correction to every sum, as those of other messages are added when they are recorded.
create function private.count_message(workspace uuid, message uuid)
returns void
language plpgsql security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  changes public.daily_spend[];
  budgeted private.budget_posting[];
begin
  with posted as (
    select *, private.sign_of(voids) as sign from public.messages where workspace_id = workspace and id = message
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
    select workspace_id, occurred_at::date as day, project_id, api_key_id, type, provider, model, feature, source, environment,
      end_user, tags, sum(amount_usd) as amount_usd,
      coalesce(sum(sign) filter (where part = 0), 0) as message_count,
      sum(sign) as item_count,
      coalesce(sum(sign) filter (where cost_status = 'unpriced'), 0) as unpriced_count,
      coalesce(sum(list_price_usd), 0) as included_usd
    from posted
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
  ) as sums;
  perform private.add_daily_spend(changes);
  if budgeted is not null then
    perform private.add_budget_spend(budgeted);
  end if;
end
$$;

-- Records what replaces a message that was voided in this transaction.
-- postings: rows of `messages`
create function private.record_correction(workspace uuid, message uuid, postings jsonb)
returns void
language plpgsql security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  original public.messages;
begin
  select * into original from public.messages
  where workspace_id = workspace and id = message and voided_by is not null
  order by part limit 1;
  update public.message_voids set corrected_by = (postings -> 0 ->> 'id')::uuid
  where workspace_id = workspace and message_id = message and corrected_by is null and xmin::text = pg_current_xact_id_if_assigned()::xid::text;
  if original.id is null or not found then
    raise exception 'the message was not voided in this transaction' using errcode = 'raise_exception';
  end if;
  insert into public.messages
  select (jsonb_populate_record(null::public.messages, '{"part": 0}' || posting || jsonb_build_object(
    'workspace_id', workspace, 'api_key_id', original.api_key_id, 'environment', original.environment, 'source', original.source,
    'emitter', coalesce(posting ->> 'emitter', original.emitter), 'user_id', auth.uid(), 'counted_at', coalesce(original.counted_at, original.created_at)
  ))).*
  from jsonb_array_elements(postings) as posting;
  perform private.count_message(workspace, (postings -> 0 ->> 'id')::uuid);
end
$$;
grant execute on function private.record_correction(uuid, uuid, jsonb) to outlay_service, service_role;
