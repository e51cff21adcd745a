-- Accounts at providers whose costs are pulled into bills every day. The admin key that reads them is sealed in
-- private.provider_keys: nobody reads it but the service's own functions, and the key that opens it is not in the database.
create table public.provider_accounts (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null,
  -- As a key, as in public.bill_statements.
  provider text not null check (char_length(provider) between 1 and 64),
  -- Tells several accounts of one provider apart; empty where there is one.
  account text not null check (char_length(account) <= 128),
  -- The first day that is pulled.
  since date not null,
  -- Where the present pull goes on; null between pulls. A pull that was interrupted begins here.
  next_day date,
  -- The last day that a pull has read.
  pulled_through date,
  -- Whether the provider has billed anything yet.
  has_data boolean not null default false,
  -- A day that the provider bills many times the usual amount, which is not stored until an admin accepts it.
  held_day date,
  held_usd numeric,
  usual_usd numeric,
  -- An admin has accepted what the next pull finds.
  accepts_jump boolean not null default false,
  -- Why the last pull failed, and whether because the provider refused it.
  problem text check (char_length(problem) between 1 and 500),
  is_refused boolean not null default false,
  last_pull_at timestamptz,
  last_success_at timestamptz,
  next_pull_at timestamptz not null default now(),
  -- Failures since the last success.
  attempts integer not null default 0,
  lease uuid,
  leased_until timestamptz,
  created_by uuid default auth.uid(),
  created_by_email text default auth.email(),
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  -- Its seats, where the provider counts them, those that nobody used for 30 days, and what a seat costs a month.
  seat_count integer check (seat_count >= 0),
  unused_seat_count integer check (unused_seat_count between 0 and seat_count),
  seat_usd numeric,
  -- The address of a folder with exports in a bucket, of clouds; null of other providers.
  folder text check (char_length(folder) between 1 and 500),
  primary key (workspace_id, id),
  constraint provider_accounts_account_key unique (workspace_id, provider, account)
);

create index provider_accounts_due_idx on public.provider_accounts (next_pull_at);

alter table public.provider_accounts enable row level security;
revoke all on public.provider_accounts from anon, authenticated, service_role;
grant select on public.provider_accounts to authenticated, service_role;

create policy "An admin reads the provider accounts of their workspaces"
  on public.provider_accounts for select to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin'])));

create trigger made_provider_accounts_are_audited
  after insert or delete on public.provider_accounts
  for each row execute function private.audit_change('provider_account');

-- Other columns are the service's own state and are not audited.
create trigger provider_accounts_are_audited
  after update on public.provider_accounts
  for each row when (new.accepts_jump and not old.accepts_jump)
  execute function private.audit_change('provider_account');

create table private.provider_keys (
  workspace_id uuid not null,
  account_id uuid not null,
  -- Sealed by lib/seal.ts for this workspace and account: moved to another row, it does not open.
  sealed text not null check (char_length(sealed) between 40 and 2000),
  primary key (workspace_id, account_id),
  foreign key (workspace_id, account_id) references public.provider_accounts (workspace_id, id) on delete cascade
);

alter table private.provider_keys enable row level security;
revoke all on private.provider_keys from anon, authenticated, service_role;

-- Changes of a workspace's bills wait for each other, so that each sees the others' statements.
create function private.lock_bills(workspace uuid)
returns void
language sql volatile set search_path = ''
as $$
  select pg_advisory_xact_lock(hashtextextended('outlay.bills.' || workspace, 0))
$$;
grant execute on function private.lock_bills(uuid) to outlay_service, service_role;

-- Adds an account with its sealed key, as an admin of the workspace: the user of the transaction's claims.
-- given: { id, provider, account, folder, since }
-- returns: 'added'; 'taken' where the same money is pulled already; 'too_many'
create function private.add_provider_account(workspace uuid, given jsonb, sealed_key text, at_most integer)
returns text
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  perform private.lock_bills(workspace);
  -- Accounts of one provider are told apart by their names, so all of them need one.
  if exists (
    select from public.provider_accounts as p
    where p.workspace_id = workspace and p.provider = given ->> 'provider'
      and (p.account = given ->> 'account' or p.account = '' or given ->> 'account' = '')
  ) then
    return 'taken';
  end if;
  if (select count(*) from public.provider_accounts as p where p.workspace_id = workspace) >= at_most then
    return 'too_many';
  end if;
  insert into public.provider_accounts (workspace_id, id, provider, account, folder, since)
  select workspace, a.id, a.provider, a.account, a.folder, a.since
  from jsonb_to_record(given) as a (id uuid, provider text, account text, folder text, since date);
  insert into private.provider_keys (workspace_id, account_id, sealed)
  values (workspace, (given ->> 'id')::uuid, sealed_key);
  return 'added';
end
$$;
grant execute on function private.add_provider_account(uuid, jsonb, text, integer) to outlay_service, service_role;

