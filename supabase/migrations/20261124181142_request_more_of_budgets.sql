-- Postgres refuses `add column … default` where a function with an SQL body takes a row of the table (15.20 and later minor versions).
alter table public.budgets add column owner_id uuid, add column owner_percent numeric;
alter table public.budgets disable trigger user;
update public.budgets set owner_percent = 50;
alter table public.budgets enable trigger user;
alter table public.budgets
  alter column owner_percent set default 50, alter column owner_percent set not null,
  add constraint budgets_owner_percent_is_a_share check (owner_percent > 0 and owner_percent <= 1000);
grant insert (owner_id, owner_percent), update (owner_id, owner_percent) on public.budgets to authenticated;

create or replace view public.budget_status with (security_invoker = true) as
select b.workspace_id, b.id, b.name, b.scope_type, b.scope_value, b.period, b.week_start, b.time_zone, b.starts_on, b.ends_on,
  present.first_day as period_from, private.budget_period_end(b, present.first_day) as period_until,
  -- The clock of the budget's time zone.
  now() at time zone b.time_zone as local_time,
  b.amount, private.budget_limit(b, now()) as limit_usd, b.raised_amount, b.raised_until,
  b.alert_percents, b.alert_amounts, environments.environment,
  coalesce(spend.spent_usd, 0) as spent_usd, coalesce(spend.booked_usd, 0) as booked_usd, b.created_at,
  b.blocks, b.currency, b.usd_rate, b.warned_people, b.warned_channels, b.owner_id, b.owner_percent
from public.budgets as b
cross join (values ('live'), ('test')) as environments (environment)
cross join lateral (select private.budget_period(b, private.budget_now(b)) as first_day) as present
left join public.budget_spend as spend
  on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = environments.environment
    and spend.period_from = present.first_day;

create or replace function private.draft_budget(workspace uuid, draft jsonb)
returns jsonb
language plpgsql security definer set search_path = '' set plan_cache_mode = force_custom_plan
as $$
declare
  b public.budgets := jsonb_populate_record(null::public.budgets, draft);
  counted public.budget_counts;
  first_day date;
  days jsonb;
begin
  perform private.require_admin_of(workspace);
  b.workspace_id := workspace;
  b.id := gen_random_uuid();
  b.created_at := now();
  b.counted_from := private.first_counted_day(b);
  if b.counted_from is null then
    raise exception 'the budget ends before it begins to count' using errcode = 'invalid_parameter_value';
  end if;
  b.rated_from := case when b.currency <> 'USD' then b.counted_from end;
  perform set_config('outlay.is_restoring', 'on', true);
  insert into public.budgets (
    workspace_id, id, name, scope_type, scope_value, amount, created_at, period, week_start, time_zone, starts_on, ends_on,
    raised_amount, raised_until, alert_percents, alert_amounts, counted_from, blocks, currency, usd_rate, rated_from,
    warned_people, warned_channels, owner_id, owner_percent
  ) values (
    b.workspace_id, b.id, b.name, b.scope_type, b.scope_value, b.amount, b.created_at, b.period, b.week_start, b.time_zone,
    b.starts_on, b.ends_on, b.raised_amount, b.raised_until, b.alert_percents, b.alert_amounts, b.counted_from, b.blocks,
    b.currency, b.usd_rate, b.rated_from, b.warned_people, b.warned_channels,
    b.owner_id, coalesce(b.owner_percent, 50)
  ) returning * into b;
  perform set_config('outlay.is_restoring', '', true);
  perform private.count_budget(b);

  first_day := private.budget_period(b, private.budget_now(b));
  select c.* into counted from public.budget_counts as c
  where c.workspace_id = workspace and c.budget_id = b.id and c.environment = 'live' and c.period_from = first_day;
  if private.next_threshold(b, 0, now()) <= counted.spent_usd then
    days := private.spend_by_day(b, first_day, counted.spent_usd);
  end if;
  return jsonb_build_object(
    'id', b.id, 'spent_usd', coalesce(trim_scale(counted.spent_usd), 0)::text,
    'booked_usd', coalesce(trim_scale(counted.booked_usd), 0)::text, 'days', days,
    'yesterday', case when b.blocks then private.refusals_of_yesterday(b, first_day, coalesce(counted.spent_usd, 0)) end
  );
