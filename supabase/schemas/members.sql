-- How users become members of a workspace, and what members may do to one another.

-- An owner whose account was deleted does not count: the workspace would be without one when the account is erased.
create function private.keep_an_owner()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if tg_op = 'UPDATE' and new.role = 'owner' then
    return new;
  end if;
  perform from public.workspaces where id = old.workspace_id for no key update;
  if found
    and exists (select from public.profiles where id = old.user_id)
    and not exists (
      select from public.workspace_members as m
      join public.profiles as p on p.id = m.user_id and p.deleted_at is null
      where m.workspace_id = old.workspace_id and m.role = 'owner' and m.user_id <> old.user_id
    )
  then
    raise exception 'a workspace keeps at least one owner'
      using errcode = 'check_violation', constraint = 'workspace_members_keep_an_owner';
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  return new;
end
$$;

create trigger keep_an_owner
  before update of role or delete on public.workspace_members
  for each row when (old.role = 'owner')
  execute function private.keep_an_owner();

-- Resets a default workspace that its user has left.
create function private.forget_left_workspace()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  update public.profiles set default_workspace_id = null
  where id = old.user_id and default_workspace_id = old.workspace_id;
  return null;
end
$$;

create trigger forget_left_workspace
  after delete on public.workspace_members
  for each row execute function private.forget_left_workspace();

-- Revokes the invitations of a user who may no longer invite: with a link they kept, they could return.
create function private.revoke_invitations_of_former_admin()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  delete from public.invitations
  where workspace_id = old.workspace_id and invited_by = old.user_id and accepted_at is null;
  return null;
end
$$;

create trigger revoke_invitations_of_removed_admin
  after delete on public.workspace_members
  for each row when (old.role in ('owner', 'admin'))
  execute function private.revoke_invitations_of_former_admin();
create trigger revoke_invitations_of_demoted_admin
  after update of role on public.workspace_members
  for each row when (old.role in ('owner', 'admin') and new.role not in ('owner', 'admin'))
  execute function private.revoke_invitations_of_former_admin();

-- Invitations are links. The row contains the offer; a user with the link's token may accept it once. Revoking an invitation
-- deletes its row.
create table public.invitations (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid() unique,
  -- Never owner: an owner transfers ownership to an existing member.
  role text not null check (role in ('admin', 'member', 'viewer')),
  -- The address for which it is, in lower case; null: anybody with the link.
  email text check (email = lower(email) and char_length(email) between 3 and 255),
  invited_by uuid not null default auth.uid() references public.profiles (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  accepted_by uuid references public.profiles (id) on delete set null,
  primary key (workspace_id, id),
  check (expires_at > created_at and expires_at <= created_at + interval '30 days')
);

create index invitations_invited_by_idx on public.invitations (invited_by);
create index invitations_accepted_by_idx on public.invitations (accepted_by);

alter table public.invitations enable row level security;
revoke all on public.invitations from anon, authenticated, service_role;
grant delete, select on public.invitations to authenticated;
grant all on public.invitations to service_role;
grant insert (workspace_id, role, email, expires_at) on public.invitations to authenticated;

create policy "An admin reads the invitations of their workspaces"
  on public.invitations for select to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin'])));

create policy "An admin invites to their workspaces in their own name"
  on public.invitations for insert to authenticated
  with check (
    workspace_id in (select private.member_workspaces(array['owner', 'admin']))
    and invited_by = (select auth.uid())
  );

create policy "An admin revokes the open invitations of their workspaces"
  on public.invitations for delete to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin'])) and accepted_at is null);

create trigger invitations_are_audited
  after insert or update or delete on public.invitations
  for each row execute function private.audit_change('invitation');

-- The SHA-256 of a link's token. The token itself is returned once and never stored.
create table private.invitation_secrets (
  invitation_id uuid primary key references public.invitations (id) on delete cascade,
  hash bytea not null unique check (octet_length(hash) = 32)
);

alter table private.invitation_secrets enable row level security;
revoke all on private.invitation_secrets from anon, authenticated, service_role;
grant all on private.invitation_secrets to service_role;

-- Nobody can accept an invitation without a secret. The service adds it in the transaction that creates the invitation.
create function private.keep_invitation_secret(invitation uuid, hash text)
returns void
language sql volatile security definer set search_path = ''
as $$
  insert into private.invitation_secrets (invitation_id, hash)
  values (invitation, decode(keep_invitation_secret.hash, 'hex'))
$$;
grant execute on function private.keep_invitation_secret(uuid, text) to outlay_service, service_role;

-- A link to a deleted workspace is not valid. After an undo it is valid again.
create function private.read_invitation(hash text)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'workspace_id', w.id,
    'slug', w.slug,
    'name', w.name,
    'role', i.role,
    'email', i.email,
    'invited_by', coalesce(inviter.display_name, inviter.email),
    'expires_at', floor(extract(epoch from i.expires_at) * 1000)::bigint,
    'is_member', exists (
      select from public.workspace_members as m where m.workspace_id = w.id and m.user_id = auth.uid()
    ),
    'is_for_caller', i.email is null or exists (
      select from public.profiles as p where p.id = auth.uid() and lower(p.email) = i.email
    )
  )
  from private.invitation_secrets as s
  join public.invitations as i on i.id = s.invitation_id
  join public.workspaces as w on w.id = i.workspace_id
  join public.profiles as inviter on inviter.id = i.invited_by
  where s.hash = decode(read_invitation.hash, 'hex') and i.accepted_at is null and i.expires_at > now()
    and w.deleted_at is null
$$;
grant execute on function private.read_invitation(text) to outlay_service, service_role;

-- Makes the signed-in user a member by a link, and uses the link up. An existing member keeps their role, and the link
-- stays valid.
-- returns: as private.read_invitation before the change; nothing was changed if is_member, or if not is_for_caller
create function private.accept_invitation(hash text)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  offered jsonb;
  used uuid;
begin
  -- Of two users who accept at once, the second waits here and then finds the link used.
  select i.id into used
  from private.invitation_secrets as s
  join public.invitations as i on i.id = s.invitation_id
  where s.hash = decode(accept_invitation.hash, 'hex')
  for update of i;
  offered := private.read_invitation(accept_invitation.hash);
  if offered is null or (offered ->> 'is_member')::boolean or not (offered ->> 'is_for_caller')::boolean then
    return offered;
  end if;
  insert into public.workspace_members (workspace_id, user_id, role)
  values ((offered ->> 'workspace_id')::uuid, auth.uid(), offered ->> 'role')
  on conflict do nothing;
  -- The user became a member by another link in the meantime.
  if not found then
    return offered || '{"is_member": true}';
  end if;
  update public.invitations set accepted_at = now(), accepted_by = auth.uid() where id = used;
  return offered;
end
$$;
grant execute on function private.accept_invitation(text) to outlay_service, service_role;
