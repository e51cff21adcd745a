-- Users' profiles, workspaces, and who may see which workspace.

-- Users, workspaces and memberships. Everything else belongs to a workspace, and its policies call
-- private.member_workspaces.
create table public.profiles (
  id uuid primary key references auth.users (id) on delete cascade,
  email text not null,
  display_name text check (char_length(display_name) between 1 and 120),
  -- Shown to other users, so it must be an address that browsers load as a picture, and not one of this service.
  avatar_url text
    check (char_length(avatar_url) <= 2048)
    constraint profiles_avatar_url_is_https check (avatar_url ~ '^https://'),
  default_workspace_id uuid,
  created_at timestamptz not null default now(),
  deleted_at timestamptz,
  locale text,
  shown_currency text not null default 'usd',
  constraint profiles_locale_check check (locale ~ '^[a-z]{2,3}-[A-Z]{2}$'),
  constraint profiles_shown_currency_check check (shown_currency in ('usd', 'base', 'both'))
);
comment on column public.profiles.deleted_at is 'When the user deleted the account. It is erased thirty days later, unless they sign in.';

create index profiles_default_workspace_id_idx on public.profiles (default_workspace_id);
create index profiles_deleted_idx on public.profiles (deleted_at) where deleted_at is not null;

alter table public.profiles enable row level security;
revoke all on public.profiles from anon, authenticated, service_role;
grant select on public.profiles to authenticated;
grant all on public.profiles to service_role;
-- Users may change their own name, picture and default workspace. The address follows the account's.
grant update (display_name, avatar_url, default_workspace_id, locale, shown_currency)
  on public.profiles to authenticated;

create table public.workspaces (
  id uuid primary key default gen_random_uuid(),
  slug text not null unique check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  name text not null check (char_length(name) between 1 and 120),
  type text not null default 'team' check (type in ('personal', 'team', 'demo')),
  description text check (char_length(description) <= 1000),
  base_currency text not null default 'USD' check (base_currency ~ '^[A-Z]{3}$'),
  -- Counts the changes of the workspace's prices, so that a process can check whether its cached prices are current.
  prices_version bigint not null default 0,
  created_at timestamptz not null default now(),
  require_mfa boolean not null default false,
  deleted_at timestamptz,
  deleted_by uuid references public.profiles (id) on delete set null,
  closed_until date check (extract(day from closed_until) = 1),
  time_zone text not null default 'UTC',
  -- A workspace's page is at /<slug>, so a slug must not be the name of another page.
  constraint workspaces_slug_not_reserved check (
    slug <> all (array[
      'api', 'auth', 'oauth', 'mcp', 'docs', 'sign-in', 'sign-up', 'sign-out', 'reset', 'callback', 'outbox', 'invite',
      'new', 'workspaces', 'account', 'settings', 'admin', 'pricing', 'about', 'blog', 'help', 'support', 'status',
      'legal', 'terms', 'privacy', 'security', 'assets', 'static', 'public', 'www'
    ])
  ),
  -- The service creates the demo workspace itself, at any time, with a slug and an id that are public in the source.
  -- Nothing else may have them: otherwise a user's workspace with that id would receive everything that is recorded
  -- with the environment's key.
  constraint workspaces_slug_demo_is_the_demo check (slug <> 'demo' or type = 'demo'),
  constraint workspaces_id_demo_is_the_demo check (id <> '00000000-0000-4000-8000-0000000000d0' or type = 'demo'),
  constraint workspaces_deleted_are_marked check ((deleted_at is null) = (prices_version >= 0)),
  constraint workspaces_demo_is_kept check (deleted_at is null or type <> 'demo')
);
comment on column public.workspaces.prices_version is 'Counts the changes of the workspace''s prices, so that a process can check whether its cached prices are current. Less than zero while the workspace is deleted.';
comment on column public.workspaces.require_mfa is 'Whether the workspace is there only for sessions that proved a second factor.';
comment on column public.workspaces.time_zone is 'The zone whose days, weeks and months the daily sums are of. Set with a new workspace; later changed by `time_zone_changes` alone.';
comment on column public.workspaces.closed_until is 'The first day of its time zone that is open: the months before it are closed. Null where none is.';
comment on column public.workspaces.deleted_at is 'When an owner deleted the workspace. It is erased thirty days later, unless that is undone.';

