-- Alerts where what providers billed and what was recorded differ by an amount.

alter table public.alerts
  drop constraint alerts_rule_check,
  add constraint alerts_rule_check check (rule in (
    'budget_threshold', 'budget_forecast', 'budget_pace', 'unusual_day', 'key_limit', 'key_expiry', 'unpriced_usage',
    'silent_source', 'bill_coverage', 'bill_difference'
  ));
alter table public.alert_rules
  drop constraint alert_rules_rule_check,
  add constraint alert_rules_rule_check check (rule in (
    'budget_threshold', 'budget_forecast', 'budget_pace', 'unusual_day', 'key_limit', 'key_expiry', 'unpriced_usage',
    'silent_source', 'bill_coverage', 'bill_difference'
  ));

create or replace function private.alert_rule_defaults()
returns table (rule text, parameter numeric)
language sql immutable set search_path = ''
as $$
  values
    ('budget_threshold', null::numeric), ('budget_forecast', 100), ('budget_pace', 150), ('unusual_day', 10),
    ('key_limit', 80), ('key_expiry', 7), ('unpriced_usage', null), ('silent_source', 24),
    ('bill_coverage', 95), ('bill_difference', 1000)
$$;

drop function private.bills_to_judge(date);

-- The rules about bills that are judged: those that are on in a workspace with a bill since a day, and those whose state is to end.
-- returns: [{ workspace_id, time_zone, rule, parameter, period }]; `parameter`: null where the rule is off; `period`: of the present
-- state, or null
create function private.bill_rules_to_judge(first_day date)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select coalesce(jsonb_agg(jsonb_build_object(
    'workspace_id', w.id, 'time_zone', w.time_zone, 'rule', r.rule, 'parameter', setting.parameter, 'period', s.period
  ) order by w.id, r.rule), '[]')
  from public.workspaces as w
  cross join (values ('bill_coverage'), ('bill_difference')) as r (rule)
  cross join lateral (select private.alert_rule_parameter(w.id, r.rule) as parameter) as setting
  left join public.alert_states as s on s.workspace_id = w.id and s.rule = r.rule and s.subject_id = w.id::text
  where w.deleted_at is null and (s.period is not null or setting.parameter is not null and exists (
    select from public.bill_statements as b where b.workspace_id = w.id and b.starts_on >= first_day
  ))
$$;
revoke execute on function private.bill_rules_to_judge(date) from public;
grant execute on function private.bill_rules_to_judge(date) to outlay_service, service_role;
