-- The running totals of metrics that other programs send.

-- The running totals that emitters report (cumulative metrics), one row for each series and start. `settled` is the total
-- up to which the ledger holds what was used; `pending` lists later totals, [{ "time": ns, "value": total }], which are
-- recorded next. A restart begins a series with another start, and so another row.
create table private.running_totals (
  workspace_id uuid not null,
  environment text not null check (environment in ('live', 'test')),
  series text not null check (char_length(series) between 1 and 128),
  start_ns numeric(20, 0) not null,
  settled numeric not null default 0,
  settled_ns numeric(20, 0) not null default 0,
  pending jsonb not null default '[]',
  updated_at timestamptz not null default now(),
  primary key (workspace_id, environment, series, start_ns)
);

create index running_totals_updated_at_idx on private.running_totals (updated_at);

alter table private.running_totals enable row level security;
revoke all on private.running_totals from anon, authenticated, service_role;

-- Adds totals to their series. A total that is not later than those that are known was told before and is left out.
--
-- points: [{ series, start, time, value }], decimal text
-- returns: [{ series, start, settled, settled_ns, pending: [{ time, value }] }], for each series that was named
create function private.advance_totals(workspace uuid, env text, points jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  answer jsonb;
begin
  -- A process that is this long silent has ended; its totals will not be compared again.
  delete from private.running_totals
  where ctid in (
    select ctid from private.running_totals where updated_at < now() - interval '40 days' limit 100 for update skip locked
  );

  insert into private.running_totals (workspace_id, environment, series, start_ns)
  select distinct workspace, env, p.series, p.start
  from jsonb_to_recordset(points) as p (series text, start numeric)
  order by p.series, p.start
  on conflict do nothing;

  perform from private.running_totals as t
  where t.workspace_id = workspace and t.environment = env
    and (t.series, t.start_ns) in (select p.series, p.start from jsonb_to_recordset(points) as p (series text, start numeric))
  order by t.series, t.start_ns
  for update;

  update private.running_totals as t
  set updated_at = now(), pending = t.pending || later.totals
  from (
    select p.series, p.start, jsonb_agg(jsonb_build_object('time', p.time::text, 'value', p.value::text) order by p.time) as totals
    from (
      select distinct on (series, start, time) series, start, time, value
      from jsonb_to_recordset(points) as one (series text, start numeric, time numeric, value numeric)
      order by series, start, time, value
    ) as p
    join private.running_totals as known
      on known.workspace_id = workspace and known.environment = env and known.series = p.series and known.start_ns = p.start
    where p.time > greatest(known.settled_ns, coalesce((known.pending -> -1 ->> 'time')::numeric, 0))
    group by p.series, p.start
  ) as later
  where t.workspace_id = workspace and t.environment = env and t.series = later.series and t.start_ns = later.start;

  select coalesce(jsonb_agg(jsonb_build_object(
    'series', t.series, 'start', t.start_ns::text, 'settled', t.settled::text, 'settled_ns', t.settled_ns::text, 'pending', t.pending
  )), '[]') into answer
  from private.running_totals as t
  where t.workspace_id = workspace and t.environment = env
    and (t.series, t.start_ns) in (select p.series, p.start from jsonb_to_recordset(points) as p (series text, start numeric));
  return answer;
end
$$;
grant execute on function private.advance_totals(uuid, text, jsonb) to outlay_service, service_role;

-- Remembers that the ledger holds what was used up to these totals.
--
-- totals: [{ series, start, time, value }], decimal text
create function private.settle_totals(workspace uuid, env text, totals jsonb)
returns void
language sql volatile security definer set search_path = ''
as $$
  update private.running_totals as t
  set settled = s.value, settled_ns = s.time,
    pending = coalesce((
      select jsonb_agg(later.value order by (later.value ->> 'time')::numeric)
      from jsonb_array_elements(t.pending) as later
      where (later.value ->> 'time')::numeric > s.time
    ), '[]')
  from jsonb_to_recordset(totals) as s (series text, start numeric, time numeric, value numeric)
  where t.workspace_id = workspace and t.environment = env and t.series = s.series and t.start_ns = s.start
    and t.settled_ns < s.time;
$$;
grant execute on function private.settle_totals(uuid, text, jsonb) to outlay_service, service_role;
