-- A key's monthly limit can be raised until a day, as a budget's.
alter table public.api_keys
  add column raised_limit numeric constraint api_keys_raised_limit_is_money check (raised_limit < 1e15 and scale(raised_limit) <= 18),
  add column raised_until date,
  add constraint api_keys_raises_have_an_end check ((raised_limit is null) = (raised_until is null)),
  add constraint api_keys_raises_are_above_the_limit check (raised_limit is null or coalesce(raised_limit > monthly_limit, false));
grant update (raised_limit, raised_until) on public.api_keys to authenticated;

-- The monthly limit of a key at an instant, USD: during a raise, the raised one.
create function private.key_limit(usual numeric, raised numeric, raised_until date, instant timestamptz)
returns numeric
language sql immutable
return case when (instant at time zone 'UTC')::date <= raised_until then raised else usual end;
grant execute on function private.key_limit(numeric, numeric, date, timestamptz) to outlay_service;
revoke execute on function private.key_limit(numeric, numeric, date, timestamptz) from public;

-- A limit that is removed, or set to at least the raised one, ends the raise.
create function private.end_key_raise()
returns trigger
language plpgsql set search_path = ''
as $$
begin
  new.raised_limit := null;
  new.raised_until := null;
  return new;
end
$$;
revoke execute on function private.end_key_raise() from public;

create trigger raises_end_at_higher_limits
  before update of monthly_limit on public.api_keys
  for each row when (new.raised_limit is not null and not coalesce(new.raised_limit > new.monthly_limit, false))
  execute function private.end_key_raise();

-- Blocking budgets are loaded together with the keys of a group: no further round trip.
-- The state of the keys of a group of requests that the guard needs, at one point in time.
--
-- requested: { hashes: [hex], tokens: [hex], ids: [uuid], projects: [{ slug }], idempotency: [{ key }] }; hashes (of secrets),
--   tokens (hashes of access tokens) and ids are how the requests name their keys. Besides, of what emitters tell: tellers:
--   [lookup], the keys that they tell with; tellings and marks, see `private.load_tellings`.
-- returns: { now: ms, keys: [...], projects: [{ workspace_id, slug, id }], idempotency: [{ workspace_id, key, request, response }],
--   refused: see `private.refused_among`, held: see `private.load_held`, tellings }
--
-- Keys that have a limit are locked first, in order of id. Only then the time is taken and the state read, each statement
-- with its own snapshot: state that was read before the lock could let limits be exceeded.
create or replace function private.load_admission(requested jsonb)
returns json
language plpgsql
security definer
set search_path to ''
set "TimeZone" to 'UTC'
set plan_cache_mode to 'force_generic_plan'
as $$
declare
  key_ids uuid[];
  limited_ids uuid[];
  workspace_ids uuid[];
  now_at timestamptz;
  window_start timestamptz;
  usage jsonb := '{}';
  keys json;
  projects json := '[]';
  replays json := '[]';
  budgets jsonb;
  refused jsonb;
  held jsonb;
  teller_ids uuid[];
  tellings jsonb;
