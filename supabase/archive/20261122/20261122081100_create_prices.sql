-- A workspace's own prices, and corrections of messages that were recorded before a price was set.

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

-- The workspace's admins set prices under their own role: the guard checks first, and the policy checks again. A price
-- cannot move to another workspace: the first workspace's version would not change, and processes would keep the old price
-- in their caches.
alter table public.prices enable row level security;
revoke all on public.prices from anon, authenticated, service_role;
grant select, insert (workspace_id, provider, model, unit_type, rate, starts_at), update (rate)
  on public.prices to authenticated;
grant all on public.prices to service_role;

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
revoke all on function private.own_changed_price() from public;

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
revoke all on function private.count_price_change() from public;

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
revoke all on function private.load_prices(uuid) from public;
grant execute on function private.load_prices(uuid) to outlay_service, service_role;

-- Repricings ----------------------------------------------------------------------------------------------------------

-- A correction of the cost of messages after a price was set. A job processes a few hundred messages per transaction, in
-- any process; the cursor stores its progress.
create table public.repricings (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  provider text not null,
  from_at timestamptz not null
    constraint repricings_from_at_is_a_moment
    check (from_at >= '0001-01-01T00:00:00Z' and from_at < '10000-01-01T00:00:00Z'),
  -- A correction may have no end.
  to_at timestamptz not null default 'infinity'
    constraint repricings_to_at_is_a_moment
    check (to_at >= '0001-01-01T00:00:00Z' and (to_at < '10000-01-01T00:00:00Z' or to_at = 'infinity')),
  -- False: only messages without a price. True: also messages with one, but never those with the client's own cost.
  includes_priced boolean not null default false,
  requested_by uuid default auth.uid(),
  requested_by_email text default auth.email(),
  status text not null default 'pending' check (status in ('pending', 'running', 'done')),
  examined_count bigint not null default 0,
  changed_count bigint not null default 0,
  change_usd numeric not null default 0,
  cursor_at timestamptz,
  cursor_id uuid,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (workspace_id, id)
);
create index repricings_open_idx on public.repricings (created_at) where status <> 'done';

-- Users may not set who requested a correction and its progress.
alter table public.repricings enable row level security;
revoke all on public.repricings from anon, authenticated, service_role;
grant select, insert (workspace_id, provider, from_at, to_at, includes_priced) on public.repricings to authenticated;
grant all on public.repricings to service_role;

create policy "A member reads the repricings of their workspaces"
  on public.repricings for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "An admin asks for a correction in their workspaces"
  on public.repricings for insert to authenticated
  with check (
    workspace_id in (select private.member_workspaces(array['owner', 'admin']))
    and requested_by = (select auth.uid())
    and requested_by_email is not distinct from (select auth.email())
  );

-- The oldest correction that no process is working on, locked for the caller.
create function private.lock_next_repricing()
returns setof public.repricings
language sql volatile security definer set search_path = ''
as $$
  select * from public.repricings
  where status <> 'done'
  order by created_at, id
  limit 1
  for update skip locked
$$;

-- The next messages that a correction may change, in order, locked for the caller.
create function private.lock_repriceable(workspace uuid, repricing uuid, at_most integer)
returns setof public.messages
language sql volatile security definer set search_path = ''
as $$
  select m.* from public.messages as m
  join public.repricings as r on r.workspace_id = m.workspace_id
  where r.workspace_id = workspace and r.id = repricing
    and m.workspace_id = workspace
    and m.occurred_at >= coalesce(r.cursor_at, r.from_at) and m.occurred_at < r.to_at
    and (r.cursor_at is null or (m.occurred_at, m.id) > (r.cursor_at, r.cursor_id))
    and m.type in ('usage', 'batch')
    and lower(m.provider) = lower(r.provider)
    and (m.cost_status = 'unpriced' or (r.includes_priced and m.cost_status <> 'client'))
  order by m.occurred_at, m.id
  limit at_most
  for update of m
$$;

-- Changes the cost of messages and, in the same transaction, the sums that contain them.
-- changes: [{ id, occurred_at, amount_usd, cost_status, price, items }]. Returns the change of the total, USD.
create function private.apply_repricing(workspace uuid, changes jsonb)
returns numeric
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  per_day public.daily_spend[];
  total numeric;
