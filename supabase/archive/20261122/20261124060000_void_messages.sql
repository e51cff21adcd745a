-- An id of a new message: a UUID of version 7, which sorts by time.
create function private.new_message_id()
returns uuid
language sql volatile set search_path = ''
as $$
  select encode(
    set_byte(
      overlay(uuid_send(gen_random_uuid()) placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
      6, (get_byte(uuid_send(gen_random_uuid()), 0) & 15) | 112
    ), 'hex')::uuid
$$;
revoke execute on function private.new_message_id() from public;
grant execute on function private.new_message_id() to authenticated;

-- How a posting counts: a void takes away one that was counted.
create function private.sign_of(voids uuid)
returns integer
language sql immutable set search_path = ''
return case when voids is null then 1 else -1 end;
revoke execute on function private.sign_of(uuid) from public;

-- A cost is voided by a message of its own: a counter-posting for each of its postings, with the same day, project, key and
-- names, and the opposite amount. Nothing is changed or removed, and every sum follows. A correction is a void and a new
-- message in the same transaction.
--
-- `voids` and `voided_by` are both in the ledger: the first makes a counter-posting recognisable wherever postings are summed, the
-- second changes the posting that is voided, so that a repricing that waits for it sees that it is voided.
alter table public.messages
  add column voids uuid,
  add column voided_by uuid,
  add column counted_at timestamptz,
  drop constraint messages_quantity_check,
  add constraint messages_quantity_check check (case when voids is null then quantity > 0 else quantity < 0 end),
  add constraint messages_voids_are_final check (voids is null or voided_by is null);
comment on column public.messages.voids is 'The message that this one voids, of a void. Its postings count negatively.';
comment on column public.messages.voided_by is 'The void of this message.';
comment on column public.messages.counted_at is 'Of voids and corrections: when the cost was first recorded. Its key''s spend of that month changes.';

-- Who voided which message and why. Inserting a row is what voids: a trigger posts the void in the same statement. The primary
-- key lets no message be voided twice.
create table public.message_voids (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  message_id uuid not null,
  void_id uuid not null default private.new_message_id(),
  corrected_by uuid,
  reason text not null check (char_length(reason) between 1 and 500),
  user_id uuid default auth.uid(),
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  idempotency_key text check (char_length(idempotency_key) between 1 and 255),
  request_hash text check (char_length(request_hash) = 64),
  primary key (workspace_id, message_id),
  constraint message_voids_void_key unique (workspace_id, void_id),
  constraint message_voids_correction_key unique (workspace_id, corrected_by)
);
comment on column public.message_voids.corrected_by is 'The message that was recorded in the place of the voided one.';
comment on column public.message_voids.request_hash is 'SHA-256 of the request, in hex: what its idempotency key stands for.';
alter table public.message_voids enable row level security;
revoke all on public.message_voids from anon, authenticated;
grant select on public.message_voids to authenticated, service_role;
grant insert (workspace_id, message_id, reason, idempotency_key, request_hash) on public.message_voids to authenticated;

create policy "A member reads the voids of their workspaces"
  on public.message_voids for select to authenticated
  using (workspace_id in (select private.member_workspaces()));
create policy "An admin voids any cost, a member what they recorded"
  on public.message_voids for insert to authenticated
  with check (
    user_id = (select auth.uid())
    and (
      workspace_id in (select private.member_workspaces(array['owner', 'admin']))
      or workspace_id in (select private.member_workspaces(array['member'])) and exists (
        select from public.messages as m
        join public.api_keys as k on k.workspace_id = m.workspace_id and k.id = m.api_key_id
        where m.workspace_id = message_voids.workspace_id and m.id = message_voids.message_id
          and k.created_by = (select auth.uid()) and k.kind in ('member', 'connection')
      )
    )
  );

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
revoke execute on function private.count_message(uuid, uuid) from public;

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
revoke execute on function private.post_void() from public;
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
revoke execute on function private.audit_void() from public;
-- Deferred to the end of the transaction, when a correction has been recorded.
create constraint trigger voids_are_audited after insert on public.message_voids
  deferrable initially deferred for each row execute function private.audit_void();

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
    'emitter', original.emitter, 'user_id', auth.uid(), 'counted_at', coalesce(original.counted_at, original.created_at)
  ))).*
  from jsonb_array_elements(postings) as posting;
  perform private.count_message(workspace, (postings -> 0 ->> 'id')::uuid);
end
$$;
revoke execute on function private.record_correction(uuid, uuid, jsonb) from public;
grant execute on function private.record_correction(uuid, uuid, jsonb) to outlay_service, service_role;