begin
  -- The key of SVC_API_KEY is created, with the demo workspace that it belongs to, when it is first used. A member's own
  -- key is created when it is first needed.
  if requested -> 'ids' ? '00000000-0000-4000-8000-0000000000e1' then
    insert into public.workspaces (id, slug, name, type)
    values ('00000000-0000-4000-8000-0000000000d0', 'demo', 'Demo', 'demo')
    on conflict do nothing;
    insert into public.api_keys (workspace_id, id, name, prefix, last_four, permissions, kind)
    values (
      '00000000-0000-4000-8000-0000000000d0', '00000000-0000-4000-8000-0000000000e1', 'Environment key', 'SVC_API_KEY', 'none',
      array['log_usage', 'add_expenses', 'manage_subscriptions', 'read_summaries'], 'environment'
    )
    on conflict do nothing;
  end if;

  select array_agg(id) into key_ids from private.keys_named(requested);

  -- Shared with other groups; a change of the workspace's prices and the closing of a month take this lock exclusively.
  perform pg_advisory_xact_lock_shared(hashtextextended('outlay.prices.' || workspace_id, 0))
  from (select distinct workspace_id from public.api_keys where id = any (key_ids) order by workspace_id) as sending;

  limited_ids := array(
    select id from public.api_keys
    where id = any (key_ids) and (monthly_limit is not null or rate_limit_rpm is not null or requested ? 'reserving')
    order by id
    for no key update
  );

  -- What is told with one key is decided by one group after another, so that each sees the calls that the others recorded.
  if requested ? 'tellers' then
    teller_ids := array(
      select distinct id from private.keys_named(requested)
      where lookup = any (array(select jsonb_array_elements_text(requested -> 'tellers')))
      order by id
    );
    perform pg_advisory_xact_lock(hashtextextended('outlay.tellings.' || id, 0)) from unnest(teller_ids) as id;
  end if;

  now_at := date_trunc('milliseconds', clock_timestamp());
  window_start := now_at - interval '60 seconds';

  if cardinality(limited_ids) > 0 then
    select jsonb_object_agg(k.id, jsonb_build_object(
      'spent', case when k.monthly_limit is not null then coalesce((
        select spend.amount_usd from public.key_spend as spend
        where spend.workspace_id = k.workspace_id and spend.api_key_id = k.id
          and spend.month = date_trunc('month', now_at)::date
      ), 0)::text end,
      'rate_window', case when k.rate_limit_rpm is not null then (
        select jsonb_build_object(
          'total', latest.total,
          'used', latest.total - coalesce(oldest.total - oldest.admitted, latest.total),
          'latest_at', (extract(epoch from latest.at) * 1000)::bigint,
          'frees_at', (
            select (extract(epoch from w.at) * 1000)::bigint + 60000
            from private.rate_windows as w
            where w.api_key_id = k.id
              and w.total > greatest(latest.total - k.rate_limit_rpm, oldest.total - oldest.admitted)
            order by w.total limit 1
          )
        )
        from (
          select w.total, w.at from private.rate_windows as w
          where w.api_key_id = k.id order by w.total desc limit 1
        ) as latest
        left join lateral (
          select w.total, w.admitted from private.rate_windows as w
          where w.api_key_id = k.id and w.at > window_start order by w.at, w.total limit 1
        ) as oldest on true
      ) end
    )) into usage
    from public.api_keys as k
    where k.id = any (limited_ids);
  end if;

  select coalesce(json_agg(json_build_object(
    'lookup', named.lookup,
    'token', named.token,
    'id', k.id,
    'kind', k.kind,
    'workspace_id', k.workspace_id,
    'prices_version', w.prices_version,
    'time_zone', w.time_zone,
    'closed_until', w.closed_until,
    'environment', k.environment,
    'permissions', k.permissions,
    'project', (select p.slug from public.projects as p where p.workspace_id = k.workspace_id and p.id = k.project_id),
    'project_id', k.project_id,
    'conditions', k.conditions,
    'monthly_limit', private.key_limit(k.monthly_limit, k.raised_limit, k.raised_until, now_at)::text,
    'on_limit', k.on_limit,
    'spent', usage -> k.id::text ->> 'spent',
    'expires_at', (extract(epoch from k.expires_at) * 1000)::bigint,
    'revoked', k.revoked_at is not null,
    'last_used_at', (extract(epoch from k.last_used_at) * 1000)::bigint,
    'allowed_cidrs', k.allowed_cidrs,
    'rate_limit_rpm', k.rate_limit_rpm,
    'source_settings', k.source_settings,
    'rate_window', usage -> k.id::text -> 'rate_window'
  )), '[]'), array_agg(distinct k.workspace_id) into keys, workspace_ids
  -- Reads the keys again under the locks: a secret that was rotated or a token that was revoked meanwhile is not found.
  from private.keys_named(requested) as named
  join public.api_keys as k on k.id = named.id
  join public.workspaces as w on w.id = k.workspace_id
  where k.id = any (key_ids);

  -- A group names few workspaces and few names. A name that only another workspace of the group asked for is harmless: the
  -- service looks a name up together with its workspace.
  if jsonb_array_length(requested -> 'projects') > 0 then
    select coalesce(json_agg(json_build_object('workspace_id', p.workspace_id, 'slug', p.slug, 'id', p.id)), '[]')
    into projects
    from public.projects as p
    where p.workspace_id = any (workspace_ids)
      and p.slug = any (array(select wanted.value ->> 'slug' from jsonb_array_elements(requested -> 'projects') as wanted));
  end if;

  -- Only calls that record name projects. Locked after the keys, so that no two groups wait for each other.
  if jsonb_array_length(requested -> 'projects') > 0 and exists (
    select from public.budgets as b where b.blocks and b.workspace_id = any (workspace_ids)
  ) then
    budgets := private.load_blocking_budgets(workspace_ids);
  end if;

  -- Ends of reservations are compared with the time that `load_held` takes, under all locks.
  if requested ? 'reservations' or requested ? 'reserving' or jsonb_array_length(requested -> 'projects') > 0 and exists (
    select from private.reservations as r
    where r.workspace_id = any (workspace_ids) and r.state = 'held' and r.expires_at > now_at
  ) then
    held := private.load_held(workspace_ids, key_ids, requested);
  end if;

  if jsonb_array_length(requested -> 'idempotency') > 0 then
    select coalesce(json_agg(json_build_object(
      'workspace_id', i.workspace_id, 'key', i.key, 'request', i.request, 'response', i.response
    )), '[]')
    into replays
    from private.idempotency as i
    where i.workspace_id = any (workspace_ids)
      and i.key = any (array(select wanted.value ->> 'key' from jsonb_array_elements(requested -> 'idempotency') as wanted));
    refused := private.refused_among(
      workspace_ids, array(select wanted.value ->> 'key' from jsonb_array_elements(requested -> 'idempotency') as wanted)
    );
  end if;

  if cardinality(teller_ids) > 0 then
    tellings := private.load_tellings(
      teller_ids, workspace_ids, (
        select coalesce(jsonb_agg(wanted.value || jsonb_build_object('key', named.id)), '[]')
        from jsonb_array_elements(requested -> 'tellings') as wanted
        left join private.keys_named(requested) as named on named.lookup = requested -> 'tellers' ->> (wanted.value ->> 'teller')::integer
        where named.id is not null or not wanted.value ? 'teller'
      ), array(select jsonb_array_elements_text(requested -> 'marks'))
    );
  end if;

  return json_build_object(
    'now', (extract(epoch from now_at) * 1000)::bigint,
    'keys', keys, 'projects', projects, 'idempotency', replays, 'budgets', budgets, 'refused', refused, 'held', held,
    'tellings', tellings
  );
