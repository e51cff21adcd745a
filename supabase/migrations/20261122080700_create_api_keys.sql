-- Everything that records or reads is a key, whoever holds it: attribution, spend, limits, rate and row-level security
-- are then one and the same for all.

-- What a key may hold, for whoever writes the row: a value that the guard cannot read would refuse its neighbours' calls
-- in the same group, too.
--
-- Whether these are conditions as the guard reads them: lists of names, and nothing else.
create function private.are_key_conditions(conditions jsonb)
returns boolean
language sql immutable set search_path = ''
as $$
  select coalesce(bool_and(
    name in ('project_slugs', 'deny_project_slugs', 'features', 'sources')
    and jsonb_typeof(list) = 'array'
    and jsonb_array_length(list) <= 100
    and not exists (
      select from jsonb_array_elements(list) as item
      where jsonb_typeof(item) <> 'string' or char_length(item #>> '{}') not between 1 and 128
    )
    and (name <> 'sources' or list <@ '["api", "mcp", "manual", "import"]')
  ), true)
  from (
    select name, case when jsonb_typeof(list) = 'array' then list else '[null]' end as list
    from jsonb_each(conditions) as members (name, list)
  ) as members
$$;

-- Whether each of these is an address or a range of addresses.
create function private.are_addresses(list text[])
returns boolean
language plpgsql immutable set search_path = ''
as $$
begin
  perform entry::inet from unnest(list) as entry;
  return cardinality(list) <= 100 and array_position(list, null) is null;
exception when invalid_text_representation then
  return false;
end
$$;

revoke all on function private.are_key_conditions(jsonb), private.are_addresses(text[]) from public;
-- A constraint asks as whoever writes the row, who may not name this schema.
grant execute on function private.are_key_conditions(jsonb), private.are_addresses(text[])
  to authenticated, outlay_service, service_role;

-- An API key without its secret. The secret's hash lives in the private schema, where no API role can read it.
create table public.api_keys (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid() unique,
  name text not null check (char_length(name) between 1 and 120),
  -- The prefix and the last four characters of the secret; these defaults until the service gives the row its secret.
  prefix text not null default '',
  last_four text not null default 'none' check (char_length(last_four) = 4),
  permissions text[] not null
    check (permissions <@ array['log_usage', 'add_expenses', 'manage_subscriptions', 'read_summaries']),
  project_id uuid,
  conditions jsonb not null default '{}'
    check (jsonb_typeof(conditions) = 'object')
    constraint api_keys_conditions_are_lists check (private.are_key_conditions(conditions)),
  -- USD a month. Neither NaN nor infinity, and nothing that a response could not write.
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
  -- key          made by a member, used with its secret
  -- connection   what an assistant holds by OAuth, used with an access token
  -- member       what a signed-in user records by hand, used by id
  -- environment  that of SVC_API_KEY, used by id
  kind text not null default 'key' check (kind in ('key', 'connection', 'member', 'environment')),
  -- When the secret was last replaced; later for each rotation of a key, whichever process made it.
  rotated_at timestamptz,
  primary key (workspace_id, id),
  foreign key (workspace_id, project_id) references public.projects (workspace_id, id),
  -- As that of the demo workspace, this id can be read in the source and is nobody else's.
  constraint api_keys_id_environment_is_reserved check (
    id <> '00000000-0000-4000-8000-0000000000e1'
    or (kind = 'environment' and workspace_id = '00000000-0000-4000-8000-0000000000d0')
  )
);
create index api_keys_created_by_idx on public.api_keys (created_by);
create index api_keys_project_idx on public.api_keys (workspace_id, project_id);

-- SHA-256 of the secret → the key. One row a key: rotation replaces the hash, so that the old secret dies with the commit.
create table private.api_key_secrets (
  api_key_id uuid primary key references public.api_keys (id) on delete cascade,
  hash bytea not null unique check (octet_length(hash) = 32)
);

alter table public.api_keys enable row level security;
alter table private.api_key_secrets enable row level security;

-- Access --------------------------------------------------------------------------------------------------------------

-- What a role can do by itself, and so the most that its holder can hand on to a program.
create function private.permissions_of_role(role text)
returns text[]
language sql immutable set search_path = ''
as $$
  select case
    when role in ('owner', 'admin', 'member')
      then array['log_usage', 'add_expenses', 'manage_subscriptions', 'read_summaries']
    when role = 'viewer' then array['read_summaries']
    else '{}'
  end
$$;
revoke all on function private.permissions_of_role(text) from public;

-- What the signed-in user may do in a workspace themselves, and so the most that a key of theirs may do.
create function private.held_permissions(workspace uuid)
returns text[]
language sql stable security definer set search_path = ''
as $$
  select private.permissions_of_role(role)
  from public.workspace_members
  where workspace_id = workspace and user_id = (select auth.uid())
$$;
revoke all on function private.held_permissions(uuid) from public;
grant execute on function private.held_permissions(uuid) to authenticated;

-- Keys are made and changed by people, as themselves: the guard asks first, the policies ask again. A row without a secret
-- admits nobody, and the secret is not theirs to write. Not granted: id, kind, prefix, last_four, created_by, created_at,
-- rotated_at, last_used_at; of a key that exists, neither the workspace nor the environment.
revoke all on public.api_keys from anon, authenticated, service_role;
grant select on public.api_keys to authenticated;
grant insert (
  workspace_id, name, permissions, project_id, conditions, monthly_limit, expires_at, rate_limit_rpm, allowed_cidrs,
  environment
) on public.api_keys to authenticated;
grant update (
  name, permissions, project_id, conditions, monthly_limit, expires_at, rate_limit_rpm, allowed_cidrs, revoked_at
) on public.api_keys to authenticated;
grant all on public.api_keys, private.api_key_secrets to service_role;

create policy "A member reads the keys of their workspaces"
  on public.api_keys for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "A member makes keys that can do no more than they can"
  on public.api_keys for insert to authenticated
  with check (
    workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member']))
    and created_by = (select auth.uid())
    and kind = 'key'
    and cardinality(permissions) > 0
    and permissions <@ private.held_permissions(workspace_id)
  );

create policy "A member changes the keys they made, an admin every key, until it is revoked"
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

-- A key is revoked now, whatever moment the statement names.
create function private.date_revocation()
returns trigger
language plpgsql set search_path = ''
as $$
begin
  new.revoked_at := now();
  return new;
end
$$;
revoke all on function private.date_revocation() from public;

create trigger revocations_are_dated
  before update of revoked_at on public.api_keys
  for each row when (old.revoked_at is null and new.revoked_at is not null)
  execute function private.date_revocation();

create trigger new_keys_are_audited
  after insert on public.api_keys
  for each row when (new.kind = 'key')
  execute function private.audit_change('api_key');

-- Its first secret is part of a key's making, and its use is no change.
create trigger changed_keys_are_audited
  after update on public.api_keys
  for each row when (
    new.kind = 'key'
    and not (old.prefix = '' and new.prefix <> '')
    and (to_jsonb(old) - 'last_used_at') is distinct from (to_jsonb(new) - 'last_used_at')
  )
  execute function private.audit_change('api_key');

-- For the service -----------------------------------------------------------------------------------------------------

-- Gives a key its secret, or another one: the one before is dead with the commit. For the service, in the transaction in
-- which the key's user has locked the row by their own right.
create function private.give_key_secret(key_id uuid, secret_hash text, secret_prefix text, secret_last_four text)
returns void
language plpgsql volatile security definer set search_path = ''
as $$
begin
  update public.api_keys
  set prefix = secret_prefix,
      last_four = secret_last_four,
      -- The moment is taken under the row's lock, and is later than the last one, in the milliseconds of a response: of
      -- two rotations, the later one's secret is the one that lives.
      rotated_at = case when prefix <> '' then
        greatest(date_trunc('milliseconds', clock_timestamp()), rotated_at + interval '1 millisecond')
      end
  where id = key_id and kind = 'key' and revoked_at is null;
  if not found then
    raise exception 'the key % takes no secret', key_id;
  end if;
  insert into private.api_key_secrets (api_key_id, hash) values (key_id, decode(secret_hash, 'hex'))
  on conflict (api_key_id) do update set hash = excluded.hash;
end
$$;
revoke all on function private.give_key_secret(uuid, text, text, text) from public;
grant execute on function private.give_key_secret(uuid, text, text, text) to outlay_service, service_role;

-- Notes that keys were used, at most once a minute each over all processes. Locked in id order, as the guard locks them:
-- neither ever waits for the other in a ring. A statement by itself, so that the locks are gone at once.
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
revoke all on function private.note_key_use(uuid[]) from public;
grant execute on function private.note_key_use(uuid[]) to outlay_service, service_role;

-- What a member records by hand goes the way of every message: under a key, which attributes it, counts it and is asked
-- first. This key is the member's own, one a workspace and environment. It has no secret; the service names it by its id
-- once it has seen who is signed in.
create unique index api_keys_member_idx on public.api_keys (workspace_id, created_by, environment) where kind = 'member';

-- The signed-in member's own key, made at its first use and named after them. Null where they may not record.
-- It may read summaries, as an allocation by percent tells what its source has spent.
create function private.member_key(workspace uuid, key_environment text)
returns uuid
language plpgsql volatile security definer set search_path = ''
as $$
declare
  known public.api_keys;
  person text;
begin
  select coalesce(p.display_name, p.email) into person
  from public.workspace_members as m
  join public.profiles as p on p.id = m.user_id
  where m.workspace_id = workspace and m.user_id = auth.uid() and m.role in ('owner', 'admin', 'member');
  if person is null then
    return null;
  end if;
  select * into known from public.api_keys as k
  where k.workspace_id = workspace and k.created_by = auth.uid() and k.environment = key_environment and k.kind = 'member';
  if known.id is null or known.name <> left(person, 120) then
    insert into public.api_keys as k
      (workspace_id, name, prefix, last_four, kind, permissions, conditions, environment, created_by)
    values (
      workspace, left(person, 120), 'member', 'none', 'member', array['log_usage', 'add_expenses', 'manage_subscriptions', 'read_summaries'],
      '{"sources": ["manual", "import"]}', key_environment, auth.uid()
    )
    on conflict (workspace_id, created_by, environment) where kind = 'member' do update set name = excluded.name
    returning * into known;
  end if;
  return known.id;
end
$$;
revoke all on function private.member_key(uuid, text) from public;
grant execute on function private.member_key(uuid, text) to outlay_service, service_role;
