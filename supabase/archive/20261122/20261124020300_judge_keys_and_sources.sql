-- The rules about keys and sources. Each function returns what has changed since it was judged the last time, at most 1,000
-- verdicts, as private.settle_alert_states takes them. A key that was revoked or deleted ends what was told of it.

create function private.judge_key_limits(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with month as (
    select date_trunc('month', at, 'UTC')::timestamptz as begins, (date_trunc('month', at at time zone 'UTC'))::date as first_day
  ), judged as (
    select k.workspace_id, k.id::text as subject_id, k.name, month.first_day, k.monthly_limit as limit_usd,
      coalesce(spent.amount_usd, 0) as spent_usd,
      case
        when k.monthly_limit is null or coalesce(spent.amount_usd, 0) * 100 < k.monthly_limit * rule.percent then 'ok'
        when coalesce(spent.amount_usd, 0) >= k.monthly_limit then 'alert'
        else 'warning'
      end as state,
      s.state as old_state, s.period as old_period
    from month
    cross join public.api_keys as k
    left join public.key_spend as spent
      on spent.workspace_id = k.workspace_id and spent.api_key_id = k.id and spent.month = month.first_day
    left join public.alert_states as s
      on s.workspace_id = k.workspace_id and s.rule = 'key_limit' and s.subject_id = k.id::text
    cross join lateral (
      select case when s.state is not null or k.monthly_limit is not null and coalesce(spent.amount_usd, 0) > 0
        then private.alert_rule_parameter(k.workspace_id, 'key_limit') end as percent
    ) as rule
    where (k.monthly_limit > 0 or s.state is not null)
      and k.revoked_at is null and (k.expires_at is null or k.expires_at > at)
      and rule.percent is not null
  )
  select jsonb_build_object(
    'workspace_id', workspace_id, 'rule', 'key_limit', 'subject_type', 'key', 'subject_id', subject_id,
    'period', first_day, 'state', state,
    'details', jsonb_build_object(
      'subject', name, 'amount_usd', trim_scale(limit_usd)::text, 'spent_usd', trim_scale(spent_usd)::text,
      'percent', trim_scale(round(spent_usd * 100 / nullif(limit_usd, 0), 2))::text,
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
    cross join lateral (select private.alert_rule_parameter(k.workspace_id, 'key_expiry') as days) as rule
    where k.kind = 'key' and k.revoked_at is null and rule.days is not null
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

-- A source is silent that used to send for at least as long as it may be silent, and stopped within the last week.
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
    cross join lateral (
      select case when s.state is not null or seen.last_at < at - interval '1 hour'
        then private.alert_rule_parameter(k.workspace_id, 'silent_source') end as hours
    ) as rule
    where k.revoked_at is null and (k.expires_at is null or k.expires_at > at) and rule.hours is not null
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

-- What was told of keys that are gone.
create function private.judge_gone_keys(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
    'period', s.period, 'state', 'ok', 'details', jsonb_build_object('because', 'gone')
  )
  from public.alert_states as s
  where s.rule in ('key_limit', 'key_expiry', 'silent_source')
    and not exists (
      select from public.api_keys as k
      where k.workspace_id = s.workspace_id and k.id::text = s.subject_id and k.revoked_at is null
        and (s.rule = 'key_expiry' or k.expires_at is null or k.expires_at > at)
    )
  limit 1000
$$;

create index api_keys_expires_at_idx on public.api_keys (expires_at) where expires_at is not null and revoked_at is null;
