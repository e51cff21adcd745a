-- An alert belongs to the limit that was in force when it fired. After the limit has changed, the levels that lie above what is
-- spent can fire again; `rearmed_at` says since when.

alter table public.alerts add column rearmed_at timestamptz;
alter table public.budget_counts add column alert_amount numeric;
comment on column public.alerts.rearmed_at is 'Since when the level can fire again, for another limit; null while it cannot';
comment on column public.budget_counts.alert_amount is 'The limit, in the budget''s currency, for which alert_at_usd is worked out';

alter table public.alerts add constraint alerts_fire_once_for_a_limit
  unique nulls not distinct (workspace_id, rule, subject_id, period, level, rearmed_at);

-- The limit of a budget at an instant, in the budget's currency.
create function private.budget_amount(budget public.budgets, instant timestamptz)
 returns numeric
 language sql
 stable
return case when (instant at time zone budget.time_zone)::date <= budget.raised_until then budget.raised_amount else budget.amount end;
revoke execute on function private.budget_amount(public.budgets, timestamptz) from public;
grant execute on function private.budget_amount(public.budgets, timestamptz) to authenticated, outlay_key, outlay_service;

-- Records alerts in the order of the array, and queues each new one for the channels that want it, in the caller's
-- transaction. What was recorded before is neither changed nor sent again, unless it was armed again for another limit. What is
-- snoozed, or of a rule that is off, is recorded quietly.
-- raised: [{ workspace_id, rule, subject_type, subject_id, period, level, state, is_quiet, quiet_reason, details }]; without
-- `state`, a threshold's follows from its percentage
create or replace function private.raise_alerts(raised jsonb)
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
  )
  insert into public.alert_deliveries (workspace_id, channel_id, channel_name, channel_kind, alert_id, ordered_by)
  select c.workspace_id, c.id, c.name, c.kind, fired.id, fired.rule || ' ' || fired.subject_id
  from fired
  join public.alert_channels as c on c.workspace_id = fired.workspace_id
  where not fired.is_quiet
    and (c.disabled_at is null or c.disabled_reason = 'failing')
    and (c.rules is null or fired.rule = any (c.rules))
    and case
      when fired.level ~ '^\d{1,9}(\.\d{1,9})?$' then coalesce(fired.level::numeric >= c.least_percent, true)
      else true
    end
  order by fired.number
  for key share of c
$function$;

alter table public.alerts drop constraint alerts_workspace_id_rule_subject_id_period_level_key;

-- Raises the alerts of budgets whose present period has reached a threshold, each once in a period for the limit in force:
-- what was raised before is not raised again, also after a correction lowered the spend. When the limit has changed, the levels
-- above what is spent are armed again and the others stay as they were. The limit is compared in the budget's currency: a new
-- exchange rate is no new limit.
--
-- A caller holds the meters of the workspaces, so that two at once cannot each see too little, and nothing is spent while a
-- limit changes.
-- is_quiet: recorded only, and told to nobody.
-- returns: how many were raised
create or replace function private.alert_on_budgets(workspaces uuid[], budgets uuid[], is_quiet boolean default false)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  raised jsonb;
  -- One instant, which Postgres can merge into the statement with the functions that use it.
  at timestamptz := clock_timestamp();
