-- Requests for more of a budget or of a key's monthly limit, and their decisions.

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

-- An approved request raises the limit: its raised amount and the raise's last day, with which every limit is read, so that the raise
-- ends by the clock.
create table public.budget_requests (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  -- Without a foreign key: a budget that is deleted and restored has its requests again.
  budget_id uuid,
  -- Who asks: a member, or with `key_id` the member who made the key. Null once the account is erased.
  requested_by uuid references public.profiles (id) on delete set null,
  key_id uuid,
  -- How much more, in the limit's currency. `percent`: the share of the usual limit that was asked for, where one was.
  amount numeric not null
    constraint budget_requests_amount_is_money check (amount > 0 and amount < 1e15 and scale(amount) <= 18),
  percent numeric constraint budget_requests_percent_is_a_share check (percent > 0 and percent <= 1000),
  reason text not null constraint budget_requests_reason_is_short check (char_length(reason) between 1 and 500),
  -- The last day of the raise, in the limit's time zone.
  until date not null,
  created_at timestamptz not null default now(),
  state text not null default 'pending'
    constraint budget_requests_state_check check (state in ('pending', 'approved', 'denied', 'withdrawn')),
  decided_by uuid references public.profiles (id) on delete set null,
  decided_at timestamptz,
  granted_amount numeric,
  granted_until date,
  answer text constraint budget_requests_answer_is_short check (char_length(answer) between 1 and 500),
  -- Decided by a click of this Slack user, who is linked to `decided_by`: team and user, separated by a space.
  slack_user text constraint budget_requests_slack_user_is_short check (char_length(slack_user) between 3 and 130),
  -- The key whose monthly limit it is about; null where it is about a budget.
  limited_key_id uuid,
  primary key (workspace_id, id),
  foreign key (workspace_id, key_id) references public.api_keys (workspace_id, id) on delete cascade,
  constraint budget_requests_limited_key_fkey
    foreign key (workspace_id, limited_key_id) references public.api_keys (workspace_id, id) on delete cascade,
  constraint budget_requests_are_about_one_limit check (num_nonnulls(budget_id, limited_key_id) = 1),
  constraint budget_requests_grants_are_of_approved check ((state = 'approved') = (granted_amount is not null and granted_until is not null)),
  constraint budget_requests_decided_have_a_time check ((state = 'pending') = (decided_at is null))
);

create index budget_requests_recent_idx on public.budget_requests (workspace_id, created_at desc, id desc);
create index budget_requests_key_idx on public.budget_requests (workspace_id, key_id);
create index budget_requests_limited_key_idx on public.budget_requests (workspace_id, limited_key_id);
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

-- The latest hundred requests that a key made, the newest first. Amounts are exact text in the limit's currency.
create function private.requests_of_key(of_key uuid)
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
grant execute on function private.requests_of_key(uuid) to outlay_service, service_role;

-- The limit that a request is about.
create function private.limit_of_request(r public.budget_requests)
returns private.raisable_limits
language sql stable security definer set search_path = ''
as $$
  select l from private.raisable_limits as l
  where l.workspace_id = r.workspace_id and l.id = coalesce(r.budget_id, r.limited_key_id)
    and l.kind = case when r.budget_id is null then 'key' else 'budget' end
$$;

-- A request in words of people, as its deliveries have it. Amounts are exact text in the limit's currency.
create function private.describe_budget_request(r public.budget_requests)
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
create function private.tell_of_budget_request(told public.budget_requests)
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
