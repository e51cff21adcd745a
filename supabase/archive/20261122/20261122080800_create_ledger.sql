-- The ledger. A row is one posting of a message. Most messages have one (`part` 0); a message has several if it moves
-- cost between two projects (allocation) or covers several months (a yearly subscription). The postings of a message
-- share its id and sum to its amount. A batch is one row; its lines are in `items` and sum to the row.
--
-- Partitioned by the month in which the cost occurred. A partition is created when its month is first written to. It is
-- in the private schema, so that nobody can bypass the policies of this table by naming a partition.
-- No foreign keys: one function writes the rows, from ids that it has just read under lock, and checking thousands of
-- rows a second would cost more than the insert (see docs/decisions/0014-omit-foreign-keys-from-the-ledger.md).
create table public.messages (
  workspace_id uuid not null,
  id uuid not null,
  part smallint not null default 0,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  project_id uuid not null,
  api_key_id uuid,
  user_id uuid,
  type text not null check (type in ('usage', 'batch', 'allocation', 'expense', 'subscription')),
  source text not null check (source in ('api', 'mcp', 'manual', 'import')),
  environment text not null check (environment in ('live', 'test')),
  -- The provider of usage and batches, the vendor of expenses and subscriptions.
  provider text,
  model text,
  feature text,
  unit_type text,
  quantity numeric check (quantity > 0),
  amount_usd numeric not null check (scale(amount_usd) <= 18),
  cost_status text not null check (cost_status in ('client', 'priced', 'converted', 'unpriced')),
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
  items jsonb,
  primary key (workspace_id, id, part, occurred_at)
) partition by range (occurred_at);

create index messages_recent_idx on public.messages (workspace_id, occurred_at desc, id desc);
create index messages_project_recent_idx on public.messages (workspace_id, project_id, occurred_at desc, id desc);
-- Unpriced messages are looked up often and are rare.
create index messages_unpriced_idx on public.messages (workspace_id, provider, occurred_at, id) where cost_status = 'unpriced';

alter table public.messages enable row level security;
revoke all on public.messages from anon, authenticated, service_role;
grant select on public.messages to authenticated, outlay_key, service_role;

create policy "A member reads the messages of their workspaces"
  on public.messages for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "A key reads the messages of its environment in the projects of its scope"
  on public.messages for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and environment = (select private.key_environment())
    and project_id in (select private.key_projects())
  );

create policy "Nobody reads messages of a workspace that was deleted"
  on public.messages as restrictive for select to authenticated, outlay_key
  using (workspace_id not in (select private.reused_workspaces()));

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
revoke all on function private.ensure_messages_month(timestamptz) from public;
grant execute on function private.ensure_messages_month(timestamptz) to outlay_service, service_role;

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
alter table private.idempotency enable row level security;

-- Finds the idempotency key of a message. The ids of messages grow with time, so the index is written at its end.
create index idempotency_message_idx on private.idempotency (workspace_id, message_id);

create function private.idempotency_key_of(workspace uuid, message uuid)
returns text
language sql stable security definer set search_path = ''
as $$
  select key from private.idempotency where workspace_id = workspace and message_id = message
$$;
revoke all on function private.idempotency_key_of(uuid, uuid) from public;
grant execute on function private.idempotency_key_of(uuid, uuid) to outlay_service, service_role;
