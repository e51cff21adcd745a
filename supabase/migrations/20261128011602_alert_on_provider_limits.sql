-- Alerts where a provider holds another limit than a budget, or refuses it.

alter table public.alerts
  drop constraint alerts_rule_check,
  add constraint alerts_rule_check check (rule in (
    'budget_threshold', 'budget_forecast', 'budget_pace', 'unusual_day', 'key_limit', 'key_expiry', 'unpriced_usage',
    'silent_source', 'bill_coverage', 'bill_difference', 'provider_limit'
  ));
alter table public.alert_rules
  drop constraint alert_rules_rule_check,
  add constraint alert_rules_rule_check check (rule in (
    'budget_threshold', 'budget_forecast', 'budget_pace', 'unusual_day', 'key_limit', 'key_expiry', 'unpriced_usage',
    'silent_source', 'bill_coverage', 'bill_difference', 'provider_limit'
  ));

create or replace function private.alert_rule_defaults()
returns table (rule text, parameter numeric)
language sql immutable set search_path = ''
as $$
  values
    ('budget_threshold', null::numeric), ('budget_forecast', 100), ('budget_pace', 150), ('unusual_day', 10),
    ('key_limit', 80), ('key_expiry', 7), ('unpriced_usage', null), ('silent_source', 24),
    ('bill_coverage', 95), ('bill_difference', 1000), ('provider_limit', null)
$$;

create or replace function private.chosen_receivers(workspace uuid, of_rule text, subject text)
returns table (user_id uuid, channel_id uuid)
language sql stable security definer rows 2 set search_path = ''
as $$
  with budget as (
    select b.warned_people, b.warned_channels
    from public.budgets as b
    where of_rule in ('budget_threshold', 'budget_forecast', 'budget_pace', 'provider_limit') and b.workspace_id = workspace
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

-- Budgets of which a provider holds another limit, or refuses theirs, since the day on which that was found.
create function private.judge_provider_limits(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with worst as (
    select distinct on (l.workspace_id, l.budget_id) l.*, l.state in ('drift', 'refused', 'gone') as is_wrong
    from public.provider_limits as l
    where l.budget_id is not null and not l.is_removing
    order by l.workspace_id, l.budget_id, is_wrong desc, l.read_at desc nulls last, l.id
  )
  (
    select jsonb_build_object(
      'workspace_id', b.workspace_id, 'rule', 'provider_limit', 'subject_type', 'budget', 'subject_id', b.id,
      'period', coalesce(s.period, (at at time zone 'UTC')::date), 'state', case when worst.is_wrong then 'warning' else 'ok' end,
      'details', jsonb_build_object(
        'subject', b.name, 'provider', worst.provider, 'target', worst.target_name, 'limit_state', worst.state,
        'problem', worst.problem, 'written_usd', trim_scale(worst.written_usd)::text, 'held_usd', trim_scale(worst.held_usd)::text
      )
    )
    from worst
    join public.budgets as b on b.workspace_id = worst.workspace_id and b.id = worst.budget_id
    left join public.alert_states as s
      on s.workspace_id = b.workspace_id and s.rule = 'provider_limit' and s.subject_id = b.id::text
    left join public.alert_rules as r on r.workspace_id = b.workspace_id and r.rule = 'provider_limit'
    where coalesce(r.is_on, true) and worst.is_wrong <> (s.state is not null)
    limit 1000
  )
  union all
  (
    select jsonb_build_object(
      'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
      'period', s.period, 'state', 'ok', 'details', jsonb_build_object('because', 'gone')
    )
    from public.alert_states as s
    where s.rule = 'provider_limit'
      and not exists (select from worst where worst.workspace_id = s.workspace_id and worst.budget_id::text = s.subject_id)
    limit 1000
  )
$$;

revoke execute on function private.judge_provider_limits(timestamptz) from public;

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
    ) as judged
  ));
end
$$;
