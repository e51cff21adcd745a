-- Records that other programs send, and those that were refused.

-- Counts of what a source (an API key) sent, by emitter, with the latest record. Counted some time after the export, at most
-- about once a second by each process, so that no row is written with every export.
create table public.source_arrivals (
  workspace_id uuid not null,
  api_key_id uuid not null,
  emitter text not null check (char_length(emitter) between 1 and 64),
  told_count bigint not null default 0,
  recorded_count bigint not null default 0,
  repeated_count bigint not null default 0,
  refused_count bigint not null default 0,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  last_message_id uuid,
  last_provider text,
  last_model text,
  last_amount_usd numeric,
  last_cost_status text,
  last_recorded_at timestamptz,
  primary key (workspace_id, api_key_id, emitter),
  foreign key (workspace_id, api_key_id) references public.api_keys (workspace_id, id) on delete cascade
);

alter table public.source_arrivals enable row level security;
revoke all on public.source_arrivals from anon, authenticated, service_role;
grant select on public.source_arrivals to authenticated;

create policy "A member reads what came in from their sources"
  on public.source_arrivals for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- Why records (`of_record`) and whole requests of a source were refused. `reason` is a hash of the code and what distinguishes it. `example` has
-- names of the last such record: emitter, project, feature, provider, model and time. A source has at most 50 reasons.
create table public.source_refusals (
  workspace_id uuid not null,
  api_key_id uuid not null,
  reason text not null check (char_length(reason) = 64),
  code text not null check (char_length(code) between 1 and 64),
  of_record boolean not null,
  description text not null check (char_length(description) <= 500),
  refused_count bigint not null,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  example jsonb,
  primary key (workspace_id, api_key_id, reason),
  foreign key (workspace_id, api_key_id) references public.api_keys (workspace_id, id) on delete cascade,
  constraint source_refusals_example_check check (octet_length(example::text) <= 16384)
);

alter table public.source_refusals enable row level security;
revoke all on public.source_refusals from anon, authenticated, service_role;
grant select on public.source_refusals to authenticated;

create policy "A member reads what was refused from their sources"
  on public.source_refusals for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- The refused records of the last exports of a source, to be sent again: what was read from them by the list of attributes,
-- never the payload. A source has at most 20 of them with 1 MiB in all, for 7 days. Members see that they are there; their
-- content is read by the service alone.
create table public.refused_exports (
  workspace_id uuid not null,
  api_key_id uuid not null,
  id uuid not null default gen_random_uuid(),
  at timestamptz not null default clock_timestamp(),
  record_count integer not null check (record_count > 0),
  byte_count integer not null,
  address text,
  records jsonb not null,
  primary key (workspace_id, api_key_id, id),
  foreign key (workspace_id, api_key_id) references public.api_keys (workspace_id, id) on delete cascade
);

create index refused_exports_at_idx on public.refused_exports (at);

alter table public.refused_exports enable row level security;
revoke all on public.refused_exports from anon, authenticated, service_role;
grant select (workspace_id, api_key_id, id, at, record_count, byte_count) on public.refused_exports to authenticated;

create policy "A member reads that refused records of their sources are kept"
  on public.refused_exports for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- Outcomes of a source's usage records, by the hour in which they arrived. `by` gives the detail or the reason, and may be
-- empty (`SourceOutcome` in lib/contract/sources/sources.ts). Kept for 7 days.
create table public.source_hours (
  workspace_id uuid not null,
  api_key_id uuid not null,
  hour timestamptz not null default date_trunc('hour', now()),
  emitter text not null check (char_length(emitter) between 1 and 64),
  outcome text not null check (char_length(outcome) between 1 and 64),
  by text not null check (char_length(by) <= 64),
  record_count bigint not null,
  primary key (workspace_id, api_key_id, hour, emitter, outcome, by),
  foreign key (workspace_id, api_key_id) references public.api_keys (workspace_id, id) on delete cascade
);

create index source_hours_hour_idx on public.source_hours (hour);

alter table public.source_hours enable row level security;
revoke all on public.source_hours from anon, authenticated, service_role;
grant select on public.source_hours to authenticated;

create policy "A member reads what became of what their sources told"
  on public.source_hours for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- Adds what came in from sources. Rows are locked in the order of their keys, because processes write at the same time.