end
$$;

-- The rules about keys and sources. Each function returns what has changed since it was judged the last time, at most 1,000
-- verdicts, as private.settle_alert_states takes them. The alerts of a key end when it is revoked or deleted.
create or replace function private.judge_key_limits(at timestamptz)
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

-- Which key made a change, and its name at that time.
alter table public.audit_log add column actor_key_id uuid, add column actor_key text;

-- Adds an entry to the audit log for every change of a row, by the user or the key in the transaction's claims. It is a trigger, so
-- that no statement can change the row without an entry. The trigger's argument is the name of the subject in the log.
--
-- A workspace's row is identified by its id, a member's by the user's id with their e-mail address, which outlives the
-- membership. Rows that are deleted together with their workspace get no entry.
create or replace function private.audit_change()
returns trigger
language plpgsql security definer set search_path = ''
as $$
declare
  before jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  after jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
  changed jsonb := coalesce(after, before);
  workspace uuid := (coalesce(changed ->> 'workspace_id', changed ->> 'id'))::uuid;
  member jsonb;
  acting_key uuid := (private.key_claims() ->> 'id')::uuid;
begin
  if tg_table_name = 'workspace_members' then
    member := jsonb_build_object('email', (select p.email from public.profiles as p where p.id = (changed ->> 'user_id')::uuid));
    before := before || member;
    after := after || member;
  end if;
  insert into public.audit_log (workspace_id, actor_id, actor_email, actor_key_id, actor_key, action, subject, before, after, address)
  select
    workspace, auth.uid(), auth.email(), acting_key, (select k.name from public.api_keys as k where k.id = acting_key),
    tg_argv[0] || case tg_op when 'INSERT' then '.created' when 'UPDATE' then '.changed' else '.deleted' end,
    tg_argv[0] || ' ' || coalesce(changed ->> 'id', changed ->> 'user_id', ''),
    before, after, nullif(current_setting('request.address', true), '')
  where exists (select from public.workspaces as w where w.id = workspace);
  return null;
end
$$;

-- The limits that can be raised until a day: budgets, and the monthly limits of keys that members made. Read with the caller's own
-- rights. Amounts are in `currency`, days in `time_zone`.
create view private.raisable_limits with (security_invoker = true) as
select b.workspace_id, 'budget' as kind, b.id, b.name, b.currency, b.time_zone, b.amount as usual_amount, b.raised_amount, b.raised_until,
  -- Who may decide besides owners and admins of the workspace, up to this percentage of the usual amount.
  b.owner_id, b.owner_percent, b.warned_people, b.warned_channels, true as is_in_use