-- Removes an account and its key, as an admin of the workspace. Its bills stay, or are removed with it.
-- returns: whether there was one
create function private.remove_provider_account(workspace uuid, target uuid, with_bills boolean)
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  perform private.lock_bills(workspace);
  if with_bills then
    delete from public.bills where workspace_id = workspace and provider_account_id = target;
  end if;
  delete from public.provider_accounts where workspace_id = workspace and id = target;
  return found;
end
$$;
grant execute on function private.remove_provider_account(uuid, uuid, boolean) to outlay_service, service_role;

-- Makes an account due, as an admin of the workspace.
-- returns: false while a pull of it runs
create function private.ask_for_pull(workspace uuid, target uuid, accept_jump boolean)
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  update public.provider_accounts
  set next_pull_at = now(), accepts_jump = accepts_jump or accept_jump
  where workspace_id = workspace and id = target and (leased_until is null or leased_until <= clock_timestamp());
  return found;
end
$$;
grant execute on function private.ask_for_pull(uuid, uuid, boolean) to outlay_service, service_role;

-- Takes an account that is due, for `lease_seconds`, so that no other process pulls it meanwhile.
-- returns: null where none is due
create function private.claim_provider_account(lease_seconds integer)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  at_moment constant timestamptz := clock_timestamp();
  taken public.provider_accounts;
begin
  update public.provider_accounts as p
  set lease = gen_random_uuid(), leased_until = at_moment + lease_seconds * interval '1 second'
  where (p.workspace_id, p.id) = (
    select due.workspace_id, due.id from public.provider_accounts as due
    where due.next_pull_at <= at_moment and (due.leased_until is null or due.leased_until <= at_moment)
      and not private.is_deleted(due.workspace_id)
    order by due.next_pull_at
    limit 1
    for update skip locked
  )
  returning p.* into taken;
  if taken.id is null then
    return null;
  end if;
  return jsonb_build_object(
    'workspace_id', taken.workspace_id, 'id', taken.id, 'lease', taken.lease, 'provider', taken.provider, 'account', taken.account, 'folder', taken.folder,
    'since', taken.since, 'next_day', taken.next_day, 'pulled_through', taken.pulled_through, 'has_data', taken.has_data,
    'held_day', taken.held_day, 'accepts_jump', taken.accepts_jump, 'attempts', taken.attempts,
    'today', (at_moment at time zone 'UTC')::date,
    'sealed', (
      select k.sealed from private.provider_keys as k where k.workspace_id = taken.workspace_id and k.account_id = taken.id
    ),
    'telemetry', (
      select jsonb_build_object('id', t.id, 'destinations', t.destinations) from public.provider_telemetry as t
      where t.workspace_id = taken.workspace_id and t.account_id = taken.id and t.state in ('registered', 'failing', 'disabled', 'gone')
    )
  );
end
$$;
grant execute on function private.claim_provider_account(integer) to outlay_service, service_role;

-- Seals a key again, where it is still sealed as it was read.
create function private.reseal_provider_key(workspace uuid, target uuid, former text, renewed text)
returns void
language sql volatile security definer set search_path = ''
as $$
  update private.provider_keys set sealed = renewed
  where workspace_id = workspace and account_id = target and sealed = former
$$;
grant execute on function private.reseal_provider_key(uuid, uuid, text, text) to outlay_service, service_role;

-- Begins to store pulled days: keeps the lease, and other changes of the workspace's bills out until the transaction ends.
-- returns: the statements of the provider that have days from one to before another, in the order in which they were made, with
-- amounts as text; null where the lease was lost
create function private.begin_pulled_days(
  workspace uuid, target uuid, held_lease uuid, lease_seconds integer, from_day date, until_day date
)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  pulling public.provider_accounts;
begin
  perform private.lock_bills(workspace);
  update public.provider_accounts as p
  set leased_until = clock_timestamp() + lease_seconds * interval '1 second'
  where p.workspace_id = workspace and p.id = target and p.lease = held_lease
  returning p.* into pulling;
  if pulling.id is null then
    return null;
  end if;
  return coalesce((
    select jsonb_agg(jsonb_build_object(
      'provider', s.provider, 'account', s.account, 'from', s.starts_on, 'until', s.ends_on,
      'amount_usd', trim_scale(s.amount_usd)::text, 'sha256', s.sha256
    ) order by s.number)
    from public.bill_statements as s
    where s.workspace_id = workspace and s.provider = pulling.provider and s.starts_on < until_day and s.ends_on > from_day
  ), '[]');
end
$$;
grant execute on function private.begin_pulled_days(uuid, uuid, uuid, integer, date, date) to outlay_service, service_role;

