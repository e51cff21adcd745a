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

  select jsonb_build_object('limit', full_ones."limit", 'window_ms', full_ones.window_ms, 'wait_ms', full_ones.wait_ms)
  into refusal
  from (
    select q."limit", q.window_ms,
      ceil(extract(epoch from counted[cardinality(counted) - q."limit" + 1] - now_at) * 1000)::bigint + q.window_ms as wait_ms
    from jsonb_to_recordset(quotas) as q (subject text, "limit" integer, window_ms bigint)
    join private.throttle_windows as t on t.subject = decode(q.subject, 'hex')
    cross join lateral (
      select coalesce(array_agg(moment order by moment), '{}') as counted from unnest(t.moments) as moment
      where moment > now_at - q.window_ms * interval '1 millisecond'
    ) as recent
    where cardinality(counted) >= q."limit"
    order by wait_ms desc
    limit 1
  ) as full_ones;
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
