-- The rules of alerts that time triggers: settings and snoozes.

-- Which rules of a workspace are on, and their parameters. A workspace without a row has the defaults.
create table public.alert_rules (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  rule text not null check (rule in (
    'budget_threshold', 'budget_forecast', 'budget_pace', 'unusual_day', 'key_limit', 'key_expiry', 'unpriced_usage',
    'silent_source', 'bill_coverage', 'bill_difference', 'provider_limit', 'refused_costs'
  )),
  is_on boolean not null default true,
  -- Percent, USD, days or hours; see private.alert_rule_defaults. Null: the default.
  parameter numeric check (parameter > 0 and parameter <= 1000000),
  changed_at timestamptz not null default now(),
  primary key (workspace_id, rule)
);

alter table public.alert_rules enable row level security;
revoke all on public.alert_rules from anon, authenticated, service_role;
grant select on public.alert_rules to authenticated, service_role;

create policy "A member reads the alert rules of their workspaces"
  on public.alert_rules for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- The audit log names a rule by its name.
create function private.audit_alert_rule()
returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  before jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) - 'changed_at' end;
begin
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, before, after, address)
  values (
    new.workspace_id, auth.uid(), auth.email(), 'alert_rule.changed', 'alert_rule ' || new.rule, before,
    to_jsonb(new) - 'changed_at', nullif(current_setting('request.address', true), '')
  );
  return null;
end
$$;

create trigger changed_alert_rules_are_audited after update on public.alert_rules for each row
  when (old.is_on is distinct from new.is_on or old.parameter is distinct from new.parameter)
  execute function private.audit_alert_rule();
create trigger first_changes_of_alert_rules_are_audited after insert on public.alert_rules for each row
  execute function private.audit_alert_rule();

-- The time until which a rule, or one of its subjects, notifies nobody.
create table public.alert_snoozes (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  rule text not null,
  -- Null: all subjects of the rule.
  subject_id text,
  until timestamptz not null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  unique nulls not distinct (workspace_id, rule, subject_id)
);

alter table public.alert_snoozes enable row level security;
revoke all on public.alert_snoozes from anon, authenticated, service_role;
grant select on public.alert_snoozes to authenticated, service_role;

create policy "A member reads the alert snoozes of their workspaces"
  on public.alert_snoozes for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create trigger alert_snoozes_are_audited after insert or update of until on public.alert_snoozes
  for each row execute function private.audit_change('alert_snooze');

-- The snoozes of a workspace are deleted with it, when it has no audit log to write to any more.
create trigger ended_alert_snoozes_are_audited after delete on public.alert_snoozes
  for each row execute function private.audit_change('alert_snooze');

-- Whom an alert about a budget is sent to, of those that the budget names: members of its workspace, and channels that are not
-- off. No rows for another alert, and for a budget that names nobody who is still there: its alerts go to channels by their rules.
create function private.chosen_receivers(workspace uuid, of_rule text, subject text)
returns table (user_id uuid, channel_id uuid)
language sql stable security definer rows 2 set search_path = ''
as $$
  with budget as (
    select b.warned_people, b.warned_channels
    from public.budgets as b
    where of_rule in ('budget_threshold', 'budget_forecast', 'budget_pace', 'provider_limit', 'refused_costs') and b.workspace_id = workspace
      and b.id = case when subject ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then subject::uuid end
  )
  select m.user_id, null::uuid
  from budget
  join public.workspace_members as m on m.workspace_id = workspace and m.user_id = any (budget.warned_people)
  union all
  select null, c.id
  from budget
  join public.alert_channels as c on c.workspace_id = workspace and c.id = any (budget.warned_channels)
  where c.disabled_at is null or c.disabled_reason = 'failing'
$$;

-- Every rule with its default parameter. All rules are on.
create function private.alert_rule_defaults()
returns table (rule text, parameter numeric)
language sql immutable set search_path = ''
as $$
  values
    ('budget_threshold', null::numeric), ('budget_forecast', 100), ('budget_pace', 150), ('unusual_day', 10),
    ('key_limit', 80), ('key_expiry', 7), ('unpriced_usage', null), ('silent_source', 24),
    ('bill_coverage', 95), ('bill_difference', 1000), ('provider_limit', null), ('refused_costs', 10)
$$;
grant execute on function private.alert_rule_defaults() to authenticated, outlay_service, service_role;

