-- Buttons in Slack that approve requests for more of a budget: the signing secrets of Slack apps, Slack users who are linked to
-- members, and their clicks.

alter table private.channel_secrets
  add column slack_secret text constraint channel_secrets_slack_secret_is_sealed check (char_length(slack_secret) between 40 and 2000),
  add column slack_secret_by uuid references public.profiles (id) on delete set null;
create index channel_secrets_slack_secret_by_idx on private.channel_secrets (slack_secret_by);

alter table public.budget_requests
  add column slack_user text constraint budget_requests_slack_user_is_short check (char_length(slack_user) between 3 and 130);

-- Whether clicks in Slack are accepted from a channel: it has a signing secret, and whoever set it is an owner or admin still.
-- Who knows the secret can sign clicks in the name of others, so that of a former admin is of no use.
create function private.takes_clicks(s private.channel_secrets)
returns boolean
language sql stable security definer set search_path = ''
as $$
  select s.slack_secret is not null and exists (
    select from public.workspace_members as m
    where m.workspace_id = s.workspace_id and m.user_id = s.slack_secret_by and m.role in ('owner', 'admin')
  )
$$;

-- The same of a channel of one of the caller's workspaces, whose secrets the caller does not read.
create function private.has_buttons(channel public.alert_channels)
returns boolean
language sql stable security definer set search_path = ''
as $$
  select coalesce((
    select private.takes_clicks(s) from private.channel_secrets as s
    where s.workspace_id = channel.workspace_id and s.channel_id = channel.id
      and s.workspace_id in (select private.member_workspaces())
  ), false)
$$;
grant execute on function private.has_buttons(public.alert_channels) to authenticated, service_role;

-- Each channel with whether its messages about budget requests have buttons. Read with the caller's own rights.
create view public.alert_channel_buttons with (security_invoker = true) as
select c.workspace_id, c.id as channel_id, private.has_buttons(c) as has_buttons
from public.alert_channels as c;

revoke all on public.alert_channel_buttons from anon, authenticated, service_role;
grant select on public.alert_channel_buttons to authenticated, service_role;


-- A delivery's channel, with its secrets.
create or replace function private.describe_channel(d public.deliveries)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'id', c.id, 'name', c.name, 'kind', c.kind, 'is_failing', c.failing_since is not null,
    'address', s.address, 'has_buttons', private.takes_clicks(s),
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
  )
  from public.alert_channels as c
  join private.channel_secrets as s on s.workspace_id = c.workspace_id and s.channel_id = c.id
  where c.workspace_id = d.workspace_id and c.id = d.channel_id
$$;

-- Each request with its budget as it is now. Read with the caller's own rights. Amounts are in the budget's currency.
create or replace view public.budget_request_status with (security_invoker = true) as
select r.workspace_id, r.id, r.budget_id, b.name as budget_name, b.currency, private.present_state(r, b) as state, r.amount, r.percent,
  r.reason, r.until, r.created_at, r.requested_by, r.key_id, r.decided_by, r.decided_at, r.granted_amount, r.granted_until, r.answer,
  b.owner_id,
  -- The most that the budget's owner may grant.
  greatest(b.amount * (100 + b.owner_percent) / 100 - private.budget_amount(b, now()), 0) as owner_most,
  -- The last day of a raise that has not ended.
  case when b.raised_until >= (now() at time zone b.time_zone)::date then b.raised_until end as raised_until,
  r.slack_user is not null as in_slack
from public.budget_requests as r
left join public.budgets as b on b.workspace_id = r.workspace_id and b.id = r.budget_id;

-- Approves or denies a request, by the transaction's user: once, never its author; an owner or admin of the workspace, or the
-- budget's owner within its `owner_percent`. Approving adds the amount to the limit in force, a raise that has not ended included;
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
    granted_amount = granted, granted_until = last_day, answer = decision ->> 'answer',
    slack_user = decision ->> 'slack_user'
  where r.workspace_id = workspace and r.id = request
  returning r.* into asked;
  perform private.tell_of_budget_request(asked);
  return null;
end
$$;

