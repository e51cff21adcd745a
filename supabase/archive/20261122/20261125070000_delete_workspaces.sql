-- An owner may delete a workspace, and undo that for thirty days. Meanwhile the workspace is as it was, and nobody can use it:
-- its members do not see it (private.member_workspaces), its keys and connections are refused, and no job touches it.
--
-- A key's look-up reads the version of its workspace's prices anyway. The version is negative while the workspace is deleted, so
-- that refusing its keys costs recording nothing; an undo restores the same version.

alter table public.workspaces
  add column deleted_at timestamptz,
  add column deleted_by uuid references public.profiles (id) on delete set null,
  add constraint workspaces_deleted_are_marked check ((deleted_at is null) = (prices_version >= 0)),
  add constraint workspaces_demo_is_kept check (deleted_at is null or type <> 'demo');
create index workspaces_deleted_idx on public.workspaces (deleted_at) where deleted_at is not null;
create index workspaces_deleted_by_idx on public.workspaces (deleted_by);
comment on column public.workspaces.prices_version is
  'Counts the changes of the workspace''s prices, so that a process can check whether its cached prices are current. Less than zero while the workspace is deleted.';
comment on column public.workspaces.deleted_at is 'When an owner deleted the workspace. It is erased thirty days later, unless that is undone.';

-- For how long a deletion can be undone.
create function private.days_to_undo()
returns interval
language sql immutable set search_path = ''
return interval '30 days';

-- Whether the signed-in user proved within the last hour who they are: when the session began, or with a code since. A found
-- browser with an old session can so not delete anything. `amr` is a list as Supabase Auth writes it.
create function private.signed_in_recently()
returns boolean
language sql stable set search_path = ''
as $$
  select exists (
    select from jsonb_array_elements(
      case when jsonb_typeof(auth.jwt() -> 'amr') = 'array' then auth.jwt() -> 'amr' else '[]' end
    ) as proof
    where jsonb_typeof(proof -> 'timestamp') = 'number'
      and (proof ->> 'timestamp')::numeric > extract(epoch from now() - interval '1 hour')
  )
$$;
revoke all on function private.days_to_undo(), private.signed_in_recently() from public;

-- Who may do what in a workspace is decided here, and nobody may do anything in a deleted one.
create or replace function private.member_workspaces(
  required_roles text[] default array['owner', 'admin', 'member', 'viewer']
)
returns setof uuid
language plpgsql stable security definer set search_path = ''
as $$
begin
  return query
    select m.workspace_id
    from public.workspace_members as m
    join public.workspaces as w on w.id = m.workspace_id
    where m.user_id = (select auth.uid()) and m.role = any (required_roles)
      and w.deleted_at is null
      and (
        (select private.proved_second_factor())
        or ((select private.session_is_complete()) and not w.require_mfa)
      );
end
$$;

create or replace function private.locked_workspaces()
returns table (slug text, name text)
language sql stable security definer set search_path = ''
as $$
  select w.slug, w.name
  from public.workspace_members as m
  join public.workspaces as w on w.id = m.workspace_id
  where m.user_id = auth.uid() and w.require_mfa and w.deleted_at is null
    and not private.proved_second_factor() and private.session_is_complete()
  order by w.name, w.slug
$$;

-- The signed-in user's workspaces that were deleted and can still be restored: what their members are told of them. A session
-- that lacks its user's second factor learns nothing.
create function private.deleted_memberships()
returns table (id uuid, slug text, name text, role text, require_mfa boolean, deleted_at timestamptz, erased_at timestamptz, deleted_by text)
language sql stable security definer set search_path = ''
as $$
  select w.id, w.slug, w.name, m.role, w.require_mfa, w.deleted_at, w.deleted_at + private.days_to_undo(),
    (select coalesce(p.display_name, p.email) from public.profiles as p where p.id = w.deleted_by)
  from public.workspace_members as m
  join public.workspaces as w on w.id = m.workspace_id
  where m.user_id = auth.uid() and w.deleted_at > now() - private.days_to_undo() and private.session_is_complete()
  order by w.name, w.slug
$$;
revoke all on function private.deleted_memberships() from public;
grant execute on function private.deleted_memberships() to outlay_service, service_role;

-- Keys are refused before they read anything. If one is not, the policies of the ledger and its sums hide a deleted workspace.
create or replace function private.reused_workspaces()
returns setof uuid
language plpgsql stable security definer set search_path = ''
as $$
begin
  return query
    select deleted.id from private.deleted_workspaces as deleted join public.workspaces using (id)
    union all
    select w.id from public.workspaces as w where w.deleted_at is not null;
end
$$;

-- A user may change their name while their default workspace is one that they cannot use at the moment.
create function private.own_default_workspace()
returns uuid
language sql stable security definer set search_path = ''
as $$
  select p.default_workspace_id from public.profiles as p where p.id = auth.uid()
$$;
revoke all on function private.own_default_workspace() from public;
grant execute on function private.own_default_workspace() to authenticated;

drop policy "A user edits their profile and picks among their workspaces" on public.profiles;
create policy "A user edits their profile and picks among their workspaces"
  on public.profiles for update to authenticated
  using (id = (select auth.uid()))
  with check (
    id = (select auth.uid())
    and (
      default_workspace_id is null
      or default_workspace_id in (select private.member_workspaces())
      or default_workspace_id = (select private.own_default_workspace())
    )
  );

-- What a link to a deleted workspace offers is nothing; it is valid again after an undo.
create or replace function private.read_invitation(hash text)
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

-- Mails about workspaces and accounts ---------------------------------------------------------------------------------