from public.budgets as b
union all
select k.workspace_id, 'key', k.id, k.name, 'USD', 'UTC', k.monthly_limit, k.raised_limit, k.raised_until,
  -- The member who made the key may change it.
  (
    select m.user_id from public.workspace_members as m
    where m.workspace_id = k.workspace_id and m.user_id = k.created_by and m.role <> 'viewer'
  ), 50, '{}', '{}', k.revoked_at is null and k.monthly_limit is not null
from public.api_keys as k
where k.kind = 'key';

revoke all on private.raisable_limits from anon, authenticated, service_role;
grant select on private.raisable_limits to authenticated, service_role;

drop view public.budget_request_status;
drop function private.present_state(public.budget_requests, public.budgets);
drop function private.budget_to_ask(uuid, uuid);
drop function private.ask_for_budget(jsonb);

alter table public.budget_requests
  alter column budget_id drop not null,
  add column limited_key_id uuid,
  add constraint budget_requests_limited_key_fkey
    foreign key (workspace_id, limited_key_id) references public.api_keys (workspace_id, id) on delete cascade,
  add constraint budget_requests_are_about_one_limit check (num_nonnulls(budget_id, limited_key_id) = 1);
create index budget_requests_limited_key_idx on public.budget_requests (workspace_id, limited_key_id);

-- The state of a request by now: one that nobody decided in time has expired, as has one of a limit that is gone.
create function private.present_state(r public.budget_requests, asked private.raisable_limits)
returns text
language sql stable set search_path = ''
as $$
  select case
    when r.state <> 'pending' then r.state
    when not coalesce(asked.is_in_use, false) or r.until < (now() at time zone asked.time_zone)::date then 'expired'
    else 'pending'
  end
$$;
grant execute on function private.present_state(public.budget_requests, private.raisable_limits) to authenticated, outlay_service, service_role;
revoke execute on function private.present_state(public.budget_requests, private.raisable_limits) from public;

-- Each request with its limit as it is now. Read with the caller's own rights. Amounts are in the limit's currency.
create view public.budget_request_status with (security_invoker = true) as
select r.workspace_id, r.id, r.budget_id, r.limited_key_id, l.name as limit_name, l.currency, private.present_state(r, l) as state,
  r.amount, r.percent, r.reason, r.until, r.created_at, r.requested_by, r.key_id, r.decided_by, r.decided_at, r.granted_amount,
  r.granted_until, r.answer, l.owner_id,
  -- The most that the limit's owner may grant.
  greatest(
    l.usual_amount * (100 + l.owner_percent) / 100
      - case when l.raised_until >= (now() at time zone l.time_zone)::date then l.raised_amount else l.usual_amount end,
    0
  ) as owner_most,
  -- The last day of a raise that has not ended.
  case when l.raised_until >= (now() at time zone l.time_zone)::date then l.raised_until end as raised_until,
  r.slack_user is not null as in_slack
from public.budget_requests as r
left join private.raisable_limits as l
  on l.workspace_id = r.workspace_id and l.id = coalesce(r.budget_id, r.limited_key_id)
    and l.kind = case when r.budget_id is null then 'key' else 'budget' end;

revoke all on public.budget_request_status from anon, authenticated, service_role;
grant select on public.budget_request_status to authenticated, service_role;

