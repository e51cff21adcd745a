-- Alerts of every rule. `state` is what the subject changed to: `warning`, `alert`, or `ok` where it is over. A subject
-- reaches each state once in a period of its rule; each threshold of a budget is a level of its own.
alter table public.alerts
  drop constraint alerts_rule_check,
  add constraint alerts_rule_check check (rule in (
    'budget_threshold', 'budget_forecast', 'budget_pace', 'unusual_day', 'key_limit', 'key_expiry', 'unpriced_usage',
    'silent_source'
  )),
  drop constraint alerts_subject_type_check,
  add constraint alerts_subject_type_check check (subject_type in ('budget', 'workspace', 'key', 'model', 'source')),
  add column state text not null default 'alert' check (state in ('ok', 'warning', 'alert')),
  -- Why nobody was told of a quiet alert.
  add column quiet_reason text check (quiet_reason in ('was_above', 'snoozed', 'rule_off', 'start_untold')),
  add constraint alerts_of_which_nobody_is_told_are_quiet check (quiet_reason is null or is_quiet);

update public.alerts
set state = case when (details ->> 'percent')::numeric >= 100 then 'alert' else 'warning' end,
  quiet_reason = case when is_quiet then 'was_above' end;

-- Records alerts in the order of the array, and queues each new one for the channels that want it, in the caller's
-- transaction. What was recorded before is neither changed nor sent again.
-- raised: [{ workspace_id, rule, subject_type, subject_id, period, level, state, is_quiet, quiet_reason, details }]; without
-- `state`, a threshold's follows from its percentage
create or replace function private.raise_alerts(raised jsonb)
returns void
language sql security definer set search_path = ''
as $$
  with fired as (
    insert into public.alerts as a
      (workspace_id, rule, subject_type, subject_id, period, level, state, is_quiet, quiet_reason, details)
    select r.workspace_id, r.rule, r.subject_type, r.subject_id, r.period, r.level,
      coalesce(r.state, case when (r.details ->> 'percent')::numeric >= 100 then 'alert' else 'warning' end),
      coalesce(r.is_quiet, false), case when r.is_quiet then coalesce(r.quiet_reason, 'was_above') end,
      coalesce(r.details, '{}')
    from rows from (
      jsonb_to_recordset(raised) as (
        workspace_id uuid, rule text, subject_type text, subject_id text, period date, level text, state text, is_quiet boolean,
        quiet_reason text, details jsonb
      )
    ) with ordinality as r
      (workspace_id, rule, subject_type, subject_id, period, level, state, is_quiet, quiet_reason, details, place)
    join public.workspaces as w on w.id = r.workspace_id
    order by r.place
    for key share of w
    on conflict (workspace_id, rule, subject_id, period, level) do nothing
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
$$;

create or replace function private.describe_delivery(d public.alert_deliveries)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'workspace_id', d.workspace_id, 'id', d.id, 'lease', d.lease, 'attempts', d.attempts,
    'workspace', jsonb_build_object('slug', w.slug, 'name', w.name),
    'channel', jsonb_build_object(
      'id', c.id, 'name', c.name, 'kind', c.kind, 'is_failing', c.failing_since is not null,
      'address', s.address,
      'signing_secrets', case when s.signing_secret is null then '[]' else
        jsonb_build_array(s.signing_secret)
        || case when s.old_ends_at > clock_timestamp() then jsonb_build_array(s.old_signing_secret) else '[]' end
      end,
      -- Mail goes to people who are members now.
      'recipients', case when c.kind = 'email' then (
        select coalesce(jsonb_agg(p.email order by p.email), '[]')
        from public.workspace_members as m
        join public.profiles as p on p.id = m.user_id
        where m.workspace_id = d.workspace_id and lower(p.email) = any (string_to_array(c.target, ', '))
      ) else '[]' end
    ),
    'alert', (
      select jsonb_build_object(
        'id', a.id, 'rule', a.rule, 'state', a.state, 'level', a.level, 'period', a.period, 'subject_type', a.subject_type,
        'subject_id', a.subject_id, 'details', a.details, 'fired_at', a.fired_at,
        -- A budget stores its project by id; links name projects by slug.
        'project_slug', (
          select p.slug from public.projects as p
          where p.workspace_id = a.workspace_id and a.details ->> 'scope_type' = 'project'
            and a.details ->> 'scope_value' in (p.id::text, p.slug)
          limit 1
        )
      )
      from public.alerts as a
      where a.workspace_id = d.workspace_id and a.id = d.alert_id
    )
  )
  from public.alert_channels as c
  join private.channel_secrets as s on s.workspace_id = c.workspace_id and s.channel_id = c.id
  join public.workspaces as w on w.id = c.workspace_id
  where c.workspace_id = d.workspace_id and c.id = d.channel_id
$$;