--
-- noted: {
--   arrivals: [{ key, emitter, told, recorded, repeated, refused, latest: { id, provider, model, amount, status } | null }],
--   refusals: [{ key, reason, code, of_record, description, count, example }],
--   account: [{ key, emitter, outcome, by, count }],
--   exports: [{ key, address, records }]
-- }
create function private.note_sources(noted jsonb)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  insert into public.source_arrivals as known (
    workspace_id, api_key_id, emitter, told_count, recorded_count, repeated_count, refused_count,
    last_message_id, last_provider, last_model, last_amount_usd, last_cost_status, last_recorded_at
  )
  select k.workspace_id, k.id, a.emitter, a.told, a.recorded, a.repeated, a.refused,
    (a.latest ->> 'id')::uuid, a.latest ->> 'provider', a.latest ->> 'model', (a.latest ->> 'amount')::numeric,
    a.latest ->> 'status', case when a.latest is not null then now() end
  from jsonb_to_recordset(noted -> 'arrivals') as a (
    key uuid, emitter text, told bigint, recorded bigint, repeated bigint, refused bigint, latest jsonb
  )
  join public.api_keys as k on k.id = a.key
  order by k.id, a.emitter
  on conflict (workspace_id, api_key_id, emitter) do update set
    told_count = known.told_count + excluded.told_count,
    recorded_count = known.recorded_count + excluded.recorded_count,
    repeated_count = known.repeated_count + excluded.repeated_count,
    refused_count = known.refused_count + excluded.refused_count,
    last_at = now(),
    last_message_id = coalesce(excluded.last_message_id, known.last_message_id),
    last_provider = case when excluded.last_message_id is null then known.last_provider else excluded.last_provider end,
    last_model = case when excluded.last_message_id is null then known.last_model else excluded.last_model end,
    last_amount_usd = coalesce(excluded.last_amount_usd, known.last_amount_usd),
    last_cost_status = coalesce(excluded.last_cost_status, known.last_cost_status),
    last_recorded_at = coalesce(excluded.last_recorded_at, known.last_recorded_at);

  -- Versions before this one note no account.
  insert into public.source_hours as known (workspace_id, api_key_id, emitter, outcome, by, record_count)
  select k.workspace_id, k.id, a.emitter, a.outcome, a.by, a.count
  from jsonb_to_recordset(coalesce(noted -> 'account', '[]')) as a (key uuid, emitter text, outcome text, by text, count bigint)
  join public.api_keys as k on k.id = a.key
  order by k.id, a.emitter, a.outcome, a.by
  on conflict (workspace_id, api_key_id, hour, emitter, outcome, by) do update set
    record_count = known.record_count + excluded.record_count;

  insert into public.source_refusals as known (workspace_id, api_key_id, reason, code, of_record, description, refused_count, example)
  select k.workspace_id, k.id, r.reason, r.code, r.of_record, r.description, r.count, r.example
  from jsonb_to_recordset(noted -> 'refusals') as r (
    key uuid, reason text, code text, of_record boolean, description text, count bigint, example jsonb
  )
  join public.api_keys as k on k.id = r.key
  order by k.id, r.reason
  on conflict (workspace_id, api_key_id, reason) do update set
    refused_count = known.refused_count + excluded.refused_count,
    description = excluded.description,
    last_at = now(),
    example = coalesce(excluded.example, known.example);

  delete from public.source_refusals as old
  using (
    select workspace_id, api_key_id, reason,
      row_number() over (partition by workspace_id, api_key_id order by last_at desc, refused_count desc, reason) as place
    from public.source_refusals
    where api_key_id in (select (r.value ->> 'key')::uuid from jsonb_array_elements(noted -> 'refusals') as r)
      and workspace_id in (select k.workspace_id from public.api_keys as k where k.id in (
        select (r.value ->> 'key')::uuid from jsonb_array_elements(noted -> 'refusals') as r
      ))
  ) as ranked
  where ranked.place > 50 and old.workspace_id = ranked.workspace_id and old.api_key_id = ranked.api_key_id
    and old.reason = ranked.reason;

  if jsonb_array_length(noted -> 'exports') = 0 then
    return;
  end if;
  insert into public.refused_exports (workspace_id, api_key_id, record_count, byte_count, address, records)
  select k.workspace_id, k.id, jsonb_array_length(e.records), octet_length(e.records::text), e.address, e.records
  from jsonb_to_recordset(noted -> 'exports') as e (key uuid, address text, records jsonb)
  join public.api_keys as k on k.id = e.key;

  delete from public.refused_exports as old
  using (
    select workspace_id, api_key_id, id,
      row_number() over newest as place, sum(byte_count) over newest as bytes
    from public.refused_exports
    where api_key_id in (select (e.value ->> 'key')::uuid from jsonb_array_elements(noted -> 'exports') as e)
    window newest as (partition by workspace_id, api_key_id order by at desc, id rows unbounded preceding)
  ) as ranked
  where (ranked.place > 20 or ranked.bytes > 1048576) and old.workspace_id = ranked.workspace_id
    and old.api_key_id = ranked.api_key_id and old.id = ranked.id;
  delete from public.refused_exports
  where ctid in (
    select ctid from public.refused_exports where at < now() - interval '7 days' limit 100 for update skip locked
  );
end
$$;
grant execute on function private.note_sources(jsonb) to outlay_service, service_role;

-- The kept refused records of a key, oldest first, and the hash by which the guard finds the key.
--
-- returns: { hash: hex | null, exports: [{ id, address, records }] }
create function private.take_refused_exports(workspace uuid, key_id uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object('hash', encode(s.hash, 'hex'), 'exports', coalesce((
    select jsonb_agg(jsonb_build_object('id', e.id, 'address', e.address, 'records', e.records) order by e.at, e.id)
    from public.refused_exports as e
    where e.workspace_id = workspace and e.api_key_id = key_id and e.at >= now() - interval '7 days'
  ), '[]'))
  from public.api_keys as k
  left join private.api_key_secrets as s on s.api_key_id = k.id
  where k.workspace_id = workspace and k.id = key_id
$$;
grant execute on function private.take_refused_exports(uuid, uuid) to outlay_service, service_role;

-- Keeps the records of a refused export that are still refused, or deletes the export if none are.
create function private.settle_refused_export(workspace uuid, key_id uuid, export_id uuid, refused jsonb)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if jsonb_array_length(refused) = 0 then
    delete from public.refused_exports where workspace_id = workspace and api_key_id = key_id and id = export_id;
    return;
  end if;
  update public.refused_exports
  set records = refused, record_count = jsonb_array_length(refused), byte_count = octet_length(refused::text)
  where workspace_id = workspace and api_key_id = key_id and id = export_id;
end
$$;
grant execute on function private.settle_refused_export(uuid, uuid, uuid, jsonb) to outlay_service, service_role;
