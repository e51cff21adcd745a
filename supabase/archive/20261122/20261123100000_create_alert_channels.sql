-- Where a workspace's alerts are sent. `target` is what people see of the address: a host, or mail addresses. Everything
-- that gives access (an address with its path, a routing key, the secrets that sign) is in private.channel_secrets.
create table public.alert_channels (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  name text not null check (char_length(name) between 1 and 120),
  kind text not null check (kind in ('webhook', 'slack', 'discord', 'teams', 'pagerduty', 'email')),
  target text not null check (char_length(target) between 1 and 2600),
  -- Null: every rule.
  rules text[] check (cardinality(rules) between 1 and 20),
  -- Alerts of a lower percentage are not sent; null: all are.
  least_percent integer check (least_percent between 1 and 1000),
  disabled_at timestamptz,
  -- failing: by the service, after a day of failures. gone: by the service, after a 410. by_admin: by a person.
  disabled_reason text check (disabled_reason in ('failing', 'gone', 'by_admin')),
  -- The first of the failures since the last success.
  failing_since timestamptz,
  -- When the workspace's owners are next to be told by mail that the service disabled it; null: there is nothing to tell.
  tell_owners_at timestamptz,
  secret_set_at timestamptz not null default now(),
  created_by uuid references public.profiles (id) on delete set null,
  created_at timestamptz not null default now(),
  primary key (workspace_id, id),
  check ((disabled_at is null) = (disabled_reason is null))
);
create index alert_channels_created_by_idx on public.alert_channels (created_by);
create index alert_channels_tell_owners_at_idx on public.alert_channels (tell_owners_at) where tell_owners_at is not null;

-- Changed by functions only, because what is shown has to agree with what is secret.
alter table public.alert_channels enable row level security;
revoke all on public.alert_channels from anon, authenticated, service_role;
grant select on public.alert_channels to authenticated, service_role;

create policy "A member reads the alert channels of their workspaces"
  on public.alert_channels for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create trigger made_alert_channels_are_audited
  after insert or delete on public.alert_channels
  for each row execute function private.audit_change('alert_channel');

-- Other columns are the service's own state and are not audited.
create trigger alert_channels_are_audited
  after update on public.alert_channels
  for each row when (
    (old.name, old.target, old.rules, old.least_percent, old.disabled_at, old.disabled_reason, old.secret_set_at)
    is distinct from
    (new.name, new.target, new.rules, new.least_percent, new.disabled_at, new.disabled_reason, new.secret_set_at)
  )
  execute function private.audit_change('alert_channel');

-- What a channel needs to send, which only the functions of the service read.
create table private.channel_secrets (
  workspace_id uuid not null,
  channel_id uuid not null,
  -- The address of a webhook, of Slack, Discord or Teams; PagerDuty's routing key; null for mail.
  address text check (char_length(address) between 1 and 2048),
  -- The secret that signs a webhook, and while it is being rotated the one before.
  signing_secret text check (char_length(signing_secret) between 16 and 256),
  old_signing_secret text check (char_length(old_signing_secret) between 16 and 256),
  old_ends_at timestamptz,
  primary key (workspace_id, channel_id),
  foreign key (workspace_id, channel_id) references public.alert_channels (workspace_id, id) on delete cascade
);
alter table private.channel_secrets enable row level security;