end
$$;

alter table public.deliveries
  drop constraint deliveries_kind_check,
  drop constraint deliveries_check1,
  drop constraint deliveries_to_members_are_alerts;
alter table public.deliveries
  add constraint deliveries_kind_check check (kind in (
    'alert', 'alert_mail', 'digest', 'test', 'budget_request', 'budget_request_mail', 'weekly_report', 'channel_off',
    'workspace_deleted', 'workspace_restored', 'account_deleted', 'account_restored'
  )),
  add constraint deliveries_check1 check ((kind in ('alert', 'digest', 'test', 'budget_request')) = (channel_id is not null)),
  add constraint deliveries_to_members_name_them check ((kind in ('alert_mail', 'budget_request_mail')) = (member_id is not null));

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
    when 'budget_request' then jsonb_build_object('channel', private.describe_channel(d), 'digest', null, 'alert', null)
    when 'budget_request_mail' then jsonb_build_object('member', (
      select p.email
      from public.workspace_members as m
      join public.profiles as p on p.id = m.user_id
      where m.workspace_id = d.workspace_id and m.user_id = d.member_id
    ))
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
  where workspace_id = workspace and id = whole and state = 'dead'
    and kind in ('alert', 'alert_mail', 'digest', 'budget_request');
  return case when not found then 'not_dead' end;
end
$function$;

create or replace function private.finish_delivery(ended jsonb)
returns text
language plpgsql security definer set search_path = '' set enable_seqscan = off
as $$
declare
  delivery constant uuid := (ended ->> 'id')::uuid;
  outcome constant text := ended ->> 'outcome';
  at_moment constant timestamptz := clock_timestamp();
  channel public.alert_channels;
  sent public.deliveries;
  new_state text;
  next_at timestamptz;
begin
  select c.* into channel from public.deliveries as d
  join public.alert_channels as c on c.workspace_id = d.workspace_id and c.id = d.channel_id
  where d.id = delivery
  for no key update of c;
  select d.* into sent from public.deliveries as d
  where d.id = delivery and d.state = 'pending' and d.lease = (ended ->> 'lease')::uuid
  for update;
  if sent.id is null then
    return null;
  end if;

  new_state := case
    when outcome = 'delivered' then 'delivered'
    when sent.kind in ('alert', 'digest', 'budget_request') and (channel.id is null or coalesce(channel.disabled_reason = 'by_admin', false))
      then 'cancelled'
    when outcome = 'gone' or at_moment >= sent.give_up_at then 'dead'
    else 'pending'
  end;
  -- The last attempt is made when the three days are over.
  next_at := case when new_state = 'pending'
    then least(at_moment + (ended ->> 'retry_in_ms')::bigint * interval '1 millisecond', sent.give_up_at)
    else at_moment
  end;
  update public.deliveries as d
  set state = new_state, next_attempt_at = next_at, lease = null, leased_until = null,
    last_status = (ended ->> 'status')::integer, last_error = left(ended ->> 'error', 500),
    delivered_at = case when new_state = 'delivered' then at_moment end
  where d.id = delivery;
  -- What this one held back is due with its next attempt, or now.
  update public.deliveries as d
  set next_attempt_at = next_at
  where d.ctid = any (array(
    select later.ctid from public.deliveries as later
    where later.lane = sent.lane and later.ordered_by = sent.ordered_by and later.state = 'pending'
      and later.number > sent.number and later.lease is null
    order by later.number
  ));

  -- Of a mail about a deletion, with a person's address, nothing stays.
  delete from public.deliveries as d where d.id = delivery and d.recipient is not null and new_state <> 'pending';

  if outcome = 'delivered' then
    update public.alert_channels as c set failing_since = null
    where c.workspace_id = channel.workspace_id and c.id = channel.id and c.failing_since is not null;
  elsif outcome = 'gone' or sent.kind <> 'test' then
    -- A failed test does not count: whoever asked for it is told.
    update public.alert_channels as c set failing_since = at_moment
    where c.workspace_id = channel.workspace_id and c.id = channel.id and c.failing_since is null;
    update public.alert_channels as c
    set disabled_at = at_moment, disabled_reason = case outcome when 'gone' then 'gone' else 'failing' end
    where c.workspace_id = channel.workspace_id and c.id = channel.id and c.disabled_at is null
      and (outcome = 'gone' or c.failing_since <= at_moment - interval '1 day');
    if found then
      insert into public.deliveries (kind, workspace_id, details)
      values ('channel_off', channel.workspace_id, jsonb_build_object('channel_id', channel.id));
    end if;
    update public.deliveries as d
    set state = 'dead', last_error = 'The receiver answered another delivery with 410, which turns the channel off.'
    where outcome = 'gone' and d.channel_id = channel.id and d.workspace_id = channel.workspace_id and d.lease is null
      and (d.state = 'pending' or d.state = 'collected' and d.digest_id is null);
  end if;
  return new_state;