-- A click decides as the member to whom its Slack user is linked. Members link their own Slack users, signed in. A link holds for
-- the channel whose signing secret vouched for the Slack user, until that secret is replaced.
create table public.slack_links (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  channel_id uuid not null,
  slack_team text not null constraint slack_links_team_is_short check (char_length(slack_team) between 1 and 64),
  slack_user text not null constraint slack_links_user_is_short check (char_length(slack_user) between 1 and 64),
  slack_name text not null constraint slack_links_name_is_short check (char_length(slack_name) between 1 and 120),
  user_id uuid not null,
  -- What the session had proved that linked: clicks count as that.
  aal text not null constraint slack_links_aal_check check (aal in ('aal1', 'aal2')),
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  constraint slack_links_slack_user_key unique (workspace_id, channel_id, slack_team, slack_user),
  foreign key (workspace_id, channel_id) references public.alert_channels (workspace_id, id) on delete cascade,
  foreign key (workspace_id, user_id) references public.workspace_members (workspace_id, user_id) on delete cascade
);

create index slack_links_user_id_idx on public.slack_links (workspace_id, user_id);

alter table public.slack_links enable row level security;
revoke all on public.slack_links from anon, authenticated, service_role;
grant select, delete on public.slack_links to authenticated;
grant select on public.slack_links to service_role;

create policy "A member reads their own Slack users"
  on public.slack_links for select to authenticated
  using (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()));

create policy "A member unlinks their own Slack users"
  on public.slack_links for delete to authenticated
  using (user_id = (select auth.uid()) and workspace_id in (select private.member_workspaces()));

create trigger slack_links_are_audited after insert or delete on public.slack_links
  for each row execute function private.audit_change('slack_link');

-- The links that were offered to Slack users who clicked: the SHA-256 of each link's token, of the newest one.
create table private.slack_offers (
  workspace_id uuid not null,
  channel_id uuid not null,
  slack_team text not null,
  slack_user text not null,
  slack_name text not null,
  hash bytea not null unique check (octet_length(hash) = 32),
  expires_at timestamptz not null,
  primary key (workspace_id, channel_id, slack_team, slack_user),
  foreign key (workspace_id, channel_id) references public.alert_channels (workspace_id, id) on delete cascade
);

alter table private.slack_offers enable row level security;
revoke all on private.slack_offers from anon, authenticated, service_role;

-- The signatures of the clicks of the last 15 minutes. A signature is valid for ten at most, so none counts twice.
create table private.slack_clicks (
  workspace_id uuid not null,
  channel_id uuid not null,
  signature bytea not null check (octet_length(signature) = 32),
  at timestamptz not null default clock_timestamp(),
  primary key (workspace_id, channel_id, signature),
  foreign key (workspace_id, channel_id) references public.alert_channels (workspace_id, id) on delete cascade
);

alter table private.slack_clicks enable row level security;
revoke all on private.slack_clicks from anon, authenticated, service_role;

-- Sets or removes (null) the sealed signing secret of a Slack channel, as an admin of its workspace. Links and offers for which the
-- former secret vouched end.
-- returns: whether the channel is one of Slack
create function private.set_slack_secret(workspace uuid, channel uuid, sealed text)
returns boolean
language plpgsql volatile security definer set search_path = ''
as $$
begin
  perform private.require_admin_of(workspace);
  update public.alert_channels as c set secret_set_at = clock_timestamp()
  where c.workspace_id = workspace and c.id = channel and c.kind = 'slack';
  if not found then
    return false;
  end if;
  update private.channel_secrets as s
  set slack_secret = sealed, slack_secret_by = case when sealed is not null then auth.uid() end
  where s.workspace_id = workspace and s.channel_id = channel;
  delete from public.slack_links as l where l.workspace_id = workspace and l.channel_id = channel;
  delete from private.slack_offers as o where o.workspace_id = workspace and o.channel_id = channel;
  return true;
end
$$;
grant execute on function private.set_slack_secret(uuid, uuid, text) to outlay_service, service_role;

