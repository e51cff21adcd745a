-- API keys: who may change them, what a key may see.

-- An API key without its secret. The hash of the secret is in the private schema, where no API role can read it.
create table public.api_keys (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid() unique,
  name text not null check (char_length(name) between 1 and 120),
  -- The prefix and the last four characters of the secret; empty until the service stores the secret.
  prefix text not null default '',
  last_four text not null default 'none' check (char_length(last_four) = 4),
  permissions text[] not null
    check (permissions <@ array['log_usage', 'add_expenses', 'manage_subscriptions', 'read_summaries', 'manage_alerts']),
  project_id uuid,
  conditions jsonb not null default '{}'
    check (jsonb_typeof(conditions) = 'object')
    constraint api_keys_conditions_are_lists check (private.are_key_conditions(conditions)),
  -- USD per month. NaN and infinity are not allowed, because a response could not contain them.
  monthly_limit numeric
    check (monthly_limit >= 0)
    constraint api_keys_monthly_limit_is_money check (monthly_limit < 1e15 and scale(monthly_limit) <= 18),
  expires_at timestamptz
    constraint api_keys_expires_at_is_a_moment check (expires_at > '-infinity' and expires_at < '10000-01-01T00:00:00Z'),
  rate_limit_rpm integer check (rate_limit_rpm > 0),
  allowed_cidrs text[] not null default '{}'
    constraint api_keys_allowed_cidrs_are_addresses check (private.are_addresses(allowed_cidrs)),
  environment text not null default 'live' check (environment in ('live', 'test')),
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_by uuid default auth.uid() references public.profiles (id) on delete set null,
  created_at timestamptz not null default now(),
  -- key          created by a member, used with its secret
  -- connection   held by an assistant over OAuth, used with an access token
  -- member       for what a signed-in user records by hand, used by id
  -- environment  the key of SVC_API_KEY, used by id
  kind text not null default 'key' check (kind in ('key', 'connection', 'member', 'environment')),
  -- When the secret was last replaced. Each rotation of a key has a later time than the one before, in every process.
  rotated_at timestamptz,
  source_settings jsonb
  constraint api_keys_source_settings_are_known check (private.are_source_settings(source_settings)),
  on_limit text not null default 'refuse' constraint api_keys_on_limit_check check (on_limit in ('refuse', 'record')),
  -- Until and with this UTC day the limit is `raised_limit`.
  raised_limit numeric
    constraint api_keys_raised_limit_is_money check (raised_limit < 1e15 and scale(raised_limit) <= 18),
  raised_until date,
  primary key (workspace_id, id),
  foreign key (workspace_id, project_id) references public.projects (workspace_id, id),
  -- It acts in the name of the person who connected a program, and the secret of a key can be anybody's.
  constraint api_keys_manage_alerts_if_connected check (kind = 'connection' or not 'manage_alerts' = any (permissions)),
  constraint api_keys_raises_have_an_end check ((raised_limit is null) = (raised_until is null)),
  constraint api_keys_raises_are_above_the_limit check (raised_limit is null or coalesce(raised_limit > monthly_limit, false)),
  -- Like the id of the demo workspace, this id is public in the source and reserved.
  constraint api_keys_id_environment_is_reserved check (
    id <> '00000000-0000-4000-8000-0000000000e1'
    or (kind = 'environment' and workspace_id = '00000000-0000-4000-8000-0000000000d0')
  )
);

comment on column public.api_keys.on_limit is 'What its monthly limit does with costs past it: refuses them, or records them and says so.';

create index api_keys_created_by_idx on public.api_keys (created_by);
create index api_keys_project_idx on public.api_keys (workspace_id, project_id);
-- What a member records by hand is recorded under a key, like every message: it attributes, counts and limits it. This
-- key is the member's own, one per workspace and environment. It has no secret; the service names it by its id after it
-- has authenticated the user.
create unique index api_keys_member_idx on public.api_keys (workspace_id, created_by, environment) where kind = 'member';
create index api_keys_expires_at_idx on public.api_keys (expires_at) where expires_at is not null and revoked_at is null;

