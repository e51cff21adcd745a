-- The ledger. A row is one posting of a message: `part` 0 alone for most messages, several parts where one message
-- moves cost in two places (allocation) or several months (a yearly subscription). The parts of a message share its id
-- and sum to its amount. A batch is one row; its lines are in `items` and sum to the row.
--
-- Partitioned by the month in which the cost occurred. Partitions are made when their month is first written to and
-- live in the private schema, so that nobody can go round the policies of this table by naming one.
-- No foreign keys: rows are written by one function, from ids it has just read under lock, and a check for each of
-- thousands of rows a second would cost more than the insert (see docs/decisions/0003-ledger.md).
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
  -- The rate the amount came from: { rate, unit, source, version, … } of a price or { rate, date, source } of a currency.
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

-- Makes the partition of the month that holds `moment`, unless it is there. Built aside and attached, which takes a
-- lock that readers and writers of other months do not wait for.
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
  -- Asked again with a new snapshot: to_regclass would answer from a cache that is older than the lock.
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