end
$$;

-- Requests for more of a budget, and their decisions.

-- An approved request raises the budget: its `raised_amount` and `raised_until`, which every limit is read with, so that the raise
-- ends by the clock.
create table public.budget_requests (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  -- Without a foreign key: a budget that is deleted and restored has its requests again.
  budget_id uuid not null,
  -- Who asks: a member, or with `key_id` the member who made the key. Null once the account is erased.
  requested_by uuid references public.profiles (id) on delete set null,
  key_id uuid,
  -- How much more, in the budget's currency. `percent`: the share of the usual limit that was asked for, where one was.
  amount numeric not null
    constraint budget_requests_amount_is_money check (amount > 0 and amount < 1e15 and scale(amount) <= 18),
  percent numeric constraint budget_requests_percent_is_a_share check (percent > 0 and percent <= 1000),
  reason text not null constraint budget_requests_reason_is_short check (char_length(reason) between 1 and 500),
  -- The last day of the raise, in the budget's time zone.
  until date not null,
  created_at timestamptz not null default now(),
  state text not null default 'pending'
    constraint budget_requests_state_check check (state in ('pending', 'approved', 'denied', 'withdrawn')),
  decided_by uuid references public.profiles (id) on delete set null,
  decided_at timestamptz,
  granted_amount numeric,
  granted_until date,
  answer text constraint budget_requests_answer_is_short check (char_length(answer) between 1 and 500),
  primary key (workspace_id, id),
  foreign key (workspace_id, key_id) references public.api_keys (workspace_id, id) on delete cascade,
  constraint budget_requests_grants_are_of_approved check ((state = 'approved') = (granted_amount is not null and granted_until is not null)),
  constraint budget_requests_decided_have_a_time check ((state = 'pending') = (decided_at is null))
);

create index budget_requests_recent_idx on public.budget_requests (workspace_id, created_at desc, id desc);
create index budget_requests_key_idx on public.budget_requests (workspace_id, key_id);
create index budget_requests_requested_by_idx on public.budget_requests (requested_by);
create index budget_requests_decided_by_idx on public.budget_requests (decided_by);

alter table public.budget_requests enable row level security;
revoke all on public.budget_requests from anon, authenticated, service_role;
grant select on public.budget_requests to authenticated, service_role;

create policy "A member reads the budget requests of their workspaces"
  on public.budget_requests for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create trigger budget_requests_are_audited after insert or update on public.budget_requests
  for each row execute function private.audit_change('budget_request');

-- The state of a request by now: one that nobody decided in time has expired, as has one of a budget that was deleted.
create function private.present_state(r public.budget_requests, budget public.budgets)
returns text
language sql stable set search_path = ''
as $$
  select case
    when r.state <> 'pending' then r.state
    when budget.id is null or r.until < (now() at time zone budget.time_zone)::date then 'expired'
    else 'pending'
  end
$$;
grant execute on function private.present_state(public.budget_requests, public.budgets) to authenticated, outlay_service, service_role;

