-- Invitations by link. The row says what is offered; whoever has the link's token may accept it, once. A row that is
-- deleted is an invitation that was revoked.
create table public.invitations (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid() unique,
  -- Never owner: ownership is given by an owner to somebody who is there already.
  role text not null check (role in ('admin', 'member', 'viewer')),
  -- Whom it is for, in lower case; null: whoever has the link.
  email text check (email = lower(email) and char_length(email) between 3 and 255),
  invited_by uuid not null references public.profiles (id) on delete cascade,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  accepted_by uuid references public.profiles (id) on delete set null,
  primary key (workspace_id, id),
  check (expires_at > created_at and expires_at <= created_at + interval '30 days')
);
create index invitations_invited_by_idx on public.invitations (invited_by);
create index invitations_accepted_by_idx on public.invitations (accepted_by);

-- SHA-256 of a link's token. The token itself is shown once and kept nowhere.
create table private.invitation_secrets (
  invitation_id uuid primary key references public.invitations (id) on delete cascade,
  hash bytea not null unique check (octet_length(hash) = 32)
);

alter table public.invitations enable row level security;
alter table private.invitation_secrets enable row level security;
revoke all on public.invitations from anon, authenticated, service_role;
grant select, delete, insert (workspace_id, id, role, email, invited_by, expires_at) on public.invitations to authenticated;
grant all on public.invitations, private.invitation_secrets to service_role;

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

-- An invitation without a secret can be accepted by nobody. The service adds it in the transaction that invites.
create function private.keep_invitation_secret(invitation uuid, hash text)
returns void
language sql volatile security definer set search_path = ''
as $$
  insert into private.invitation_secrets (invitation_id, hash)
  values (invitation, decode(keep_invitation_secret.hash, 'hex'))
$$;

-- What a link offers to the signed-in user. returns: null where it is unknown, used, revoked or expired, else
--   { workspace_id, slug, name, role, email, invited_by, expires_at, is_member, is_for_caller }
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
$$;

-- Makes the signed-in user a member by a link, and uses it up. Who is a member already stays what they are, and the link
-- stays for whom it was meant.
-- returns: as private.read_invitation before the act; nothing was done where it says is_member, or not is_for_caller
create function private.accept_invitation(hash text)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  offered jsonb;
  used uuid;
begin
  -- Of two who accept at once, the second waits here and then reads that it is used.
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
  -- By another link, a moment ago.
  if not found then
    return offered || '{"is_member": true}';
  end if;
  update public.invitations set accepted_at = now(), accepted_by = auth.uid() where id = used;
  return offered;
end
$$;

-- Who may not invite any more, or not there, has no invitations out: a link they kept would be their way back in.
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

revoke all on function private.keep_invitation_secret(uuid, text), private.read_invitation(text), private.accept_invitation(text),
  private.revoke_invitations_of_former_admin() from public;
grant execute on function private.keep_invitation_secret(uuid, text), private.read_invitation(text), private.accept_invitation(text)
  to outlay_service, service_role;

create trigger revoke_invitations_of_removed_admin
  after delete on public.workspace_members
  for each row when (old.role in ('owner', 'admin'))
  execute function private.revoke_invitations_of_former_admin();

create trigger revoke_invitations_of_demoted_admin
  after update of role on public.workspace_members
  for each row when (old.role in ('owner', 'admin') and new.role not in ('owner', 'admin'))
  execute function private.revoke_invitations_of_former_admin();
