-- A correction of what messages cost, after a price was set. Done in the background, a few hundred messages a
-- transaction, by whichever process is free; the cursor says how far it has come.
create table public.repricings (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  provider text not null,
  from_at timestamptz not null,
  to_at timestamptz not null default 'infinity',
  -- False: only what has no price yet. True: also what was priced before; never what a client priced itself.
  includes_priced boolean not null default false,
  requested_by uuid,
  requested_by_email text,
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

alter table public.repricings enable row level security;
revoke all on public.repricings from anon, authenticated, service_role;
grant select on public.repricings to authenticated;
grant all on public.repricings to service_role;

create policy "A member reads the repricings of their workspaces"
  on public.repricings for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- The oldest correction that nobody is working at, locked for the caller.
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

-- Changes what messages cost and, in the same statement, the sums they are part of.
-- changes: [{ id, occurred_at, amount_usd, cost_status, price, items }]. Returns the change of the total, USD.
create function private.apply_repricing(workspace uuid, changes jsonb)
returns numeric
language sql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
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
  ), per_day as (
    insert into public.daily_spend as daily (
      workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
      amount_usd, message_count, item_count, unpriced_count
    )
    select
      b.workspace_id, b.occurred_at::date, b.project_id, b.api_key_id, b.type, b.provider,
      case when e.items is null then b.model else line.model end,
      case when e.items is null then b.feature else line.feature end,
      b.source, b.environment,
      sum(e.side * case when e.items is null then e.amount_usd else line.amount_usd end),
      0, 0,
      sum(e.side * (case when e.items is null then e.cost_status else line.cost_status end = 'unpriced')::int)
    from entry as e
    join before as b on b.id = e.id
    left join lateral jsonb_to_recordset(e.items)
      as line (model text, feature text, amount_usd numeric, cost_status text) on true
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
    on conflict on constraint daily_spend_key do update
      set amount_usd = daily.amount_usd + excluded.amount_usd,
          unpriced_count = daily.unpriced_count + excluded.unpriced_count
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
  select coalesce(sum(side * amount_usd), 0) from entry
$$;

-- Notes how far a correction has come; when it is done, leaves a line in the audit log.
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
