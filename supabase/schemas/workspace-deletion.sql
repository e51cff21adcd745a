-- The deletion of workspaces, which can be undone for thirty days.

-- In a deleted workspace no alert is raised and no state changes, so that an undo restores them as they were. The last step of
-- the erasure deletes the states.
create function private.leave_deleted_workspace()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  at_stake uuid := case when tg_op = 'DELETE' then old.workspace_id else new.workspace_id end;
begin
  if exists (
    select from public.workspaces as w
    where w.id = at_stake and w.deleted_at > now() - private.days_to_undo()
  ) then
    return null;
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end
$$;

create trigger alerts_leave_deleted_workspaces
  before insert on public.alerts
  for each row execute function private.leave_deleted_workspace();
create trigger alert_states_leave_deleted_workspaces
  before insert or update or delete on public.alert_states
  for each row execute function private.leave_deleted_workspace();

-- For how long a deletion can be undone.
create function private.days_to_undo()
returns interval
language sql immutable set search_path = ''
return interval '30 days';

-- Whether the signed-in user proved within the last hour who they are: when the session began, or with a code since. So nobody
-- can delete anything with an old session in a browser that they found. `amr` is a list as Supabase Auth writes it.
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

-- The signed-in user's workspaces that were deleted and can still be restored, as their members see them. A session that lacks
-- its user's second factor learns nothing.
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
grant execute on function private.deleted_memberships() to outlay_service, service_role;

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
  insert into public.deliveries (kind, recipient, details)
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

-- Far below any version, so that changes of prices while a workspace is erased keep it negative.
create function private.deletion_mark()
returns bigint
language sql immutable set search_path = ''
return 1000000000000000;

-- Deletes a workspace of the signed-in user, who must be an owner and have proved who they are within the last hour. It waits
-- for open transactions that record costs in the workspace. After its commit, nothing is recorded there.
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
grant execute on function private.delete_workspace(uuid) to outlay_service, service_role;

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
grant execute on function private.restore_workspace(uuid) to outlay_service, service_role;

-- Tables of the product, and partitions of its tables, that have a workspace's id, in the order in which they are emptied. Tables
-- that others refer to are small, and left to the last step; the audit log is last, as deleting may write to it.
create function private.tables_of_workspaces()
returns setof regclass
language sql stable security definer set search_path = ''
as $$
  select c.oid::regclass
  from pg_catalog.pg_class as c
  join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
  where c.relkind = 'r' and c.relnamespace in ('public'::regnamespace, 'private'::regnamespace)
    and (
      c.oid = 'public.alerts'::regclass
      or not exists (select from pg_catalog.pg_constraint as k where k.contype = 'f' and k.confrelid = c.oid and k.conrelid <> c.oid)
    )
  order by c.oid = 'public.audit_log'::regclass, c.oid = 'public.alerts'::regclass, not c.relispartition, c.oid
$$;

-- returns: how many rows were deleted; null where nothing is to be erased
create function private.erase_workspace_step(at_most integer)
returns integer
language plpgsql volatile security definer set search_path = ''
as $$
declare
  workspace uuid;
  next_table regclass;
  gone integer;
begin
  select w.id into workspace
  from public.workspaces as w
  where w.deleted_at <= clock_timestamp() - private.days_to_undo()
  order by w.deleted_at
  limit 1
  for update skip locked;
  if workspace is null then
    return null;
  end if;
  -- Waits for whoever looked a key up before the deletion, however unlikely after thirty days.
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));

  for next_table in select private.tables_of_workspaces() loop
    execute format(
      'delete from only %1$s where ctid = any (array(select ctid from only %1$s where workspace_id = $1 limit $2))', next_table
    ) using workspace, at_most;
    get diagnostics gone = row_count;
    if gone > 0 then
      return gone;
    end if;
  end loop;

  delete from private.rate_windows where ctid = any (array(
    select w.ctid from private.rate_windows as w
    join public.api_keys as k on k.id = w.api_key_id
    where k.workspace_id = workspace
    limit at_most
  ));
  get diagnostics gone = row_count;
  if gone > 0 then
    return gone;
  end if;

  delete from public.workspaces where id = workspace;
  -- Nothing is left that a new workspace with this id could show.
  delete from private.deleted_workspaces where id = workspace;
  return 1;
end
$$;
grant execute on function private.erase_workspace_step(integer) to outlay_service, service_role;
