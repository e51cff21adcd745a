-- A workspace's own prices. They hold for what occurs from starts_at on, until a later one takes over.
create table public.prices (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  provider text not null check (char_length(provider) between 1 and 64),
  -- Null: every model of the provider.
  model text check (char_length(model) between 1 and 128),
  unit_type text not null check (char_length(unit_type) between 1 and 64),
  -- USD for one unit.
  rate numeric not null check (rate >= 0 and scale(rate) <= 18 and rate < 1e15),
  starts_at timestamptz not null,
  created_by uuid references public.profiles (id) on delete set null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  constraint prices_key unique nulls not distinct (workspace_id, provider, model, unit_type, starts_at)
);
create index prices_created_by_idx on public.prices (created_by);

alter table public.prices enable row level security;
revoke all on public.prices from anon, authenticated, service_role;
grant select on public.prices to authenticated;
grant all on public.prices to service_role;

create policy "A member reads the prices of their workspaces"
  on public.prices for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create function private.count_price_change()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  -- Waits for the groups of messages that were admitted at the old prices, and keeps new ones waiting until this commits:
  -- what is committed later has the new price, what was before is there for a repricing to find.
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || coalesce(new.workspace_id, old.workspace_id), 0));
  update public.workspaces set prices_version = prices_version + 1
  where id = coalesce(new.workspace_id, old.workspace_id);
  return null;
end
$$;
revoke all on function private.count_price_change() from public;

create trigger prices_change_is_counted
  after insert or update or delete on public.prices
  for each row execute function private.count_price_change();

-- A workspace's prices with their version, read in one snapshot.
create function private.load_prices(workspace uuid)
returns jsonb
language sql stable security definer set search_path = '' set timezone = 'UTC'
as $$
  select jsonb_build_object(
    'version', w.prices_version,
    'prices', coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', p.id, 'provider', p.provider, 'model', p.model, 'unitType', p.unit_type,
        'rate', trim_scale(p.rate)::text, 'startsAt', p.starts_at
      ))
      from public.prices as p where p.workspace_id = w.id
    ), '[]')
  )
  from public.workspaces as w where w.id = workspace
$$;
revoke all on function private.load_prices(uuid) from public;
grant execute on function private.load_prices(uuid) to outlay_service, service_role;
