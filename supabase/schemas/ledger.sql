-- The ledger: messages, their idempotency keys, and which of them were voided.

-- The ledger. A row is one posting of a message. Most messages have one (`part` 0); a message has several if it moves
-- cost between two projects (allocation) or covers several months (a yearly subscription). The postings of a message
-- share its id and sum to its amount. A batch is one row; its lines are in `items` and sum to the row.
--
-- Partitioned by the month in which the cost occurred. A partition is created when its month is first written to. It is
-- in the private schema, so that nobody can bypass the policies of this table by naming a partition.
-- No foreign keys: one function writes the rows, from ids that it has just read under lock, and checking thousands of
-- rows a second would cost more than the insert.
create table public.messages (
  workspace_id uuid not null,
  id uuid not null,
  part smallint not null default 0,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  project_id uuid not null,
  api_key_id uuid,
  user_id uuid,
  type text not null check (type in ('usage', 'batch', 'allocation', 'expense', 'subscription', 'bill_adjustment')),
  source text not null check (source in ('api', 'mcp', 'manual', 'import')),
  environment text not null check (environment in ('live', 'test')),
  -- The provider of usage and batches, the vendor of expenses and subscriptions.
  provider text,
  model text,
  feature text,
  unit_type text,
  quantity numeric,
  amount_usd numeric not null check (scale(amount_usd) <= 18),
  cost_status text not null,
  -- The rate of the amount: { rate, unit, source, version, … } of a price, or { rate, date, source } of a currency.
  price jsonb,
  currency text,
  original_amount numeric,
  batch_id text,
  label text,
  category text,
  notes text,
  metadata jsonb,
  details jsonb,
  end_user text,
  session text,
  tags text[],
  emitter text,
  given_cost_usd numeric,
  list_price_usd numeric,
  voids uuid,
  voided_by uuid,
  counted_at timestamptz,
  lines_usd numeric,
  adjusts timestamptz,
  primary key (workspace_id, id, part, occurred_at),
  constraint messages_cost_status_check
    check (cost_status = any (array['client', 'priced', 'converted', 'unpriced', 'included'])),
  constraint messages_included_check
    check (case when cost_status = 'included' then amount_usd = 0 else list_price_usd is null end),
  constraint messages_tags_check check (cardinality(tags) between 1 and 10),
  constraint messages_quantity_check check (case when voids is null then quantity > 0 else quantity < 0 end),
  constraint messages_voids_are_final check (voids is null or voided_by is null)
) partition by range (occurred_at);
comment on column public.messages.part is 'Parts 0 to n-1 share the id of their message and sum to its amount: the two sides of an allocation, the months of a yearly charge, the lines of a batch.';
comment on column public.messages.end_user is 'The person that usage was for, as the client names them: a message''s `user`. Not an account of Outlay.';
comment on column public.messages.tags is 'Each `name:value`, in the order of their bytes.';
comment on column public.messages.emitter is 'The program that told of the call, by its name in the table of emitters.';
comment on column public.messages.given_cost_usd is 'What the emitter says that the whole call cost; with the first posting.';
comment on column public.messages.list_price_usd is 'What included usage would have cost; null where no price is known.';
comment on column public.messages.voids is 'The message that this one voids, of a void. Its postings count negatively.';
comment on column public.messages.voided_by is 'The void of this message.';
comment on column public.messages.lines_usd is 'Of the first line of several: what all of them cost.';
comment on column public.messages.adjusts is 'Of an adjustment: when the cost occurred, in a month that was closed by then. It is booked at `occurred_at`, when it was recorded.';
comment on column public.messages.counted_at is 'Of voids and corrections: when the cost was first recorded. Its key''s spend of that month changes.';

-- Lists show a batch as one row and find it by its first line; its other lines are read by its id, which is what the
-- primary key is for. So a line costs no more than an entry there, and a list passes over a batch of 1,000 lines in one
-- step.
create index messages_recent_idx on public.messages (workspace_id, occurred_at desc, id desc)
  where part = 0 or type <> 'batch';
create index messages_project_recent_idx on public.messages (workspace_id, project_id, occurred_at desc, id desc)
  where part = 0 or type <> 'batch';
create index messages_unpriced_idx on public.messages (workspace_id, occurred_at, id)
  where cost_status = 'unpriced' or cost_status = 'included' and list_price_usd is null;

-- Lists sorted by amount. A message with lines is found by their sum.
create index messages_amount_idx on public.messages (workspace_id, coalesce(lines_usd, amount_usd) desc, occurred_at desc, id desc)
  where part = 0 or type <> 'batch' and type <> 'usage';
-- Finds the messages of a session: all lines of a usage have its session, those of a batch each their own.
create index messages_session_idx on public.messages (workspace_id, session, occurred_at desc)
  where session is not null and (part = 0 or type = 'batch');

-- Finds the adjustments of closed months: few, if any.
create index messages_adjusts_idx on public.messages (workspace_id, adjusts) where adjusts is not null;

alter table public.messages enable row level security;
revoke all on public.messages from anon, authenticated, service_role;
grant select on public.messages to authenticated, outlay_key, service_role;

create policy "A member reads the messages of their workspaces"
  on public.messages for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "A key reads messages of its environment in its projects"
  on public.messages for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and environment = (select private.key_environment())
    and project_id in (select private.key_projects())
  );

