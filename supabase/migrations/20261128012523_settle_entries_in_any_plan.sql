-- Entries of the inbox were not settled where Postgres compared the levels of all alerts with the spend of budgets: levels of other
-- rules are no numbers.

create or replace function private.settle_alert_entries(of_workspace uuid default null, at timestamptz default clock_timestamp())
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
