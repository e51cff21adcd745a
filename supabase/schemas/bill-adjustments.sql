-- Adjustments to bills: what was billed and not recorded, or recorded and not billed, booked as costs of their own type. Their messages are
-- part of every sum of spend; the tables say which difference each of them is about, and keep that when old messages are removed.

-- A booking of an admin, with what it came to.
create table public.bill_adjustments (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null,
  month date not null check (extract(day from month) = 1),
  project_id uuid not null,
  amount_usd numeric not null check (scale(amount_usd) <= 18),
  message_count integer not null check (message_count > 0),
  created_by uuid default auth.uid(),
  created_by_email text default auth.email(),
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  undone_at timestamptz,
  undone_by_email text,
  primary key (workspace_id, id)
);

create index bill_adjustments_month_idx on public.bill_adjustments (workspace_id, month);

alter table public.bill_adjustments enable row level security;
revoke all on public.bill_adjustments from anon, authenticated, service_role;
grant select on public.bill_adjustments to authenticated, outlay_key, service_role;

create policy "A member reads the adjustments of their workspaces"
  on public.bill_adjustments for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- Bills are of all projects and people, and so are adjustments to them.
create policy "A key that may read all spend reads adjustments"
  on public.bill_adjustments for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and (select private.key_environment()) = 'live' and (select private.key_is_unconfined())
  );

create trigger bill_adjustments_are_audited
  after insert or update of undone_at on public.bill_adjustments
  for each row execute function private.audit_change('bill_adjustment');

-- The difference that each message of a booking is about: a part of it, of a provider, day (UTC) and model, as the bill names them.
create table public.adjusted_differences (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  message_id uuid not null,
  adjustment_id uuid not null,
  provider text not null check (char_length(provider) between 1 and 64),
  day date not null,
  model text check (char_length(model) between 1 and 200),
  part text not null check (char_length(part) between 1 and 64),
  amount_usd numeric not null check (scale(amount_usd) <= 18),
  -- A message that was voided books nothing any more.
  is_voided boolean not null default false,
  primary key (workspace_id, message_id),
  foreign key (workspace_id, adjustment_id) references public.bill_adjustments (workspace_id, id) on delete cascade
);

create index adjusted_differences_adjustment_idx on public.adjusted_differences (workspace_id, adjustment_id);
create index adjusted_differences_day_idx on public.adjusted_differences (workspace_id, day) where not is_voided;

alter table public.adjusted_differences enable row level security;
revoke all on public.adjusted_differences from anon, authenticated, service_role;
grant select on public.adjusted_differences to authenticated, outlay_key, service_role;

create policy "A member reads the adjusted differences of their workspaces"
  on public.adjusted_differences for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "A key that may read all spend reads adjusted differences"
  on public.adjusted_differences for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and (select private.key_environment()) = 'live' and (select private.key_is_unconfined())
  );

-- Books differences, as an admin of the workspace: the user of the transaction's claims, which holds `private.lock_bills`. Each is a message
-- on its day; of a closed month, it is booked now and says when it occurred, as what comes later of such a month is.
-- booking: { id, month, project_id, messages: [{ id, occurred_at, provider: as it is recorded, model: as it is recorded, label, part,
--   amount_usd, billed_provider, day, billed_model }] }
create function private.book_bill_adjustment(workspace uuid, booking jsonb)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  adjustment constant uuid := booking ->> 'id';
  ids uuid[];
begin
  perform private.require_admin_of(workspace);
  perform private.hold_budgets(array[workspace]);
  insert into public.bill_adjustments (workspace_id, id, month, project_id, amount_usd, message_count)
  select workspace, adjustment, (booking ->> 'month')::date, (booking ->> 'project_id')::uuid, sum(m.amount_usd), count(*)
  from jsonb_to_recordset(booking -> 'messages') as m (amount_usd numeric);
  insert into public.messages
  select booked.*
  from jsonb_to_recordset(booking -> 'messages') as m (
    id uuid, occurred_at timestamptz, provider text, model text, label text, part text, amount_usd numeric
  )
  cross join lateral private.book_open(jsonb_populate_record(null::public.messages, jsonb_build_object(
    'workspace_id', workspace, 'id', m.id, 'part', 0, 'occurred_at', m.occurred_at,
    'created_at', date_trunc('milliseconds', clock_timestamp()), 'project_id', booking ->> 'project_id', 'user_id', auth.uid(),
    'type', 'bill_adjustment', 'source', 'manual', 'environment', 'live', 'provider', m.provider, 'model', m.model,
    'amount_usd', m.amount_usd, 'cost_status', 'client', 'label', m.label,
    'details', jsonb_build_object('part', m.part, 'adjustment', adjustment)
  )), private.closed_until(workspace), private.time_zone_of(workspace)) as booked;
  insert into public.adjusted_differences (workspace_id, message_id, adjustment_id, provider, day, model, part, amount_usd)
  select workspace, m.id, adjustment, m.billed_provider, m.day, m.billed_model, m.part, m.amount_usd
  from jsonb_to_recordset(booking -> 'messages') as m (
    id uuid, billed_provider text, day date, billed_model text, part text, amount_usd numeric
  );
  select array_agg(message_id) into ids
  from public.adjusted_differences where workspace_id = workspace and adjustment_id = adjustment;
  perform private.count_messages(array_fill(workspace, array[cardinality(ids)]), ids);
end
$$;
grant execute on function private.book_bill_adjustment(uuid, jsonb) to outlay_service, service_role;

-- Undoes a booking, as an admin of the workspace: the user of the transaction's claims. What was not voided before is voided now.
-- returns: 'undone'; 'unknown'; 'removed' where old messages of it were removed
create function private.undo_bill_adjustment(workspace uuid, adjustment uuid)
returns text
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  ids uuid[];
begin
  perform private.require_admin_of(workspace);
  perform private.lock_bills(workspace);
  perform from public.bill_adjustments as a where a.workspace_id = workspace and a.id = adjustment for update;
  if not found then
    return 'unknown';
  end if;
  select array_agg(d.message_id order by d.message_id) into ids
  from public.adjusted_differences as d
  where d.workspace_id = workspace and d.adjustment_id = adjustment and not d.is_voided;
  if (select count(*) from public.messages as m where m.workspace_id = workspace and m.id = any (ids)) <> coalesce(cardinality(ids), 0) then
    return 'removed';
  end if;
  -- With an action, so that the audit log has one entry for all of them: that of the booking.
  insert into public.message_voids (workspace_id, message_id, reason, action_id)
  select workspace, id, 'The adjustment to the bill was undone', adjustment from unnest(ids) as id;
  update public.bill_adjustments as a
  set undone_at = date_trunc('milliseconds', clock_timestamp()), undone_by_email = auth.email()
  where a.workspace_id = workspace and a.id = adjustment and a.undone_at is null;
  return 'undone';
end
$$;
grant execute on function private.undo_bill_adjustment(uuid, uuid) to outlay_service, service_role;

-- Whoever voids a message of a booking takes its difference out of what is adjusted.
create function private.void_adjusted_differences()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  update public.adjusted_differences as d set is_voided = true
  from added as a
  where d.workspace_id = a.workspace_id and d.message_id = a.message_id;
  return null;
end
$$;

create trigger voids_undo_adjustments after insert on public.message_voids
  referencing new table as added for each statement execute function private.void_adjusted_differences();
