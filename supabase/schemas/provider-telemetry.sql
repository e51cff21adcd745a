-- Providers that send their own telemetry here: the service registers a destination with its address and a key of the workspace at the
-- provider, and takes both back together.
create table public.provider_telemetry (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  account_id uuid not null,
  -- As in public.provider_accounts, for the audit log.
  provider text not null check (char_length(provider) between 1 and 64),
  account text not null check (char_length(account) <= 128),
  -- The key that the provider sends with. Only the provider has its secret.
  key_id uuid not null,
  -- The provider's ids: [{ id, workspace, turned_on }], several where the provider has one for each of its workspaces.
  destinations jsonb not null default '[]' check (jsonb_typeof(destinations) = 'array'),
  -- 'registering': the provider is being asked; 'refused': it refused; 'failed': how that ended is not known; 'registered': it is there;
  -- 'failing': the provider cannot deliver; 'disabled', 'gone': it was disabled or removed there.
  state text not null default 'registering'
    check (state in ('registering', 'refused', 'failed', 'registered', 'failing', 'disabled', 'gone')),
  problem text check (char_length(problem) between 1 and 500),
  -- When the provider last sent a test, and when its state there was last read.
  tested_at timestamptz,
  checked_at timestamptz,
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  created_by_email text default auth.email(),
  primary key (workspace_id, id),
  foreign key (workspace_id, account_id) references public.provider_accounts (workspace_id, id) on delete cascade,
  foreign key (workspace_id, key_id) references public.api_keys (workspace_id, id) on delete cascade,
  constraint provider_telemetry_account_key unique (workspace_id, account_id)
);

create index provider_telemetry_key_idx on public.provider_telemetry (workspace_id, key_id);

alter table public.provider_telemetry enable row level security;
revoke all on public.provider_telemetry from anon, authenticated, service_role;
grant select on public.provider_telemetry to authenticated, service_role;

create policy "An admin reads the provider telemetry of their workspaces"
  on public.provider_telemetry for select to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin'])));

create trigger made_provider_telemetry_is_audited
  after insert or delete on public.provider_telemetry
  for each row execute function private.audit_change('provider_telemetry');

-- What became of a registration. Other states are what was read at the provider.
create trigger provider_telemetry_is_audited
  after update on public.provider_telemetry
  for each row when (old.state = 'registering' and new.state <> 'registering')
  execute function private.audit_change('provider_telemetry');

-- Without its registration, nobody may send with the key.
create function private.revoke_key_of_telemetry()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  update public.api_keys as k set revoked_at = now()
  where k.workspace_id = old.workspace_id and k.id = old.key_id and k.revoked_at is null;
  return null;
end
$$;

create trigger keys_end_with_provider_telemetry
  after delete on public.provider_telemetry
  for each row execute function private.revoke_key_of_telemetry();

create trigger keys_end_with_refused_telemetry
  after update on public.provider_telemetry
  for each row when (new.state in ('refused', 'failed') and old.state = 'registering')
  execute function private.revoke_key_of_telemetry();

-- Begins a registration, as an admin of the workspace, in place of one that was refused, or did not end within two minutes.
-- given: { id, account_id, key_id }
-- returns: 'begun'; 'no_account'; 'taken' where there is one
create function private.begin_provider_telemetry(workspace uuid, given jsonb)
returns text
language plpgsql volatile security definer set search_path = ''
as $$
declare
  of_account public.provider_accounts;
begin
  perform private.require_admin_of(workspace);
  select a.* into of_account from public.provider_accounts as a
  where a.workspace_id = workspace and a.id = (given ->> 'account_id')::uuid
  for update;
  if of_account.id is null then
    return 'no_account';
  end if;
  delete from public.provider_telemetry as t
  where t.workspace_id = workspace and t.account_id = of_account.id
    and (t.state in ('refused', 'failed') or t.state = 'registering' and t.created_at < clock_timestamp() - interval '2 minutes');
  insert into public.provider_telemetry (workspace_id, id, account_id, provider, account, key_id)
  select workspace, g.id, of_account.id, of_account.provider, of_account.account, g.key_id
  from jsonb_to_record(given) as g (id uuid, key_id uuid)
  on conflict on constraint provider_telemetry_account_key do nothing;
  return case when found then 'begun' else 'taken' end;
end
$$;
grant execute on function private.begin_provider_telemetry(uuid, jsonb) to outlay_service, service_role;

-- Records what is known of a registration, unless another took its place.
-- noted: { workspace_id, id, state, problem, destinations, tested }; destinations stay where they are missing
-- returns: whether there is one
create function private.note_provider_telemetry(noted jsonb)
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
begin
  update public.provider_telemetry as t
  set state = noted ->> 'state', problem = left(noted ->> 'problem', 500),
    destinations = coalesce(noted -> 'destinations', t.destinations),
    tested_at = case when (noted ->> 'tested')::boolean then clock_timestamp() else t.tested_at end,
    checked_at = clock_timestamp()
  where t.workspace_id = (noted ->> 'workspace_id')::uuid and t.id = (noted ->> 'id')::uuid;
  return found;
end
$$;
grant execute on function private.note_provider_telemetry(jsonb) to outlay_service, service_role;

-- Ends the registration of an account, as an admin of the workspace. Its key is revoked with it.
create function private.end_provider_telemetry(workspace uuid, of_account uuid)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  delete from public.provider_telemetry as t where t.workspace_id = workspace and t.account_id = of_account;
end
$$;
grant execute on function private.end_provider_telemetry(uuid, uuid) to outlay_service, service_role;