-- A limit that a key may ask for more of, whatever its permissions: its own, or a budget that can count what it records, as refusals
-- name it.
-- returns: { currency, usual_amount: exact text }, or null
create function private.limit_to_ask(of_key uuid, budget uuid, limited_key uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object('currency', l.currency, 'usual_amount', trim_scale(l.usual_amount)::text)
  from public.api_keys as k
  join private.raisable_limits as l on l.workspace_id = k.workspace_id and l.id = coalesce(budget, limited_key)
  left join public.budgets as b on b.workspace_id = k.workspace_id and b.id = budget
  where k.id = of_key and l.is_in_use
    and case l.kind when 'budget' then private.can_count_key(b, k) else limited_key = k.id end
$$;
grant execute on function private.limit_to_ask(uuid, uuid, uuid) to outlay_service, service_role;
revoke execute on function private.limit_to_ask(uuid, uuid, uuid) from public;

-- The latest hundred requests that a key made, the newest first. Amounts are exact text in the limit's currency.
create or replace function private.requests_of_key(of_key uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select coalesce(jsonb_agg(to_jsonb(latest) order by latest.created_at desc, latest.id desc), '[]')
  from (
    select r.id, r.budget_id, r.limited_key_id, r.limit_name, r.currency, trim_scale(r.amount)::text as amount,
      trim_scale(r.percent)::text as percent, r.reason, r.until, r.created_at, r.state, r.decided_at,
      trim_scale(r.granted_amount)::text as granted_amount, r.granted_until, r.answer
    from public.budget_request_status as r
    where r.key_id = of_key and r.workspace_id = (select k.workspace_id from public.api_keys as k where k.id = of_key)
    order by r.created_at desc, r.id desc
    limit 100
  ) as latest
$$;

-- The limit that a request is about.
create function private.limit_of_request(r public.budget_requests)
returns private.raisable_limits
language sql stable security definer set search_path = ''
as $$
  select l from private.raisable_limits as l
  where l.workspace_id = r.workspace_id and l.id = coalesce(r.budget_id, r.limited_key_id)
    and l.kind = case when r.budget_id is null then 'key' else 'budget' end
$$;
revoke execute on function private.limit_of_request(public.budget_requests) from public;

-- A request in words of people, as its deliveries have it. Amounts are exact text in the limit's currency.
create or replace function private.describe_budget_request(r public.budget_requests)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'id', r.id, 'budget', case l.kind when 'budget' then jsonb_build_object('id', l.id, 'name', l.name) end,
    'limited_key', case l.kind when 'key' then jsonb_build_object('id', l.id, 'name', l.name) end, 'currency', l.currency,
    'amount', trim_scale(r.amount)::text, 'percent', trim_scale(r.percent)::text, 'usual_amount', trim_scale(l.usual_amount)::text,
    'until', r.until, 'time_zone', l.time_zone, 'reason', r.reason, 'state', r.state,
    'asked_by', (select coalesce(p.display_name, p.email) from public.profiles as p where p.id = r.requested_by),
    'key', (select k.name from public.api_keys as k where k.workspace_id = r.workspace_id and k.id = r.key_id),
    'decided_by', (select coalesce(p.display_name, p.email) from public.profiles as p where p.id = r.decided_by),
    'granted_amount', trim_scale(r.granted_amount)::text, 'granted_until', r.granted_until, 'answer', r.answer,
    'at', coalesce(r.decided_at, r.created_at)
  )
  from private.limit_of_request(r) as l
$$;

-- Queues what people are told of a request: those who are asked, and once it is decided the author, too. Asked are a budget's owner
-- and whom it warns; of a key's limit, who made the key, and the channels that get alerts about limits of keys. No pager is. Where
-- nobody of them can decide, and for a budget there is no channel: the workspace's owners and admins.
create or replace function private.tell_of_budget_request(told public.budget_requests)
returns void
language plpgsql security definer set search_path = ''
as $$
declare
  asked constant private.raisable_limits := private.limit_of_request(told);
  said constant jsonb := private.describe_budget_request(told);
  channels uuid[];
  people uuid[];
begin
  channels := array(
    select c.id from public.alert_channels as c
    where c.workspace_id = told.workspace_id and c.kind <> 'pagerduty' and (c.disabled_at is null or c.disabled_reason = 'failing')
      and case asked.kind
        when 'budget' then c.id = any (asked.warned_channels)
        else c.rules is null or 'key_limit' = any (c.rules)
      end
  );
  people := array(
    select m.user_id from public.workspace_members as m
    where m.workspace_id = told.workspace_id and (m.user_id = asked.owner_id or m.user_id = any (asked.warned_people))
  );
  if (cardinality(channels) = 0 or asked.kind = 'key') and not exists (
    select from public.workspace_members as m
    where m.workspace_id = told.workspace_id and m.user_id = any (people) and m.user_id is distinct from told.requested_by
      and (m.role in ('owner', 'admin') or m.user_id = asked.owner_id)
  ) then
    people := people || array(
      select m.user_id from public.workspace_members as m
      where m.workspace_id = told.workspace_id and m.role in ('owner', 'admin') and m.user_id <> all (people)
    );
  end if;
  people := array_remove(people, case when told.state = 'pending' then told.requested_by else told.decided_by end);
  if told.state <> 'pending' and told.requested_by <> all (people) then
    people := people || told.requested_by;
  end if;

  insert into public.deliveries (workspace_id, kind, member_id, details, ordered_by)
  select m.workspace_id, 'budget_request_mail', m.user_id, said, told.id || ' ' || m.user_id
  from public.workspace_members as m
  where m.workspace_id = told.workspace_id and m.user_id = any (people)
  order by m.user_id
  for key share;
  insert into public.deliveries (workspace_id, kind, channel_id, channel_name, channel_kind, details, ordered_by)
  select c.workspace_id, 'budget_request', c.id, c.name, c.kind, said, told.id::text
  from public.alert_channels as c
  where c.workspace_id = told.workspace_id and c.id = any (channels)
  order by c.id
  for key share;
end
$$;

-- Asks for more of a budget or of a key's monthly limit, by a member of the workspace (the transaction's user) or by one of its keys.
-- asked: { workspace_id, key_id: null for a member, budget_id or limited_key_id, amount, percent, reason, until }
-- returns: { id }, or { refused: 'not_found' | 'over' (the day is past) | 'pending' (one waits, its `id`) | 'too_many' }
create function private.ask_for_more(asked jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  workspace constant uuid := (asked ->> 'workspace_id')::uuid;
  last_day constant date := (asked ->> 'until')::date;
  asking public.api_keys;
  author uuid;
  limited private.raisable_limits;
  waiting uuid;
  made public.budget_requests;
begin
  if asked ->> 'key_id' is not null then
    select k.* into asking from public.api_keys as k
    where k.workspace_id = workspace and k.id = (asked ->> 'key_id')::uuid and k.revoked_at is null;
    if not found or private.limit_to_ask(asking.id, (asked ->> 'budget_id')::uuid, (asked ->> 'limited_key_id')::uuid) is null then
      return '{"refused": "not_found"}';
    end if;
    author := asking.created_by;
  elsif workspace in (select private.member_workspaces(array['owner', 'admin', 'member'])) then
    author := auth.uid();
  else
    return '{"refused": "not_found"}';
  end if;
  -- The requests of one author are made one after another.
  perform pg_advisory_xact_lock(hashtextextended('outlay.budget_requests.' || workspace || coalesce(asking.id, author), 0));
  made.workspace_id := workspace;
  made.budget_id := (asked ->> 'budget_id')::uuid;
  made.limited_key_id := (asked ->> 'limited_key_id')::uuid;
  limited := private.limit_of_request(made);
  if not coalesce(limited.is_in_use, false) then
    return '{"refused": "not_found"}';
  end if;
  if last_day < (clock_timestamp() at time zone limited.time_zone)::date then
    return '{"refused": "over"}';
  end if;
  select r.id into waiting from public.budget_requests as r
  where r.workspace_id = workspace and coalesce(r.budget_id, r.limited_key_id) = limited.id and r.state = 'pending'
    and r.until >= (clock_timestamp() at time zone limited.time_zone)::date
    and r.key_id is not distinct from asking.id and r.requested_by is not distinct from author
  limit 1;
  if waiting is not null then
    return jsonb_build_object('refused', 'pending', 'id', waiting);
  end if;
  -- Each one is a mail to others.
  if (
    select count(*) >= 20 from public.budget_requests as r
    where r.workspace_id = workspace and r.created_at > clock_timestamp() - interval '1 day'
      and r.key_id is not distinct from asking.id and r.requested_by is not distinct from author
  ) then
    return '{"refused": "too_many"}';
  end if;
  insert into public.budget_requests (workspace_id, budget_id, limited_key_id, requested_by, key_id, amount, percent, reason, until)
  values (
    workspace, made.budget_id, made.limited_key_id, author, asking.id, (asked ->> 'amount')::numeric, (asked ->> 'percent')::numeric,
    asked ->> 'reason', last_day
  )
  returning * into made;
  perform private.tell_of_budget_request(made);
  return jsonb_build_object('id', made.id);
end
$$;
grant execute on function private.ask_for_more(jsonb) to outlay_service, service_role;
revoke execute on function private.ask_for_more(jsonb) from public;

-- Approves or denies a request, by the transaction's user: once, never its author; an owner or admin of the workspace, or the
-- limit's owner within its `owner_percent`. Approving adds the amount to the limit in force, a raise that has not ended included;
-- the sum holds until one day, so that during a raise the other ends with it.
-- decision: { approve: boolean, amount, until: null for what was asked, answer, slack_user: who clicked, of a click in Slack }
-- returns: null where it is decided, or { refused: 'not_found' | 'forbidden' | 'own' | 'decided' | 'over' | 'more' |
--   'until' (first, last: the days that it may end on) | 'too_much' (most: the highest amount) }
create or replace function private.decide_budget_request(workspace uuid, request uuid, decision jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  is_admin constant boolean := workspace in (select private.member_workspaces(array['owner', 'admin']));
  asked public.budget_requests;
  limited private.raisable_limits;
  today date;
  in_force boolean;
  present numeric;
  most numeric;
  granted numeric;
  first_end date;
  last_end date;
  last_day date;
begin
  if workspace not in (select private.member_workspaces()) then
    return '{"refused": "not_found"}';
  end if;
  -- Before the rows, as every change of a blocking budget: see hold_writers_of_budget.
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
  select r.* into asked from public.budget_requests as r where r.workspace_id = workspace and r.id = request for update;
  perform from public.budgets as b where b.workspace_id = workspace and b.id = asked.budget_id for no key update;
  perform from public.api_keys as k where k.workspace_id = workspace and k.id = asked.limited_key_id for no key update;
  limited := private.limit_of_request(asked);
  if not coalesce(limited.is_in_use, false) then
    return '{"refused": "not_found"}';
  end if;
  if not (is_admin or limited.owner_id is not distinct from auth.uid()) then
    return '{"refused": "forbidden"}';
  end if;
  if asked.requested_by is not distinct from auth.uid() then
    return '{"refused": "own"}';
  end if;
  if asked.state <> 'pending' then
    return jsonb_build_object('refused', 'decided', 'state', asked.state);
  end if;
  today := (clock_timestamp() at time zone limited.time_zone)::date;
  if asked.until < today then
    return '{"refused": "over"}';
  end if;
  if (decision ->> 'approve')::boolean then
    in_force := coalesce(limited.raised_until >= today, false);
    present := case when in_force then limited.raised_amount else limited.usual_amount end;
    granted := coalesce((decision ->> 'amount')::numeric, asked.amount);
    first_end := case when in_force then limited.raised_until else today end;
    last_end := case when in_force then limited.raised_until else asked.until end;
    last_day := coalesce((decision ->> 'until')::date, last_end);
    if granted > asked.amount then
      return '{"refused": "more"}';
    end if;
    if last_day < first_end or last_day > last_end then
      return jsonb_build_object('refused', 'until', 'first', first_end, 'last', last_end);
    end if;
    most := case when is_admin then 999999999999999 else limited.usual_amount * (100 + limited.owner_percent) / 100 end - present;
    if granted > most then
      return jsonb_build_object('refused', 'too_much', 'most', trim_scale(greatest(most, 0))::text);
    end if;
    update public.budgets set raised_amount = present + granted, raised_until = last_day
    where workspace_id = workspace and id = asked.budget_id;
    update public.api_keys set raised_limit = present + granted, raised_until = last_day
    where workspace_id = workspace and id = asked.limited_key_id;
  end if;
  update public.budget_requests as r
  set state = case when last_day is null then 'denied' else 'approved' end, decided_by = auth.uid(), decided_at = now(),
    granted_amount = granted, granted_until = last_day, answer = decision ->> 'answer',
    slack_user = decision ->> 'slack_user'
  where r.workspace_id = workspace and r.id = request
  returning r.* into asked;
  perform private.tell_of_budget_request(asked);
  return null;
end
$$;

-- What a link offers to the transaction's user.
-- returns: { slug, workspace, channel (its name), slack_name, may_decide }; null for an unknown or expired one, and of other workspaces
create or replace function private.slack_offer(hash text)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'slug', w.slug, 'workspace', w.name, 'channel', c.name, 'slack_name', o.slack_name,
    'may_decide', w.id in (select private.member_workspaces(array['owner', 'admin'])) or exists (
      select from private.raisable_limits as l where l.workspace_id = w.id and l.owner_id = auth.uid() and l.is_in_use
    )
  )
  from private.slack_offers as o
  join public.workspaces as w on w.id = o.workspace_id
  join public.alert_channels as c on c.workspace_id = o.workspace_id and c.id = o.channel_id
  where o.hash = decode(slack_offer.hash, 'hex') and o.expires_at > clock_timestamp()
    and o.workspace_id in (select private.member_workspaces())
$$;