-- The signing secret by which clicks on the messages of a channel are verified.
-- returns: { workspace_id, sealed }; null where the channel takes no clicks
create function private.slack_app(channel uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object('workspace_id', s.workspace_id, 'sealed', s.slack_secret)
  from public.alert_channels as c
  join private.channel_secrets as s on s.workspace_id = c.workspace_id and s.channel_id = c.id
  join public.workspaces as w on w.id = c.workspace_id and w.deleted_at is null
  where c.id = channel and c.kind = 'slack' and c.disabled_reason is distinct from 'by_admin' and private.takes_clicks(s)
$$;
grant execute on function private.slack_app(uuid) to outlay_service, service_role;

-- Stores a secret that was sealed again with the newest key.
create function private.reseal_slack_secret(channel uuid, former text, sealed text)
returns void
language sql volatile security definer set search_path = ''
as $$
  update private.channel_secrets as s set slack_secret = sealed where s.channel_id = channel and s.slack_secret = former
$$;
grant execute on function private.reseal_slack_secret(uuid, text, text) to outlay_service, service_role;

-- Takes a verified click once. A Slack user who is linked to nobody is offered a link instead, which is valid for 15 minutes.
-- click: { sealed: the secret that verified it, as stored; signature (hex), team, user, name, hash: of the token to offer (hex) }
-- returns: null where it was taken before, or the secret was replaced; otherwise { slug, member: who decides, { id, email, aal }, or null for an offer }
create function private.take_slack_click(workspace uuid, channel uuid, click jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  member jsonb;
begin
  perform from private.channel_secrets as s
  where s.workspace_id = workspace and s.channel_id = channel and s.slack_secret = click ->> 'sealed'
  for share;
  if not found then
    return null;
  end if;
  delete from private.slack_clicks as c
  where c.workspace_id = workspace and c.channel_id = channel and c.at < clock_timestamp() - interval '15 minutes';
  insert into private.slack_clicks (workspace_id, channel_id, signature)
  values (workspace, channel, decode(click ->> 'signature', 'hex'))
  on conflict do nothing;
  if not found then
    return null;
  end if;
  -- Where the workspace requires a second factor, Slack proves none.
  select jsonb_build_object('id', p.id, 'email', p.email, 'aal', case when w.require_mfa then 'aal1' else l.aal end) into member
  from public.slack_links as l
  join public.profiles as p on p.id = l.user_id
  join public.workspaces as w on w.id = l.workspace_id
  where l.workspace_id = workspace and l.channel_id = channel and l.slack_team = click ->> 'team' and l.slack_user = click ->> 'user';
  if member is null then
    delete from private.slack_offers as o
    where o.workspace_id = workspace and o.channel_id = channel and o.expires_at < clock_timestamp();
    insert into private.slack_offers (workspace_id, channel_id, slack_team, slack_user, slack_name, hash, expires_at)
    values (
      workspace, channel, click ->> 'team', click ->> 'user', click ->> 'name', decode(click ->> 'hash', 'hex'),
      clock_timestamp() + interval '15 minutes'
    )
    on conflict on constraint slack_offers_pkey
    do update set slack_name = excluded.slack_name, hash = excluded.hash, expires_at = excluded.expires_at;
  end if;
  return (select jsonb_build_object('slug', w.slug, 'member', member) from public.workspaces as w where w.id = workspace);
end
$$;
grant execute on function private.take_slack_click(uuid, uuid, jsonb) to outlay_service, service_role;

-- What a link offers to the transaction's user.
-- returns: { slug, workspace, channel (its name), slack_name, may_decide }; null for an unknown or expired one, and of other workspaces
create function private.slack_offer(hash text)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'slug', w.slug, 'workspace', w.name, 'channel', c.name, 'slack_name', o.slack_name,
    'may_decide', w.id in (select private.member_workspaces(array['owner', 'admin'])) or exists (
      select from public.budgets as b where b.workspace_id = w.id and b.owner_id = auth.uid()
    )
  )
  from private.slack_offers as o
  join public.workspaces as w on w.id = o.workspace_id
  join public.alert_channels as c on c.workspace_id = o.workspace_id and c.id = o.channel_id
  where o.hash = decode(slack_offer.hash, 'hex') and o.expires_at > clock_timestamp()
    and o.workspace_id in (select private.member_workspaces())
$$;
grant execute on function private.slack_offer(text) to outlay_service, service_role;

-- Links the Slack user of an offer to the transaction's user, who may decide about requests, and uses the offer up.
-- returns: { workspace_id, id }, or { refused: 'not_found' | 'forbidden' }
create function private.link_slack_user(hash text)
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
declare
  offered constant jsonb := private.slack_offer(link_slack_user.hash);
  taken private.slack_offers;
  made uuid;
begin
  if offered is null then
    return '{"refused": "not_found"}';
  end if;
  if not (offered ->> 'may_decide')::boolean then
    return '{"refused": "forbidden"}';
  end if;
  delete from private.slack_offers as o where o.hash = decode(link_slack_user.hash, 'hex') returning o.* into taken;
  if taken.workspace_id is null then
    return '{"refused": "not_found"}';
  end if;
  insert into public.slack_links (workspace_id, channel_id, slack_team, slack_user, slack_name, user_id, aal)
  values (
    taken.workspace_id, taken.channel_id, taken.slack_team, taken.slack_user, taken.slack_name, auth.uid(),
    case when private.proved_second_factor() then 'aal2' else 'aal1' end
  )
  on conflict do nothing
  returning id into made;
  if made is null then
    return '{"refused": "not_found"}';
  end if;
  return jsonb_build_object('workspace_id', taken.workspace_id, 'id', made);
end
$$;
grant execute on function private.link_slack_user(text) to outlay_service, service_role;

-- What the service keeps of the signed-in user, apart from what they recorded: their profile, how they sign in, sessions,
-- memberships, connections, and what they did, the newest first.
create or replace function private.export_account(at_most integer)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'profile', to_jsonb(p) - 'deleted_at',
    'identities', (
      select coalesce(jsonb_agg(jsonb_build_object('provider', i.provider, 'email', i.email, 'created_at', i.created_at) order by i.created_at), '[]')
      from auth.identities as i where i.user_id = p.id
    ),
    'second_factors', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'type', f.factor_type, 'name', f.friendly_name, 'status', f.status, 'created_at', f.created_at
      ) order by f.created_at), '[]')
      from auth.mfa_factors as f where f.user_id = p.id
    ),
    'sessions', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', s.id, 'created_at', s.created_at, 'refreshed_at', s.refreshed_at, 'user_agent', s.user_agent, 'address', s.ip
      ) order by s.created_at), '[]')
      from auth.sessions as s where s.user_id = p.id
    ),
    'memberships', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'workspace_id', w.id, 'slug', w.slug, 'name', w.name, 'role', m.role, 'joined_at', m.created_at, 'deleted_at', w.deleted_at
      ) order by m.created_at), '[]')
      from public.workspace_members as m join public.workspaces as w on w.id = m.workspace_id where m.user_id = p.id
    ),
    'connections', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', c.id, 'workspace_id', c.workspace_id, 'client', c.client_name, 'uri', c.client_uri, 'created_at', c.created_at
      ) order by c.created_at), '[]')
      from public.connections as c where c.user_id = p.id
    ),
    'slack_users', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'id', l.id, 'workspace_id', l.workspace_id, 'team', l.slack_team, 'user', l.slack_user, 'name', l.slack_name, 'created_at', l.created_at
      ) order by l.created_at), '[]')
      from public.slack_links as l where l.user_id = p.id
    ),
    'audit', (
      select coalesce(jsonb_agg(to_jsonb(e) order by e.at desc), '[]')
      from (
        select a.* from public.workspace_members as m
        join public.audit_log as a on a.workspace_id = m.workspace_id and a.actor_id = p.id
        where m.user_id = p.id
        order by a.at desc
        limit at_most
      ) as e
    )
  )
  from public.profiles as p
  where p.id = auth.uid() and private.session_is_complete() and private.account_is_kept()
$$;

revoke execute on function private.takes_clicks(private.channel_secrets) from public;
revoke execute on function private.has_buttons(public.alert_channels) from public;
revoke execute on function private.set_slack_secret(uuid, uuid, text) from public;
revoke execute on function private.slack_app(uuid) from public;
revoke execute on function private.reseal_slack_secret(uuid, text, text) from public;
revoke execute on function private.take_slack_click(uuid, uuid, jsonb) from public;
revoke execute on function private.slack_offer(text) from public;
revoke execute on function private.link_slack_user(text) from public;
