-- Provider accounts can be folders of exports in buckets.

alter table public.provider_accounts
  add column folder text check (char_length(folder) between 1 and 500);

-- given: { id, provider, account, folder, since }
create or replace function private.add_provider_account(workspace uuid, given jsonb, sealed_key text, at_most integer)
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

create or replace function private.claim_provider_account(lease_seconds integer)
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
    )
  );
end
$$;
