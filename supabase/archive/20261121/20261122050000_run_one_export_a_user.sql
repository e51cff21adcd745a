-- An export is long, and each user may have one at a time, over all processes. A row a user who has one under way; whoever
-- sends it renews the row, so that a process that was killed holds its user up for no longer than a lease.
create table private.running_exports (
  user_id uuid primary key,
  export_id uuid not null,
  lease_ends_at timestamptz not null
);
create index running_exports_lease_ends_at_idx on private.running_exports (lease_ends_at);
alter table private.running_exports enable row level security;

-- Whether the user has an export under way.
create function private.has_running_export(of_user uuid)
returns boolean
language sql stable security definer set search_path = ''
as $$
  select exists (
    select from private.running_exports where user_id = of_user and lease_ends_at > clock_timestamp()
  )
$$;
revoke all on function private.has_running_export(uuid) from public;
grant execute on function private.has_running_export(uuid) to outlay_service, service_role;

-- Begins an export, or renews it. returns: false where the user has another one under way
create function private.hold_export(of_user uuid, export uuid, lease_seconds integer)
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
begin
  -- What processes left that were killed goes as others come.
  delete from private.running_exports
  where user_id in (
    select user_id from private.running_exports
    where lease_ends_at < clock_timestamp() - interval '1 hour'
    limit 10 for update skip locked
  );
  insert into private.running_exports as running (user_id, export_id, lease_ends_at)
  values (of_user, export, clock_timestamp() + lease_seconds * interval '1 second')
  on conflict (user_id) do update
  set export_id = excluded.export_id, lease_ends_at = excluded.lease_ends_at
  where running.export_id = excluded.export_id or running.lease_ends_at <= clock_timestamp();
  return found;
end
$$;
revoke all on function private.hold_export(uuid, uuid, integer) from public;
grant execute on function private.hold_export(uuid, uuid, integer) to outlay_service, service_role;

-- Ends an export. Another one of the same user, begun when the lease of this had ended, stays.
create function private.end_export(of_user uuid, export uuid)
returns void
language sql volatile security definer set search_path = ''
as $$
  delete from private.running_exports where user_id = of_user and export_id = export
$$;
revoke all on function private.end_export(uuid, uuid) from public;
grant execute on function private.end_export(uuid, uuid) to outlay_service, service_role;
