-- Alerts where a budget or the limit of a key refused costs.

alter table public.alerts
  drop constraint alerts_rule_check,
  add constraint alerts_rule_check check (rule in (
    'budget_threshold', 'budget_forecast', 'budget_pace', 'unusual_day', 'key_limit', 'key_expiry', 'unpriced_usage',
    'silent_source', 'bill_coverage', 'bill_difference', 'provider_limit', 'refused_costs'
  ));
alter table public.alert_rules
  drop constraint alert_rules_rule_check,
  add constraint alert_rules_rule_check check (rule in (
    'budget_threshold', 'budget_forecast', 'budget_pace', 'unusual_day', 'key_limit', 'key_expiry', 'unpriced_usage',
    'silent_source', 'bill_coverage', 'bill_difference', 'provider_limit', 'refused_costs'
  ));
create index refused_spend_budget_idx on public.refused_spend (workspace_id, budget_id, period_from) where budget_id is not null;

-- Every rule with its default parameter. All rules are on.
create or replace function private.alert_rule_defaults()
returns table (rule text, parameter numeric)
language sql immutable set search_path = ''
as $$
  values
    ('budget_threshold', null::numeric), ('budget_forecast', 100), ('budget_pace', 150), ('unusual_day', 10),
    ('key_limit', 80), ('key_expiry', 7), ('unpriced_usage', null), ('silent_source', 24),
    ('bill_coverage', 95), ('bill_difference', 1000), ('provider_limit', null), ('refused_costs', 10)
$$;

-- Whom an alert about a budget is sent to, of those that the budget names: members of its workspace, and channels that are not
-- off. No rows for another alert, and for a budget that names nobody who is still there: its alerts go to channels by their rules.
create or replace function private.chosen_receivers(workspace uuid, of_rule text, subject text)
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

-- Budgets and keys whose limits refused costs of at least the rule's amount in their present period.
create function private.judge_refused_costs(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with subjects as (
    select b.workspace_id, 'budget' as subject_type, b.id::text as subject_id, b.name, present.first_day as period,
      private.budget_period_end(b, present.first_day) as period_until, refused.usd, refused.messages
    from public.budgets as b
    cross join lateral (select private.budget_period(b, at) as first_day) as present
    cross join lateral (
      select coalesce(sum(f.amount_usd), 0) as usd, coalesce(sum(f.message_count), 0) as messages from public.refused_spend as f
      where f.workspace_id = b.workspace_id and f.budget_id = b.id and f.period_from = present.first_day
    ) as refused
    where b.blocks or exists (
      select from public.alert_states as s
      where s.workspace_id = b.workspace_id and s.rule = 'refused_costs' and s.subject_id = b.id::text
    )
    union all
    select k.workspace_id, 'key', k.id::text, k.name, month.first_day, (month.first_day + interval '1 month')::date, refused.usd,
      refused.messages
    from (select (date_trunc('month', at at time zone 'UTC'))::date as first_day) as month
    cross join public.api_keys as k
    cross join lateral (
      select coalesce(sum(f.amount_usd), 0) as usd, coalesce(sum(f.message_count), 0) as messages from public.refused_spend as f
      where f.workspace_id = k.workspace_id and f.api_key_id = k.id and f.budget_id is null and f.period_from = month.first_day
    ) as refused
    where k.revoked_at is null and (k.expires_at is null or k.expires_at > at)
      and (k.monthly_limit is not null or exists (
        select from public.alert_states as s
        where s.workspace_id = k.workspace_id and s.rule = 'refused_costs' and s.subject_id = k.id::text
      ))
  ), judged as (
    select u.*, s.state as old_state, s.period as old_period,
      case when u.messages > 0 and u.usd >= rule.usd then 'warning' else 'ok' end as state
    from subjects as u
    left join public.alert_states as s
      on s.workspace_id = u.workspace_id and s.rule = 'refused_costs' and s.subject_id = u.subject_id
    join private.alert_rule_defaults() as d on d.rule = 'refused_costs'
    left join public.alert_rules as r on r.workspace_id = u.workspace_id and r.rule = 'refused_costs'
    cross join lateral (select coalesce(r.parameter, d.parameter) as usd) as rule
    where coalesce(r.is_on, true)
  )
  (
    select jsonb_build_object(
      'workspace_id', workspace_id, 'rule', 'refused_costs', 'subject_type', subject_type, 'subject_id', subject_id, 'period', period,
      'state', state,
      'details', jsonb_build_object(
        'subject', name, 'refused_usd', trim_scale(usd)::text, 'message_count', messages, 'period_from', period,
        'period_until', period_until
      )
    )
    from judged
    where (state, period) is distinct from (coalesce(old_state, 'ok'), coalesce(old_period, period))
    limit 1000
  )
  union all
  (
    select jsonb_build_object(
      'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
      'period', s.period, 'state', 'ok', 'details', jsonb_build_object('because', 'gone')
    )
    from public.alert_states as s
    where s.rule = 'refused_costs' and s.subject_type = 'budget' and not exists (
      select from public.budgets as b where b.workspace_id = s.workspace_id and b.id::text = s.subject_id
    )
    limit 1000
  )
$$;
revoke execute on function private.judge_refused_costs(timestamptz) from public;

-- The states of keys that no longer exist.
create or replace function private.judge_gone_keys(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
    'period', s.period, 'state', 'ok', 'details', jsonb_build_object('because', 'gone')
  )
  from public.alert_states as s
  where (s.rule in ('key_limit', 'key_expiry', 'silent_source') or s.rule = 'refused_costs' and s.subject_type = 'key')
    and not exists (
      select from public.api_keys as k
      where k.workspace_id = s.workspace_id and k.id::text = s.subject_id and k.revoked_at is null
        and (s.rule = 'key_expiry' or k.expires_at is null or k.expires_at > at)
    )
  limit 1000
$$;

-- Judges the rules about keys and sources, for all workspaces. Does nothing while another process judges them.
-- at: the moment to judge at; another one than the present in tests. returns: how many alerts were to be raised
create or replace function private.judge_key_rules(at timestamptz default clock_timestamp())
returns integer
language plpgsql security definer set search_path = ''
as $$
begin
  if not private.lock_alert_rules('keys') then
    return 0;
  end if;
  return private.settle_alert_states((
    select jsonb_agg(verdict)
    from (
      select private.judge_gone_keys(at) as verdict
      union all select private.judge_key_limits(at)
      union all select private.judge_key_expiries(at)
      union all select private.judge_silent_sources(at)
      union all select private.judge_provider_limits(at)
      union all select private.judge_refused_costs(at)
    ) as judged
  ));
end
$$;
