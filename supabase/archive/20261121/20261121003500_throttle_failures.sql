-- Guesses are throttled by what fails of them: who comes with what is right uses nothing up. So whether a quota is full
-- is asked before an attempt, and the attempt is counted once it has failed.

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

-- As before; which quota is full, it asks the function above.
create or replace function private.admit_attempt(quotas jsonb)
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
