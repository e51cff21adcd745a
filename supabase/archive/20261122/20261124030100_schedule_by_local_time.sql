-- The first instant after another at which the clocks of a time zone show a time, on any day or on one weekday (1 is
-- Monday). A time that clocks skip in spring is as much later as they go forward; one that they show twice in autumn is
-- the second. So each local day has exactly one.
create function private.next_local_time(after timestamptz, zone text, at_time time, weekday integer)
returns timestamptz
language sql stable set search_path = ''
as $$
  select min(candidate.instant)
  from generate_series(-1, 15) as ahead
  cross join lateral (select (after at time zone zone)::date + ahead as day) as local
  cross join lateral (select (local.day + at_time) at time zone zone as instant) as candidate
  where candidate.instant > after and (weekday is null or extract(isodow from local.day) = weekday)
$$;
revoke execute on function private.next_local_time(timestamptz, text, time, integer) from public;
