-- A workspace's own prices.

-- A price applies to usage from starts_at on, until the start of a later one.
create table public.prices (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  provider text not null check (char_length(provider) between 1 and 64),
  -- Null: every model of the provider.
  model text check (char_length(model) between 1 and 128),
  unit_type text not null check (char_length(unit_type) between 1 and 64),
  -- USD for one unit.
  rate numeric not null check (rate >= 0 and scale(rate) <= 18 and rate < 1e15),
  -- Infinity is not allowed, because a response could not contain it.
  starts_at timestamptz not null
    constraint prices_starts_at_is_a_moment
    check (starts_at >= '0001-01-01T00:00:00Z' and starts_at < '10000-01-01T00:00:00Z'),
  created_by uuid default auth.uid() references public.profiles (id) on delete set null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  constraint prices_key unique nulls not distinct (workspace_id, provider, model, unit_type, starts_at)
);

create index prices_created_by_idx on public.prices (created_by);

alter table public.prices enable row level security;
revoke all on public.prices from anon, authenticated, service_role;
grant select on public.prices to authenticated;
grant all on public.prices to service_role;
grant insert (workspace_id, provider, model, unit_type, rate, starts_at), update (rate) on public.prices to authenticated;

create policy "A member reads the prices of their workspaces"
  on public.prices for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "An admin sets the prices of their workspaces"
  on public.prices for insert to authenticated
  with check (
    workspace_id in (select private.member_workspaces(array['owner', 'admin']))
    and created_by = (select auth.uid())
  );

create policy "An admin changes the prices of their workspaces"
  on public.prices for update to authenticated
  using (workspace_id in (select private.member_workspaces(array['owner', 'admin'])))
  with check (
    workspace_id in (select private.member_workspaces(array['owner', 'admin']))
    and created_by = (select auth.uid())
  );

-- A price names the user who set it last. The service and the schema's owner set the column themselves.
create function private.own_changed_price()
returns trigger
language plpgsql set search_path = ''
as $$
begin
  new.created_by := coalesce(auth.uid(), new.created_by);
  return new;
end
$$;

create trigger price_changes_are_owned
  before update of rate on public.prices
  for each row execute function private.own_changed_price();

create function private.count_price_change()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  -- Waits for the groups of messages that were admitted at the old prices, and blocks new ones until this commits: later
  -- messages have the new price, and a repricing finds the earlier ones.
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || coalesce(new.workspace_id, old.workspace_id), 0));
  update public.workspaces set prices_version = prices_version + 1
  where id = coalesce(new.workspace_id, old.workspace_id);
  return null;
end
$$;

create trigger prices_change_is_counted
  after insert or update or delete on public.prices
  for each row execute function private.count_price_change();
create trigger prices_are_audited
  after insert or update or delete on public.prices
  for each row execute function private.audit_change('price');

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
grant execute on function private.load_prices(uuid) to outlay_service, service_role;