-- What people are told by mail of a deletion: queued in its transaction, deleted when sent.
create table private.notices (
  id uuid primary key default gen_random_uuid(),
  kind text not null check (kind in ('workspace_deleted', 'workspace_restored', 'account_deleted', 'account_restored')),
  recipient text not null,
  details jsonb not null,
  next_attempt_at timestamptz not null default now(),
  give_up_at timestamptz not null default now() + interval '3 days'
);
create index notices_next_attempt_at_idx on private.notices (next_attempt_at);
alter table private.notices enable row level security;
grant all on private.notices to service_role;

-- Takes notices that are due; another process may try again in ten minutes. What could not be sent for three days is dropped.
-- returns: [{ id, kind, recipient, details }]
create function private.claim_notices(at_most integer)
returns jsonb
language sql volatile security definer set search_path = ''
as $$
  with dropped as (
    delete from private.notices where next_attempt_at <= clock_timestamp() and give_up_at <= clock_timestamp()
  ), due as (
    select id from private.notices
    where next_attempt_at <= clock_timestamp() and give_up_at > clock_timestamp()
    order by next_attempt_at
    limit at_most
    for update skip locked
  ), claimed as (
    update private.notices as n set next_attempt_at = clock_timestamp() + interval '10 minutes'
    from due where n.id = due.id
    returning n.id, n.kind, n.recipient, n.details
  )
  select coalesce(jsonb_agg(to_jsonb(claimed)), '[]') from claimed
$$;

create function private.forget_notice(notice uuid)
returns void
language sql volatile security definer set search_path = ''
as $$
  delete from private.notices where id = notice
$$;
revoke all on function private.claim_notices(integer), private.forget_notice(uuid) from public;
grant execute on function private.claim_notices(integer), private.forget_notice(uuid) to outlay_service, service_role;

-- Writes the audit log's entry about a deletion or its undo, and queues a mail for every member.
create function private.tell_members(workspace uuid, done text)
returns void
language sql volatile security definer set search_path = ''
as $$
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, before, after, address)
  select w.id, auth.uid(), auth.email(), 'workspace.' || done, 'workspace ' || w.id, null,
    case when w.deleted_at is not null then
      jsonb_build_object('name', w.name, 'slug', w.slug, 'erased_at', w.deleted_at + private.days_to_undo())
    else jsonb_build_object('name', w.name, 'slug', w.slug) end,
    nullif(current_setting('request.address', true), '')
  from public.workspaces as w where w.id = workspace;
  insert into private.notices (kind, recipient, details)
  select 'workspace_' || done, p.email, jsonb_build_object(
    'name', w.name, 'slug', w.slug, 'role', m.role,
    'by', (select coalesce(actor.display_name, actor.email) from public.profiles as actor where actor.id = auth.uid()),
    'erased_at', floor(extract(epoch from w.deleted_at + private.days_to_undo()) * 1000)::bigint
  )
  from public.workspaces as w
  join public.workspace_members as m on m.workspace_id = w.id
  join public.profiles as p on p.id = m.user_id
  where w.id = workspace
$$;
revoke all on function private.tell_members(uuid, text) from public;

-- Deleting and undoing ------------------------------------------------------------------------------------------------

-- Far below any version, so that changes of prices while a workspace is erased keep it negative.
create function private.deletion_mark()
returns bigint
language sql immutable set search_path = ''
return 1000000000000000;
revoke all on function private.deletion_mark() from public;

-- Deletes a workspace of the signed-in user, an owner who proved lately who they are. It waits for open transactions that
-- record costs in the workspace. After its commit, nothing is recorded there.
-- returns: false where it is deleted already
create function private.delete_workspace(workspace uuid)
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if not private.signed_in_recently() or not exists (
    select from private.member_workspaces(array['owner']) as owned where owned = workspace
  ) then
    raise exception 'only an owner who signed in within the last hour may delete a workspace'
      using errcode = 'insufficient_privilege';
  end if;
  -- Groups of calls hold this lock from the look-up of their keys until they are written (private.load_admission).
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
  update public.workspaces
  set deleted_at = clock_timestamp(), deleted_by = auth.uid(), prices_version = prices_version - private.deletion_mark()
  where id = workspace and deleted_at is null;
  if not found then
    return false;
  end if;
  -- Questions for consent, and codes that were not redeemed yet.
  delete from private.oauth_authorizations where workspace_id = workspace;
  perform private.tell_members(workspace, 'deleted');
  return true;
end
$$;

-- Undoes the deletion of a workspace, for an owner of it whose session has the second factor that it requires.
-- returns: false where there is nothing to undo
create function private.restore_workspace(workspace uuid)
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if not private.session_is_complete() or not exists (
    select from public.workspace_members as m
    join public.workspaces as w on w.id = m.workspace_id
    where m.workspace_id = workspace and m.user_id = auth.uid() and m.role = 'owner'
      and (not w.require_mfa or private.proved_second_factor())
  ) then
    raise exception 'only an owner may undo the deletion of a workspace' using errcode = 'insufficient_privilege';
  end if;
  update public.workspaces
  set deleted_at = null, deleted_by = null, prices_version = prices_version + private.deletion_mark()
  where id = workspace and deleted_at > clock_timestamp() - private.days_to_undo();
  if not found then
    return false;
  end if;
  perform private.tell_members(workspace, 'restored');
  return true;
end
$$;
revoke all on function private.delete_workspace(uuid), private.restore_workspace(uuid) from public;
grant execute on function private.delete_workspace(uuid), private.restore_workspace(uuid) to outlay_service, service_role;
