-- The rules of alerts that time triggers: settings, states, snoozes.

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

-- Records alerts in the order of the array, and queues each new one for the channels that want it, in the caller's transaction.
-- An alert that was recorded before is neither changed nor sent again, unless it was armed again for another limit. An alert
-- that is snoozed, or whose rule is off, is recorded quietly. A budget that names receivers is sent to them alone, whatever the
-- rules of their channels.
-- raised: [{ workspace_id, rule, subject_type, subject_id, period, level, state, is_quiet, quiet_reason, details }]; without
-- `state`, a threshold's follows from its percentage
create function private.raise_alerts(raised jsonb)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  with fired as (
    insert into public.alerts as a
      (workspace_id, rule, subject_type, subject_id, period, level, state, is_quiet, quiet_reason, details)
    select r.workspace_id, r.rule, r.subject_type, r.subject_id, r.period, r.level,
      coalesce(r.state, case when (r.details ->> 'percent')::numeric >= 100 then 'alert' else 'warning' end),
      quiet.reason is not null, quiet.reason, coalesce(r.details, '{}')
    from rows from (
      jsonb_to_recordset(raised) as (
        workspace_id uuid, rule text, subject_type text, subject_id text, period date, level text, state text, is_quiet boolean,
        quiet_reason text, details jsonb
      )
    ) with ordinality as r
      (workspace_id, rule, subject_type, subject_id, period, level, state, is_quiet, quiet_reason, details, place)
    join public.workspaces as w on w.id = r.workspace_id
    cross join lateral (
      select case
        when r.is_quiet then coalesce(r.quiet_reason, 'was_above')
        when exists (
          select from public.alert_rules as s where s.workspace_id = r.workspace_id and s.rule = r.rule and not s.is_on
        ) then 'rule_off'
        when exists (
          select from public.alert_snoozes as s
          where s.workspace_id = r.workspace_id and s.rule = r.rule and s.until > clock_timestamp()
            and (s.subject_id is null or s.subject_id = r.subject_id)
        ) then 'snoozed'
      end as reason
    ) as quiet
    order by r.place
    for key share of w
    on conflict (workspace_id, rule, subject_id, period, level, rearmed_at) do nothing
    returning a.workspace_id, a.id, a.number, a.rule, a.subject_id, a.level, a.is_quiet
  ), chosen as materialized (
    select fired.workspace_id, fired.id as alert_id, fired.number, fired.rule || ' ' || fired.subject_id as ordered_by, r.user_id,
      r.channel_id
    from fired
    cross join lateral private.chosen_receivers(fired.workspace_id, fired.rule, fired.subject_id) as r
    where not fired.is_quiet
  ), mailed as (
    insert into public.deliveries (workspace_id, kind, alert_id, member_id, ordered_by)
    select chosen.workspace_id, 'alert_mail', chosen.alert_id, chosen.user_id, chosen.ordered_by || ' ' || chosen.user_id
    from chosen
    -- One who leaves at this moment is passed over; the foreign key would refuse the whole transaction.
    join public.workspace_members as m on m.workspace_id = chosen.workspace_id and m.user_id = chosen.user_id
    order by chosen.number
    for key share of m
  )
  insert into public.deliveries (workspace_id, kind, channel_id, channel_name, channel_kind, alert_id, ordered_by)
  select c.workspace_id, 'alert', c.id, c.name, c.kind, fired.id, fired.rule || ' ' || fired.subject_id
  from fired
  join public.alert_channels as c on c.workspace_id = fired.workspace_id
  where not fired.is_quiet
    and (c.disabled_at is null or c.disabled_reason = 'failing')
    and case
      when exists (select from chosen where chosen.alert_id = fired.id)
        then exists (select from chosen where chosen.alert_id = fired.id and chosen.channel_id = c.id)
      when fired.rule <> all (c.rules) then false
      when fired.level ~ '^\d{1,9}(\.\d{1,9})?$' then coalesce(fired.level::numeric >= c.least_percent, true)
      else true
    end
  order by fired.number
  for key share of c
$function$;
grant execute on function private.raise_alerts(jsonb) to outlay_service, service_role;

-- The present state of each subject that is not OK. A subject without a row is OK or has no data.
create table public.alert_states (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  rule text not null,
  subject_type text not null,
  subject_id text not null,
  -- That of the alert that was raised.
  period date not null,
  state text not null check (state in ('warning', 'alert')),
  since timestamptz not null,
  primary key (workspace_id, rule, subject_id)
);

create index alert_states_rule_idx on public.alert_states (rule);

alter table public.alert_states enable row level security;
revoke all on public.alert_states from anon, authenticated, service_role;
grant select on public.alert_states to authenticated, service_role;

create policy "A member reads the alert states of their workspaces"
  on public.alert_states for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

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

