-- Slack users who are linked to members, and their clicks on buttons of messages about budget requests.

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
      select from private.raisable_limits as l where l.workspace_id = w.id and l.owner_id = auth.uid() and l.is_in_use
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