-- Each request with its budget as it is now. Read with the caller's own rights. Amounts are in the budget's currency.
create view public.budget_request_status with (security_invoker = true) as
select r.workspace_id, r.id, r.budget_id, b.name as budget_name, b.currency, private.present_state(r, b) as state, r.amount, r.percent,
  r.reason, r.until, r.created_at, r.requested_by, r.key_id, r.decided_by, r.decided_at, r.granted_amount, r.granted_until, r.answer,
  b.owner_id,
  -- The most that the budget's owner may grant.
  greatest(b.amount * (100 + b.owner_percent) / 100 - private.budget_amount(b, now()), 0) as owner_most,
  -- The last day of a raise that has not ended.
  case when b.raised_until >= (now() at time zone b.time_zone)::date then b.raised_until end as raised_until
from public.budget_requests as r
left join public.budgets as b on b.workspace_id = r.workspace_id and b.id = r.budget_id;

revoke all on public.budget_request_status from anon, authenticated, service_role;
grant select on public.budget_request_status to authenticated, service_role;

-- Whether a budget can count what a key records: no setting of the key rules its scope out.
create function private.can_count_key(budget public.budgets, k public.api_keys)
returns boolean
language sql stable security definer set search_path = ''
as $$
  select k.environment = 'live' and budget.workspace_id = k.workspace_id and case budget.scope_type
    when 'key' then budget.scope_value = k.id::text
    when 'feature' then coalesce(k.conditions -> 'features', '[]') = '[]' or k.conditions -> 'features' ? budget.scope_value
    when 'user' then coalesce(k.conditions -> 'users', '[]') = '[]' or k.conditions -> 'users' ? budget.scope_value
    when 'project' then case
      when k.project_id is not null then budget.scope_value = k.project_id::text
      else exists (
        select from public.projects as p
        where p.workspace_id = k.workspace_id and p.id::text = budget.scope_value and case
          when coalesce(k.conditions -> 'project_slugs', '[]') <> '[]' then k.conditions -> 'project_slugs' ? p.slug
          else not coalesce(k.conditions -> 'deny_project_slugs' ? p.slug, false)
        end
      )
    end
    else true
  end
$$;

