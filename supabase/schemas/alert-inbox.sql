-- The inbox: what alerts are about, who has it, and whether it is over.

-- An entry for each rule, subject and period that alerts were raised of, whatever their number. It opens with the first alert, and
-- again with each later one, and is resolved by a member, or by itself once it no longer holds; see private.settle_alert_entries.
create table public.alert_entries (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  rule text not null,
  subject_type text not null,
  subject_id text not null,
  period date not null,
  opened_at timestamptz not null,
  -- The number of the alert that fired last; the end of one does not count.
  last_number bigint not null,
  assignee_id uuid,
  resolved_at timestamptz,
  resolved_because text check (resolved_because in ('by_hand', 'recovered', 'period_over', 'gone', 'rule_off')),
  resolved_by uuid references public.profiles (id) on delete set null,
  primary key (workspace_id, id),
  unique (workspace_id, rule, subject_id, period),
  -- Who leaves the workspace has nothing any more.
  foreign key (workspace_id, assignee_id) references public.workspace_members (workspace_id, user_id)
    on delete set null (assignee_id),
  constraint alert_entries_are_resolved_for_a_reason check ((resolved_at is null) = (resolved_because is null)),
  constraint alert_entries_are_resolved_by_hand_by_someone check (resolved_by is null or resolved_because = 'by_hand')
);

create index alert_entries_recent_idx on public.alert_entries (workspace_id, last_number desc);
create index alert_entries_open_idx on public.alert_entries (workspace_id, last_number desc) where resolved_at is null;
create index alert_entries_assignee_idx on public.alert_entries (workspace_id, assignee_id) where assignee_id is not null;
create index alert_entries_resolver_idx on public.alert_entries (resolved_by) where resolved_by is not null;

alter table public.alert_entries enable row level security;
revoke all on public.alert_entries from anon, authenticated, service_role;
grant select on public.alert_entries to authenticated, service_role;

create policy "A member reads the alert entries of their workspaces"
  on public.alert_entries for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- Enters alerts, in the transaction that raises them. Alerts of a rule that is off concern nobody.
create function private.enter_alerts()
returns trigger
language plpgsql security definer set search_path = ''
as $$
begin
  insert into public.alert_entries as e (workspace_id, rule, subject_type, subject_id, period, opened_at, last_number)
  select f.workspace_id, f.rule, min(f.subject_type), f.subject_id, f.period, min(f.fired_at), max(f.number)
  from fired as f
  where f.state <> 'ok' and f.quiet_reason is distinct from 'rule_off'
  group by f.workspace_id, f.rule, f.subject_id, f.period
  order by f.workspace_id, f.rule, f.subject_id, f.period
  on conflict (workspace_id, rule, subject_id, period) do update
  set last_number = greatest(e.last_number, excluded.last_number), resolved_at = null, resolved_because = null, resolved_by = null;
  update public.alert_entries as e
  set resolved_at = f.fired_at,
    resolved_because = case when f.details ->> 'because' in ('period_over', 'gone') then f.details ->> 'because' else 'recovered' end
  from fired as f
  where f.state = 'ok' and e.resolved_at is null
    and e.workspace_id = f.workspace_id and e.rule = f.rule and e.subject_id = f.subject_id and e.period = f.period;
  return null;
end
$$;

create trigger alerts_are_entered after insert on public.alerts
  referencing new table as fired
  for each statement execute function private.enter_alerts();

-- Resolves entries that no longer hold, and opens again those that it resolved and that hold again. An entry holds while its
-- subject has the state of its period. One of thresholds holds in the budget's present period while the spend reaches the threshold
-- that fired last; one of an unusual day for a week. No entry of a rule that is off holds.
--
-- Skips entries that another transaction is changing, and entries with a new alert since they were read: the next run settles them.
-- of_workspace: null for all. at: the moment to judge at; another one than the present in tests. returns: how many were changed
create function private.settle_alert_entries(of_workspace uuid default null, at timestamptz default clock_timestamp())
returns integer
language plpgsql security definer set search_path = ''
as $$
declare
  settled integer;