-- Stores what a provider bills of some days, each as a statement of the bill of its month, and where the pull goes on. In the
-- transaction of private.begin_pulled_days.
-- days: [{ id, day, amount_usd, sha256, facts: [{ line, model, unit, tier, key_name, end_user, amount_usd, list_usd, quantity }] }]
create function private.store_pulled_days(workspace uuid, target uuid, days jsonb, following date)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  pulled public.provider_accounts;
begin
  select p.* into strict pulled from public.provider_accounts as p where p.workspace_id = workspace and p.id = target;
  insert into public.bills (workspace_id, name, format, row_count, provider_account_id)
  select workspace, concat_ws(' ', pulled.provider, nullif(pulled.account, ''), months.name), 'pull', 0, target
  from (select distinct left(d ->> 'day', 7) as name from jsonb_array_elements(days) as d order by 1) as months
  on conflict on constraint bills_provider_account_key do nothing;

  insert into public.bill_statements (workspace_id, id, bill_id, provider, account, starts_on, ends_on, amount_usd, sha256)
  select workspace, d.id, b.id, pulled.provider, pulled.account, d.day, d.day + 1, d.amount_usd, d.sha256
  from jsonb_to_recordset(days) as d (id uuid, day date, amount_usd numeric, sha256 text)
  join public.bills as b on b.workspace_id = workspace and b.provider_account_id = target
    and b.name = concat_ws(' ', pulled.provider, nullif(pulled.account, ''), to_char(d.day, 'YYYY-MM'))
  order by d.day;

  insert into public.billed_facts (
    workspace_id, statement_id, line, model, unit, tier, key_name, end_user, amount_usd, list_usd, quantity
  )
  select workspace, d.id, f.line, f.model, f.unit, f.tier, f.key_name, f.end_user, f.amount_usd, f.list_usd, f.quantity
  from jsonb_to_recordset(days) as d (id uuid, facts jsonb)
  cross join lateral jsonb_to_recordset(d.facts) as f (
    line text, model text, unit text, tier text, key_name text, end_user text, amount_usd numeric, list_usd numeric, quantity numeric
  );

  update public.bills as b
  set row_count = b.row_count + counted.facts
  from (
    select left(d ->> 'day', 7) as month, sum(jsonb_array_length(d -> 'facts'))::integer as facts
    from jsonb_array_elements(days) as d group by 1
  ) as counted
  where b.workspace_id = workspace and b.provider_account_id = target
    and b.name = concat_ws(' ', pulled.provider, nullif(pulled.account, ''), counted.month);

  update public.provider_accounts set next_day = following where workspace_id = workspace and id = target;
end
$$;
grant execute on function private.store_pulled_days(uuid, uuid, jsonb, date) to outlay_service, service_role;

-- Records how a pull ended, unless the lease was lost.
-- ended: { workspace_id, id, lease, outcome: 'done' | 'refused' | 'failed' | 'interrupted', problem, pulled_through, has_data,
-- held: { day, amount_usd, usual_usd }, seats: { count, unused_count, usd }, which stay where they are missing, retry_in_seconds }
create function private.finish_provider_pull(ended jsonb)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
declare
  outcome constant text := ended ->> 'outcome';
  at_moment constant timestamptz := clock_timestamp();
begin
  update public.provider_accounts as p
  set lease = null, leased_until = null,
    last_pull_at = case when outcome = 'interrupted' then p.last_pull_at else at_moment end,
    last_success_at = case when outcome = 'done' then at_moment else p.last_success_at end,
    problem = case when outcome = 'interrupted' then p.problem else left(ended ->> 'problem', 500) end,
    is_refused = case when outcome = 'interrupted' then p.is_refused else outcome = 'refused' end,
    attempts = case outcome when 'failed' then p.attempts + 1 when 'interrupted' then p.attempts else 0 end,
    next_pull_at = at_moment + (ended ->> 'retry_in_seconds')::integer * interval '1 second',
    next_day = case when outcome = 'done' then null else p.next_day end,
    pulled_through = case when outcome = 'done' then (ended ->> 'pulled_through')::date else p.pulled_through end,
    has_data = p.has_data or coalesce((ended ->> 'has_data')::boolean, false),
    accepts_jump = p.accepts_jump and outcome <> 'done',
    held_day = case when outcome = 'done' then (ended -> 'held' ->> 'day')::date else p.held_day end,
    held_usd = case when outcome = 'done' then (ended -> 'held' ->> 'amount_usd')::numeric else p.held_usd end,
    usual_usd = case when outcome = 'done' then (ended -> 'held' ->> 'usual_usd')::numeric else p.usual_usd end,
    seat_count = case when ended ? 'seats' then (ended -> 'seats' ->> 'count')::integer else p.seat_count end,
    unused_seat_count = case when ended ? 'seats' then (ended -> 'seats' ->> 'unused_count')::integer else p.unused_seat_count end,
    seat_usd = case when ended ? 'seats' then (ended -> 'seats' ->> 'usd')::numeric else p.seat_usd end
  where p.workspace_id = (ended ->> 'workspace_id')::uuid and p.id = (ended ->> 'id')::uuid and p.lease = (ended ->> 'lease')::uuid;
end
$$;
grant execute on function private.finish_provider_pull(jsonb) to outlay_service, service_role;