begin
  with change as (
    select id, occurred_at, amount_usd, cost_status, price, items
    from jsonb_to_recordset(changes)
      as c (id uuid, occurred_at timestamptz, amount_usd numeric, cost_status text, price jsonb, items jsonb)
  ), before as (
    select m.* from public.messages as m
    join change using (id, occurred_at)
    where m.workspace_id = workspace and m.part = 0
  ), updated as (
    update public.messages as m
    set amount_usd = change.amount_usd, cost_status = change.cost_status, price = change.price, items = change.items
    from change
    where m.workspace_id = workspace and m.id = change.id and m.occurred_at = change.occurred_at and m.part = 0
  ), entry as (
    select b.id, -1 as side, b.amount_usd, b.cost_status, b.items from before as b
    union all
    select c.id, 1, c.amount_usd, c.cost_status, c.items from change as c
  ), sums as (
    select
      b.workspace_id, b.occurred_at::date as day, b.project_id, b.api_key_id, b.type, b.provider,
      case when e.items is null then b.model else line.model end as model,
      case when e.items is null then b.feature else line.feature end as feature,
      b.source, b.environment,
      sum(e.side * case when e.items is null then e.amount_usd else line.amount_usd end) as amount_usd,
      sum(e.side * (case when e.items is null then e.cost_status else line.cost_status end = 'unpriced')::int)
        as unpriced_count
    from entry as e
    join before as b on b.id = e.id
    left join lateral jsonb_to_recordset(e.items)
      as line (model text, feature text, amount_usd numeric, cost_status text) on true
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  ), per_key as (
    insert into public.key_spend as spend (workspace_id, api_key_id, month, amount_usd, message_count)
    select b.workspace_id, b.api_key_id, date_trunc('month', b.created_at)::date, sum(e.side * e.amount_usd), 0
    from entry as e
    join before as b on b.id = e.id
    where b.api_key_id is not null
    group by 1, 2, 3
    order by 1, 2, 3
    on conflict (workspace_id, api_key_id, month) do update set amount_usd = spend.amount_usd + excluded.amount_usd
  )
  select
    (
      select array_agg(row(
        workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
        amount_usd, 0, 0, unpriced_count
      )::public.daily_spend)
      from sums
    ),
    (select coalesce(sum(side * amount_usd), 0) from entry)
  into per_day, total;
  perform private.add_daily_spend(per_day);
  return total;
end
$$;

-- Stores the progress of a correction; when it is done, adds an entry to the audit log.
create function private.advance_repricing(
  workspace uuid, repricing uuid, examined integer, changed integer, change numeric, at_moment timestamptz, at_id uuid, is_done boolean
)
returns void
language sql volatile security definer set search_path = ''
as $$
  with advanced as (
    update public.repricings
    set status = case when is_done then 'done' else 'running' end,
        finished_at = case when is_done then now() end,
        examined_count = examined_count + examined,
        changed_count = changed_count + changed,
        change_usd = change_usd + change,
        cursor_at = coalesce(at_moment, cursor_at),
        cursor_id = coalesce(at_id, cursor_id)
    where workspace_id = workspace and id = repricing
    returning *
  )
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, after)
  select workspace_id, requested_by, requested_by_email, 'messages.repriced', 'repricing ' || id, jsonb_build_object(
    'provider', provider, 'from', from_at, 'includes_priced', includes_priced,
    'examined', examined_count, 'changed', changed_count, 'change_usd', trim_scale(change_usd)
  )
  from advanced where is_done
$$;

revoke all on function private.lock_next_repricing(),
  private.lock_repriceable(uuid, uuid, integer),
  private.apply_repricing(uuid, jsonb),
  private.advance_repricing(uuid, uuid, integer, integer, numeric, timestamptz, uuid, boolean) from public;
grant execute on function private.lock_next_repricing(),
  private.lock_repriceable(uuid, uuid, integer),
  private.apply_repricing(uuid, jsonb),
  private.advance_repricing(uuid, uuid, integer, integer, numeric, timestamptz, uuid, boolean) to outlay_service, service_role;