-- A budget that a key may ask for more of, whatever its permissions: one that can count what it records, as refusals name it.
-- returns: { currency, usual_amount: exact text }, or null
create function private.budget_to_ask(of_key uuid, budget uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object('currency', b.currency, 'usual_amount', trim_scale(b.amount)::text)
  from public.api_keys as k
  join public.budgets as b on b.workspace_id = k.workspace_id and b.id = budget
  where k.id = of_key and private.can_count_key(b, k)
$$;
grant execute on function private.budget_to_ask(uuid, uuid) to outlay_service, service_role;

-- The latest hundred requests that a key made, the newest first. Amounts are exact text in the budget's currency.
create function private.requests_of_key(of_key uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select coalesce(jsonb_agg(to_jsonb(latest) order by latest.created_at desc, latest.id desc), '[]')
  from (
    select r.id, r.budget_id, b.name as budget_name, b.currency, trim_scale(r.amount)::text as amount, trim_scale(r.percent)::text as percent,
      r.reason, r.until, r.created_at, private.present_state(r, b) as state, r.decided_at,
      trim_scale(r.granted_amount)::text as granted_amount, r.granted_until, r.answer
    from public.budget_requests as r
    left join public.budgets as b on b.workspace_id = r.workspace_id and b.id = r.budget_id
    where r.key_id = of_key and r.workspace_id = (select k.workspace_id from public.api_keys as k where k.id = of_key)
    order by r.created_at desc, r.id desc
    limit 100
  ) as latest
$$;
grant execute on function private.requests_of_key(uuid) to outlay_service, service_role;

-- A request in words of people, as its deliveries have it. Amounts are exact text in the budget's currency.
create function private.describe_budget_request(r public.budget_requests)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'id', r.id, 'budget', jsonb_build_object('id', b.id, 'name', b.name), 'currency', b.currency,
    'amount', trim_scale(r.amount)::text, 'percent', trim_scale(r.percent)::text, 'usual_amount', trim_scale(b.amount)::text,
    'until', r.until, 'time_zone', b.time_zone, 'reason', r.reason, 'state', r.state,
    'asked_by', (select coalesce(p.display_name, p.email) from public.profiles as p where p.id = r.requested_by),
    'key', (select k.name from public.api_keys as k where k.workspace_id = r.workspace_id and k.id = r.key_id),
    'decided_by', (select coalesce(p.display_name, p.email) from public.profiles as p where p.id = r.decided_by),
    'granted_amount', trim_scale(r.granted_amount)::text, 'granted_until', r.granted_until, 'answer', r.answer,
    'at', coalesce(r.decided_at, r.created_at)
  )
  from public.budgets as b
  where b.workspace_id = r.workspace_id and b.id = r.budget_id
$$;

-- Queues what people are told of a request: those who are asked, and once it is decided the author, too. Asked are the budget's
-- owner and whom it warns, but no pager; where nobody of them can decide and there is no channel, the workspace's owners and admins.
create function private.tell_of_budget_request(told public.budget_requests)
returns void
language plpgsql security definer set search_path = ''
as $$
declare
  budget public.budgets;
  said constant jsonb := private.describe_budget_request(told);
  channels uuid[];
  people uuid[];
begin
  select b.* into budget from public.budgets as b where b.workspace_id = told.workspace_id and b.id = told.budget_id;
  channels := array(
    select c.id from public.alert_channels as c
    where c.workspace_id = told.workspace_id and c.id = any (budget.warned_channels) and c.kind <> 'pagerduty'
      and (c.disabled_at is null or c.disabled_reason = 'failing')
  );
  people := array(
    select m.user_id from public.workspace_members as m
    where m.workspace_id = told.workspace_id and (m.user_id = budget.owner_id or m.user_id = any (budget.warned_people))
  );
  if cardinality(channels) = 0 and not exists (
    select from public.workspace_members as m
    where m.workspace_id = told.workspace_id and m.user_id = any (people) and m.user_id is distinct from told.requested_by
      and (m.role in ('owner', 'admin') or m.user_id = budget.owner_id)
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

-- Asks for more of a budget, by a member of the workspace (the transaction's user) or by one of its keys.
-- asked: { workspace_id, key_id: null for a member, budget_id, amount, percent, reason, until }
-- returns: { id }, or { refused: 'not_found' | 'over' (the day is past) | 'pending' (one waits, its `id`) | 'too_many' }
create function private.ask_for_budget(asked jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  workspace constant uuid := (asked ->> 'workspace_id')::uuid;
  last_day constant date := (asked ->> 'until')::date;
  asking public.api_keys;
  author uuid;
  budget public.budgets;
  waiting uuid;
  made public.budget_requests;
begin
  if asked ->> 'key_id' is not null then
    select k.* into asking from public.api_keys as k
    where k.workspace_id = workspace and k.id = (asked ->> 'key_id')::uuid and k.revoked_at is null;
    if not found then
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
  select b.* into budget from public.budgets as b where b.workspace_id = workspace and b.id = (asked ->> 'budget_id')::uuid;
  if budget.id is null or asking.id is not null and not private.can_count_key(budget, asking) then
    return '{"refused": "not_found"}';
  end if;
  if last_day < (clock_timestamp() at time zone budget.time_zone)::date then
    return '{"refused": "over"}';
  end if;
  select r.id into waiting from public.budget_requests as r
  where r.workspace_id = workspace and r.budget_id = budget.id and r.state = 'pending'
    and r.until >= (clock_timestamp() at time zone budget.time_zone)::date
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
  insert into public.budget_requests (workspace_id, budget_id, requested_by, key_id, amount, percent, reason, until)
  values (
    workspace, budget.id, author, asking.id, (asked ->> 'amount')::numeric, (asked ->> 'percent')::numeric, asked ->> 'reason', last_day
  )
  returning * into made;
  perform private.tell_of_budget_request(made);
  return jsonb_build_object('id', made.id);
end
$$;
grant execute on function private.ask_for_budget(jsonb) to outlay_service, service_role;

-- Approves or denies a request, by the transaction's user: once, never its author; an owner or admin of the workspace, or the
-- budget's owner within its `owner_percent`. Approving adds the amount to the limit in force, a raise that has not ended included;
-- the sum holds until one day, so that during a raise the other ends with it.
-- decision: { approve: boolean, amount, until: null for what was asked, answer }
-- returns: null where it is decided, or { refused: 'not_found' | 'forbidden' | 'own' | 'decided' | 'over' | 'more' |
--   'until' (first, last: the days that it may end on) | 'too_much' (most: the highest amount) }
create function private.decide_budget_request(workspace uuid, request uuid, decision jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  is_admin constant boolean := workspace in (select private.member_workspaces(array['owner', 'admin']));
  asked public.budget_requests;
  budget public.budgets;
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
  select b.* into budget from public.budgets as b where b.workspace_id = workspace and b.id = asked.budget_id for no key update;
  if budget.id is null then
    return '{"refused": "not_found"}';
  end if;
  if not (is_admin or budget.owner_id is not distinct from auth.uid()) then
    return '{"refused": "forbidden"}';
  end if;
  if asked.requested_by is not distinct from auth.uid() then
    return '{"refused": "own"}';
  end if;
  if asked.state <> 'pending' then
    return jsonb_build_object('refused', 'decided', 'state', asked.state);
  end if;
  today := (clock_timestamp() at time zone budget.time_zone)::date;
  if asked.until < today then
    return '{"refused": "over"}';
  end if;
  if (decision ->> 'approve')::boolean then
    in_force := coalesce(budget.raised_until >= today, false);
    present := case when in_force then budget.raised_amount else budget.amount end;
    granted := coalesce((decision ->> 'amount')::numeric, asked.amount);
    first_end := case when in_force then budget.raised_until else today end;
    last_end := case when in_force then budget.raised_until else asked.until end;
    last_day := coalesce((decision ->> 'until')::date, last_end);
    if granted > asked.amount then
      return '{"refused": "more"}';
    end if;
    if last_day < first_end or last_day > last_end then
      return jsonb_build_object('refused', 'until', 'first', first_end, 'last', last_end);
    end if;
    most := case when is_admin then 999999999999999 else budget.amount * (100 + budget.owner_percent) / 100 end - present;
    if granted > most then
      return jsonb_build_object('refused', 'too_much', 'most', trim_scale(greatest(most, 0))::text);
    end if;
    update public.budgets set raised_amount = present + granted, raised_until = last_day
    where workspace_id = workspace and id = budget.id;
  end if;
  update public.budget_requests as r
  set state = case when last_day is null then 'denied' else 'approved' end, decided_by = auth.uid(), decided_at = now(),
    granted_amount = granted, granted_until = last_day, answer = decision ->> 'answer'
  where r.workspace_id = workspace and r.id = request
  returning r.* into asked;
  perform private.tell_of_budget_request(asked);
  return null;
end
$$;
grant execute on function private.decide_budget_request(uuid, uuid, jsonb) to outlay_service, service_role;

-- Takes back a request that is not decided, by its author. returns: whether there was one
create function private.withdraw_budget_request(workspace uuid, request uuid)
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
begin
  update public.budget_requests as r
  set state = 'withdrawn', decided_by = auth.uid(), decided_at = now()
  where r.workspace_id = workspace and r.id = request and r.state = 'pending' and r.requested_by = auth.uid()
    and workspace in (select private.member_workspaces());
  return found;
end
$$;
grant execute on function private.withdraw_budget_request(uuid, uuid) to outlay_service, service_role;

revoke execute on function private.present_state(public.budget_requests, public.budgets) from public;
revoke execute on function private.can_count_key(public.budgets, public.api_keys) from public;
revoke execute on function private.budget_to_ask(uuid, uuid) from public;
revoke execute on function private.requests_of_key(uuid) from public;
revoke execute on function private.describe_budget_request(public.budget_requests) from public;
revoke execute on function private.tell_of_budget_request(public.budget_requests) from public;
revoke execute on function private.ask_for_budget(jsonb) from public;
revoke execute on function private.decide_budget_request(uuid, uuid, jsonb) from public;
revoke execute on function private.withdraw_budget_request(uuid, uuid) from public;
