-- How the rules about keys and sources are judged.

-- The rules about keys and sources. Each function returns what has changed since it was judged the last time, at most 1,000
-- verdicts, as private.settle_alert_states takes them. The alerts of a key end when it is revoked or deleted.
create function private.judge_key_limits(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with month as (
    select date_trunc('month', at, 'UTC')::timestamptz as begins, (date_trunc('month', at at time zone 'UTC'))::date as first_day
  ), judged as (
    select k.workspace_id, k.id::text as subject_id, k.name, month.first_day, lim.usd as limit_usd,
      coalesce(spent.amount_usd, 0) as spent_usd, refused.usd as refused_usd, k.on_limit,
      case
        -- It refuses what would exceed it, so it need not be reached.
        when refused.usd > 0 and coalesce(spent.amount_usd, 0) + refused.usd >= lim.usd then 'alert'
        when lim.usd is null or coalesce(spent.amount_usd, 0) * 100 < lim.usd * rule.percent then 'ok'
        when coalesce(spent.amount_usd, 0) >= lim.usd then 'alert'
        else 'warning'
      end as state,
      s.state as old_state, s.period as old_period
    from month
    cross join public.api_keys as k
    cross join lateral (select private.key_limit(k.monthly_limit, k.raised_limit, k.raised_until, at) as usd) as lim
    left join public.key_spend as spent
      on spent.workspace_id = k.workspace_id and spent.api_key_id = k.id and spent.month = month.first_day
    left join public.alert_states as s
      on s.workspace_id = k.workspace_id and s.rule = 'key_limit' and s.subject_id = k.id::text
    join private.alert_rule_defaults() as d on d.rule = 'key_limit'
    left join public.alert_rules as r on r.workspace_id = k.workspace_id and r.rule = 'key_limit'
    cross join lateral (select coalesce(r.parameter, d.parameter) as percent) as rule
    cross join lateral (
      select coalesce(sum(f.amount_usd), 0) as usd from public.refused_spend as f
      where f.workspace_id = k.workspace_id and f.api_key_id = k.id and f.budget_id is null and f.period_from = month.first_day
    ) as refused
    where (k.monthly_limit > 0 or s.state is not null)
      and k.revoked_at is null and (k.expires_at is null or k.expires_at > at)
      and coalesce(r.is_on, true)
  )
  select jsonb_build_object(
    'workspace_id', workspace_id, 'rule', 'key_limit', 'subject_type', 'key', 'subject_id', subject_id,
    'period', first_day, 'state', state,
    'details', jsonb_build_object(
      'subject', name, 'amount_usd', trim_scale(limit_usd)::text, 'spent_usd', trim_scale(spent_usd)::text,
      'percent', trim_scale(round(spent_usd * 100 / nullif(limit_usd, 0), 2))::text,
      'refused_usd', trim_scale(refused_usd)::text, 'on_limit', on_limit,
      'period_from', first_day, 'period_until', (first_day + interval '1 month')::date
    )
  )
  from judged
  where (state, first_day) is distinct from (coalesce(old_state, 'ok'), coalesce(old_period, first_day))
  limit 1000
$$;

-- A key warns before it expires, and alerts when it has expired, if that was within a day. Forgotten after 30 days.
create function private.judge_key_expiries(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with judged as (
    select k.workspace_id, k.id::text as subject_id, k.name, k.expires_at, s.state as old_state, s.period as old_period,
      coalesce((k.expires_at at time zone 'UTC')::date, s.period) as period,
      case
        when k.expires_at is null or k.expires_at > at + rule.days * interval '1 day' then 'ok'
        when k.expires_at > at then 'warning'
        when k.expires_at > at - interval '1 day' or s.state is not null and k.expires_at > at - interval '30 days' then 'alert'
        when s.state is not null then 'forget'
        else 'ok'
      end as state
    from public.api_keys as k
    left join public.alert_states as s
      on s.workspace_id = k.workspace_id and s.rule = 'key_expiry' and s.subject_id = k.id::text
    join private.alert_rule_defaults() as d on d.rule = 'key_expiry'
    left join public.alert_rules as r on r.workspace_id = k.workspace_id and r.rule = 'key_expiry'
    cross join lateral (select coalesce(r.parameter, d.parameter) as days) as rule
    where k.kind = 'key' and k.revoked_at is null and coalesce(r.is_on, true)
      -- The longest notice that can be set is 365 days.
      and (s.state is not null or k.expires_at between at - interval '1 day' and at + interval '366 days')
  )
  select jsonb_build_object(
    'workspace_id', workspace_id, 'rule', 'key_expiry', 'subject_type', 'key', 'subject_id', subject_id,
    -- Where it is over, that is no new period.
    'period', case when state = 'ok' then coalesce(old_period, period) else period end, 'state', state,
    'details', jsonb_build_object(
      'subject', name,
      'expires_at', to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"')
    )
  )
  from judged
  where state is distinct from coalesce(old_state, 'ok') or state in ('warning', 'alert') and period is distinct from old_period
  limit 1000
$$;

-- A source is silent if it sent for at least as long as it may be silent, and stopped within the last week.
create function private.judge_silent_sources(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with sources as (
    select a.workspace_id, a.api_key_id, min(a.first_at) as first_at, max(a.last_at) as arrived_at
    from public.source_arrivals as a
    group by a.workspace_id, a.api_key_id
  ), judged as (
    select k.workspace_id, k.id::text as subject_id, k.name, seen.last_at, rule.hours::integer as hours, s.state as old_state,
      coalesce(s.period, (seen.last_at at time zone 'UTC')::date) as period,
      case
        when seen.last_at >= at - rule.hours * interval '1 hour' then 'ok'
        when s.state is not null then 'warning'
        when seen.last_at >= at - rule.hours * interval '1 hour' - interval '7 days'
          and seen.last_at - sources.first_at >= rule.hours * interval '1 hour' then 'warning'
        else 'ok'
      end as state
    from sources
    join public.api_keys as k on k.workspace_id = sources.workspace_id and k.id = sources.api_key_id
    left join public.alert_states as s
      on s.workspace_id = k.workspace_id and s.rule = 'silent_source' and s.subject_id = k.id::text
    cross join lateral (
      -- A request that was refused shows that the source is alive.
      select greatest(sources.arrived_at, (
        select max(r.last_at) from public.source_refusals as r
        where r.workspace_id = k.workspace_id and r.api_key_id = k.id and not r.of_record
      )) as last_at
    ) as seen
    join private.alert_rule_defaults() as d on d.rule = 'silent_source'
    left join public.alert_rules as r on r.workspace_id = k.workspace_id and r.rule = 'silent_source'
    cross join lateral (select coalesce(r.parameter, d.parameter) as hours) as rule
    where k.revoked_at is null and (k.expires_at is null or k.expires_at > at) and coalesce(r.is_on, true)
  )
  select jsonb_build_object(
    'workspace_id', workspace_id, 'rule', 'silent_source', 'subject_type', 'source', 'subject_id', subject_id,
    'period', period, 'state', state,
    'details', jsonb_build_object(
      'subject', name, 'hours', hours,
      'last_at', to_char(last_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"')
    )
  )
  from judged
  where state is distinct from coalesce(old_state, 'ok')
  limit 1000
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

-- The states of keys that no longer exist.
create function private.judge_gone_keys(at timestamptz)
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
create function private.judge_key_rules(at timestamptz default clock_timestamp())
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
grant execute on function private.judge_key_rules(timestamp with time zone) to outlay_service, service_role;