begin
  with holding as materialized (
    select e.workspace_id, e.id
    from public.alert_states as s
    join public.alert_entries as e
      on e.workspace_id = s.workspace_id and e.rule = s.rule and e.subject_id = s.subject_id and e.period = s.period
    where s.rule <> 'unusual_day' and (of_workspace is null or s.workspace_id = of_workspace)
    union all
    select e.workspace_id, e.id
    from public.budgets as b
    cross join lateral (
      select private.budget_period(b, at) as period_from, private.budget_limit(b, at) as limit_usd
    ) as present
    join public.alert_entries as e
      on e.workspace_id = b.workspace_id and e.rule = 'budget_threshold' and e.subject_id = b.id::text
        and e.period = present.period_from
    -- By its rule, too: Postgres may join the spend first, and levels of other rules are no numbers.
    join public.alerts as a
      on a.workspace_id = e.workspace_id and a.number = e.last_number and a.rule = 'budget_threshold'
    join public.budget_spend as spend
      on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
        and spend.period_from = present.period_from
    where (of_workspace is null or b.workspace_id = of_workspace)
      and spend.spent_usd >= case when a.level ~ '^\$' then substr(a.level, 2)::numeric
        else present.limit_usd * a.level::numeric / 100 end
      and private.alert_rule_parameter(b.workspace_id, 'budget_threshold') is not null
    union all
    select e.workspace_id, e.id
    from public.alert_entries as e
    where e.rule = 'unusual_day' and e.period > (at at time zone 'UTC')::date - 7
      and (of_workspace is null or e.workspace_id = of_workspace)
      and private.alert_rule_parameter(e.workspace_id, 'unusual_day') is not null
  ), changed as materialized (
    select e.workspace_id, e.id, e.last_number, e.resolved_because as was,
      case
        when exists (
          select from public.alert_rules as r where r.workspace_id = e.workspace_id and r.rule = e.rule and not r.is_on
        ) then 'rule_off'
        when e.subject_type = 'budget' and b.id is null then 'gone'
        when e.rule in ('unusual_day', 'key_expiry')
          or e.rule = 'budget_threshold' and e.period is distinct from private.budget_period(b, at) then 'period_over'
        else 'recovered'
      end as because
    from public.alert_entries as e
    left join public.budgets as b on b.workspace_id = e.workspace_id and b.id::text = e.subject_id
    where e.resolved_at is null and (of_workspace is null or e.workspace_id = of_workspace)
      and not exists (select from holding as h where h.workspace_id = e.workspace_id and h.id = e.id)
    union all
    select e.workspace_id, e.id, e.last_number, e.resolved_because, null
    from holding as h
    join public.alert_entries as e on e.workspace_id = h.workspace_id and e.id = h.id
    where e.resolved_because <> 'by_hand'
  ), locked as materialized (
    select e.workspace_id, e.id, c.because
    from changed as c
    join public.alert_entries as e
      on e.workspace_id = c.workspace_id and e.id = c.id and e.last_number = c.last_number
        and e.resolved_because is not distinct from c.was
    order by e.workspace_id, e.id
    for update of e skip locked
  )
  update public.alert_entries as e
  set resolved_at = case when l.because is not null then at end, resolved_because = l.because
  from locked as l
  where e.workspace_id = l.workspace_id and e.id = l.id;
  get diagnostics settled = row_count;
  return settled;
end
$$;
grant execute on function private.settle_alert_entries(uuid, timestamp with time zone) to outlay_service, service_role;

-- Assigns an entry, resolves it or opens it again. Of two who do the same at once, the second changes nothing. Checks the user's
-- role again.
-- changes: { assignee_id, is_resolved }, either of them; a null assignee is nobody
-- returns: null, or why it was not changed: `no_entry`, `no_member`, or `over`: it was resolved by itself and cannot be opened
create function private.change_alert_entry(workspace uuid, entry uuid, changes jsonb)
returns text
language plpgsql security definer set search_path = ''
as $$
declare
  wanted uuid := (changes ->> 'assignee_id')::uuid;
  before public.alert_entries;
  after public.alert_entries;
begin
  if not exists (
    select from private.member_workspaces(array['owner', 'admin', 'member']) as own where own = workspace
  ) then
    raise exception 'only a member of the workspace may do this' using errcode = 'insufficient_privilege';
  end if;
  if wanted is not null then
    -- One who leaves at this moment is not assigned.
    perform from public.workspace_members as m where m.workspace_id = workspace and m.user_id = wanted for key share;
    if not found then
      return 'no_member';
    end if;
  end if;
  select * into before from public.alert_entries as e where e.workspace_id = workspace and e.id = entry for update;
  if not found then
    return 'no_entry';
  end if;
  if changes -> 'is_resolved' = 'false' and before.resolved_because <> 'by_hand' then
    return 'over';
  end if;
  after := before;
  if changes ? 'assignee_id' then
    after.assignee_id := wanted;
  end if;
  if changes -> 'is_resolved' = 'true' and before.resolved_at is null then
    after.resolved_at := clock_timestamp();
    after.resolved_because := 'by_hand';
    after.resolved_by := auth.uid();
  elsif changes -> 'is_resolved' = 'false' then
    after.resolved_at := null;
    after.resolved_because := null;
    after.resolved_by := null;
  end if;
  if after is not distinct from before then
    return null;
  end if;
  update public.alert_entries as e
  set assignee_id = after.assignee_id, resolved_at = after.resolved_at, resolved_because = after.resolved_because,
    resolved_by = after.resolved_by
  where e.workspace_id = workspace and e.id = entry;
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, before, after, address)
  values (
    workspace, auth.uid(), auth.email(), 'alert_entry.changed', 'alert_entry ' || entry, private.audited_entry(before),
    private.audited_entry(after), nullif(current_setting('request.address', true), '')
  );
  return null;
end
$$;
grant execute on function private.change_alert_entry(uuid, uuid, jsonb) to outlay_service, service_role;

-- An entry as the audit log has it: with the name of its subject and the address of whoever has it.
create function private.audited_entry(entry public.alert_entries)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'rule', entry.rule, 'resolved_at', entry.resolved_at,
    'name', (
      select coalesce(a.details ->> 'budget', a.details ->> 'subject')
      from public.alerts as a where a.workspace_id = entry.workspace_id and a.number = entry.last_number
    ),
    'assignee', (select p.email from public.profiles as p where p.id = entry.assignee_id)
  )
$$;
