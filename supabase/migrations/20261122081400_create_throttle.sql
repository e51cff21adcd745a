-- Limits that are not those of keys: attempts to sign in and the like, and exports.

-- Attempts ------------------------------------------------------------------------------------------------------------

-- How often something was done lately, by whoever is counted: a row a subject, with the moments that still count. A true
-- rolling window that holds over all processes. Bounded: never more moments than the limit, and rows whose moments have
-- all left their window go as others come.
create table private.throttle_windows (
  -- SHA-256 of what is counted and of whom: addresses and e-mails are not kept in the clear.
  subject bytea primary key,
  moments timestamptz[] not null default '{}',
  ends_at timestamptz not null default '-infinity'
);
create index throttle_windows_ends_at_idx on private.throttle_windows (ends_at);
alter table private.throttle_windows enable row level security;

-- Guesses are throttled by what fails of them: who comes with what is right uses nothing up. So whether a quota is full
-- is asked before an attempt, and the attempt is counted once it has failed.
--
-- Which of the quotas is full at a moment; of several, the one that frees last. Counts nothing.
-- quotas: [{ subject: hex, limit, window_ms }]
-- returns: null where there is room in all, else { limit, window_ms, wait_ms }
create function private.full_quota(quotas jsonb, at_moment timestamptz default clock_timestamp())
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object('limit', full_ones."limit", 'window_ms', full_ones.window_ms, 'wait_ms', full_ones.wait_ms)
  from (
    select q."limit", q.window_ms,
      ceil(extract(epoch from counted[cardinality(counted) - q."limit" + 1] - at_moment) * 1000)::bigint + q.window_ms as wait_ms
    from jsonb_to_recordset(quotas) as q (subject text, "limit" integer, window_ms bigint)
    join private.throttle_windows as t on t.subject = decode(q.subject, 'hex')
    cross join lateral (
      select coalesce(array_agg(moment order by moment), '{}') as counted from unnest(t.moments) as moment
      where moment > at_moment - q.window_ms * interval '1 millisecond'
    ) as recent
    where cardinality(counted) >= q."limit"
    order by wait_ms desc
    limit 1
  ) as full_ones
$$;
revoke all on function private.full_quota(jsonb, timestamptz) from public;
grant execute on function private.full_quota(jsonb, timestamptz) to outlay_service, service_role;

-- Counts one attempt against every quota, or none where one of them is full: what is refused uses nothing up.
-- quotas: [{ subject: hex, limit, window_ms }]
-- returns: null where it was admitted, else { limit, window_ms, wait_ms } of the quota that frees last
create function private.admit_attempt(quotas jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  now_at timestamptz;
  quota record;
  refusal jsonb;
begin
  -- Locked in the order of their names, so that two attempts never wait for each other; the time is taken afterwards.
  for quota in
    select decode(value ->> 'subject', 'hex') as subject from jsonb_array_elements(quotas) order by 1
  loop
    insert into private.throttle_windows as t (subject) values (quota.subject)
    on conflict (subject) do update set moments = t.moments;
  end loop;
  now_at := clock_timestamp();

  refusal := private.full_quota(quotas, now_at);
  if refusal is not null then
    return refusal;
  end if;

  update private.throttle_windows as t
  set moments = array(
        select moment from unnest(t.moments) as moment
        where moment > now_at - q.window_ms * interval '1 millisecond'
        order by moment
      ) || now_at,
      ends_at = now_at + q.window_ms * interval '1 millisecond'
  from jsonb_to_recordset(quotas) as q (subject text, "limit" integer, window_ms bigint)
  where t.subject = decode(q.subject, 'hex');

  delete from private.throttle_windows
  where subject in (
    select subject from private.throttle_windows where ends_at < now_at order by ends_at limit 20 for update skip locked
  );
  return null;
end
$$;
revoke all on function private.admit_attempt(jsonb) from public;
grant execute on function private.admit_attempt(jsonb) to outlay_service, service_role;

-- Exports -------------------------------------------------------------------------------------------------------------

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
