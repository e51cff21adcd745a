-- Limits on what people do: attempts at signing in, exports that run at once.

-- The recent attempts of each subject: one row per subject, with the times that still count. It is a rolling window over
-- all processes. Its size is bounded: a row has no more times than the limit, and new attempts delete rows whose times have
-- all left their window.
create table private.throttle_windows (
  -- The SHA-256 of the action and the subject, so that addresses and e-mails are not stored.
  subject bytea primary key,
  moments timestamptz[] not null default '{}',
  ends_at timestamptz not null default '-infinity'
);

create index throttle_windows_ends_at_idx on private.throttle_windows (ends_at);

alter table private.throttle_windows enable row level security;
revoke all on private.throttle_windows from anon, authenticated, service_role;

-- Only failed guesses count against a limit. A caller checks whether a quota is full before an attempt, and counts the attempt
-- after it failed.
--
-- The quota that is full at a time; if there are several, the one that frees last. Counts nothing.
-- quotas: [{ subject: hex, limit, window_ms }]
-- returns: null if none is full, otherwise { limit, window_ms, wait_ms }
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
grant execute on function private.full_quota(jsonb, timestamp with time zone) to outlay_service, service_role;

-- Counts one attempt against every quota, or against none if one of them is full.
-- quotas: [{ subject: hex, limit, window_ms }]
-- returns: null if the attempt is admitted, otherwise { limit, window_ms, wait_ms } of the quota that frees last
create function private.admit_attempt(quotas jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  now_at timestamptz;
  quota record;
  refusal jsonb;
begin
  -- Locked in order of the subjects, so that two attempts cannot deadlock; the time is taken afterwards.
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
grant execute on function private.admit_attempt(jsonb) to outlay_service, service_role;

-- An export takes long, so each user may have one at a time, over all processes. Each running export has a row, which its
-- process renews: after a process was killed, its user has to wait for no longer than a lease.
create table private.running_exports (
  user_id uuid primary key,
  export_id uuid not null,
  lease_ends_at timestamptz not null
);

create index running_exports_lease_ends_at_idx on private.running_exports (lease_ends_at);

alter table private.running_exports enable row level security;
revoke all on private.running_exports from anon, authenticated, service_role;

-- Whether the user has a running export.
create function private.has_running_export(of_user uuid)
returns boolean
language sql stable security definer set search_path = ''
as $$
  select exists (
    select from private.running_exports where user_id = of_user and lease_ends_at > clock_timestamp()
  )
$$;
grant execute on function private.has_running_export(uuid) to outlay_service, service_role;

-- Begins an export, or renews its lease. returns: false if the user has another running one
create function private.hold_export(of_user uuid, export uuid, lease_seconds integer)
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
begin
  -- Deletes expired rows of processes that were killed.
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
grant execute on function private.hold_export(uuid, uuid, integer) to outlay_service, service_role;

-- Ends an export. Does not end another export of the same user that began after this one's lease had expired.
create function private.end_export(of_user uuid, export uuid)
returns void
language sql volatile security definer set search_path = ''
as $$
  delete from private.running_exports where user_id = of_user and export_id = export
$$;
grant execute on function private.end_export(uuid, uuid) to outlay_service, service_role;

-- Resets the count of wrong guesses of a user who has proved their identity.
-- quotas: [{ subject: hex }], as for `private.admit_attempt`
create function private.forget_attempts(quotas jsonb)
returns void
language sql volatile security definer set search_path = ''
as $$
  delete from private.throttle_windows
  where subject in (select decode(value ->> 'subject', 'hex') from jsonb_array_elements(quotas))
$$;
grant execute on function private.forget_attempts(jsonb) to outlay_service, service_role;