alter table public.api_keys enable row level security;
revoke all on public.api_keys from anon, authenticated, service_role;
grant select on public.api_keys to authenticated;
grant all on public.api_keys to service_role;
-- Users create and change keys under their own role: the guard checks first, and the policies check again. A row without
-- a secret admits nobody, and users may not write secrets. Not granted: id, kind, prefix, last_four, created_by,
-- created_at, rotated_at, last_used_at; of an existing key, also the workspace and the environment.
-- The policies of keys hold: members change the keys they made, admins all. Triggers write the audit log.
grant insert (workspace_id, name, permissions, project_id, conditions, monthly_limit, expires_at, rate_limit_rpm, allowed_cidrs, environment, source_settings, on_limit),
  update (name, permissions, project_id, conditions, monthly_limit, expires_at, rate_limit_rpm, allowed_cidrs, revoked_at, source_settings, on_limit, raised_limit, raised_until)
  on public.api_keys to authenticated;

-- The monthly limit of a key at an instant, USD: during a raise, the raised one.
create function private.key_limit(usual numeric, raised numeric, raised_until date, instant timestamptz)
returns numeric
language sql immutable
return case when (instant at time zone 'UTC')::date <= raised_until then raised else usual end;
grant execute on function private.key_limit(numeric, numeric, date, timestamptz) to outlay_service;

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

create trigger raises_end_at_higher_limits
  before update of monthly_limit on public.api_keys
  for each row when (new.raised_limit is not null and not coalesce(new.raised_limit > new.monthly_limit, false))
  execute function private.end_key_raise();

create policy "A member reads the keys of their workspaces"
  on public.api_keys for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- The permissions of a role. Its holder cannot give more to a program.
create function private.permissions_of_role(role text)
returns text[]
language sql immutable set search_path = ''
as $$
  select case
    when role in ('owner', 'admin', 'member')
      then array['log_usage', 'add_expenses', 'manage_subscriptions', 'read_summaries', 'manage_alerts']
    when role = 'viewer' then array['read_summaries']
    else '{}'
  end
$$;

-- The permissions of the signed-in user in a workspace that a key can have. Their keys cannot have more.
create function private.held_permissions(workspace uuid)
returns text[]
language sql stable security definer set search_path = ''
as $$
  select array_remove(private.permissions_of_role(role), 'manage_alerts')
  from public.workspace_members
  where workspace_id = workspace and user_id = (select auth.uid())
$$;
grant execute on function private.held_permissions(uuid) to authenticated;

create policy "A member makes keys that can do no more than they can"
  on public.api_keys for insert to authenticated
  with check (
    workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member']))
    and created_by = (select auth.uid())
    and kind = 'key'
    and cardinality(permissions) > 0
    and permissions <@ private.held_permissions(workspace_id)
  );

create policy "A member changes keys they made, an admin all, until revoked"
  on public.api_keys for update to authenticated
  using (
    kind = 'key'
    and revoked_at is null
    and (
      workspace_id in (select private.member_workspaces(array['owner', 'admin']))
      or (
        created_by = (select auth.uid())
        and workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member']))
      )
    )
  )
  with check (cardinality(permissions) > 0 and permissions <@ private.held_permissions(workspace_id));

-- A key is revoked at the current time, whatever time the statement gives.
create function private.date_revocation()
returns trigger
language plpgsql set search_path = ''
as $$
begin
  new.revoked_at := now();
  return new;
end
$$;

create trigger revocations_are_dated
  before update of revoked_at on public.api_keys
  for each row when (old.revoked_at is null and new.revoked_at is not null)
  execute function private.date_revocation();
create trigger new_keys_are_audited
  after insert on public.api_keys
  for each row when (new.kind = 'key')
  execute function private.audit_change('api_key');

-- Storing the first secret belongs to the creation of a key, and its use is not a change.
create trigger changed_keys_are_audited
  after update on public.api_keys
  for each row when (
    new.kind = 'key'
    and not (old.prefix = '' and new.prefix <> '')
    and (to_jsonb(old) - 'last_used_at') is distinct from (to_jsonb(new) - 'last_used_at')
  )
  execute function private.audit_change('api_key');