create policy "Nobody reads messages of a workspace that was deleted"
  on public.messages as restrictive for select to authenticated, outlay_key
  using (workspace_id not in (select private.reused_workspaces()));

create policy "A key of users reads messages of these alone"
  on public.messages as restrictive for select to outlay_key
  using (case when (select private.key_users()) is null then true else end_user = any ((select private.key_users())::text[]) end);

-- Creates the partition of the month that contains `moment`, unless it exists. It is created separately and attached; the
-- lock for that does not block readers and writers of other months.
create function private.ensure_messages_month(moment timestamptz)
returns void
language plpgsql security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  first_day date := date_trunc('month', moment)::date;
  partition_name text := 'messages_' || to_char(first_day, 'YYYY_MM');
begin
  if exists (select from pg_catalog.pg_tables where schemaname = 'private' and tablename = partition_name) then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('outlay.' || partition_name, 0));
  -- Checks again with a new snapshot: to_regclass would use a cache that is older than the lock.
  if exists (select from pg_catalog.pg_tables where schemaname = 'private' and tablename = partition_name) then
    return;
  end if;
  execute format('create table private.%I (like public.messages including defaults including constraints)', partition_name);
  execute format('alter table private.%I enable row level security', partition_name);
  execute format('revoke all on private.%I from public, anon, authenticated, service_role, outlay_service', partition_name);
  execute format(
    'alter table public.messages attach partition private.%I for values from (%L) to (%L)',
    partition_name, first_day, (first_day + interval '1 month')::date
  );
end
$$;
grant execute on function private.ensure_messages_month(timestamp with time zone) to outlay_service, service_role;

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

-- The response to each idempotency key, per workspace and environment: a message of a test key never conflicts with one of
-- a live key. Kept as long as the message, so that a retry is recognised however late it comes.
create table private.idempotency (
  workspace_id uuid not null,
  key text not null check (char_length(key) between 1 and 255),
  message_id uuid not null,
  request jsonb not null,
  response jsonb not null,
  created_at timestamptz not null,
  environment text not null check (environment in ('live', 'test')),
  -- The environment is last, because rows are looked up by workspace and key; there are at most two.
  primary key (workspace_id, key, environment)
);

-- Finds the idempotency key of a message. The ids of messages grow with time, so the index is written at its end.
create index idempotency_message_idx on private.idempotency (workspace_id, message_id);
-- Rows are added in the order of their time: a small index of the pages' times finds the old ones.
create index idempotency_created_idx on private.idempotency using brin (created_at);

alter table private.idempotency enable row level security;
revoke all on private.idempotency from anon, authenticated, service_role;

create function private.idempotency_key_of(workspace uuid, message uuid)
returns text
language sql stable security definer set search_path = ''
as $$
  select key from private.idempotency where workspace_id = workspace and message_id = message
$$;
grant execute on function private.idempotency_key_of(uuid, uuid) to outlay_service, service_role;

-- A change of the cost of a posting, in the form that budgets count.
create type private.budget_posting as (
  workspace_id uuid, environment text, occurred_at timestamptz, type text, amount_usd numeric,
  project_id uuid, api_key_id uuid, provider text, model text, feature text, end_user text, tags text[]
);

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
grant execute on function private.new_message_id() to authenticated;

-- Who voided which message and why. Inserting a row voids the message: a trigger posts the void in the same statement. The
-- primary key lets no message be voided twice.
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
  action_id uuid,
  primary key (workspace_id, message_id),
  constraint message_voids_void_key unique (workspace_id, void_id),
  constraint message_voids_correction_key unique (workspace_id, corrected_by)
);
comment on column public.message_voids.corrected_by is 'The message that was recorded in the place of the voided one.';
comment on column public.message_voids.request_hash is 'SHA-256 of the request, in hex: what its idempotency key stands for.';
comment on column public.message_voids.action_id is 'The action that voided many at once; it is audited in their place.';

create index message_voids_action_idx on public.message_voids (workspace_id, action_id) where action_id is not null;

alter table public.message_voids enable row level security;
revoke all on public.message_voids from anon, authenticated, service_role;
grant select on public.message_voids to authenticated, service_role;
grant insert (workspace_id, message_id, reason, idempotency_key, request_hash) on public.message_voids to authenticated;

create policy "A member reads the voids of their workspaces"
  on public.message_voids for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- Whether the signed-in user recorded a message: by hand, from a file or with an assistant. In plpgsql, which keeps its plan: within
-- a policy it would be planned with each insert, for the partition of every month.
create function private.recorded_message(workspace uuid, message uuid)
returns boolean
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  return exists (
    select from public.messages as m
    join public.api_keys as k on k.workspace_id = m.workspace_id and k.id = m.api_key_id
    where m.workspace_id = workspace and m.id = message
      and k.created_by = (select auth.uid()) and k.kind in ('member', 'connection')
  );
end
$$;
grant execute on function private.recorded_message(uuid, uuid) to authenticated;

create policy "An admin voids any cost, a member what they recorded"
  on public.message_voids for insert to authenticated
  with check (
    user_id = (select auth.uid())
    and (
      workspace_id in (select private.member_workspaces(array['owner', 'admin']))
      or workspace_id in (select private.member_workspaces(array['member']))
        and private.recorded_message(workspace_id, message_id)
    )
  );
