alter table public.deliveries add column member_id uuid;
alter table public.deliveries
  drop constraint deliveries_kind_check,
  drop constraint deliveries_check2;
alter table public.deliveries
  add constraint deliveries_kind_check check (kind in (
    'alert', 'alert_mail', 'digest', 'test', 'weekly_report', 'channel_off',
    'workspace_deleted', 'workspace_restored', 'account_deleted', 'account_restored'
  )),
  add constraint deliveries_check2
    check ((kind in ('alert', 'alert_mail')) = (alert_id is not null) and (kind = 'digest') = (digest_at is not null)),
  add constraint deliveries_to_members_are_alerts check ((kind = 'alert_mail') = (member_id is not null)),
  add constraint deliveries_member_fkey foreign key (workspace_id, member_id)
    references public.workspace_members (workspace_id, user_id) on delete cascade;
create index deliveries_member_idx on public.deliveries (workspace_id, member_id) where member_id is not null;

drop policy "A member reads what channels of their workspaces were sent" on public.deliveries;
create policy "A member reads which alerts of their workspaces were sent"
  on public.deliveries for select to authenticated
  using ((channel_id is not null or member_id is not null) and workspace_id in (select private.member_workspaces()));

-- Whom an alert about a budget is sent to, of those that the budget names: members of its workspace, and channels that are not
-- off. No rows for another alert, and for a budget that names nobody who is still there: its alerts go to channels by their rules.
create function private.chosen_receivers(workspace uuid, of_rule text, subject text)
returns table (user_id uuid, channel_id uuid)
language sql stable security definer rows 2 set search_path = ''
as $$
  with budget as (
    select b.warned_people, b.warned_channels
    from public.budgets as b
    where of_rule in ('budget_threshold', 'budget_forecast', 'budget_pace') and b.workspace_id = workspace
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
revoke execute on function private.chosen_receivers(uuid, text, text) from public;

-- Records alerts in the order of the array, and queues each new one for the channels that want it, in the caller's transaction.
-- An alert that was recorded before is neither changed nor sent again, unless it was armed again for another limit. An alert
-- that is snoozed, or whose rule is off, is recorded quietly. A budget that names receivers is sent to them alone, whatever the
-- rules of their channels.
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

-- What a process needs to send a delivery.
-- returns: { id, kind, lease, attempts, workspace_id, workspace, recipient, details } and, by its kind:
--   of a channel: `channel` with its secrets, `alert`, and `digest` with the channel's time zone, the count of its alerts and
--   the newest hundred. `report`: its reader, and its week. `off`: the channel that was turned off, and the owners to notify;
--   null where it is on again. `member`: the address of the member whom a budget names; null where they have left
create or replace function private.describe_delivery(d public.deliveries)
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select jsonb_build_object(
    'id', d.id, 'kind', d.kind, 'lease', d.lease, 'attempts', d.attempts, 'workspace_id', d.workspace_id, 'recipient', d.recipient,
    'details', d.details,
    'workspace', (select jsonb_build_object('slug', w.slug, 'name', w.name) from public.workspaces as w where w.id = d.workspace_id)
  ) || case d.kind
    when 'weekly_report' then jsonb_build_object('report', (
      select jsonb_build_object(
        'user_id', r.user_id, 'week', d.week, 'time_zone', r.time_zone, 'email', p.email,
        'has_factor', private.has_verified_factor(r.user_id)
      )
      from public.weekly_reports as r
      join public.profiles as p on p.id = r.user_id
      where r.workspace_id = d.workspace_id and r.user_id = d.reader_id
    ))
    when 'channel_off' then jsonb_build_object('off', (
      select jsonb_build_object(
        'name', c.name, 'kind', c.kind, 'target', c.target, 'reason', c.disabled_reason, 'failing_since', c.failing_since,
        'owners', (
          select coalesce(jsonb_agg(p.email order by p.email), '[]')
          from public.workspace_members as m
          join public.profiles as p on p.id = m.user_id
          where m.workspace_id = c.workspace_id and m.role = 'owner'
        )
      )
      from public.alert_channels as c
      where c.workspace_id = d.workspace_id and c.id = (d.details ->> 'channel_id')::uuid
        and c.disabled_reason in ('failing', 'gone')
    ))
    when 'alert' then jsonb_build_object('channel', private.describe_channel(d), 'digest', null, 'alert', (
      select private.describe_alert(a) from public.alerts as a where a.workspace_id = d.workspace_id and a.id = d.alert_id
    ))
    when 'alert_mail' then jsonb_build_object(
      'member', (
        select p.email
        from public.workspace_members as m
        join public.profiles as p on p.id = m.user_id
        where m.workspace_id = d.workspace_id and m.user_id = d.member_id
      ),
      'alert', (select private.describe_alert(a) from public.alerts as a where a.workspace_id = d.workspace_id and a.id = d.alert_id)
    )
    when 'test' then jsonb_build_object('channel', private.describe_channel(d), 'digest', null, 'alert', null)
    when 'digest' then jsonb_build_object('channel', private.describe_channel(d), 'alert', null, 'digest', (
      select jsonb_build_object(
        'time_zone', (select c.time_zone from public.alert_channels as c where c.workspace_id = d.workspace_id and c.id = d.channel_id),
        'count', count(*),
        'alerts', coalesce(jsonb_agg(private.describe_alert(a) order by a.number desc) filter (where listed.place <= 100), '[]')
      )
      from (
        select m.alert_id, row_number() over (order by m.number desc) as place
        from public.deliveries as m
        where m.workspace_id = d.workspace_id and m.digest_id = d.id
      ) as listed
      join public.alerts as a on a.workspace_id = d.workspace_id and a.id = listed.alert_id
    ))
    else '{}'
  end
$function$;

-- Queues a dead delivery again, for another three days.
-- returns: null where it is queued, otherwise why not: 'not_dead', or 'disabled' (the channel is, or was deleted)
create or replace function private.resend_delivery(workspace uuid, delivery uuid)
 returns text
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  -- An alert that was sent with a digest is sent again with it.
  whole uuid := (
    select coalesce(digest_id, id) from public.deliveries where workspace_id = workspace and id = delivery
  );
  of_channel uuid := (select channel_id from public.deliveries where workspace_id = workspace and id = delivery);
begin
  perform private.require_admin_of(workspace);
  if of_channel is not null then
    perform from public.alert_channels where workspace_id = workspace and id = of_channel and disabled_at is null for share;
    if not found then
      return 'disabled';
    end if;
  end if;
  update public.deliveries
  set state = 'pending', attempts = 0, next_attempt_at = now(), give_up_at = now() + interval '3 days'
  where workspace_id = workspace and id = whole and state = 'dead' and kind in ('alert', 'alert_mail', 'digest');
  return case when not found then 'not_dead' end;
end
$function$;

-- Deletes the log of more than 30 days ago, and mails whose time is over. Ends deliveries that will not be sent any more: their
-- channel was disabled for too long, or was deleted while they were being sent. returns: how many it changed
create or replace function private.sweep_deliveries(at_most integer)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  old_ones integer;
  left_ones integer;
begin
  delete from public.deliveries as d
  where d.ctid = any (array(
    select o.ctid from public.deliveries as o
    where o.created_at < clock_timestamp() - interval '30 days' and o.state <> 'pending'
      and not (o.state = 'collected' and o.digest_id is null)
    order by o.created_at limit at_most
    for update skip locked
  ) || array(
    -- An hour for the last attempt.
    select o.ctid from public.deliveries as o
    where o.channel_id is null and o.give_up_at < clock_timestamp() - interval '1 hour'
      -- Those of alerts are kept as the log.
      and (o.kind <> 'alert_mail' or o.state = 'pending')
    order by o.give_up_at limit at_most
    for update skip locked
  ));
  get diagnostics old_ones = row_count;

  update public.deliveries as d
  set state = case when ended.is_there then 'dead' else 'cancelled' end, lease = null, leased_until = null,
    last_error = coalesce(d.last_error, case when ended.is_there then 'The channel was off for too long.' end)
  from (
    select o.id, c.id is not null as is_there
    from public.deliveries as o
    left join public.alert_channels as c on c.workspace_id = o.workspace_id and c.id = o.channel_id
    where o.channel_id is not null and (o.state = 'pending' or o.state = 'collected' and o.digest_id is null)
      and (o.leased_until is null or o.leased_until < clock_timestamp())
      and (c.id is null or (c.disabled_at is not null and o.give_up_at < clock_timestamp()))
    order by o.created_at limit at_most
    for update of o skip locked
  ) as ended
  where d.id = ended.id;
  get diagnostics left_ones = row_count;
  return old_ones + left_ones;
end
$function$;