-- A time zone that Postgres does not know would make every message fail.
create function private.check_time_zone()
returns trigger
language plpgsql stable set search_path = ''
as $$
begin
  if not exists (select from pg_catalog.pg_timezone_names where name = new.time_zone) then
    raise exception 'there is no time zone %', new.time_zone using errcode = 'invalid_parameter_value';
  end if;
  return new;
end
$$;

create trigger workspace_time_zones_exist before insert or update of time_zone
  on public.workspaces for each row when (new.time_zone <> 'UTC') execute function private.check_time_zone();

create index workspaces_deleted_idx on public.workspaces (deleted_at) where deleted_at is not null;
create index workspaces_deleted_by_idx on public.workspaces (deleted_by);

alter table public.workspaces enable row level security;
revoke all on public.workspaces from anon, authenticated, service_role;
grant select on public.workspaces to authenticated;
grant all on public.workspaces to service_role;
-- A user may create team workspaces, and owns them; its admins may change its settings. The slug never changes, because
-- links and clients contain it.
grant insert (slug, name, description, base_currency, time_zone),
  update (name, description, base_currency, require_mfa)
  on public.workspaces to authenticated;

-- Decides who may do what in a workspace. Nobody may do anything in a deleted one.
create function private.member_workspaces(
  required_roles text[] default array['owner', 'admin', 'member', 'viewer']
)
returns setof uuid
language plpgsql stable security definer set search_path = ''
as $$
begin
  return query
    select m.workspace_id
    from public.workspace_members as m
    join public.workspaces as w on w.id = m.workspace_id
    where m.user_id = (select auth.uid()) and m.role = any (required_roles)
      and w.deleted_at is null
      and (select private.account_is_kept())
      and (
        (select private.proved_second_factor())
        or ((select private.session_is_complete()) and not w.require_mfa)
      );
end
$$;
grant execute on function private.member_workspaces(text[]) to authenticated;

create policy "A member reads their workspaces"
  on public.workspaces for select to authenticated
  using (id in (select private.member_workspaces()));

create policy "A user makes workspaces of teams"
  on public.workspaces for insert to authenticated
  with check (type = 'team' and (select auth.uid()) is not null);

create policy "An admin changes what their workspaces are called"
  on public.workspaces for update to authenticated
  using (id in (select private.member_workspaces(array['owner', 'admin'])))
  with check (id in (select private.member_workspaces(array['owner', 'admin'])));

-- Whether the signed-in user's session has proved a second factor, if the user has one.
create function private.session_is_complete()
returns boolean
language plpgsql stable security definer set search_path = ''
as $$
begin
  return private.proved_second_factor() or not private.has_verified_factor(auth.uid());
end
$$;
grant execute on function private.session_is_complete() to authenticated;

-- The changes that policies allow without a membership: creating a workspace, leaving one, changing one's own profile.
create policy "A session proves a second factor to make or change workspaces"
  on public.workspaces as restrictive for all to authenticated
  using ((select private.session_is_complete()));

-- Makes the creator of a workspace its owner in the same statement, so that no workspace is ever without one, and limits
-- how many one user owns. The service and the owner of the schema create workspaces without an owner (the demo, and a
-- personal one that is about to get its owner).
create function private.own_new_workspace()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
declare
  most constant integer := 20;
