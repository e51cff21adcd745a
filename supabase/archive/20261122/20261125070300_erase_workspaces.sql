-- Erases workspaces whose deletion can no longer be undone: every row of every table that has their id, a limited number at a time,
-- and then the workspace itself with what hangs on it by foreign keys. Each call is a step of its own that can be interrupted and
-- repeated; the tables are read from the catalogue, so that no later one is forgotten.

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
revoke all on function private.tables_of_workspaces() from public;

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
revoke all on function private.erase_workspace_step(integer) from public;
grant execute on function private.erase_workspace_step(integer) to outlay_service, service_role;
