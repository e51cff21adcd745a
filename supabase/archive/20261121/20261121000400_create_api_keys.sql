-- An API key without its secret. The secret's hash lives in the private schema, where no API role can read it.
create table public.api_keys (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid() unique,
  name text not null check (char_length(name) between 1 and 120),
  prefix text not null,
  last_four text not null check (char_length(last_four) = 4),
  permissions text[] not null
    check (permissions <@ array['log_usage', 'add_expenses', 'manage_subscriptions', 'read_summaries']),
  project_id uuid,
  conditions jsonb not null default '{}' check (jsonb_typeof(conditions) = 'object'),
  monthly_limit numeric check (monthly_limit >= 0),
  expires_at timestamptz,
  rate_limit_rpm integer check (rate_limit_rpm > 0),
  allowed_cidrs text[] not null default '{}',
  environment text not null default 'live' check (environment in ('live', 'test')),
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_by uuid references public.profiles (id) on delete set null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  foreign key (workspace_id, project_id) references public.projects (workspace_id, id)
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
revoke all on public.api_keys from anon, authenticated, service_role;
grant select on public.api_keys to authenticated;
grant all on public.api_keys, private.api_key_secrets to service_role;

create policy "A member reads the keys of their workspaces"
  on public.api_keys for select to authenticated
  using (workspace_id in (select private.member_workspaces()));