-- The parameter of a rule where it is on in a workspace, 0 for a rule without one; null where it is off.
create function private.alert_rule_parameter(workspace uuid, of_rule text)
returns numeric
language sql stable security definer set search_path = ''
as $$
  select case when coalesce(s.is_on, true) then coalesce(s.parameter, d.parameter, 0) end
  from private.alert_rule_defaults() as d
  left join public.alert_rules as s on s.workspace_id = workspace and s.rule = d.rule
  where d.rule = of_rule
$$;

-- The budgets that were judged, and what was known of them at that time; see private.budgets_to_judge.
create table private.budget_checks (
  workspace_id uuid not null,
  budget_id uuid not null,
  period_from date,
  spent_usd numeric not null,
  limit_usd numeric not null,
  checked_at timestamptz not null,
  primary key (workspace_id, budget_id),
  foreign key (workspace_id, budget_id) references public.budgets (workspace_id, id) on delete cascade
);

alter table private.budget_checks enable row level security;
revoke all on private.budget_checks from anon, authenticated, service_role;

-- Turns a rule on or off, or sets its parameter. A rule that is off has no states: when it is turned on, it starts without any.
-- changes: { is_on, parameter }, either of them; a null parameter is the default
create function private.set_alert_rule(workspace uuid, of_rule text, changes jsonb)
returns void
language plpgsql security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  insert into public.alert_rules as r (workspace_id, rule, is_on, parameter)
  values (workspace, of_rule, coalesce((changes ->> 'is_on')::boolean, true), (changes ->> 'parameter')::numeric)
  on conflict (workspace_id, rule) do update
  set is_on = coalesce((changes ->> 'is_on')::boolean, r.is_on),
    parameter = case when changes ? 'parameter' then (changes ->> 'parameter')::numeric else r.parameter end,
    changed_at = now();
  delete from public.alert_states as s
  where s.workspace_id = workspace and s.rule = of_rule and changes -> 'is_on' = 'false';
  delete from private.budget_checks where workspace_id = workspace;
  perform private.settle_alert_entries(workspace);
end
$$;
grant execute on function private.set_alert_rule(uuid, text, jsonb) to outlay_service, service_role;

-- Notifies nobody of a rule, or of one of its subjects, until a time. A later call for the same subject replaces it.
-- returns: its id; null where the moment is over, or more than so many days away
create function private.snooze_alerts(workspace uuid, of_rule text, subject text, until_moment timestamptz, at_most_days integer)
returns uuid
language plpgsql security definer set search_path = ''
as $$
declare
  made uuid;
begin
  perform private.require_admin_of(workspace);
  if until_moment <= clock_timestamp() or until_moment > clock_timestamp() + at_most_days * interval '1 day' then
    return null;
  end if;
  insert into public.alert_snoozes (workspace_id, rule, subject_id, until)
  values (workspace, of_rule, subject, until_moment)
  on conflict (workspace_id, rule, subject_id) do update set until = excluded.until
  returning id into made;
  return made;
end
$$;
grant execute on function private.snooze_alerts(uuid, text, text, timestamp with time zone, integer) to outlay_service, service_role;

create function private.end_alert_snooze(workspace uuid, snooze uuid)
returns void
language plpgsql security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  delete from public.alert_snoozes where workspace_id = workspace and id = snooze;
end
$$;
grant execute on function private.end_alert_snooze(uuid, uuid) to outlay_service, service_role;

-- The rules of each workspace with their settings, including rules that were never changed.
create view public.alert_rule_settings with (security_invoker = true) as
  select w.id as workspace_id, d.rule, coalesce(s.is_on, true) as is_on, coalesce(s.parameter, d.parameter) as parameter,
    d.parameter as default_parameter
  from public.workspaces as w
  cross join private.alert_rule_defaults() as d
  left join public.alert_rules as s on s.workspace_id = w.id and s.rule = d.rule;
revoke all on public.alert_rule_settings from anon, authenticated, service_role;
grant select on public.alert_rule_settings to authenticated, service_role;

-- One process judges the rules about `keys`, `usage`, `budgets` or `bills` at a time, until the end of its transaction.
-- returns: whether this one does
create function private.lock_alert_rules(about text)
returns boolean
language sql security definer set search_path = ''
as $$
  select pg_try_advisory_xact_lock(hashtextextended('outlay.alert_rules.' || about, 0))
$$;
grant execute on function private.lock_alert_rules(text) to outlay_service, service_role;