begin
  update public.alerts as a
  set rearmed_at = at
  from public.budgets as b
  join public.budget_counts as spend
    on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
      and spend.period_from = private.budget_period(b, at)
  where b.workspace_id = any (workspaces) and b.id = any (budgets)
    -- Where it is not known which limit the alerts are of, they say it themselves.
    and case when spend.alert_amount is null then (a.details ->> 'amount_usd')::numeric <> private.budget_limit(b, at)
      else spend.alert_amount <> private.budget_amount(b, at) end
    and a.workspace_id = b.workspace_id and a.rule = 'budget_threshold' and a.subject_id = b.id::text
    and a.period = spend.period_from and a.rearmed_at is null
    -- Thresholds in USD are the same for every limit.
    and case when a.level !~ '^\$' then private.budget_limit(b, at) * a.level::numeric / 100 > spend.spent_usd end;

  select jsonb_agg(jsonb_build_object(
    'workspace_id', b.workspace_id, 'rule', 'budget_threshold', 'subject_type', 'budget', 'subject_id', b.id,
    'period', spend.period_from, 'level', threshold.level, 'is_quiet', alert_on_budgets.is_quiet,
    'details', jsonb_strip_nulls(jsonb_build_object(
      'budget', b.name, 'scope_type', b.scope_type, 'scope_value', b.scope_value, 'percent', coalesce(threshold.percent, trim_scale(round(threshold.usd * 100 / present.limit_usd, 2)))::text,
      'threshold_usd', trim_scale(threshold.usd)::text, 'amount_usd', trim_scale(present.limit_usd)::text,
      'spent_usd', trim_scale(spend.spent_usd)::text, 'period_from', spend.period_from,
      'period_until', private.budget_period_end(b, spend.period_from), 'time_zone', b.time_zone
    ))
  ) order by b.workspace_id, b.id, threshold.usd)
  into raised
  from public.budgets as b
  cross join lateral (
    select private.budget_period(b, at) as period_from, private.budget_limit(b, at) as limit_usd
  ) as present
  join public.budget_counts as spend
    on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
      and spend.period_from = present.period_from
  cross join lateral (
    select trim_scale(percent)::text as level, trim_scale(percent) as percent, present.limit_usd * percent / 100 as usd
    from unnest(b.alert_percents) as percent
    union all
    select '$' || trim_scale(usd), null, usd from unnest(b.alert_amounts) as usd
  ) as threshold
  where b.workspace_id = any (workspaces) and b.id = any (budgets)
    and spend.spent_usd >= threshold.usd
    -- A value rather than a join, so that the few that are asked for are looked up by the index.
    and (
      select a.id from public.alerts as a
      where a.workspace_id = b.workspace_id and a.rule = 'budget_threshold' and a.subject_id = b.id::text
        and a.period = spend.period_from and a.level = threshold.level
        and (a.rearmed_at is null or (a.details ->> 'amount_usd')::numeric = present.limit_usd)
      limit 1
    ) is null;
  if raised is not null then
    perform private.raise_alerts(raised);
  end if;
  update public.budget_counts as spend
  set alert_at_usd = private.next_threshold(b, spend.spent_usd, at), alert_amount = private.budget_amount(b, at)
  from public.budgets as b
  where b.workspace_id = any (workspaces) and b.id = any (budgets)
    and spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
    and spend.period_from = private.budget_period(b, at)
    and (
      spend.alert_at_usd is distinct from private.next_threshold(b, spend.spent_usd, at)
      or spend.alert_amount is distinct from private.budget_amount(b, at)
    );
  return coalesce(jsonb_array_length(raised), 0);
end
$function$;

-- Raises what time alone makes true: a period begins with spend that was booked ahead, or a raise ends. Locks the meters of the
-- workspaces in which something is due, in the order in which messages lock them.
-- returns: how many alerts were raised
create or replace function private.alert_on_due_budgets()
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  at timestamptz := clock_timestamp();
  due uuid[];
  raised integer;
begin
  select array_agg(workspace_id order by workspace_id) into due
  from (
    select workspace_id from private.budget_meters where valid_until <= at and waiting_groups > 0
    union
    select b.workspace_id
    from public.budgets as b
    join public.budget_counts as spend
      on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
        and spend.period_from = private.budget_period(b, at)
    where spend.alert_at_usd is distinct from private.next_threshold(b, spend.spent_usd, at)
      or spend.alert_amount is distinct from private.budget_amount(b, at)
  ) as changed;
  perform private.count_waiting_spend(workspace_id) from unnest(due) as workspace_id;
  select private.alert_on_budgets(due, array_agg(b.id)) into raised
  from public.budgets as b
  where b.workspace_id = any (due);
  return raised;
end
$function$;

-- Compares what was judged with the states that are known, records the new ones, and raises an alert for each change
-- upward and for what is over. A state is raised once in a period, and so is its end.
--
-- The caller holds the lock of private.lock_alert_rules.
-- verdicts: [{ workspace_id, rule, subject_type, subject_id, period, state, details }], one for a rule and subject; `state`:
--   ok, warning, alert, or `forget`: it is over, and nobody is told. Without details, those of the last alert hold.
-- A null is no verdict. returns: how many were to be raised
create or replace function private.settle_alert_states(verdicts jsonb)
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
