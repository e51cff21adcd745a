-- What each rule last found of each subject, and the alerts that are raised when that changes.

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
