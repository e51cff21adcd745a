-- Keys are made and changed by people, as themselves: the guard asks first, the policies ask again. What a user's own
-- SQL can do here gives them nothing: a row without a secret opens no door, and the secret is not theirs to write.

alter table public.api_keys
  -- When the secret was last replaced; later for each rotation of a key, whichever process made it.
  add column rotated_at timestamptz,
  -- Until the service gives the row its secret.
  alter column prefix set default '',
  alter column last_four set default 'none',
  alter column created_by set default auth.uid();

-- What the signed-in user may do in a workspace themselves, and so the most that a key of theirs may do.
create function private.held_permissions(workspace uuid)
returns text[]
language sql stable security definer set search_path = ''
as $$
  select case
    when role = 'viewer' then array['read_summaries']
    else array['log_usage', 'add_expenses', 'manage_subscriptions', 'read_summaries']
  end
  from public.workspace_members
  where workspace_id = workspace and user_id = (select auth.uid())
$$;
revoke all on function private.held_permissions(uuid) from public;
grant execute on function private.held_permissions(uuid) to authenticated;

-- Not among them: id, kind, prefix, last_four, created_by, created_at, rotated_at, last_used_at; of a key that exists,
-- neither the workspace nor the environment.
grant insert (
  workspace_id, name, permissions, project_id, conditions, monthly_limit, expires_at, rate_limit_rpm, allowed_cidrs,
  environment
) on public.api_keys to authenticated;
grant update (
  name, permissions, project_id, conditions, monthly_limit, expires_at, rate_limit_rpm, allowed_cidrs, revoked_at
) on public.api_keys to authenticated;

create policy "A member makes keys that can do no more than they can"
  on public.api_keys for insert to authenticated
  with check (
    workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member']))
    and created_by = (select auth.uid())
    and kind = 'key'
    and cardinality(permissions) > 0
    and permissions <@ private.held_permissions(workspace_id)
  );

create policy "A member changes the keys they made, an admin every key, until it is revoked"
  on public.api_keys for update to authenticated
  using (
    kind = 'key'
    and revoked_at is null
    and (
      workspace_id in (select private.member_workspaces(array['owner', 'admin']))
      or (
        created_by = (select auth.uid())
        and workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member']))
      )
    )
  )
  with check (cardinality(permissions) > 0 and permissions <@ private.held_permissions(workspace_id));

-- A key is revoked now, whatever moment the statement names.
create function private.date_revocation()
returns trigger
language plpgsql set search_path = ''
as $$
begin
  new.revoked_at := now();
  return new;
end
$$;
revoke all on function private.date_revocation() from public;

create trigger revocations_are_dated
  before update of revoked_at on public.api_keys
  for each row when (old.revoked_at is null and new.revoked_at is not null)
  execute function private.date_revocation();

create trigger new_keys_are_audited
  after insert on public.api_keys
  for each row when (new.kind = 'key')
  execute function private.audit_change('api_key');

-- Its first secret is part of a key's making, and its use is no change.
create trigger changed_keys_are_audited
  after update on public.api_keys
  for each row when (
    new.kind = 'key'
    and not (old.prefix = '' and new.prefix <> '')
    and (to_jsonb(old) - 'last_used_at') is distinct from (to_jsonb(new) - 'last_used_at')
  )
  execute function private.audit_change('api_key');