-- Compares verdicts with the known states, records the new states, and raises an alert for each rise and each end. A state is
-- raised once per period, and so is its end.
--
-- The caller holds the lock of private.lock_alert_rules.
-- verdicts: [{ workspace_id, rule, subject_type, subject_id, period, state, details }], one for a rule and subject; `state`:
--   ok, warning, alert, or `forget`: it is over, and nobody is notified. Without details, those of the last alert hold.
-- A null is no verdict. returns: how many were to be raised
create function private.settle_alert_states(verdicts jsonb)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  raised jsonb;
begin
  if verdicts is null then
    return 0;
  end if;
  with judged as materialized (
    select v.*, s.state as old_state, s.period as old_period, last.details as old_details, coalesce(last.was_told, false) as was_told
    from jsonb_to_recordset(verdicts) as v (
      workspace_id uuid, rule text, subject_type text, subject_id text, period date, state text, details jsonb
    )
    join public.workspaces as w on w.id = v.workspace_id
    left join public.alert_states as s on s.workspace_id = v.workspace_id and s.rule = v.rule and s.subject_id = v.subject_id
    left join lateral (
      select (array_agg(a.details order by a.number desc))[1] as details, bool_or(not a.is_quiet) as was_told
      from public.alerts as a
      where a.workspace_id = s.workspace_id and a.rule = s.rule and a.subject_id = s.subject_id and a.period = s.period
        and a.state <> 'ok' and a.rearmed_at is null
    ) as last on s.state is not null
  ), changes as (
    -- What is over, also because a new period began. Every day ends by itself.
    select 1 as place, workspace_id, rule, subject_type, subject_id, old_period as period, 'ok' as level, not was_told as is_quiet,
      case
        when period is distinct from old_period then old_details || jsonb_build_object('because', 'period_over')
        else coalesce(old_details, '{}') || coalesce(details, '{}')
      end as details
    from judged
    where old_state is not null and rule <> 'unusual_day' and state <> 'forget' and (state = 'ok' or period is distinct from old_period)
    union all
    select 2, workspace_id, rule, subject_type, subject_id, period, state, false, details
    from judged
    where state in ('warning', 'alert')
      and (old_state is null or period is distinct from old_period or (state = 'alert' and old_state = 'warning'))
  )
  select jsonb_agg(jsonb_build_object(
    'workspace_id', workspace_id, 'rule', rule, 'subject_type', subject_type, 'subject_id', subject_id, 'period', period,
    'level', level, 'state', level, 'is_quiet', is_quiet, 'quiet_reason', 'start_untold', 'details', details
  ) order by place, workspace_id, rule, subject_id)
  into raised
  from changes;

  -- What fired for another limit can fire again, and its end can be told again.
  update public.alerts as a
  set rearmed_at = clock_timestamp()
  from jsonb_to_recordset(raised) as r (workspace_id uuid, rule text, subject_id text, period date, level text, details jsonb)
  where r.rule in ('key_limit', 'budget_forecast') and r.level <> 'ok'
    and a.workspace_id = r.workspace_id and a.rule = r.rule and a.subject_id = r.subject_id and a.period = r.period
    and a.rearmed_at is null and (a.level in (r.level, 'ok') or r.level = 'warning')
    and not exists (
      select from public.alerts as same
      where same.workspace_id = r.workspace_id and same.rule = r.rule and same.subject_id = r.subject_id
        and same.period = r.period and same.level = r.level and same.details ->> 'amount_usd' = r.details ->> 'amount_usd'
    );
  delete from public.alert_states as s
  using jsonb_to_recordset(verdicts) as v (workspace_id uuid, rule text, subject_id text, state text)
  where v.state in ('ok', 'forget') and s.workspace_id = v.workspace_id and s.rule = v.rule and s.subject_id = v.subject_id;
  insert into public.alert_states as s (workspace_id, rule, subject_type, subject_id, period, state, since)
  select v.workspace_id, v.rule, v.subject_type, v.subject_id, v.period, v.state, clock_timestamp()
  from jsonb_to_recordset(verdicts) as v (
    workspace_id uuid, rule text, subject_type text, subject_id text, period date, state text
  )
  join public.workspaces as w on w.id = v.workspace_id
  where v.state in ('warning', 'alert')
  on conflict (workspace_id, rule, subject_id) do update
  set period = excluded.period, state = excluded.state, since = excluded.since
  where (s.period, s.state) is distinct from (excluded.period, excluded.state);

  if raised is null then
    return 0;
  end if;
  perform private.raise_alerts(raised);
  return jsonb_array_length(raised);
end
$function$;
grant execute on function private.settle_alert_states(jsonb) to outlay_service, service_role;

-- One process judges the rules about `keys`, `usage`, `budgets` or `bills` at a time, until the end of its transaction.
-- returns: whether this one does
create function private.lock_alert_rules(about text)
returns boolean
language sql security definer set search_path = ''
as $$
  select pg_try_advisory_xact_lock(hashtextextended('outlay.alert_rules.' || about, 0))
$$;
grant execute on function private.lock_alert_rules(text) to outlay_service, service_role;