create trigger permissions_of_connections_are_audited
  after update on public.api_keys
  for each row when (
    new.kind = 'connection'
    and (old.permissions, old.project_id, old.monthly_limit) is distinct from (new.permissions, new.project_id, new.monthly_limit)
  )
  execute function private.audit_change('connection');

-- Stores that keys were used, at most once a minute each, over all processes. Locks them in order of id, as the guard
-- does, so that the two cannot deadlock. It is a statement of its own, so that the locks end at once.
create function private.note_key_use(key_ids uuid[])
returns void
language sql volatile security definer set search_path = '' set lock_timeout = '1s'
as $$
  with due as materialized (
    select id from public.api_keys
    where id = any (key_ids)
      and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')
    order by id
    for no key update
  )
  update public.api_keys as k set last_used_at = clock_timestamp() from due where k.id = due.id
$$;
grant execute on function private.note_key_use(uuid[]) to outlay_service, service_role;

-- The signed-in member's own key. It is created when first needed and named after the member. Null if they may not record.
-- It may read summaries, because an allocation by percent reveals what its source has spent.
create function private.member_key(workspace uuid, key_environment text)
returns uuid
language plpgsql volatile security definer set search_path = ''
as $$
declare
  known public.api_keys;
  person text;
begin
  select coalesce(p.display_name, p.email) into person
  from public.profiles as p
  where p.id = auth.uid() and workspace in (select private.member_workspaces(array['owner', 'admin', 'member']));
  if person is null then
    return null;
  end if;
  select * into known from public.api_keys as k
  where k.workspace_id = workspace and k.created_by = auth.uid() and k.environment = key_environment and k.kind = 'member';
  if known.id is null or known.name <> left(person, 120) then
    insert into public.api_keys as k
      (workspace_id, name, prefix, last_four, kind, permissions, conditions, environment, created_by)
    values (
      workspace, left(person, 120), 'member', 'none', 'member', array_remove(private.permissions_of_role('member'), 'manage_alerts'),
      '{"sources": ["manual", "import"]}', key_environment, auth.uid()
    )
    on conflict (workspace_id, created_by, environment) where kind = 'member' do update set name = excluded.name
    returning * into known;
  end if;
  return known.id;
end
$$;
grant execute on function private.member_key(uuid, text) to outlay_service, service_role;

-- Whom the calling key acts for: who connected the program, or who made the key, while they are a member of its workspace. Null
-- for nobody, and for a key of some projects, some users or test data.
-- returns: { id, email, slug }, the slug of the workspace
create function private.person_of_key()
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object('id', p.id, 'email', p.email, 'slug', w.slug)
  from public.api_keys as k
  join public.workspace_members as m on m.workspace_id = k.workspace_id and m.user_id = k.created_by
  join public.profiles as p on p.id = m.user_id
  join public.workspaces as w on w.id = k.workspace_id
  where k.workspace_id = (private.key_claims() ->> 'workspace_id')::uuid and k.id = (private.key_claims() ->> 'id')::uuid
    and private.key_is_unconfined() and private.key_environment() = 'live'
$$;
grant execute on function private.person_of_key() to outlay_key;

-- The users to whom the key is limited; null where it is not.
create function private.key_users()
returns text[]
language plpgsql stable security definer set search_path = ''
as $$
declare
  users jsonb := private.key_claims() -> 'users';
begin
  return case when jsonb_typeof(users) = 'array' then array(select jsonb_array_elements_text(users)) end;
end
$$;
grant execute on function private.key_users() to outlay_key;

-- Whether the key is limited to users and to nothing else.
create function private.key_is_of_users()
returns boolean
language plpgsql stable security definer set search_path = ''
as $$
declare
  claims jsonb := private.key_claims();
begin
  return jsonb_typeof(claims -> 'users') = 'array' and jsonb_typeof(claims -> 'allow') is distinct from 'array'
    and jsonb_array_length(coalesce(claims -> 'deny', '[]')) = 0;
end
$$;
grant execute on function private.key_is_of_users() to outlay_key;