begin
  -- Locks the profile, so that two workspaces created at once are both counted.
  perform from public.profiles where id = auth.uid() for no key update;
  if (
    select count(*) >= most
    from public.workspace_members as m
    join public.workspaces as w on w.id = m.workspace_id
    where m.user_id = auth.uid() and m.role = 'owner' and w.type = 'team'
  ) then
    raise exception 'one person may own at most % workspaces', most
      using errcode = 'check_violation', constraint = 'workspaces_owned_at_most';
  end if;
  insert into public.workspace_members (workspace_id, user_id, role) values (new.id, auth.uid(), 'owner');
  return null;
end
$$;

create trigger makers_own_their_workspaces
  after insert on public.workspaces
  for each row when (new.type = 'team' and auth.uid() is not null)
  execute function private.own_new_workspace();

-- An admin may require a second factor of everybody in the workspace, if their own session has proved one, so that nobody
-- locks themselves out.
create function private.guard_required_mfa()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if auth.uid() is not null and not private.proved_second_factor() then
    raise exception 'only a session that proved a second factor may require one'
      using errcode = 'insufficient_privilege', constraint = 'workspaces_require_mfa_is_proved';
  end if;
  return new;
end
$$;

create trigger required_mfa_is_proved
  before update of require_mfa on public.workspaces
  for each row when (new.require_mfa and not old.require_mfa)
  execute function private.guard_required_mfa();

create function private.remember_deleted_workspace()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if old.id <> '00000000-0000-4000-8000-0000000000d0' then
    insert into private.deleted_workspaces (id) values (old.id) on conflict do nothing;
    return null;
  end if;
  -- The demo workspace is created again with the same id when it is needed, so its ledger is deleted with it.
  delete from public.messages where workspace_id = old.id;
  delete from public.daily_spend where workspace_id = old.id;
  delete from public.daily_totals where workspace_id = old.id;
  delete from public.key_spend where workspace_id = old.id;
  delete from private.idempotency where workspace_id = old.id;
  return null;
end
$$;

create trigger deleted_workspaces_are_remembered
  after delete on public.workspaces
  for each row execute function private.remember_deleted_workspace();

create function private.refuse_deleted_workspace()
returns trigger
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if exists (select from private.deleted_workspaces where id = new.id) then
    raise exception 'the id % belonged to a workspace that was deleted', new.id
      using errcode = 'check_violation', constraint = 'workspaces_id_is_new',
        hint = 'To restore that workspace, delete its row in private.deleted_workspaces first.';
  end if;
  return new;
end
$$;

create trigger workspace_ids_are_new
  before insert or update of id on public.workspaces
  for each row execute function private.refuse_deleted_workspace();

alter table public.profiles
  add constraint profiles_default_workspace_id_fkey
  foreign key (default_workspace_id) references public.workspaces (id) on delete set null;

-- The ledger has no foreign keys, so the rows of a deleted workspace stay. Its id is stored here, so that no new workspace
-- can get the id and with it those rows.
create table private.deleted_workspaces (
  id uuid primary key,
  deleted_at timestamptz not null default now()
);

alter table private.deleted_workspaces enable row level security;
revoke all on private.deleted_workspaces from anon, authenticated, service_role;
grant all on private.deleted_workspaces to service_role;

-- Whether a workspace is deleted. It can be restored for thirty days.
create function private.is_deleted(workspace uuid)
returns boolean
language sql stable security definer set search_path = ''
as $$
  select exists (select from public.workspaces as w where w.id = workspace and w.deleted_at is not null)
$$;

-- Keys are refused before they read anything. If one is not, the policies of the ledger and its sums hide a deleted workspace.
create function private.reused_workspaces()
returns setof uuid
language plpgsql stable security definer set search_path = ''
as $$
begin
  return query
    select deleted.id from private.deleted_workspaces as deleted join public.workspaces using (id)
    union all
    select w.id from public.workspaces as w where w.deleted_at is not null;
end
$$;
grant execute on function private.reused_workspaces() to authenticated, outlay_key;
