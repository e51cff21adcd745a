-- The schema as the migrations make it, in alphabetical order: for reading, not for running.
-- Generated: after a change of a migration, `npm run schema` writes this file again. tests/db/schema.test.ts compares the two.
--
-- Whatever no grant names is not allowed. Everything belongs to the role that runs the migrations.

-- Roles and schemas ---------------------------------------------------------------------------------------------------

create role outlay_key noinherit;
create role outlay_service noinherit;
grant anon, authenticated, outlay_key to outlay_service;
grant outlay_key, outlay_service to postgres;
alter role outlay_service set client_connection_check_interval=2s;
alter role outlay_service set statement_timeout=60s;
create schema private;
comment on schema private is 'Secrets, admission state and functions of the service; no API role may use it.';
grant usage on schema private to outlay_key, outlay_service, service_role;
grant usage on schema public to anon, authenticated, outlay_key, outlay_service, public, service_role;
alter default privileges revoke execute on functions from public;

-- public.alert_channels -----------------------------------------------------------------------------------------------

-- Where a workspace's alerts are sent. `target` is what people see of the address: a host, or mail addresses. Everything
-- that gives access (an address with its path, a routing key, the secrets that sign) is in private.channel_secrets.
create table public.alert_channels (
  workspace_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  kind text not null,
  target text not null,
  rules text[],
  least_percent integer,
  disabled_at timestamptz,
  disabled_reason text,
  failing_since timestamptz,
  tell_owners_at timestamptz,
  secret_set_at timestamptz not null default now(),
  created_by uuid,
  created_at timestamptz not null default now(),
  cadence text not null default 'immediate',
  digest_time time without time zone not null default '09:00:00'::time without time zone,
  digest_weekday smallint not null default 1,
  time_zone text not null default 'UTC',
  next_digest_at timestamptz,
  constraint alert_channels_pkey primary key (workspace_id, id),
  constraint alert_channels_cadence_check check (cadence = any (array['immediate', 'daily', 'weekly'])),
  constraint alert_channels_check check ((disabled_at is null) = (disabled_reason is null)),
  constraint alert_channels_digest_weekday_check check (digest_weekday >= 1 and digest_weekday <= 7),
  constraint alert_channels_disabled_reason_check check (disabled_reason = any (array['failing', 'gone', 'by_admin'])),
  constraint alert_channels_kind_check check (kind = any (array['webhook', 'slack', 'discord', 'teams', 'pagerduty', 'email'])),
  constraint alert_channels_least_percent_check check (least_percent >= 1 and least_percent <= 1000),
  constraint alert_channels_name_check check (char_length(name) >= 1 and char_length(name) <= 120),
  constraint alert_channels_rules_check check (cardinality(rules) >= 1 and cardinality(rules) <= 20),
  constraint alert_channels_target_check check (char_length(target) >= 1 and char_length(target) <= 2600),
  constraint alert_channels_time_zone_is_short check (char_length(time_zone) >= 1 and char_length(time_zone) <= 64),
  constraint alert_channels_created_by_fkey foreign key (created_by) references public.profiles(id) on delete set null,
  constraint alert_channels_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

create index alert_channels_created_by_idx on public.alert_channels using btree (created_by);
create index alert_channels_id_idx on public.alert_channels using btree (id);
create index alert_channels_next_digest_idx on public.alert_channels using btree (next_digest_at) where (next_digest_at is not null);
create index alert_channels_tell_owners_at_idx on public.alert_channels using btree (tell_owners_at) where (tell_owners_at is not null);

alter table public.alert_channels enable row level security;
grant select on public.alert_channels to authenticated, service_role;

create policy "A member reads the alert channels of their workspaces"
  on public.alert_channels for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create trigger alert_channels_are_audited after update on public.alert_channels for each row when (old.name is distinct from new.name or old.target is distinct from new.target or old.rules is distinct from new.rules or old.least_percent is distinct from new.least_percent or old.disabled_at is distinct from new.disabled_at or old.disabled_reason is distinct from new.disabled_reason or old.secret_set_at is distinct from new.secret_set_at or old.cadence is distinct from new.cadence or old.digest_time is distinct from new.digest_time or old.digest_weekday is distinct from new.digest_weekday or old.time_zone is distinct from new.time_zone) execute function private.audit_change('alert_channel');
create trigger alert_channels_plan_digests before update of cadence, digest_time, digest_weekday, time_zone on public.alert_channels for each row when (old.cadence is distinct from new.cadence or old.digest_time is distinct from new.digest_time or old.digest_weekday is distinct from new.digest_weekday or old.time_zone is distinct from new.time_zone) execute function private.plan_digest();
create trigger made_alert_channels_are_audited after insert or delete on public.alert_channels for each row execute function private.audit_change('alert_channel');

-- public.alert_deliveries ---------------------------------------------------------------------------------------------

-- The queue of what is sent, and for 30 days the log of what was. The id is sent along, so that a receiver recognises
-- what it received before. The channel's name and kind stay when the channel is deleted.
create table public.alert_deliveries (
  workspace_id uuid not null,
  id uuid not null default gen_random_uuid(),
  number bigint not null,
  channel_id uuid not null,
  channel_name text not null,
  channel_kind text not null,
  alert_id uuid,
  ordered_by text,
  state text not null default 'pending',
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  give_up_at timestamptz not null default now() + '3 days'::interval,
  lease uuid,
  leased_until timestamptz,
  last_status integer,
  last_error text,
  created_at timestamptz not null default now(),
  delivered_at timestamptz,
  digest_at timestamptz,
  digest_id uuid,
  constraint alert_deliveries_pkey primary key (workspace_id, id),
  constraint alert_deliveries_check check ((lease is null) = (leased_until is null)),
  constraint alert_deliveries_last_error_check check (char_length(last_error) <= 500),
  constraint alert_deliveries_of_digests_tell_alerts check (digest_id is null or alert_id is not null and state = 'collected'),
  constraint alert_deliveries_state_check check (state = any (array['pending', 'delivered', 'dead', 'cancelled', 'collected'])),
  constraint alert_deliveries_tell_one_thing check (alert_id is null or digest_at is null),
  constraint alert_deliveries_digest_id_fkey foreign key (workspace_id, digest_id) references public.alert_deliveries(workspace_id, id) on delete cascade,
  constraint alert_deliveries_workspace_id_alert_id_fkey foreign key (workspace_id, alert_id) references public.alerts(workspace_id, id) on delete cascade,
  constraint alert_deliveries_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

create index alert_deliveries_alert_idx on public.alert_deliveries using btree (workspace_id, alert_id);
create index alert_deliveries_collected_idx on public.alert_deliveries using btree (channel_id, number) where ((state = 'collected') and (digest_id is null));
create index alert_deliveries_created_at_idx on public.alert_deliveries using btree (created_at);
create unique index alert_deliveries_digest_at_key on public.alert_deliveries using btree (channel_id, digest_at) where (digest_at is not null);
create index alert_deliveries_digest_idx on public.alert_deliveries using btree (workspace_id, digest_id) where (digest_id is not null);
create index alert_deliveries_leased_idx on public.alert_deliveries using btree (channel_id, leased_until) where (lease is not null);
create index alert_deliveries_log_idx on public.alert_deliveries using btree (workspace_id, channel_id, number desc);
create index alert_deliveries_ordered_idx on public.alert_deliveries using btree (channel_id, ordered_by, number) where ((state = 'pending') and (ordered_by is not null));
create index alert_deliveries_pending_idx on public.alert_deliveries using btree (channel_id, next_attempt_at, number) where (state = 'pending');
create index alert_deliveries_waiting_idx on public.alert_deliveries using btree (created_at) where (state = 'pending');

alter table public.alert_deliveries enable row level security;
grant select on public.alert_deliveries to authenticated, service_role;

create policy "A member reads the alert deliveries of their workspaces"
  on public.alert_deliveries for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create trigger alert_deliveries_wait_for_digests before insert on public.alert_deliveries for each row when (new.alert_id is not null and new.state = 'pending') execute function private.collect_for_digest();

-- public.alert_rules --------------------------------------------------------------------------------------------------

-- Which rules of a workspace are on, and their parameters. A workspace without a row has the defaults.
create table public.alert_rules (
  workspace_id uuid not null,
  rule text not null,
  is_on boolean not null default true,
  parameter numeric,
  changed_at timestamptz not null default now(),
  constraint alert_rules_pkey primary key (workspace_id, rule),
  constraint alert_rules_parameter_check check (parameter > 0::numeric and parameter <= 1000000::numeric),
  constraint alert_rules_rule_check check (rule = any (array['budget_threshold', 'budget_forecast', 'budget_pace', 'unusual_day', 'key_limit', 'key_expiry', 'unpriced_usage', 'silent_source'])),
  constraint alert_rules_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

alter table public.alert_rules enable row level security;
grant select on public.alert_rules to authenticated, service_role;

create policy "A member reads the alert rules of their workspaces"
  on public.alert_rules for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create trigger changed_alert_rules_are_audited after update on public.alert_rules for each row when (old.is_on is distinct from new.is_on or old.parameter is distinct from new.parameter) execute function private.audit_alert_rule();
create trigger first_changes_of_alert_rules_are_audited after insert on public.alert_rules for each row execute function private.audit_alert_rule();

-- public.alert_snoozes ------------------------------------------------------------------------------------------------

-- Until when nobody is told of a rule, or of one of its subjects.
create table public.alert_snoozes (
  workspace_id uuid not null,
  id uuid not null default gen_random_uuid(),
  rule text not null,
  subject_id text,
  until timestamptz not null,
  created_at timestamptz not null default now(),
  constraint alert_snoozes_pkey primary key (workspace_id, id),
  constraint alert_snoozes_workspace_id_rule_subject_id_key unique nulls not distinct (workspace_id, rule, subject_id),
  constraint alert_snoozes_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

alter table public.alert_snoozes enable row level security;
grant select on public.alert_snoozes to authenticated, service_role;

create policy "A member reads the alert snoozes of their workspaces"
  on public.alert_snoozes for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create trigger alert_snoozes_are_audited after insert or update of until on public.alert_snoozes for each row execute function private.audit_change('alert_snooze');
create trigger ended_alert_snoozes_are_audited after delete on public.alert_snoozes for each row execute function private.audit_change('alert_snooze');

-- public.alert_states -------------------------------------------------------------------------------------------------

-- The present state of each subject that is not OK. What is not here is OK, or there is no data.
create table public.alert_states (
  workspace_id uuid not null,
  rule text not null,
  subject_type text not null,
  subject_id text not null,
  period date not null,
  state text not null,
  since timestamptz not null,
  constraint alert_states_pkey primary key (workspace_id, rule, subject_id),
  constraint alert_states_state_check check (state = any (array['warning', 'alert'])),
  constraint alert_states_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

create index alert_states_rule_idx on public.alert_states using btree (rule);

alter table public.alert_states enable row level security;
grant select on public.alert_states to authenticated, service_role;

create policy "A member reads the alert states of their workspaces"
  on public.alert_states for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create trigger alert_states_leave_deleted_workspaces before insert or delete or update on public.alert_states for each row execute function private.leave_deleted_workspace();

-- public.alerts -------------------------------------------------------------------------------------------------------

-- What fired: each threshold of a budget once in each of its periods, whatever the number of processes, retries and
-- corrections. Written by private.raise_alerts only, and kept.
create table public.alerts (
  workspace_id uuid not null,
  id uuid not null default gen_random_uuid(),
  number bigint not null,
  rule text not null,
  subject_type text not null,
  subject_id text not null,
  period date not null,
  level text not null,
  is_quiet boolean not null default false,
  details jsonb not null default '{}'::jsonb,
  fired_at timestamptz not null default now(),
  state text not null default 'alert',
  quiet_reason text,
  constraint alerts_pkey primary key (workspace_id, id),
  constraint alerts_workspace_id_rule_subject_id_period_level_key unique (workspace_id, rule, subject_id, period, level),
  constraint alerts_details_check check (jsonb_typeof(details) = 'object'),
  constraint alerts_level_check check (char_length(level) >= 1 and char_length(level) <= 64),
  constraint alerts_of_which_nobody_is_told_are_quiet check (quiet_reason is null or is_quiet),
  constraint alerts_quiet_reason_check check (quiet_reason = any (array['was_above', 'snoozed', 'rule_off', 'start_untold'])),
  constraint alerts_rule_check check (rule = any (array['budget_threshold', 'budget_forecast', 'budget_pace', 'unusual_day', 'key_limit', 'key_expiry', 'unpriced_usage', 'silent_source'])),
  constraint alerts_state_check check (state = any (array['ok', 'warning', 'alert'])),
  constraint alerts_subject_id_check check (char_length(subject_id) >= 1 and char_length(subject_id) <= 256),
  constraint alerts_subject_type_check check (subject_type = any (array['budget', 'workspace', 'key', 'model', 'source'])),
  constraint alerts_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

create index alerts_recent_idx on public.alerts using btree (workspace_id, number desc);

alter table public.alerts enable row level security;
grant select on public.alerts to authenticated, service_role;

create policy "A member reads the alerts of their workspaces"
  on public.alerts for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create trigger alerts_leave_deleted_workspaces before insert on public.alerts for each row execute function private.leave_deleted_workspace();

-- public.api_keys -----------------------------------------------------------------------------------------------------

-- An API key without its secret. The hash of the secret is in the private schema, where no API role can read it.
create table public.api_keys (
  workspace_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  prefix text not null default '',
  last_four text not null default 'none',
  permissions text[] not null,
  project_id uuid,
  conditions jsonb not null default '{}'::jsonb,
  monthly_limit numeric,
  expires_at timestamptz,
  rate_limit_rpm integer,
  allowed_cidrs text[] not null default '{}'::text[],
  environment text not null default 'live',
  revoked_at timestamptz,
  last_used_at timestamptz,
  created_by uuid default auth.uid(),
  created_at timestamptz not null default now(),
  kind text not null default 'key',
  rotated_at timestamptz,
  source_settings jsonb,
  constraint api_keys_pkey primary key (workspace_id, id),
  constraint api_keys_id_key unique (id),
  constraint api_keys_allowed_cidrs_are_addresses check (private.are_addresses(allowed_cidrs)),
  constraint api_keys_conditions_are_lists check (private.are_key_conditions(conditions)),
  constraint api_keys_conditions_check check (jsonb_typeof(conditions) = 'object'),
  constraint api_keys_environment_check check (environment = any (array['live', 'test'])),
  constraint api_keys_expires_at_is_a_moment check (expires_at > '-infinity'::timestamptz and expires_at < '10000-01-01 00:00:00+00'::timestamptz),
  constraint api_keys_id_environment_is_reserved check (id <> '00000000-0000-4000-8000-0000000000e1'::uuid or kind = 'environment' and workspace_id = '00000000-0000-4000-8000-0000000000d0'::uuid),
  constraint api_keys_kind_check check (kind = any (array['key', 'connection', 'member', 'environment'])),
  constraint api_keys_last_four_check check (char_length(last_four) = 4),
  constraint api_keys_monthly_limit_check check (monthly_limit >= 0::numeric),
  constraint api_keys_monthly_limit_is_money check (monthly_limit < '1000000000000000'::numeric and scale(monthly_limit) <= 18),
  constraint api_keys_name_check check (char_length(name) >= 1 and char_length(name) <= 120),
  constraint api_keys_permissions_check check (permissions <@ array['log_usage', 'add_expenses', 'manage_subscriptions', 'read_summaries']),
  constraint api_keys_rate_limit_rpm_check check (rate_limit_rpm > 0),
  constraint api_keys_source_settings_are_known check (private.are_source_settings(source_settings)),
  constraint api_keys_created_by_fkey foreign key (created_by) references public.profiles(id) on delete set null,
  constraint api_keys_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade,
  constraint api_keys_workspace_id_project_id_fkey foreign key (workspace_id, project_id) references public.projects(workspace_id, id)
);

create index api_keys_created_by_idx on public.api_keys using btree (created_by);
create index api_keys_expires_at_idx on public.api_keys using btree (expires_at) where ((expires_at is not null) and (revoked_at is null));
create unique index api_keys_member_idx on public.api_keys using btree (workspace_id, created_by, environment) where (kind = 'member');
create index api_keys_project_idx on public.api_keys using btree (workspace_id, project_id);

alter table public.api_keys enable row level security;
grant select on public.api_keys to authenticated;
grant all on public.api_keys to service_role;
grant insert (workspace_id, name, permissions, project_id, conditions, monthly_limit, expires_at, rate_limit_rpm, allowed_cidrs, environment, source_settings) on public.api_keys to authenticated;
grant update (name, permissions, project_id, conditions, monthly_limit, expires_at, rate_limit_rpm, allowed_cidrs, revoked_at, source_settings) on public.api_keys to authenticated;

create policy "A member reads the keys of their workspaces"
  on public.api_keys for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create policy "A member makes keys that can do no more than they can"
  on public.api_keys for insert to authenticated
  with check ((workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member']))) and created_by = (select auth.uid()) and kind = 'key' and cardinality(permissions) > 0 and permissions <@ private.held_permissions(workspace_id));

create policy "A member changes keys they made, an admin all, until revoked"
  on public.api_keys for update to authenticated
  using (kind = 'key' and revoked_at is null and ((workspace_id in (select private.member_workspaces(array['owner', 'admin']))) or created_by = (select auth.uid()) and (workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member'])))))
  with check (cardinality(permissions) > 0 and permissions <@ private.held_permissions(workspace_id));

create trigger changed_keys_are_audited after update on public.api_keys for each row when (new.kind = 'key' and not (old.prefix = '' and new.prefix <> '') and (to_jsonb(old.*) - 'last_used_at') is distinct from (to_jsonb(new.*) - 'last_used_at')) execute function private.audit_change('api_key');
create trigger ended_keys_end_their_connections after update of revoked_at on public.api_keys for each row when (new.kind = 'connection' and new.revoked_at is not null) execute function private.end_connection_of_key();
create trigger new_keys_are_audited after insert on public.api_keys for each row when (new.kind = 'key') execute function private.audit_change('api_key');
create trigger permissions_of_connections_are_audited after update on public.api_keys for each row when (new.kind = 'connection' and (old.permissions is distinct from new.permissions or old.project_id is distinct from new.project_id or old.monthly_limit is distinct from new.monthly_limit)) execute function private.audit_change('connection');
create trigger revocations_are_dated before update of revoked_at on public.api_keys for each row when (old.revoked_at is null and new.revoked_at is not null) execute function private.date_revocation();

-- public.audit_log ----------------------------------------------------------------------------------------------------

-- Records who changed what, when and from where: an entry for everything that changes a key, a role, a price, a budget or
-- the cost of messages. Written in the transaction of the change; never changed, never deleted.
create table public.audit_log (
  workspace_id uuid not null,
  id uuid not null default gen_random_uuid(),
  at timestamptz not null default now(),
  actor_id uuid,
  actor_email text,
  action text not null,
  subject text not null,
  before jsonb,
  after jsonb,
  address text,
  kind text not null default split_part(subject, ' ', 1),
  subject_id text default nullif(split_part(subject, ' ', 2), ''),
  constraint audit_log_pkey primary key (workspace_id, id),
  constraint audit_log_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

create index audit_log_action_idx on public.audit_log using btree (workspace_id, action, at desc, id desc);
create index audit_log_actor_idx on public.audit_log using btree (workspace_id, actor_id, at desc, id desc);
create index audit_log_actor_kind_idx on public.audit_log using btree (workspace_id, actor_id, kind, at desc, id desc);
create index audit_log_kind_idx on public.audit_log using btree (workspace_id, kind, at desc, id desc);
create index audit_log_recent_idx on public.audit_log using btree (workspace_id, at desc, id desc);
create index audit_log_subject_idx on public.audit_log using btree (workspace_id, subject_id, at desc, id desc);

alter table public.audit_log enable row level security;
grant select on public.audit_log to authenticated, service_role;

create policy "An admin reads the audit log of their workspaces"
  on public.audit_log for select to authenticated
  using ((workspace_id in (select private.member_workspaces(array['owner', 'admin']))));

-- public.budget_counts ------------------------------------------------------------------------------------------------

create table public.budget_counts (
  workspace_id uuid not null,
  budget_id uuid not null,
  environment text not null,
  period_from date not null,
  spent_usd numeric not null,
  booked_usd numeric not null,
  alert_at_usd numeric,
  constraint budget_counts_pkey primary key (workspace_id, budget_id, environment, period_from),
  constraint budget_counts_workspace_id_budget_id_fkey foreign key (workspace_id, budget_id) references public.budgets(workspace_id, id) on delete cascade
);

alter table public.budget_counts enable row level security;
grant select on public.budget_counts to authenticated, outlay_key, service_role;

create policy "A key reads what is counted of the budgets that it may read"
  on public.budget_counts for select to outlay_key
  using (workspace_id = (select private.key_workspace()) and environment = (select private.key_environment()) and (budget_id in ( select budgets.id
   from public.budgets
  where budgets.workspace_id = budget_counts.workspace_id)));

create policy "A member reads what is counted of their workspaces' budgets"
  on public.budget_counts for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

-- public.budgets ------------------------------------------------------------------------------------------------------

create table public.budgets (
  workspace_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  scope_type text not null,
  scope_value text,
  amount numeric not null,
  created_at timestamptz not null default now(),
  period text not null default 'month',
  week_start smallint not null default 1,
  time_zone text not null default 'UTC',
  starts_on date,
  ends_on date,
  raised_amount numeric,
  raised_until date,
  alert_percents numeric[] not null default '{50,80,100}'::numeric[],
  alert_amounts numeric[] not null default '{}'::numeric[],
  scope_key text not null default 
case
    when scope_type = 'provider' then lower(scope_value)
    else coalesce(scope_value, '')
end,
  counted_from date not null,
  blocks boolean not null default false,
  currency text not null default 'USD',
  usd_rate numeric not null default 1,
  rated_from date,
  constraint budgets_pkey primary key (workspace_id, id),
  constraint budgets_alerts_are_few check ((cardinality(alert_percents) + cardinality(alert_amounts)) <= 20),
  constraint budgets_alerts_are_positive check ((0::numeric < all (alert_percents)) and (1000::numeric >= all (alert_percents)) and (0::numeric < all (alert_amounts)) and ('1000000000000000'::numeric > all (alert_amounts))),
  constraint budgets_amount_check check (amount > 0::numeric),
  constraint budgets_amount_is_money check (amount < '1000000000000000'::numeric and scale(amount) <= 18),
  constraint budgets_check check ((scope_type = 'global') = (scope_value is null)),
  constraint budgets_currency_is_a_code check (currency ~ '^[A-Z]{3}$'),
  constraint budgets_end_after_they_start check (ends_on >= starts_on),
  constraint budgets_in_usd_need_no_rate check (currency <> 'USD' or usd_rate = 1::numeric),
  constraint budgets_name_check check (char_length(name) >= 1 and char_length(name) <= 120),
  constraint budgets_of_one_period_have_ends check (period <> 'once' or starts_on is not null and ends_on is not null),
  constraint budgets_period_check check (period = any (array['day', 'week', 'month', 'quarter', 'year', 'once'])),
  constraint budgets_raised_amount_is_money check (raised_amount > amount and raised_amount < '1000000000000000'::numeric and scale(raised_amount) <= 18),
  constraint budgets_raises_have_an_end check ((raised_amount is null) = (raised_until is null)),
  constraint budgets_scope_type_check check (scope_type = any (array['global', 'project', 'feature', 'provider', 'model', 'key', 'user', 'tag'])),
  constraint budgets_scope_value_is_short check (char_length(scope_value) >= 1 and char_length(scope_value) <= 255),
  constraint budgets_time_zone_is_short check (char_length(time_zone) >= 1 and char_length(time_zone) <= 64),
  constraint budgets_usd_rate_is_a_rate check (usd_rate > 0::numeric and usd_rate < 1000000::numeric and scale(usd_rate) <= 18),
  constraint budgets_week_start_check check (week_start >= 1 and week_start <= 7),
  constraint budgets_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);
comment on column public.budgets.usd_rate is 'USD for one unit of the currency, in the period that begins on rated_from';

create index budgets_blocking_idx on public.budgets using btree (workspace_id) where blocks;
create index budgets_scope_idx on public.budgets using btree (workspace_id, scope_type, scope_key);

alter table public.budgets enable row level security;
grant delete, select on public.budgets to authenticated;
grant select on public.budgets to outlay_key;
grant all on public.budgets to service_role;
grant insert (workspace_id, name, scope_type, scope_value, amount, period, week_start, time_zone, starts_on, ends_on, raised_amount, raised_until, alert_percents, alert_amounts, blocks, currency, usd_rate) on public.budgets to authenticated;
grant update (name, amount, raised_amount, raised_until, alert_percents, alert_amounts, blocks) on public.budgets to authenticated;

create policy "A key reads the budgets whose whole spend it may read"
  on public.budgets for select to outlay_key
  using (workspace_id = (select private.key_workspace()) and
case
    when (select private.key_is_unconfined()) then true
    when (select private.key_users()) is not null then (select private.key_is_of_users()) and scope_type = 'user' and (scope_value = any ((select private.key_users())::text[]))
    when scope_type = 'project' then (scope_value::uuid in (select private.key_projects()))
    when scope_type = 'key' then scope_value = (( select private.key_claims() ->> 'id'))
    else false
end);

create policy "A member reads the budgets of their workspaces"
  on public.budgets for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create policy "An admin sets the budgets of their workspaces"
  on public.budgets for insert to authenticated
  with check ((workspace_id in (select private.member_workspaces(array['owner', 'admin']))));

create policy "An admin changes the budgets of their workspaces"
  on public.budgets for update to authenticated
  using ((workspace_id in (select private.member_workspaces(array['owner', 'admin']))))
  with check ((workspace_id in (select private.member_workspaces(array['owner', 'admin']))));

create policy "An admin deletes the budgets of their workspaces"
  on public.budgets for delete to authenticated
  using ((workspace_id in (select private.member_workspaces(array['owner', 'admin']))));

create trigger budget_scopes_exist before insert or update of workspace_id, scope_type, scope_value on public.budgets for each row execute function private.check_budget_scope();
create trigger budget_time_zones_exist before insert or update of time_zone on public.budgets for each row when (new.time_zone <> 'UTC') execute function private.check_budget_time_zone();
create trigger budgets_are_audited after insert or delete on public.budgets for each row execute function private.audit_change('budget');
create trigger budgets_begin_to_count before insert on public.budgets for each row when (coalesce(current_setting('outlay.is_restoring', true), '') <> 'on') execute function private.begin_budget();
create trigger budgets_count_what_is_there after insert on public.budgets for each row when (coalesce(current_setting('outlay.is_restoring', true), '') <> 'on') execute function private.count_new_budget();
create trigger budgets_have_a_rate before insert on public.budgets for each row when (coalesce(current_setting('outlay.is_restoring', true), '') <> 'on') execute function private.rate_new_budget();
create trigger changed_budgets_alert after update of amount, raised_amount, raised_until, alert_percents, alert_amounts, usd_rate on public.budgets for each row execute function private.alert_on_changed_budget();
create trigger changed_budgets_are_audited after update on public.budgets for each row when (not old.rated_from is distinct from new.rated_from) execute function private.audit_change('budget');
create trigger changed_budgets_hold_writers before update on public.budgets for each row when (new.blocks) execute function private.hold_writers_of_budget();
create trigger changed_budgets_take_what_waits before update of amount, raised_amount, raised_until, alert_percents, alert_amounts, usd_rate, blocks, scope_type, scope_value on public.budgets for each row execute function private.count_before_change();

-- public.connections --------------------------------------------------------------------------------------------------

-- A program that a user connected to a workspace: one per user, workspace and client. It is a key that an assistant holds:
-- the row of api_keys with the same id has its permissions and counts its spend. Deleting the connection revokes it: its
-- tokens are deleted, and its key stays, revoked, for what was recorded with it.
create table public.connections (
  workspace_id uuid not null,
  id uuid not null,
  user_id uuid not null,
  client_id text not null,
  client_kind text not null,
  client_name text not null,
  client_uri text,
  redirect_uri text not null,
  created_at timestamptz not null default now(),
  constraint connections_pkey primary key (workspace_id, id),
  constraint connections_id_key unique (id),
  constraint connections_workspace_id_user_id_client_id_key unique (workspace_id, user_id, client_id),
  constraint connections_client_kind_check check (client_kind = any (array['registered', 'document'])),
  constraint connections_client_id_fkey foreign key (client_id) references private.oauth_clients(id),
  constraint connections_workspace_id_id_fkey foreign key (workspace_id, id) references public.api_keys(workspace_id, id) on delete cascade,
  constraint connections_workspace_id_user_id_fkey foreign key (workspace_id, user_id) references public.workspace_members(workspace_id, user_id) on delete cascade
);

create index connections_client_id_idx on public.connections using btree (client_id);

alter table public.connections enable row level security;
grant delete, select on public.connections to authenticated;
grant all on public.connections to service_role;

create policy "A member reads the connections of their workspaces"
  on public.connections for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create policy "A member revokes their own connections, an admin all"
  on public.connections for delete to authenticated
  using (user_id = (select auth.uid()) and (workspace_id in (select private.member_workspaces())) or (workspace_id in (select private.member_workspaces(array['owner', 'admin']))));

create trigger connections_are_audited after insert or delete on public.connections for each row execute function private.audit_change('connection');
create trigger ended_connections_end_their_keys after delete on public.connections for each row execute function private.end_key_of_connection();

-- public.daily_spend --------------------------------------------------------------------------------------------------

-- One row per day for each combination of the columns by which spend is queried.
create table public.daily_spend (
  workspace_id uuid not null,
  day date not null,
  project_id uuid not null,
  api_key_id uuid,
  type text not null,
  provider text,
  model text,
  feature text,
  source text not null,
  environment text not null,
  amount_usd numeric not null,
  message_count bigint not null,
  item_count bigint not null,
  unpriced_count bigint not null,
  end_user text,
  tags text[],
  included_usd numeric not null default 0
);

create index daily_spend_api_key_idx on public.daily_spend using btree (workspace_id, api_key_id, day);
create index daily_spend_feature_idx on public.daily_spend using btree (workspace_id, feature, day);
create unique index daily_spend_key on public.daily_spend using btree (workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment, (
case
    when ((end_user is not null) or (tags is not null)) then private.attribution_of(end_user, tags)
    else null::bytea
end)) nulls not distinct;
create index daily_spend_model_idx on public.daily_spend using btree (workspace_id, model, day);
create index daily_spend_project_idx on public.daily_spend using btree (workspace_id, project_id, day);
create index daily_spend_user_idx on public.daily_spend using btree (workspace_id, end_user, day) where (end_user is not null);

alter table public.daily_spend enable row level security;
grant select on public.daily_spend to authenticated, outlay_key, service_role;

create policy "A key of users reads daily spend of these alone"
  on public.daily_spend as restrictive for select to outlay_key
  using (
case
    when (select private.key_users()) is null then true
    else end_user = any ((select private.key_users())::text[])
end);

create policy "A key reads the daily spend of its environment and projects"
  on public.daily_spend for select to outlay_key
  using (workspace_id = (select private.key_workspace()) and environment = (select private.key_environment()) and (project_id = any ((array(select private.key_projects())))));

create policy "A member reads the daily spend of their workspaces"
  on public.daily_spend for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));

create policy "Nobody reads the daily spend of a workspace that was deleted"
  on public.daily_spend as restrictive for select to authenticated, outlay_key
  using (not (workspace_id in (select private.reused_workspaces())));

-- public.daily_totals -------------------------------------------------------------------------------------------------

-- The daily sums by one dimension at a time: by project, key, provider, model or feature. The rollup has a row for each
-- combination of them, thousands a day in a busy workspace, so a total over all rows would take longer the more is
-- recorded. This table has only one row per name.
--
-- Each dimension contains all spend: spend without a name has a null, so that every dimension sums to the total.
create table public.daily_totals (
  workspace_id uuid not null,
  environment text not null,
  dimension text not null,
  day date not null,
  value text,
  type text not null,
  amount_usd numeric not null,
  message_count bigint not null,
  unpriced_count bigint not null,
  included_usd numeric not null default 0,
  constraint daily_totals_key unique nulls not distinct (workspace_id, environment, dimension, day, value, type),
  constraint daily_totals_dimension_check check (dimension = any (array['project', 'key', 'provider', 'model', 'feature', 'user', 'tag']))
);
comment on column public.daily_totals.dimension is 'All but `user` and `tag` contain all spend. These two have rows for names alone; spend has a row for each of its tags.';

alter table public.daily_totals enable row level security;
grant select on public.daily_totals to authenticated, outlay_key, service_role;

create policy "A key reads the daily totals whose whole spend it may read"
  on public.daily_totals for select to outlay_key
  using (workspace_id = (select private.key_workspace()) and environment = (select private.key_environment()) and
case
    when (select private.key_is_unconfined()) then true
    when (select private.key_users()) is not null then (select private.key_is_of_users()) and dimension = 'user' and (value = any ((select private.key_users())::text[]))
    when dimension = 'project' then (value::uuid in (select private.key_projects()))
    when dimension = 'key' then value = (( select private.key_claims() ->> 'id'))
    else false
end);

create policy "A member reads the daily totals of their workspaces"
  on public.daily_totals for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));

create policy "Nobody reads the daily totals of a workspace that was deleted"
  on public.daily_totals as restrictive for select to authenticated, outlay_key
  using (not (workspace_id in (select private.reused_workspaces())));

-- public.erasures -----------------------------------------------------------------------------------------------------

-- Admins have a person erased: what was recorded for them stays, under a pseudonym that nothing leads back from. The service
-- does it in short steps, beside requests; the name is forgotten with the last one.
create table public.erasures (
  workspace_id uuid not null,
  id uuid not null default gen_random_uuid(),
  end_user text,
  pseudonym text not null default 'erased-' || "left"(replace(gen_random_uuid()::text, '-', ''), 12),
  status text not null default 'pending',
  changed_count bigint not null default 0,
  cursor_key text,
  cursor_environment text,
  requested_by uuid default auth.uid(),
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  constraint erasures_pkey primary key (workspace_id, id),
  constraint erasures_end_forgets_the_name check ((status = 'done') = (end_user is null)),
  constraint erasures_end_user_check check (char_length(end_user) >= 1 and char_length(end_user) <= 255),
  constraint erasures_status_check check (status = any (array['pending', 'running', 'done'])),
  constraint erasures_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

create index erasures_open_idx on public.erasures using btree (created_at) where (status <> 'done');

alter table public.erasures enable row level security;
grant insert (workspace_id, end_user) on public.erasures to authenticated;
grant select (workspace_id, id, pseudonym, status, changed_count, created_at, finished_at) on public.erasures to authenticated;

create policy "An admin reads the erasures of their workspaces"
  on public.erasures for select to authenticated
  using ((workspace_id in (select private.member_workspaces(array['owner', 'admin']))));

create policy "An admin has people of their workspaces erased"
  on public.erasures for insert to authenticated
  with check ((workspace_id in (select private.member_workspaces(array['owner', 'admin']))) and requested_by = (select auth.uid()));

create trigger erasures_are_audited after insert on public.erasures for each row execute function private.audit_erasure();

-- public.invitations --------------------------------------------------------------------------------------------------

-- Invitations are links. The row has what is offered; a user with the link's token may accept it once. Revoking an
-- invitation deletes its row.
create table public.invitations (
  workspace_id uuid not null,
  id uuid not null default gen_random_uuid(),
  role text not null,
  email text,
  invited_by uuid not null default auth.uid(),
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  accepted_at timestamptz,
  accepted_by uuid,
  constraint invitations_pkey primary key (workspace_id, id),
  constraint invitations_id_key unique (id),
  constraint invitations_check check (expires_at > created_at and expires_at <= (created_at + '30 days'::interval)),
  constraint invitations_email_check check (email = lower(email) and char_length(email) >= 3 and char_length(email) <= 255),
  constraint invitations_role_check check (role = any (array['admin', 'member', 'viewer'])),
  constraint invitations_accepted_by_fkey foreign key (accepted_by) references public.profiles(id) on delete set null,
  constraint invitations_invited_by_fkey foreign key (invited_by) references public.profiles(id) on delete cascade,
  constraint invitations_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

create index invitations_accepted_by_idx on public.invitations using btree (accepted_by);
create index invitations_invited_by_idx on public.invitations using btree (invited_by);

alter table public.invitations enable row level security;
grant delete, select on public.invitations to authenticated;
grant all on public.invitations to service_role;
grant insert (workspace_id, role, email, expires_at) on public.invitations to authenticated;

create policy "An admin reads the invitations of their workspaces"
  on public.invitations for select to authenticated
  using ((workspace_id in (select private.member_workspaces(array['owner', 'admin']))));

create policy "An admin invites to their workspaces in their own name"
  on public.invitations for insert to authenticated
  with check ((workspace_id in (select private.member_workspaces(array['owner', 'admin']))) and invited_by = (select auth.uid()));

create policy "An admin revokes the open invitations of their workspaces"
  on public.invitations for delete to authenticated
  using ((workspace_id in (select private.member_workspaces(array['owner', 'admin']))) and accepted_at is null);

create trigger invitations_are_audited after insert or delete or update on public.invitations for each row execute function private.audit_change('invitation');

-- public.key_spend ----------------------------------------------------------------------------------------------------

-- What each key recorded in each UTC month, by the time of recording, so that backdated messages count against the limit.
create table public.key_spend (
  workspace_id uuid not null,
  api_key_id uuid not null,
  month date not null,
  amount_usd numeric not null,
  message_count bigint not null,
  constraint key_spend_pkey primary key (workspace_id, api_key_id, month)
);

alter table public.key_spend enable row level security;
grant select on public.key_spend to authenticated, service_role;

create policy "A member reads what the keys of their workspaces spent"
  on public.key_spend for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create policy "Nobody reads what keys of a deleted workspace spent"
  on public.key_spend as restrictive for select to authenticated
  using (not (workspace_id in (select private.reused_workspaces())));

-- public.message_voids ------------------------------------------------------------------------------------------------

-- Who voided which message and why. Inserting a row is what voids: a trigger posts the void in the same statement. The primary
-- key lets no message be voided twice.
create table public.message_voids (
  workspace_id uuid not null,
  message_id uuid not null,
  void_id uuid not null default private.new_message_id(),
  corrected_by uuid,
  reason text not null,
  user_id uuid default auth.uid(),
  created_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  idempotency_key text,
  request_hash text,
  constraint message_voids_pkey primary key (workspace_id, message_id),
  constraint message_voids_correction_key unique (workspace_id, corrected_by),
  constraint message_voids_void_key unique (workspace_id, void_id),
  constraint message_voids_idempotency_key_check check (char_length(idempotency_key) >= 1 and char_length(idempotency_key) <= 255),
  constraint message_voids_reason_check check (char_length(reason) >= 1 and char_length(reason) <= 500),
  constraint message_voids_request_hash_check check (char_length(request_hash) = 64),
  constraint message_voids_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);
comment on column public.message_voids.corrected_by is 'The message that was recorded in the place of the voided one.';
comment on column public.message_voids.request_hash is 'SHA-256 of the request, in hex: what its idempotency key stands for.';

alter table public.message_voids enable row level security;
grant select on public.message_voids to authenticated, service_role;
grant insert (workspace_id, message_id, reason, idempotency_key, request_hash) on public.message_voids to authenticated;

create policy "A member reads the voids of their workspaces"
  on public.message_voids for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create policy "An admin voids any cost, a member what they recorded"
  on public.message_voids for insert to authenticated
  with check (user_id = (select auth.uid()) and ((workspace_id in (select private.member_workspaces(array['owner', 'admin']))) or (workspace_id in (select private.member_workspaces(array['member']))) and (exists ( select
   from public.messages m
     join public.api_keys k on k.workspace_id = m.workspace_id and k.id = m.api_key_id
  where m.workspace_id = message_voids.workspace_id and m.id = message_voids.message_id and k.created_by = (select auth.uid()) and (k.kind = any (array['member', 'connection']))))));

create constraint trigger voids_are_audited after insert on public.message_voids deferrable initially deferred for each row execute function private.audit_void();
create trigger voids_are_posted after insert on public.message_voids for each row execute function private.post_void();

-- public.messages -----------------------------------------------------------------------------------------------------

-- The ledger. A row is one posting of a message. Most messages have one (`part` 0); a message has several if it moves
-- cost between two projects (allocation) or covers several months (a yearly subscription). The postings of a message
-- share its id and sum to its amount. A batch is one row; its lines are in `items` and sum to the row.
--
-- Partitioned by the month in which the cost occurred. A partition is created when its month is first written to. It is
-- in the private schema, so that nobody can bypass the policies of this table by naming a partition.
-- No foreign keys: one function writes the rows, from ids that it has just read under lock, and checking thousands of
-- rows a second would cost more than the insert (see docs/decisions/0014-omit-foreign-keys-from-the-ledger.md).
create table public.messages (
  workspace_id uuid not null,
  id uuid not null,
  part smallint not null default 0,
  occurred_at timestamptz not null,
  created_at timestamptz not null,
  project_id uuid not null,
  api_key_id uuid,
  user_id uuid,
  type text not null,
  source text not null,
  environment text not null,
  provider text,
  model text,
  feature text,
  unit_type text,
  quantity numeric,
  amount_usd numeric not null,
  cost_status text not null,
  price jsonb,
  currency text,
  original_amount numeric,
  batch_id text,
  label text,
  category text,
  notes text,
  metadata jsonb,
  details jsonb,
  end_user text,
  session text,
  tags text[],
  emitter text,
  given_cost_usd numeric,
  list_price_usd numeric,
  voids uuid,
  voided_by uuid,
  counted_at timestamptz,
  constraint messages_pkey primary key (workspace_id, id, part, occurred_at),
  constraint messages_amount_usd_check check (scale(amount_usd) <= 18),
  constraint messages_cost_status_check check (cost_status = any (array['client', 'priced', 'converted', 'unpriced', 'included'])),
  constraint messages_environment_check check (environment = any (array['live', 'test'])),
  constraint messages_included_check check (
case
    when cost_status = 'included' then amount_usd = 0::numeric
    else list_price_usd is null
end),
  constraint messages_quantity_check check (
case
    when voids is null then quantity > 0::numeric
    else quantity < 0::numeric
end),
  constraint messages_source_check check (source = any (array['api', 'mcp', 'manual', 'import'])),
  constraint messages_tags_check check (cardinality(tags) >= 1 and cardinality(tags) <= 10),
  constraint messages_type_check check (type = any (array['usage', 'batch', 'allocation', 'expense', 'subscription'])),
  constraint messages_voids_are_final check (voids is null or voided_by is null)
) partition by range (occurred_at);
comment on column public.messages.part is 'Parts 0 to n-1 share the id of their message and sum to its amount: the two sides of an allocation, the months of a yearly charge, the lines of a batch.';
comment on column public.messages.end_user is 'The person that usage was for, as the client names them: a message''s `user`. Not an account of Outlay.';
comment on column public.messages.tags is 'Each `name:value`, in the order of their bytes.';
comment on column public.messages.emitter is 'The program that told of the call, by its name in the table of emitters.';
comment on column public.messages.given_cost_usd is 'What the emitter says that the whole call cost; with the first posting.';
comment on column public.messages.list_price_usd is 'What included usage would have cost; null where no price is known.';
comment on column public.messages.voids is 'The message that this one voids, of a void. Its postings count negatively.';
comment on column public.messages.voided_by is 'The void of this message.';
comment on column public.messages.counted_at is 'Of voids and corrections: when the cost was first recorded. Its key''s spend of that month changes.';

create index messages_project_recent_idx on only public.messages using btree (workspace_id, project_id, occurred_at desc, id desc) where ((part = 0) or (type <> 'batch'));
create index messages_recent_idx on only public.messages using btree (workspace_id, occurred_at desc, id desc) where ((part = 0) or (type <> 'batch'));
create index messages_unpriced_idx on only public.messages using btree (workspace_id, occurred_at, id) where ((cost_status = 'unpriced') or ((cost_status = 'included') and (list_price_usd is null)));

alter table public.messages enable row level security;
grant select on public.messages to authenticated, outlay_key, service_role;

create policy "A key of users reads messages of these alone"
  on public.messages as restrictive for select to outlay_key
  using (
case
    when (select private.key_users()) is null then true
    else end_user = any ((select private.key_users())::text[])
end);

create policy "A key reads messages of its environment in its projects"
  on public.messages for select to outlay_key
  using (workspace_id = (select private.key_workspace()) and environment = (select private.key_environment()) and (project_id in (select private.key_projects())));

create policy "A member reads the messages of their workspaces"
  on public.messages for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create policy "Nobody reads messages of a workspace that was deleted"
  on public.messages as restrictive for select to authenticated, outlay_key
  using (not (workspace_id in (select private.reused_workspaces())));

-- public.monthly_slices -----------------------------------------------------------------------------------------------

-- The sums of `monthly_spend` by three names of project, key, model (with its provider), feature and user: the other two are null.
-- Rows of slices that `sliced_months` does not list may be out of date.
create table public.monthly_slices (
  workspace_id uuid not null,
  month date not null,
  names text not null,
  environment text not null,
  type text not null,
  project_id uuid,
  api_key_id uuid,
  provider text,
  model text,
  feature text,
  end_user text,
  amount_usd numeric not null,
  message_count bigint not null,
  item_count bigint not null
);
comment on column public.monthly_slices.names is 'The three names, such as `feature key model`.';

create index monthly_slices_month_idx on public.monthly_slices using btree (workspace_id, month, names, environment);
create index monthly_slices_user_idx on public.monthly_slices using btree (workspace_id, end_user) where (end_user is not null);

alter table public.monthly_slices enable row level security;
grant select on public.monthly_slices to authenticated, service_role;

create policy "A member reads the monthly slices of their workspaces"
  on public.monthly_slices for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));

create policy "Nobody reads the monthly slices of a deleted workspace"
  on public.monthly_slices as restrictive for select to authenticated
  using (not (workspace_id in (select private.reused_workspaces())));

-- public.monthly_spend ------------------------------------------------------------------------------------------------

-- The daily sums of past days by month: what `daily_spend` has for all days of a month before `folded_until`, in one row.
create table public.monthly_spend (
  workspace_id uuid not null,
  month date not null,
  project_id uuid not null,
  api_key_id uuid,
  type text not null,
  provider text,
  model text,
  feature text,
  source text not null,
  environment text not null,
  amount_usd numeric not null,
  message_count bigint not null,
  item_count bigint not null,
  unpriced_count bigint not null,
  end_user text,
  tags text[],
  included_usd numeric not null default 0
);

create unique index monthly_spend_key on public.monthly_spend using btree (workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment, (
case
    when ((end_user is not null) or (tags is not null)) then private.attribution_of(end_user, tags)
    else null::bytea
end)) nulls not distinct;
create index monthly_spend_month_idx on public.monthly_spend using btree (workspace_id, month, environment);
create index monthly_spend_project_idx on public.monthly_spend using btree (workspace_id, project_id, month);
create index monthly_spend_user_idx on public.monthly_spend using btree (workspace_id, end_user) where (end_user is not null);

alter table public.monthly_spend enable row level security;
grant select on public.monthly_spend to authenticated, outlay_key, service_role;

create policy "A key of users reads monthly spend of these alone"
  on public.monthly_spend as restrictive for select to outlay_key
  using (
case
    when (select private.key_users()) is null then true
    else end_user = any ((select private.key_users())::text[])
end);

create policy "A key reads the monthly spend of its environment and projects"
  on public.monthly_spend for select to outlay_key
  using (workspace_id = (select private.key_workspace()) and environment = (select private.key_environment()) and (project_id = any ((array(select private.key_projects())))));

create policy "A member reads the monthly spend of their workspaces"
  on public.monthly_spend for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));

create policy "Nobody reads the monthly spend of a deleted workspace"
  on public.monthly_spend as restrictive for select to authenticated, outlay_key
  using (not (workspace_id in (select private.reused_workspaces())));

-- public.monthly_totals -----------------------------------------------------------------------------------------------

-- The daily totals of past days by month: what `daily_totals` has for all days of a month before `folded_until`, in one row.
-- `weekly_totals` has the same days by week.
create table public.monthly_totals (
  workspace_id uuid not null,
  environment text not null,
  dimension text not null,
  first_day date not null,
  value text,
  type text not null,
  amount_usd numeric not null,
  message_count bigint not null,
  unpriced_count bigint not null,
  included_usd numeric not null default 0,
  constraint monthly_totals_key unique nulls not distinct (workspace_id, environment, dimension, first_day, value, type)
);

alter table public.monthly_totals enable row level security;
grant select on public.monthly_totals to authenticated, outlay_key, service_role;

create policy "A key reads the monthly totals whose whole spend it may read"
  on public.monthly_totals for select to outlay_key
  using (workspace_id = (select private.key_workspace()) and environment = (select private.key_environment()) and
case
    when (select private.key_is_unconfined()) then true
    when (select private.key_users()) is not null then (select private.key_is_of_users()) and dimension = 'user' and (value = any ((select private.key_users())::text[]))
    when dimension = 'project' then (value::uuid in (select private.key_projects()))
    when dimension = 'key' then value = (( select private.key_claims() ->> 'id'))
    else false
end);

create policy "A member reads the monthly totals of their workspaces"
  on public.monthly_totals for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));

create policy "Nobody reads the monthly totals of a deleted workspace"
  on public.monthly_totals as restrictive for select to authenticated, outlay_key
  using (not (workspace_id in (select private.reused_workspaces())));

-- public.prices -------------------------------------------------------------------------------------------------------

-- A price applies to usage from starts_at on, until the start of a later one.
create table public.prices (
  workspace_id uuid not null,
  id uuid not null default gen_random_uuid(),
  provider text not null,
  model text,
  unit_type text not null,
  rate numeric not null,
  starts_at timestamptz not null,
  created_by uuid default auth.uid(),
  created_at timestamptz not null default now(),
  constraint prices_pkey primary key (workspace_id, id),
  constraint prices_key unique nulls not distinct (workspace_id, provider, model, unit_type, starts_at),
  constraint prices_model_check check (char_length(model) >= 1 and char_length(model) <= 128),
  constraint prices_provider_check check (char_length(provider) >= 1 and char_length(provider) <= 64),
  constraint prices_rate_check check (rate >= 0::numeric and scale(rate) <= 18 and rate < '1000000000000000'::numeric),
  constraint prices_starts_at_is_a_moment check (starts_at >= '0001-01-01 00:00:00+00'::timestamptz and starts_at < '10000-01-01 00:00:00+00'::timestamptz),
  constraint prices_unit_type_check check (char_length(unit_type) >= 1 and char_length(unit_type) <= 64),
  constraint prices_created_by_fkey foreign key (created_by) references public.profiles(id) on delete set null,
  constraint prices_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

create index prices_created_by_idx on public.prices using btree (created_by);

alter table public.prices enable row level security;
grant select on public.prices to authenticated;
grant all on public.prices to service_role;
grant insert (workspace_id, provider, model, unit_type, rate, starts_at) on public.prices to authenticated;
grant update (rate) on public.prices to authenticated;

create policy "A member reads the prices of their workspaces"
  on public.prices for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create policy "An admin sets the prices of their workspaces"
  on public.prices for insert to authenticated
  with check ((workspace_id in (select private.member_workspaces(array['owner', 'admin']))) and created_by = (select auth.uid()));

create policy "An admin changes the prices of their workspaces"
  on public.prices for update to authenticated
  using ((workspace_id in (select private.member_workspaces(array['owner', 'admin']))))
  with check ((workspace_id in (select private.member_workspaces(array['owner', 'admin']))) and created_by = (select auth.uid()));

create trigger price_changes_are_owned before update of rate on public.prices for each row execute function private.own_changed_price();
create trigger prices_are_audited after insert or delete or update on public.prices for each row execute function private.audit_change('price');
create trigger prices_change_is_counted after insert or delete or update on public.prices for each row execute function private.count_price_change();

-- public.profiles -----------------------------------------------------------------------------------------------------

create table public.profiles (
  id uuid not null,
  email text not null,
  display_name text,
  avatar_url text,
  default_workspace_id uuid,
  created_at timestamptz not null default now(),
  shown_period text,
  shown_compare text,
  deleted_at timestamptz,
  locale text,
  shown_currency text not null default 'usd',
  constraint profiles_pkey primary key (id),
  constraint profiles_avatar_url_check check (char_length(avatar_url) <= 2048),
  constraint profiles_avatar_url_is_https check (avatar_url ~ '^https://'),
  constraint profiles_display_name_check check (char_length(display_name) >= 1 and char_length(display_name) <= 120),
  constraint profiles_locale_check check (locale ~ '^[a-z]{2,3}-[A-Z]{2}$'),
  constraint profiles_shown_compare_check check (shown_compare = any (array['previous', 'last_year', 'none'])),
  constraint profiles_shown_currency_check check (shown_currency = any (array['usd', 'base', 'both'])),
  constraint profiles_shown_period_check check (shown_period = any (array['day', 'week', 'month', 'quarter', 'year', 'last_month', 'last_7_days', 'last_30_days', 'last_90_days', 'all'])),
  constraint profiles_shown_range_is_whole check ((shown_period is null) = (shown_compare is null)),
  constraint profiles_default_workspace_id_fkey foreign key (default_workspace_id) references public.workspaces(id) on delete set null,
  constraint profiles_id_fkey foreign key (id) references auth.users(id) on delete cascade
);
comment on column public.profiles.deleted_at is 'When the user deleted the account. It is erased thirty days later, unless they sign in.';

create index profiles_default_workspace_id_idx on public.profiles using btree (default_workspace_id);
create index profiles_deleted_idx on public.profiles using btree (deleted_at) where (deleted_at is not null);

alter table public.profiles enable row level security;
grant select on public.profiles to authenticated;
grant all on public.profiles to service_role;
grant update (display_name, avatar_url, default_workspace_id, shown_period, shown_compare, locale, shown_currency) on public.profiles to authenticated;

create policy "A user reads their own profile and those of fellow members"
  on public.profiles for select to authenticated
  using (id = (select auth.uid()) or (id in ( select members.user_id
   from public.workspace_members members
  where (members.workspace_id in (select private.member_workspaces())))));

create policy "A session proves a second factor to change a profile"
  on public.profiles as restrictive for update to authenticated
  using (select private.session_is_complete());

create policy "A user edits their profile and picks among their workspaces"
  on public.profiles for update to authenticated
  using (id = (select auth.uid()))
  with check (id = (select auth.uid()) and (default_workspace_id is null or (default_workspace_id in (select private.member_workspaces())) or default_workspace_id = (select private.own_default_workspace())));

-- public.projects -----------------------------------------------------------------------------------------------------

-- A project is identified by its slug and created by the first message that names it. Slugs never change, because keys,
-- budgets and clients contain them. The name may change.
create table public.projects (
  workspace_id uuid not null,
  id uuid not null default gen_random_uuid(),
  slug text not null,
  name text not null,
  archived_at timestamptz,
  created_at timestamptz not null default now(),
  constraint projects_pkey primary key (workspace_id, id),
  constraint projects_workspace_id_slug_key unique (workspace_id, slug),
  constraint projects_name_check check (char_length(name) >= 1 and char_length(name) <= 120),
  constraint projects_slug_check check (slug ~ '^[a-z0-9][a-z0-9._-]{0,63}$'),
  constraint projects_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

alter table public.projects enable row level security;
grant select on public.projects to authenticated, outlay_key;
grant all on public.projects to service_role;
grant update (name, archived_at) on public.projects to authenticated;

create policy "A key reads the projects in its scope"
  on public.projects for select to outlay_key
  using (workspace_id = (select private.key_workspace()) and ((select private.key_is_unconfined()) or (id in (select private.key_projects()))));

create policy "A member reads the projects of their workspaces"
  on public.projects for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create policy "A member renames and archives the projects of their workspaces"
  on public.projects for update to authenticated
  using ((workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member']))))
  with check ((workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member']))));

create trigger archiving_is_dated before update of archived_at on public.projects for each row when (new.archived_at is not null) execute function private.date_archiving();
create trigger projects_are_audited after update on public.projects for each row when (old.name is distinct from new.name or old.archived_at is distinct from new.archived_at) execute function private.audit_change('project');

-- public.recurring_subscriptions --------------------------------------------------------------------------------------

-- Subscriptions whose further periods are booked automatically. The first charge is the message with the same id.
create table public.recurring_subscriptions (
  workspace_id uuid not null,
  id uuid not null,
  project_id uuid not null,
  api_key_id uuid,
  user_id uuid,
  source text not null,
  environment text not null,
  message jsonb not null,
  period text not null,
  anchor_on date not null,
  ends_on date,
  booked_periods integer not null default 1,
  next_on date,
  stopped_at timestamptz,
  created_at timestamptz not null,
  constraint recurring_subscriptions_pkey primary key (workspace_id, id),
  constraint recurring_subscriptions_booked_periods_check check (booked_periods >= 1),
  constraint recurring_subscriptions_environment_check check (environment = any (array['live', 'test'])),
  constraint recurring_subscriptions_period_check check (period = any (array['month', 'year'])),
  constraint recurring_subscriptions_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade,
  constraint recurring_subscriptions_workspace_id_project_id_fkey foreign key (workspace_id, project_id) references public.projects(workspace_id, id)
);
comment on column public.recurring_subscriptions.api_key_id is 'The key that posted it. Periods that are booked later are the workspace''s own and carry no key.';

create index recurring_subscriptions_due_idx on public.recurring_subscriptions using btree (next_on) where (next_on is not null);
create index recurring_subscriptions_project_idx on public.recurring_subscriptions using btree (workspace_id, project_id);

alter table public.recurring_subscriptions enable row level security;
grant select on public.recurring_subscriptions to authenticated;
grant all on public.recurring_subscriptions to service_role;
grant update (next_on, stopped_at) on public.recurring_subscriptions to authenticated;

create policy "A member reads the recurring subscriptions of their workspaces"
  on public.recurring_subscriptions for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create policy "A member stops the recurring subscriptions of their workspaces"
  on public.recurring_subscriptions for update to authenticated
  using ((workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member']))))
  with check ((workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member']))) and stopped_at is not null and next_on is null);

create trigger stopped_subscriptions_are_audited after update on public.recurring_subscriptions for each row when (old.stopped_at is distinct from new.stopped_at) execute function private.audit_change('subscription');
create trigger stops_are_dated before update of stopped_at on public.recurring_subscriptions for each row when (new.stopped_at is not null) execute function private.date_stop();

-- public.refused_exports ----------------------------------------------------------------------------------------------

-- The refused records of the last exports of a source, to be sent again: what was read from them by the list of attributes,
-- never the payload. A source has at most 20 of them with 1 MiB in all, for 7 days. Members see that they are there; their
-- content is read by the service alone.
create table public.refused_exports (
  workspace_id uuid not null,
  api_key_id uuid not null,
  id uuid not null default gen_random_uuid(),
  at timestamptz not null default clock_timestamp(),
  record_count integer not null,
  byte_count integer not null,
  address text,
  records jsonb not null,
  constraint refused_exports_pkey primary key (workspace_id, api_key_id, id),
  constraint refused_exports_record_count_check check (record_count > 0),
  constraint refused_exports_workspace_id_api_key_id_fkey foreign key (workspace_id, api_key_id) references public.api_keys(workspace_id, id) on delete cascade
);

create index refused_exports_at_idx on public.refused_exports using btree (at);

alter table public.refused_exports enable row level security;
grant select (workspace_id, api_key_id, id, at, record_count, byte_count) on public.refused_exports to authenticated;

create policy "A member reads that refused records of their sources are kept"
  on public.refused_exports for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

-- public.repricings ---------------------------------------------------------------------------------------------------

-- A correction of the cost of messages after a price was set. A job processes a few hundred messages per transaction, in
-- any process; the cursor stores its progress.
create table public.repricings (
  workspace_id uuid not null,
  id uuid not null default gen_random_uuid(),
  provider text not null,
  from_at timestamptz not null,
  to_at timestamptz not null default 'infinity'::timestamptz,
  includes_priced boolean not null default false,
  requested_by uuid default auth.uid(),
  requested_by_email text default auth.email(),
  status text not null default 'pending',
  examined_count bigint not null default 0,
  changed_count bigint not null default 0,
  change_usd numeric not null default 0,
  cursor_at timestamptz,
  cursor_id uuid,
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  constraint repricings_pkey primary key (workspace_id, id),
  constraint repricings_from_at_is_a_moment check (from_at >= '0001-01-01 00:00:00+00'::timestamptz and from_at < '10000-01-01 00:00:00+00'::timestamptz),
  constraint repricings_status_check check (status = any (array['pending', 'running', 'done'])),
  constraint repricings_to_at_is_a_moment check (to_at >= '0001-01-01 00:00:00+00'::timestamptz and (to_at < '10000-01-01 00:00:00+00'::timestamptz or to_at = 'infinity'::timestamptz)),
  constraint repricings_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

create index repricings_open_idx on public.repricings using btree (created_at) where (status <> 'done');

alter table public.repricings enable row level security;
grant select on public.repricings to authenticated;
grant all on public.repricings to service_role;
grant insert (workspace_id, provider, from_at, to_at, includes_priced) on public.repricings to authenticated;

create policy "A member reads the repricings of their workspaces"
  on public.repricings for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create policy "An admin asks for a correction in their workspaces"
  on public.repricings for insert to authenticated
  with check ((workspace_id in (select private.member_workspaces(array['owner', 'admin']))) and requested_by = (select auth.uid()) and not requested_by_email is distinct from (select auth.email()));

-- public.saved_views --------------------------------------------------------------------------------------------------

-- Views of Explore that people saved: the query of the page's address. A private view is its maker's alone; a shared one is
-- the workspace's. Private ones go with their maker's account.
create table public.saved_views (
  workspace_id uuid not null,
  id uuid not null default gen_random_uuid(),
  name text not null,
  query text not null,
  is_shared boolean not null default false,
  created_by uuid not null default auth.uid(),
  created_at timestamptz not null default now(),
  constraint saved_views_pkey primary key (workspace_id, id),
  constraint saved_views_name_check check (char_length(name) >= 1 and char_length(name) <= 120),
  constraint saved_views_query_check check (char_length(query) <= 4000),
  constraint saved_views_created_by_fkey foreign key (created_by) references public.profiles(id) on delete cascade,
  constraint saved_views_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

create index saved_views_created_by_idx on public.saved_views using btree (created_by);

alter table public.saved_views enable row level security;
grant delete, select on public.saved_views to authenticated;
grant all on public.saved_views to service_role;
grant insert (workspace_id, name, query, is_shared) on public.saved_views to authenticated;

create policy "A member reads their own views and shared ones"
  on public.saved_views for select to authenticated
  using ((workspace_id in (select private.member_workspaces())) and (is_shared or created_by = (select auth.uid())));

create policy "A member saves views, all but viewers shared ones"
  on public.saved_views for insert to authenticated
  with check (created_by = (select auth.uid()) and
case
    when is_shared then (workspace_id in (select private.member_workspaces(array['owner', 'admin', 'member'])))
    else (workspace_id in (select private.member_workspaces()))
end);

create policy "A member deletes their own views, an admin shared ones"
  on public.saved_views for delete to authenticated
  using (
case
    when created_by = (select auth.uid()) then (workspace_id in (select private.member_workspaces()))
    else is_shared and (workspace_id in (select private.member_workspaces(array['owner', 'admin'])))
end);

create trigger deleted_shared_views_are_audited after delete on public.saved_views for each row when (old.is_shared) execute function private.audit_change('saved_view');
create trigger new_shared_views_are_audited after insert on public.saved_views for each row when (new.is_shared) execute function private.audit_change('saved_view');

-- public.seen_alerts --------------------------------------------------------------------------------------------------

-- How far each member has looked at the alerts of a workspace: alerts with a higher number are new to them. A member
-- without a row has looked at none; what fired before they joined is not new to them.
create table public.seen_alerts (
  workspace_id uuid not null,
  user_id uuid not null default auth.uid(),
  seen_number bigint not null,
  constraint seen_alerts_pkey primary key (workspace_id, user_id),
  constraint seen_alerts_seen_number_check check (seen_number >= 0),
  constraint seen_alerts_workspace_id_user_id_fkey foreign key (workspace_id, user_id) references public.workspace_members(workspace_id, user_id) on delete cascade
);

alter table public.seen_alerts enable row level security;
grant select on public.seen_alerts to authenticated, service_role;
grant insert (workspace_id, seen_number) on public.seen_alerts to authenticated;
grant update (seen_number) on public.seen_alerts to authenticated;

create policy "A member reads how far they looked"
  on public.seen_alerts for select to authenticated
  using (user_id = (select auth.uid()) and (workspace_id in (select private.member_workspaces())));

create policy "A member notes how far they looked"
  on public.seen_alerts for insert to authenticated
  with check (user_id = (select auth.uid()) and (workspace_id in (select private.member_workspaces())));

create policy "A member notes that they looked further"
  on public.seen_alerts for update to authenticated
  using (user_id = (select auth.uid()) and (workspace_id in (select private.member_workspaces())))
  with check (user_id = (select auth.uid()) and (workspace_id in (select private.member_workspaces())));

-- public.sliced_months ------------------------------------------------------------------------------------------------

-- The months of folded days, and which slices of each `monthly_slices` has. `state`: `changed` until the service's job begins to make
-- slices, `claimed` while it makes them, `made` afterwards. A late change of the month sets it to `changed` again.
create table public.sliced_months (
  workspace_id uuid not null,
  month date not null,
  state text not null default 'changed',
  slices text[] not null default '{}'::text[],
  constraint sliced_months_pkey primary key (workspace_id, month),
  constraint sliced_months_state_check check (state = any (array['changed', 'claimed', 'made']))
);
comment on column public.sliced_months.slices is 'The names of the slices that may be read, the one with the fewest rows first; none unless they are made.';

create index sliced_months_due_idx on public.sliced_months using btree (month desc, workspace_id) where (state <> 'made');

alter table public.sliced_months enable row level security;
grant select on public.sliced_months to authenticated, service_role;

create policy "A member reads which months of their workspaces have slices"
  on public.sliced_months for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));

create policy "Nobody reads which months of a deleted workspace have slices"
  on public.sliced_months as restrictive for select to authenticated
  using (not (workspace_id in (select private.reused_workspaces())));

-- public.source_arrivals ----------------------------------------------------------------------------------------------

-- What came in from a source (an API key), by emitter, and the last record of it. Counted some time after the export, at most
-- about once a second by each process, so that no row is written with every export.
create table public.source_arrivals (
  workspace_id uuid not null,
  api_key_id uuid not null,
  emitter text not null,
  told_count bigint not null default 0,
  recorded_count bigint not null default 0,
  repeated_count bigint not null default 0,
  refused_count bigint not null default 0,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  last_message_id uuid,
  last_provider text,
  last_model text,
  last_amount_usd numeric,
  last_cost_status text,
  last_recorded_at timestamptz,
  constraint source_arrivals_pkey primary key (workspace_id, api_key_id, emitter),
  constraint source_arrivals_emitter_check check (char_length(emitter) >= 1 and char_length(emitter) <= 64),
  constraint source_arrivals_workspace_id_api_key_id_fkey foreign key (workspace_id, api_key_id) references public.api_keys(workspace_id, id) on delete cascade
);

alter table public.source_arrivals enable row level security;
grant select on public.source_arrivals to authenticated;

create policy "A member reads what came in from their sources"
  on public.source_arrivals for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

-- public.source_refusals ----------------------------------------------------------------------------------------------

-- Why records (`of_record`) and whole requests of a source were refused. `reason` is a hash of the code and what distinguishes it. `example` has
-- names of the last such record: emitter, project, feature, provider, model and time. A source has at most 50 reasons.
create table public.source_refusals (
  workspace_id uuid not null,
  api_key_id uuid not null,
  reason text not null,
  code text not null,
  of_record boolean not null,
  description text not null,
  refused_count bigint not null,
  first_at timestamptz not null default now(),
  last_at timestamptz not null default now(),
  example jsonb,
  constraint source_refusals_pkey primary key (workspace_id, api_key_id, reason),
  constraint source_refusals_code_check check (char_length(code) >= 1 and char_length(code) <= 64),
  constraint source_refusals_description_check check (char_length(description) <= 500),
  constraint source_refusals_example_check check (octet_length(example::text) <= 16384),
  constraint source_refusals_reason_check check (char_length(reason) = 64),
  constraint source_refusals_workspace_id_api_key_id_fkey foreign key (workspace_id, api_key_id) references public.api_keys(workspace_id, id) on delete cascade
);

alter table public.source_refusals enable row level security;
grant select on public.source_refusals to authenticated;

create policy "A member reads what was refused from their sources"
  on public.source_refusals for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

-- public.spend_folds --------------------------------------------------------------------------------------------------

-- Up to which day the days of a workspace are folded: `monthly_spend` and `weekly_totals` have all earlier ones. Without a row,
-- none are.
create table public.spend_folds (
  workspace_id uuid not null,
  folded_until date not null,
  constraint spend_folds_pkey primary key (workspace_id)
);

alter table public.spend_folds enable row level security;
grant select on public.spend_folds to authenticated, outlay_key, service_role;

create policy "A key reads how far its workspace is folded"
  on public.spend_folds for select to outlay_key
  using (workspace_id = (select private.key_workspace()));

create policy "A member reads how far their workspaces are folded"
  on public.spend_folds for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));

create policy "Nobody reads how far a deleted workspace is folded"
  on public.spend_folds as restrictive for select to authenticated, outlay_key
  using (not (workspace_id in (select private.reused_workspaces())));

-- public.weekly_reports -----------------------------------------------------------------------------------------------

-- Who receives the weekly report of a workspace by mail: each member decides for themselves. It is sent on Mondays at eight
-- in the member's time zone, about the week that ended there.
create table public.weekly_reports (
  workspace_id uuid not null,
  user_id uuid not null default auth.uid(),
  time_zone text not null,
  next_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint weekly_reports_pkey primary key (workspace_id, user_id),
  constraint weekly_reports_time_zone_check check (char_length(time_zone) >= 1 and char_length(time_zone) <= 64),
  constraint weekly_reports_workspace_id_user_id_fkey foreign key (workspace_id, user_id) references public.workspace_members(workspace_id, user_id) on delete cascade
);

create index weekly_reports_next_at_idx on public.weekly_reports using btree (next_at);

alter table public.weekly_reports enable row level security;
grant delete, select on public.weekly_reports to authenticated;
grant select on public.weekly_reports to service_role;
grant insert (workspace_id, time_zone) on public.weekly_reports to authenticated;
grant update (time_zone) on public.weekly_reports to authenticated;

create policy "A member reads which weekly reports they receive"
  on public.weekly_reports for select to authenticated
  using (user_id = (select auth.uid()) and (workspace_id in (select private.member_workspaces())));

create policy "A member subscribes to the weekly report"
  on public.weekly_reports for insert to authenticated
  with check (user_id = (select auth.uid()) and (workspace_id in (select private.member_workspaces())));

create policy "A member changes the time zone of their weekly report"
  on public.weekly_reports for update to authenticated
  using (user_id = (select auth.uid()) and (workspace_id in (select private.member_workspaces())))
  with check (user_id = (select auth.uid()) and (workspace_id in (select private.member_workspaces())));

create policy "A member ends their weekly report"
  on public.weekly_reports for delete to authenticated
  using (user_id = (select auth.uid()) and (workspace_id in (select private.member_workspaces())));

create trigger weekly_reports_are_planned before insert or update of time_zone on public.weekly_reports for each row execute function private.plan_weekly_report();

-- public.weekly_totals ------------------------------------------------------------------------------------------------

-- The daily totals of past days by week, each week cut where a month ends: what `daily_totals` has for the days from `first_day`
-- to the end of that week or month, before `folded_until`. Weeks begin on Monday.
create table public.weekly_totals (
  workspace_id uuid not null,
  environment text not null,
  dimension text not null,
  first_day date not null,
  value text,
  type text not null,
  amount_usd numeric not null,
  message_count bigint not null,
  unpriced_count bigint not null,
  included_usd numeric not null default 0,
  constraint weekly_totals_key unique nulls not distinct (workspace_id, environment, dimension, first_day, value, type)
);

alter table public.weekly_totals enable row level security;
grant select on public.weekly_totals to authenticated, service_role;

create policy "A member reads the weekly totals of their workspaces"
  on public.weekly_totals for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));

create policy "Nobody reads the weekly totals of a deleted workspace"
  on public.weekly_totals as restrictive for select to authenticated
  using (not (workspace_id in (select private.reused_workspaces())));

-- public.workspace_members --------------------------------------------------------------------------------------------

create table public.workspace_members (
  workspace_id uuid not null,
  user_id uuid not null,
  role text not null,
  created_at timestamptz not null default now(),
  constraint workspace_members_pkey primary key (workspace_id, user_id),
  constraint workspace_members_role_check check (role = any (array['owner', 'admin', 'member', 'viewer'])),
  constraint workspace_members_user_id_fkey foreign key (user_id) references public.profiles(id) on delete cascade,
  constraint workspace_members_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

create index workspace_members_user_id_idx on public.workspace_members using btree (user_id);

alter table public.workspace_members enable row level security;
grant delete, select on public.workspace_members to authenticated;
grant all on public.workspace_members to service_role;
grant update (role) on public.workspace_members to authenticated;

create policy "A member reads who else is in their workspaces"
  on public.workspace_members for select to authenticated
  using ((workspace_id in (select private.member_workspaces())));

create policy "An owner changes every role, an admin all below an owner's"
  on public.workspace_members for update to authenticated
  using ((workspace_id in (select private.member_workspaces(array['owner']))) or role <> 'owner' and (workspace_id in (select private.member_workspaces(array['admin']))))
  with check ((workspace_id in (select private.member_workspaces(array['owner']))) or role <> 'owner' and (workspace_id in (select private.member_workspaces(array['admin']))));

create policy "A member leaves, an owner removes all, an admin all but owners"
  on public.workspace_members for delete to authenticated
  using (user_id = (select auth.uid()) or (workspace_id in (select private.member_workspaces(array['owner']))) or role <> 'owner' and (workspace_id in (select private.member_workspaces(array['admin']))));

create policy "A session proves a second factor to change a membership"
  on public.workspace_members as restrictive for all to authenticated
  using (select private.session_is_complete());

create trigger changed_roles_shrink_connections after update of role on public.workspace_members for each row when (old.role is distinct from new.role) execute function private.shrink_connections();
create trigger forget_left_workspace after delete on public.workspace_members for each row execute function private.forget_left_workspace();
create trigger keep_an_owner before delete or update of role on public.workspace_members for each row when (old.role = 'owner') execute function private.keep_an_owner();
create trigger members_are_audited after insert or delete or update of role on public.workspace_members for each row execute function private.audit_change('member');
create trigger revoke_invitations_of_demoted_admin after update of role on public.workspace_members for each row when ((old.role = any (array['owner', 'admin'])) and (new.role <> all (array['owner', 'admin']))) execute function private.revoke_invitations_of_former_admin();
create trigger revoke_invitations_of_removed_admin after delete on public.workspace_members for each row when (old.role = any (array['owner', 'admin'])) execute function private.revoke_invitations_of_former_admin();

-- public.workspaces ---------------------------------------------------------------------------------------------------

create table public.workspaces (
  id uuid not null default gen_random_uuid(),
  slug text not null,
  name text not null,
  type text not null default 'team',
  description text,
  base_currency text not null default 'USD',
  prices_version bigint not null default 0,
  created_at timestamptz not null default now(),
  require_mfa boolean not null default false,
  deleted_at timestamptz,
  deleted_by uuid,
  constraint workspaces_pkey primary key (id),
  constraint workspaces_slug_key unique (slug),
  constraint workspaces_base_currency_check check (base_currency ~ '^[A-Z]{3}$'),
  constraint workspaces_deleted_are_marked check ((deleted_at is null) = (prices_version >= 0)),
  constraint workspaces_demo_is_kept check (deleted_at is null or type <> 'demo'),
  constraint workspaces_description_check check (char_length(description) <= 1000),
  constraint workspaces_id_demo_is_the_demo check (id <> '00000000-0000-4000-8000-0000000000d0'::uuid or type = 'demo'),
  constraint workspaces_name_check check (char_length(name) >= 1 and char_length(name) <= 120),
  constraint workspaces_slug_check check (slug ~ '^[a-z0-9][a-z0-9-]{0,62}$'),
  constraint workspaces_slug_demo_is_the_demo check (slug <> 'demo' or type = 'demo'),
  constraint workspaces_slug_not_reserved check (slug <> all (array['api', 'auth', 'oauth', 'mcp', 'docs', 'sign-in', 'sign-up', 'sign-out', 'reset', 'callback', 'outbox', 'invite', 'new', 'workspaces', 'account', 'settings', 'admin', 'pricing', 'about', 'blog', 'help', 'support', 'status', 'legal', 'terms', 'privacy', 'security', 'assets', 'static', 'public', 'www'])),
  constraint workspaces_type_check check (type = any (array['personal', 'team', 'demo'])),
  constraint workspaces_deleted_by_fkey foreign key (deleted_by) references public.profiles(id) on delete set null
);
comment on column public.workspaces.prices_version is 'Counts the changes of the workspace''s prices, so that a process can check whether its cached prices are current. Less than zero while the workspace is deleted.';
comment on column public.workspaces.require_mfa is 'Whether the workspace is there only for sessions that proved a second factor.';
comment on column public.workspaces.deleted_at is 'When an owner deleted the workspace. It is erased thirty days later, unless that is undone.';

create index workspaces_deleted_by_idx on public.workspaces using btree (deleted_by);
create index workspaces_deleted_idx on public.workspaces using btree (deleted_at) where (deleted_at is not null);

alter table public.workspaces enable row level security;
grant select on public.workspaces to authenticated;
grant all on public.workspaces to service_role;
grant insert (slug, name, description, base_currency) on public.workspaces to authenticated;
grant update (name, description, base_currency, require_mfa) on public.workspaces to authenticated;

create policy "A member reads their workspaces"
  on public.workspaces for select to authenticated
  using ((id in (select private.member_workspaces())));

create policy "A user makes workspaces of teams"
  on public.workspaces for insert to authenticated
  with check (type = 'team' and (select auth.uid()) is not null);

create policy "An admin changes what their workspaces are called"
  on public.workspaces for update to authenticated
  using ((id in (select private.member_workspaces(array['owner', 'admin']))))
  with check ((id in (select private.member_workspaces(array['owner', 'admin']))));

create policy "A session proves a second factor to make or change workspaces"
  on public.workspaces as restrictive for all to authenticated
  using (select private.session_is_complete());

create trigger deleted_workspaces_are_remembered after delete on public.workspaces for each row execute function private.remember_deleted_workspace();
create trigger deleted_workspaces_are_unfolded after delete on public.workspaces for each row execute function private.unfold_deleted_workspace();
create trigger made_workspaces_are_audited after insert on public.workspaces for each row when (auth.uid() is not null) execute function private.audit_change('workspace');
create trigger makers_own_their_workspaces after insert on public.workspaces for each row when (new.type = 'team' and auth.uid() is not null) execute function private.own_new_workspace();
create trigger required_mfa_ends_connections after update of require_mfa on public.workspaces for each row when (new.require_mfa and not old.require_mfa) execute function private.end_connections_of_lesser_sessions();
create trigger required_mfa_is_proved before update of require_mfa on public.workspaces for each row when (new.require_mfa and not old.require_mfa) execute function private.guard_required_mfa();
create trigger workspace_ids_are_new before insert or update of id on public.workspaces for each row execute function private.refuse_deleted_workspace();
create trigger workspaces_are_audited after update on public.workspaces for each row when (old.slug is distinct from new.slug or old.name is distinct from new.name or old.type is distinct from new.type or old.description is distinct from new.description or old.base_currency is distinct from new.base_currency or old.require_mfa is distinct from new.require_mfa) execute function private.audit_change('workspace');

-- private.api_key_secrets ---------------------------------------------------------------------------------------------

-- The SHA-256 of each key's secret. One row per key: rotation replaces the hash, so that the commit invalidates the former
-- secret.
create table private.api_key_secrets (
  api_key_id uuid not null,
  hash bytea not null,
  constraint api_key_secrets_pkey primary key (api_key_id),
  constraint api_key_secrets_hash_key unique (hash),
  constraint api_key_secrets_hash_check check (octet_length(hash) = 32),
  constraint api_key_secrets_api_key_id_fkey foreign key (api_key_id) references public.api_keys(id) on delete cascade
);

alter table private.api_key_secrets enable row level security;
grant all on private.api_key_secrets to service_role;

-- private.budget_checks -----------------------------------------------------------------------------------------------

-- Which budgets were judged, and what was known of them then; see private.budgets_to_judge.
create table private.budget_checks (
  workspace_id uuid not null,
  budget_id uuid not null,
  period_from date,
  spent_usd numeric not null,
  limit_usd numeric not null,
  checked_at timestamptz not null,
  constraint budget_checks_pkey primary key (workspace_id, budget_id),
  constraint budget_checks_workspace_id_budget_id_fkey foreign key (workspace_id, budget_id) references public.budgets(workspace_id, id) on delete cascade
);

alter table private.budget_checks enable row level security;

-- private.budget_meters -----------------------------------------------------------------------------------------------

-- How far a workspace's budgets are from their next thresholds. Whoever adds spend locks the row first, so that two at once
-- cannot each see too little.
create table private.budget_meters (
  workspace_id uuid not null,
  left_usd numeric not null,
  valid_until timestamptz not null,
  waiting_groups integer not null default 0,
  waiting_count integer not null default 0,
  constraint budget_meters_pkey primary key (workspace_id),
  constraint budget_meters_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

alter table private.budget_meters enable row level security;

-- private.channel_secrets ---------------------------------------------------------------------------------------------

-- What a channel needs to send, which only the functions of the service read.
create table private.channel_secrets (
  workspace_id uuid not null,
  channel_id uuid not null,
  address text,
  signing_secret text,
  old_signing_secret text,
  old_ends_at timestamptz,
  constraint channel_secrets_pkey primary key (workspace_id, channel_id),
  constraint channel_secrets_address_check check (char_length(address) >= 1 and char_length(address) <= 2048),
  constraint channel_secrets_old_signing_secret_check check (char_length(old_signing_secret) >= 16 and char_length(old_signing_secret) <= 256),
  constraint channel_secrets_signing_secret_check check (char_length(signing_secret) >= 16 and char_length(signing_secret) <= 256),
  constraint channel_secrets_workspace_id_channel_id_fkey foreign key (workspace_id, channel_id) references public.alert_channels(workspace_id, id) on delete cascade
);

alter table private.channel_secrets enable row level security;

-- private.deleted_things ----------------------------------------------------------------------------------------------

-- What people deleted and can have back for ten minutes: the whole row, and what belonged to it. It is kept apart from what
-- is there, so that nothing else has to know of it. The secrets of a channel and the hash of an invitation are in it, as they
-- are in other tables of this schema.
create table private.deleted_things (
  workspace_id uuid not null,
  kind text not null,
  id uuid not null,
  content jsonb not null,
  deleted_at timestamptz not null default now(),
  constraint deleted_things_pkey primary key (workspace_id, kind, id),
  constraint deleted_things_kind_check check (kind = any (array['budget', 'saved_view', 'alert_channel', 'invitation'])),
  constraint deleted_things_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

create index deleted_things_deleted_at_idx on private.deleted_things using btree (deleted_at);

alter table private.deleted_things enable row level security;

-- private.deleted_workspaces ------------------------------------------------------------------------------------------

-- The ledger has no foreign keys, so the rows of a deleted workspace stay. Its id is stored here, so that no new workspace
-- can get the id and with it those rows.
create table private.deleted_workspaces (
  id uuid not null,
  deleted_at timestamptz not null default now(),
  constraint deleted_workspaces_pkey primary key (id)
);

alter table private.deleted_workspaces enable row level security;
grant all on private.deleted_workspaces to service_role;

-- private.idempotency -------------------------------------------------------------------------------------------------

-- The response to each idempotency key, per workspace and environment: a message of a test key never conflicts with one of
-- a live key. Kept as long as the message, so that a retry is recognised however late it comes.
create table private.idempotency (
  workspace_id uuid not null,
  key text not null,
  message_id uuid not null,
  request jsonb not null,
  response jsonb not null,
  created_at timestamptz not null,
  environment text not null,
  constraint idempotency_pkey primary key (workspace_id, key, environment),
  constraint idempotency_environment_check check (environment = any (array['live', 'test'])),
  constraint idempotency_key_check check (char_length(key) >= 1 and char_length(key) <= 255)
);

create index idempotency_message_idx on private.idempotency using btree (workspace_id, message_id);

alter table private.idempotency enable row level security;

-- private.invitation_secrets ------------------------------------------------------------------------------------------

-- The SHA-256 of a link's token. The token itself is returned once and never stored.
create table private.invitation_secrets (
  invitation_id uuid not null,
  hash bytea not null,
  constraint invitation_secrets_pkey primary key (invitation_id),
  constraint invitation_secrets_hash_key unique (hash),
  constraint invitation_secrets_hash_check check (octet_length(hash) = 32),
  constraint invitation_secrets_invitation_id_fkey foreign key (invitation_id) references public.invitations(id) on delete cascade
);

alter table private.invitation_secrets enable row level security;
grant all on private.invitation_secrets to service_role;

-- private.notices -----------------------------------------------------------------------------------------------------

-- What people are told by mail of a deletion: queued in its transaction, deleted when sent.
create table private.notices (
  id uuid not null default gen_random_uuid(),
  kind text not null,
  recipient text not null,
  details jsonb not null,
  next_attempt_at timestamptz not null default now(),
  give_up_at timestamptz not null default now() + '3 days'::interval,
  constraint notices_pkey primary key (id),
  constraint notices_kind_check check (kind = any (array['workspace_deleted', 'workspace_restored', 'account_deleted', 'account_restored']))
);

create index notices_next_attempt_at_idx on private.notices using btree (next_attempt_at);

alter table private.notices enable row level security;
grant all on private.notices to service_role;

-- private.oauth_access_tokens -----------------------------------------------------------------------------------------

create table private.oauth_access_tokens (
  hash bytea not null,
  grant_id uuid not null,
  expires_at timestamptz not null,
  constraint oauth_access_tokens_pkey primary key (hash),
  constraint oauth_access_tokens_hash_check check (octet_length(hash) = 32),
  constraint oauth_access_tokens_grant_id_fkey foreign key (grant_id) references private.oauth_grants(id) on delete cascade
);

create index oauth_access_tokens_expires_at_idx on private.oauth_access_tokens using btree (expires_at);
create index oauth_access_tokens_grant_id_idx on private.oauth_access_tokens using btree (grant_id);

alter table private.oauth_access_tokens enable row level security;

-- private.oauth_authorizations ----------------------------------------------------------------------------------------

-- A request for consent, from the time at which the page shows it. It is stored here, so that the form can answer but not
-- change it. The form has a nonce, of which only the SHA-256 is stored; the session that was asked can answer, once. An
-- answer that allows has a code, which can be exchanged once within a minute.
create table private.oauth_authorizations (
  id uuid not null default gen_random_uuid(),
  nonce bytea not null,
  user_id uuid not null,
  session_id uuid not null,
  client_id text not null,
  redirect_uri text not null,
  state text,
  code_challenge text not null,
  resource text not null,
  expires_at timestamptz not null,
  decided_at timestamptz,
  code bytea,
  workspace_id uuid,
  permissions text[],
  project_id uuid,
  monthly_limit numeric,
  redeemed_at timestamptz,
  grant_id uuid,
  wanted text[] not null default '{}'::text[],
  constraint oauth_authorizations_pkey primary key (id),
  constraint oauth_authorizations_code_key unique (code),
  constraint oauth_authorizations_nonce_key unique (nonce),
  constraint oauth_authorizations_check check (code is null or workspace_id is not null and permissions is not null),
  constraint oauth_authorizations_code_challenge_check check (code_challenge ~ '^[A-Za-z0-9_-]{43}$'),
  constraint oauth_authorizations_code_check check (octet_length(code) = 32),
  constraint oauth_authorizations_monthly_limit_check check (monthly_limit >= 0::numeric),
  constraint oauth_authorizations_nonce_check check (octet_length(nonce) = 32),
  constraint oauth_authorizations_client_id_fkey foreign key (client_id) references private.oauth_clients(id) on delete cascade,
  constraint oauth_authorizations_user_id_fkey foreign key (user_id) references public.profiles(id) on delete cascade,
  constraint oauth_authorizations_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

create index oauth_authorizations_client_id_idx on private.oauth_authorizations using btree (client_id);
create index oauth_authorizations_expires_at_idx on private.oauth_authorizations using btree (expires_at);
create index oauth_authorizations_user_id_idx on private.oauth_authorizations using btree (user_id);
create index oauth_authorizations_workspace_id_idx on private.oauth_authorizations using btree (workspace_id);

alter table private.oauth_authorizations enable row level security;

-- private.oauth_clients -----------------------------------------------------------------------------------------------

-- Programs that may ask a user for a connection. All are public clients, because a program on a user's machine cannot keep
-- a secret; PKCE and the exact redirect bind a code to its client.
--
-- registered   registered itself at /oauth/register (RFC 7591); its name is its own claim
-- document     its id is the https address of its metadata document, which was fetched from there
create table private.oauth_clients (
  id text not null,
  kind text not null,
  name text not null,
  uri text,
  redirect_uris text[] not null,
  created_at timestamptz not null default now(),
  last_asked_at timestamptz,
  constraint oauth_clients_pkey primary key (id),
  constraint oauth_clients_id_check check (char_length(id) >= 1 and char_length(id) <= 2048),
  constraint oauth_clients_kind_check check (kind = any (array['registered', 'document'])),
  constraint oauth_clients_name_check check (char_length(name) >= 1 and char_length(name) <= 120),
  constraint oauth_clients_redirect_uris_check check (cardinality(redirect_uris) >= 1 and cardinality(redirect_uris) <= 10),
  constraint oauth_clients_uri_check check (char_length(uri) <= 2048)
);

create index oauth_clients_created_at_idx on private.oauth_clients using btree (created_at);
create index oauth_clients_unused_idx on private.oauth_clients using btree (created_at desc) where ((kind = 'registered') and (last_asked_at is null));

alter table private.oauth_clients enable row level security;

-- private.oauth_document_outage ---------------------------------------------------------------------------------------

-- The time until which the authorization server does not advertise client documents, because the outside network could
-- not be reached. One row, shared by all processes, because different processes may fetch a document and answer the
-- metadata request that follows.
create table private.oauth_document_outage (
  only_row boolean not null default true,
  ends_at timestamptz not null,
  constraint oauth_document_outage_pkey primary key (only_row),
  constraint oauth_document_outage_only_row_check check (only_row)
);

alter table private.oauth_document_outage enable row level security;

-- private.oauth_grants ------------------------------------------------------------------------------------------------

-- A grant is the result of one code: a chain of refresh tokens, each the successor of the last, and their access tokens.
-- It ends as a whole. A connection ends with its last grant.
create table private.oauth_grants (
  id uuid not null default gen_random_uuid(),
  connection_id uuid not null,
  resource text not null,
  created_at timestamptz not null default now(),
  constraint oauth_grants_pkey primary key (id),
  constraint oauth_grants_connection_id_fkey foreign key (connection_id) references public.connections(id) on delete cascade
);

create index oauth_grants_connection_id_idx on private.oauth_grants using btree (connection_id);

alter table private.oauth_grants enable row level security;

create trigger last_grants_end_their_connections after delete on private.oauth_grants for each row execute function private.end_connection_without_grants();

-- private.oauth_refresh_tokens ----------------------------------------------------------------------------------------

create table private.oauth_refresh_tokens (
  hash bytea not null,
  grant_id uuid not null,
  expires_at timestamptz not null,
  used_at timestamptz,
  constraint oauth_refresh_tokens_pkey primary key (hash),
  constraint oauth_refresh_tokens_hash_check check (octet_length(hash) = 32),
  constraint oauth_refresh_tokens_grant_id_fkey foreign key (grant_id) references private.oauth_grants(id) on delete cascade
);

create index oauth_refresh_tokens_expires_at_idx on private.oauth_refresh_tokens using btree (expires_at);
create index oauth_refresh_tokens_grant_id_idx on private.oauth_refresh_tokens using btree (grant_id);

alter table private.oauth_refresh_tokens enable row level security;

-- private.rate_windows ------------------------------------------------------------------------------------------------

-- The rolling window of a key's rate limit: one row per time at which requests were admitted, with a running total, so
-- that the number of requests in the last 60 seconds is one subtraction, at any rate.
create table private.rate_windows (
  api_key_id uuid not null,
  total bigint not null,
  admitted integer not null,
  at timestamptz not null,
  constraint rate_windows_pkey primary key (api_key_id, total),
  constraint rate_windows_admitted_check check (admitted > 0)
);

create index rate_windows_at_idx on private.rate_windows using btree (api_key_id, at);

alter table private.rate_windows enable row level security;

-- private.removed_key_spend -------------------------------------------------------------------------------------------

-- What they came to for the key that recorded them, by the month of recording, as in `key_spend`.
create table private.removed_key_spend (
  workspace_id uuid not null,
  api_key_id uuid not null,
  month date not null,
  amount_usd numeric not null,
  message_count bigint not null,
  constraint removed_key_spend_pkey primary key (workspace_id, api_key_id, month)
);

alter table private.removed_key_spend enable row level security;

-- private.removed_messages --------------------------------------------------------------------------------------------

-- What the removed postings of a workspace came to, by the month in which they occurred (UTC). A message counts once, on
-- its first posting, as in `daily_spend`. A message recorded before `removed_at` may be missing in that month; one
-- recorded later may not.
create table private.removed_messages (
  workspace_id uuid not null,
  month date not null,
  environment text not null,
  amount_usd numeric not null,
  message_count bigint not null,
  item_count bigint not null,
  unpriced_count bigint not null,
  removed_at timestamptz not null,
  included_usd numeric not null default 0,
  constraint removed_messages_pkey primary key (month, workspace_id, environment),
  constraint removed_messages_month_check check (extract(day from month) = 1::numeric)
);

create index removed_messages_workspace_idx on private.removed_messages using btree (workspace_id, month);

alter table private.removed_messages enable row level security;

-- private.report_links ------------------------------------------------------------------------------------------------

-- Hashes of the secrets in the links of mails by which their readers end the report. They work for a year.
create table private.report_links (
  secret_hash bytea not null,
  workspace_id uuid not null,
  user_id uuid not null,
  created_at timestamptz not null default now(),
  constraint report_links_pkey primary key (secret_hash),
  constraint report_links_secret_hash_check check (octet_length(secret_hash) = 32),
  constraint report_links_workspace_id_user_id_fkey foreign key (workspace_id, user_id) references public.weekly_reports(workspace_id, user_id) on delete cascade
);

create index report_links_reader_idx on private.report_links using btree (workspace_id, user_id, created_at);

alter table private.report_links enable row level security;

-- private.running_exports ---------------------------------------------------------------------------------------------

-- An export takes long, so each user may have one at a time, over all processes. Each running export has a row, which its
-- process renews: after a process was killed, its user has to wait for no longer than a lease.
create table private.running_exports (
  user_id uuid not null,
  export_id uuid not null,
  lease_ends_at timestamptz not null,
  constraint running_exports_pkey primary key (user_id)
);

create index running_exports_lease_ends_at_idx on private.running_exports using btree (lease_ends_at);

alter table private.running_exports enable row level security;

-- private.running_totals ----------------------------------------------------------------------------------------------

-- The running totals that emitters report (cumulative metrics), one row for each series and start. `settled` is the total
-- up to which the ledger holds what was used; `pending` lists later totals, [{ "time": ns, "value": total }], which are
-- recorded next. A restart begins a series with another start, and so another row.
create table private.running_totals (
  workspace_id uuid not null,
  environment text not null,
  series text not null,
  start_ns numeric(20,0) not null,
  settled numeric not null default 0,
  settled_ns numeric(20,0) not null default 0,
  pending jsonb not null default '[]'::jsonb,
  updated_at timestamptz not null default now(),
  constraint running_totals_pkey primary key (workspace_id, environment, series, start_ns),
  constraint running_totals_environment_check check (environment = any (array['live', 'test'])),
  constraint running_totals_series_check check (char_length(series) >= 1 and char_length(series) <= 128)
);

create index running_totals_updated_at_idx on private.running_totals using btree (updated_at);

alter table private.running_totals enable row level security;

-- private.signing_secrets ---------------------------------------------------------------------------------------------

-- Secrets with which gateways sign their webhooks for an API key. A signature (HMAC) cannot be verified with a hash of the
-- secret, so it is kept as it is, where only the functions below reach it. They give nobody but the service the text.
create table private.signing_secrets (
  api_key_id uuid not null,
  gateway text not null,
  secret text not null,
  updated_at timestamptz not null default now(),
  constraint signing_secrets_pkey primary key (api_key_id, gateway),
  constraint signing_secrets_gateway_check check (gateway = 'helicone'),
  constraint signing_secrets_secret_check check (char_length(secret) >= 16 and char_length(secret) <= 256),
  constraint signing_secrets_api_key_id_fkey foreign key (api_key_id) references public.api_keys(id) on delete cascade
);

alter table private.signing_secrets enable row level security;

-- private.telling_claims ----------------------------------------------------------------------------------------------

-- Which of an emitter's tellings is counted: its calls one by one, or its sums. A unit is a session or a service; the
-- telling that comes first holds it for as long as it goes on coming, and a day more.
create table private.telling_claims (
  workspace_id uuid not null,
  environment text not null,
  unit text not null,
  telling text not null,
  claimed_at timestamptz not null default now(),
  constraint telling_claims_pkey primary key (workspace_id, environment, unit),
  constraint telling_claims_environment_check check (environment = any (array['live', 'test'])),
  constraint telling_claims_telling_check check (telling = any (array['calls', 'sums'])),
  constraint telling_claims_unit_check check (char_length(unit) >= 1 and char_length(unit) <= 128)
);

create index telling_claims_claimed_at_idx on private.telling_claims using btree (claimed_at);

alter table private.telling_claims enable row level security;

-- private.throttle_windows --------------------------------------------------------------------------------------------

-- The recent attempts of each subject: one row per subject, with the times that still count. It is a rolling window over
-- all processes. Its size is bounded: a row has no more times than the limit, and new attempts delete rows whose times have
-- all left their window.
create table private.throttle_windows (
  subject bytea not null,
  moments timestamptz[] not null default '{}'::timestamptz[],
  ends_at timestamptz not null default '-infinity'::timestamptz,
  constraint throttle_windows_pkey primary key (subject)
);

create index throttle_windows_ends_at_idx on private.throttle_windows using btree (ends_at);

alter table private.throttle_windows enable row level security;

-- private.waiting_spend -----------------------------------------------------------------------------------------------

-- Postings that are not yet in budget_counts: those of the first `waiting_groups` places; what the others have is counted.
-- Places are used again, so that Postgres has no rows to remove. Nothing waits in a workspace of which a budget blocks.
create table private.waiting_spend (
  workspace_id uuid not null,
  place integer not null,
  postings private.budget_posting[] not null,
  constraint waiting_spend_pkey primary key (workspace_id, place),
  constraint waiting_spend_workspace_id_fkey foreign key (workspace_id) references public.workspaces(id) on delete cascade
);

alter table private.waiting_spend enable row level security;

-- private.weekly_report_mails -----------------------------------------------------------------------------------------

-- The mails to send: one per member and week, whatever the number of processes. Weeks begin on Monday.
create table private.weekly_report_mails (
  workspace_id uuid not null,
  user_id uuid not null,
  week date not null,
  state text not null default 'pending',
  attempts integer not null default 0,
  next_attempt_at timestamptz not null default now(),
  give_up_at timestamptz not null default now() + '3 days'::interval,
  lease uuid,
  leased_until timestamptz,
  last_error text,
  created_at timestamptz not null default now(),
  constraint weekly_report_mails_pkey primary key (workspace_id, user_id, week),
  constraint weekly_report_mails_last_error_check check (char_length(last_error) <= 500),
  constraint weekly_report_mails_state_check check (state = any (array['pending', 'sent', 'dead'])),
  constraint weekly_report_mails_week_check check (extract(isodow from week) = 1::numeric),
  constraint weekly_report_mails_workspace_id_user_id_fkey foreign key (workspace_id, user_id) references public.weekly_reports(workspace_id, user_id) on delete cascade
);

create index weekly_report_mails_pending_idx on private.weekly_report_mails using btree (next_attempt_at) where (state = 'pending');

alter table private.weekly_report_mails enable row level security;

-- Triggers on tables of others ----------------------------------------------------------------------------------------

create trigger create_profile_and_workspace after insert or update of email on auth.users for each row execute function private.handle_new_user();
create trigger follow_changed_email after update of email on auth.users for each row when (old.email::text is distinct from new.email::text) execute function private.handle_changed_email();

-- Functions -----------------------------------------------------------------------------------------------------------

-- Makes the signed-in user a member by a link, and uses the link up. An existing member keeps their role, and the link
-- stays valid.
-- returns: as private.read_invitation before the change; nothing was changed if is_member, or if not is_for_caller
create or replace function private.accept_invitation(hash text)
 returns jsonb
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  offered jsonb;
  used uuid;
begin
  -- Of two users who accept at once, the second waits here and then finds the link used.
  select i.id into used
  from private.invitation_secrets as s
  join public.invitations as i on i.id = s.invitation_id
  where s.hash = decode(accept_invitation.hash, 'hex')
  for update of i;
  offered := private.read_invitation(accept_invitation.hash);
  if offered is null or (offered ->> 'is_member')::boolean or not (offered ->> 'is_for_caller')::boolean then
    return offered;
  end if;
  insert into public.workspace_members (workspace_id, user_id, role)
  values ((offered ->> 'workspace_id')::uuid, auth.uid(), offered ->> 'role')
  on conflict do nothing;
  -- The user became a member by another link in the meantime.
  if not found then
    return offered || '{"is_member": true}';
  end if;
  update public.invitations set accepted_at = now(), accepted_by = auth.uid() where id = used;
  return offered;
end
$function$;
grant execute on function private.accept_invitation(text) to outlay_service, service_role;

-- Whether the signed-in user's account was not deleted.
create or replace function private.account_is_kept()
 returns boolean
 language sql
 stable security definer
 set search_path to ''
as $function$
  select not exists (select from public.profiles where id = auth.uid() and deleted_at is not null)
$function$;

-- channel: { name, kind, target, rules, least_percent }; secrets: { address, signing_secret }
-- returns: the id, or null where the workspace has `at_most` channels already
create or replace function private.add_alert_channel(workspace uuid, channel jsonb, secrets jsonb, at_most integer)
 returns uuid
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  added uuid;
begin
  perform private.require_admin_of(workspace);
  -- Locks the workspace, so that two channels added at once are both counted.
  perform from public.workspaces where id = workspace for no key update;
  if (select count(*) >= at_most from public.alert_channels where workspace_id = workspace) then
    return null;
  end if;
  insert into public.alert_channels (workspace_id, name, kind, target, rules, least_percent, created_by)
  select workspace, c.name, c.kind, c.target, c.rules, c.least_percent, auth.uid()
  from jsonb_to_record(channel) as c (name text, kind text, target text, rules text[], least_percent integer)
  returning id into added;
  insert into private.channel_secrets (workspace_id, channel_id, address, signing_secret)
  values (workspace, added, secrets ->> 'address', secrets ->> 'signing_secret');
  return added;
end
$function$;
grant execute on function private.add_alert_channel(uuid,jsonb,jsonb,integer) to outlay_service, service_role;

-- Adds postings to the budgets that they are in. Nearly every group is of one workspace.
create or replace function private.add_budget_spend(postings private.budget_posting[])
 returns void
 language plpgsql
 security definer
 set search_path to ''
 set plan_cache_mode to 'force_generic_plan'
as $function$
declare
  first constant uuid := (postings[1]).workspace_id;
  usd numeric;
begin
  select case when bool_and(p.workspace_id = first) then
    coalesce(sum(p.amount_usd) filter (where p.amount_usd > 0 and p.environment = 'live'), 0)
  end into usd
  from unnest(postings) as p;
  if usd is not null then
    perform private.add_spend_of(first, postings, usd);
  else
    perform private.add_spend_of(
      part.workspace_id, part.postings,
      (select coalesce(sum(p.amount_usd), 0) from unnest(part.postings) as p where p.amount_usd > 0 and p.environment = 'live')
    )
    from (
      select p.workspace_id, array_agg(p) as postings from unnest(postings) as p group by 1 order by 1
    ) as part;
  end if;
end
$function$;

-- Adds to the daily sums: to the rollup, then to its totals, each in the order of its key. Everything that is recorded or
-- corrected uses this function, so that the two always agree. Days before yesterday may be folded: their changes are added to the
-- folded sums, too.
create or replace function private.add_daily_spend(changes public.daily_spend[])
 returns void
 language plpgsql
 set search_path to ''
as $function$
begin
  insert into public.daily_spend as daily (
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )
  select
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  from unnest(changes)
  order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16
  on conflict (
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    (case when end_user is not null or tags is not null then private.attribution_of(end_user, tags) end)
  ) do update
    set amount_usd = daily.amount_usd + excluded.amount_usd,
        message_count = daily.message_count + excluded.message_count,
        item_count = daily.item_count + excluded.item_count,
        unpriced_count = daily.unpriced_count + excluded.unpriced_count,
        included_usd = daily.included_usd + excluded.included_usd;

  insert into public.daily_totals as total (
    workspace_id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count, included_usd
  )
  select c.workspace_id, c.environment, slice.dimension, c.day, slice.value, c.type,
    sum(c.amount_usd), sum(c.message_count), sum(c.unpriced_count), sum(c.included_usd)
  from unnest(changes) as c
  cross join lateral (values
    ('project', c.project_id::text), ('key', c.api_key_id::text), ('provider', c.provider),
    ('model', c.model), ('feature', c.feature)
  ) as slice (dimension, value)
  group by 1, 2, 3, 4, 5, 6
  order by 1, 2, 3, 4, 5, 6
  on conflict on constraint daily_totals_key do update
    set amount_usd = total.amount_usd + excluded.amount_usd,
        message_count = total.message_count + excluded.message_count,
        unpriced_count = total.unpriced_count + excluded.unpriced_count,
        included_usd = total.included_usd + excluded.included_usd;

  -- Apart, so that what names neither costs no more.
  if exists (select from unnest(changes) where end_user is not null or tags is not null) then
    insert into public.daily_totals as total (
      workspace_id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count, included_usd
    )
    select c.workspace_id, c.environment, slice.dimension, c.day, slice.value, c.type,
      sum(c.amount_usd), sum(c.message_count), sum(c.unpriced_count), sum(c.included_usd)
    from unnest(changes) as c
    cross join lateral (
      select 'user' as dimension, c.end_user as value where c.end_user is not null
      union all
      select 'tag', tag from unnest(c.tags) as tag
    ) as slice
    group by 1, 2, 3, 4, 5, 6
    order by 1, 2, 3, 4, 5, 6
    on conflict on constraint daily_totals_key do update
      set amount_usd = total.amount_usd + excluded.amount_usd,
          message_count = total.message_count + excluded.message_count,
          unpriced_count = total.unpriced_count + excluded.unpriced_count,
          included_usd = total.included_usd + excluded.included_usd;
  end if;

  if exists (select from unnest(changes) where day < (now() at time zone 'UTC')::date - 1) then
    perform private.add_folded_spend(changes);
  end if;
end
$function$;

-- Adds changes of the daily sums to the folded sums: those of days that are folded.
create or replace function private.add_folded_spend(changes public.daily_spend[])
 returns void
 language plpgsql
 set search_path to ''
as $function$
begin
  perform pg_advisory_xact_lock_shared(private.fold_lock(workspace_id))
  from (
    select distinct workspace_id from unnest(changes) where day < (now() at time zone 'UTC')::date - 1 order by 1
  ) as changed;
  -- Each statement sees what is committed at its beginning, so those below see what was folded before the lock was held.
  if not exists (
    select from unnest(changes) as c join public.spend_folds as f using (workspace_id) where c.day < f.folded_until
  ) then
    return;
  end if;

  -- The slices of changed months are out of date. Where an earlier change has said so, nothing is locked.
  with changed as materialized (
    select distinct c.workspace_id, date_trunc('month', c.day::timestamp)::date as month
    from unnest(changes) as c join public.spend_folds as f using (workspace_id)
    where c.day < f.folded_until
  ), added as (
    insert into public.sliced_months (workspace_id, month)
    select workspace_id, month from changed order by 1, 2
    on conflict do nothing
  ), locked as (
    select s.workspace_id, s.month
    from public.sliced_months as s join changed using (workspace_id, month)
    where s.state <> 'changed'
    order by 1, 2
    for update of s
  )
  update public.sliced_months as s set state = 'changed', slices = '{}'
  from locked where s.workspace_id = locked.workspace_id and s.month = locked.month;

  insert into public.monthly_spend as kept (
    workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )
  select c.workspace_id, date_trunc('month', c.day::timestamp)::date, c.project_id, c.api_key_id, c.type, c.provider, c.model,
    c.feature, c.source, c.environment, sum(c.amount_usd), sum(c.message_count), sum(c.item_count), sum(c.unpriced_count),
    c.end_user, c.tags, sum(c.included_usd)
  from unnest(changes) as c join public.spend_folds as f using (workspace_id)
  where c.day < f.folded_until
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16
  order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16
  on conflict (
    workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment,
    (case when end_user is not null or tags is not null then private.attribution_of(end_user, tags) end)
  ) do update
    set amount_usd = kept.amount_usd + excluded.amount_usd,
        message_count = kept.message_count + excluded.message_count,
        item_count = kept.item_count + excluded.item_count,
        unpriced_count = kept.unpriced_count + excluded.unpriced_count,
        included_usd = kept.included_usd + excluded.included_usd;

  insert into public.weekly_totals as kept (
    workspace_id, environment, dimension, first_day, value, type, amount_usd, message_count, unpriced_count, included_usd
  )
  select c.workspace_id, c.environment, slice.dimension, private.week_in_month(c.day), slice.value, c.type,
    sum(c.amount_usd), sum(c.message_count), sum(c.unpriced_count), sum(c.included_usd)
  from unnest(changes) as c join public.spend_folds as f using (workspace_id)
  cross join lateral (
    values ('project', c.project_id::text), ('key', c.api_key_id::text), ('provider', c.provider), ('model', c.model),
      ('feature', c.feature)
    union all
    select 'user', c.end_user where c.end_user is not null
    union all
    select 'tag', tag from unnest(c.tags) as tag
  ) as slice (dimension, value)
  where c.day < f.folded_until
  group by 1, 2, 3, 4, 5, 6
  order by 1, 2, 3, 4, 5, 6
  on conflict on constraint weekly_totals_key do update
    set amount_usd = kept.amount_usd + excluded.amount_usd,
        message_count = kept.message_count + excluded.message_count,
        unpriced_count = kept.unpriced_count + excluded.unpriced_count,
        included_usd = kept.included_usd + excluded.included_usd;

  insert into public.monthly_totals as kept (
    workspace_id, environment, dimension, first_day, value, type, amount_usd, message_count, unpriced_count, included_usd
  )
  select c.workspace_id, c.environment, slice.dimension, date_trunc('month', c.day::timestamp)::date, slice.value, c.type,
    sum(c.amount_usd), sum(c.message_count), sum(c.unpriced_count), sum(c.included_usd)
  from unnest(changes) as c join public.spend_folds as f using (workspace_id)
  cross join lateral (
    values ('project', c.project_id::text), ('key', c.api_key_id::text), ('provider', c.provider), ('model', c.model),
      ('feature', c.feature)
    union all
    select 'user', c.end_user where c.end_user is not null
    union all
    select 'tag', tag from unnest(c.tags) as tag
  ) as slice (dimension, value)
  where c.day < f.folded_until
  group by 1, 2, 3, 4, 5, 6
  order by 1, 2, 3, 4, 5, 6
  on conflict on constraint monthly_totals_key do update
    set amount_usd = kept.amount_usd + excluded.amount_usd,
        message_count = kept.message_count + excluded.message_count,
        unpriced_count = kept.unpriced_count + excluded.unpriced_count,
        included_usd = kept.included_usd + excluded.included_usd;

  -- A person who is erased leaves sums of nothing, which would keep the name, and slices that are out of date.
  if exists (select from unnest(changes) where end_user is not null) then
    delete from public.monthly_slices as kept
    using (
      select distinct c.workspace_id, c.end_user, date_trunc('month', c.day::timestamp)::date as month
      from unnest(changes) as c join public.spend_folds as f using (workspace_id)
      where c.end_user is not null and c.day < f.folded_until
    ) as c
    where kept.workspace_id = c.workspace_id and kept.end_user = c.end_user and kept.month = c.month;
    delete from public.monthly_spend as kept
    using (select distinct workspace_id, end_user from unnest(changes) where end_user is not null) as c
    where kept.workspace_id = c.workspace_id and kept.end_user = c.end_user
      and kept.amount_usd = 0 and kept.message_count = 0 and kept.item_count = 0 and kept.unpriced_count = 0
      and kept.included_usd = 0;
    delete from public.weekly_totals as kept
    using (
      select distinct workspace_id, environment, end_user, private.week_in_month(day) as first_day
      from unnest(changes) where end_user is not null
    ) as c
    where kept.workspace_id = c.workspace_id and kept.environment = c.environment and kept.dimension = 'user'
      and kept.first_day = c.first_day and kept.value = c.end_user
      and kept.amount_usd = 0 and kept.message_count = 0 and kept.unpriced_count = 0 and kept.included_usd = 0;
    delete from public.monthly_totals as kept
    using (
      select distinct workspace_id, environment, end_user, date_trunc('month', day::timestamp)::date as first_day
      from unnest(changes) where end_user is not null
    ) as c
    where kept.workspace_id = c.workspace_id and kept.environment = c.environment and kept.dimension = 'user'
      and kept.first_day = c.first_day and kept.value = c.end_user
      and kept.amount_usd = 0 and kept.message_count = 0 and kept.unpriced_count = 0 and kept.included_usd = 0;
  end if;
end
$function$;

-- Keeps the hash of the secret in a mail's link. Old mails of the week's report are removed with old links.
create or replace function private.add_report_link(workspace uuid, reader uuid, secret_hash bytea)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  delete from private.report_links as l
  where l.workspace_id = workspace and l.user_id = reader and l.created_at < now() - interval '1 year';
  delete from private.weekly_report_mails as m
  where m.workspace_id = workspace and m.user_id = reader and m.week < current_date - 365;
  insert into private.report_links (secret_hash, workspace_id, user_id)
  select add_report_link.secret_hash, r.workspace_id, r.user_id
  from public.weekly_reports as r
  where r.workspace_id = workspace and r.user_id = reader
  for key share;
end
$function$;
grant execute on function private.add_report_link(uuid,uuid,bytea) to outlay_service, service_role;

-- Adds postings of a workspace to the budgets that they are in, at once or, while they can reach no threshold, later.
-- usd: the sum of those that are live and cost something; a lower one is no reason to wait any longer
create or replace function private.add_spend_of(workspace uuid, postings private.budget_posting[], usd numeric)
 returns void
 language plpgsql
 security definer
 set search_path to ''
 set plan_cache_mode to 'force_generic_plan'
as $function$
declare
  added constant integer := cardinality(postings);
  meter private.budget_meters;
begin
  update private.budget_meters as m
  set left_usd = m.left_usd - usd, waiting_groups = m.waiting_groups + 1, waiting_count = m.waiting_count + added
  where m.workspace_id = workspace
  returning * into meter;
  if not found then
    return;
  end if;
  -- Whoever reads what is spent adds up what waits: not more than 256 postings.
  if meter.left_usd > 0 and meter.valid_until > clock_timestamp() and meter.waiting_count <= 256 then
    insert into private.waiting_spend as w (workspace_id, place, postings)
    values (workspace, meter.waiting_groups - 1, add_spend_of.postings)
    on conflict (workspace_id, place) do update set postings = excluded.postings;
    return;
  end if;
  update private.budget_meters as m set waiting_groups = m.waiting_groups - 1 where m.workspace_id = workspace;
  perform private.count_spend(workspace, postings);
  if meter.left_usd <= 0 or meter.valid_until <= clock_timestamp() then
    select * into meter.left_usd, meter.valid_until from private.measure_budgets(workspace);
    update private.budget_meters as m set left_usd = meter.left_usd, valid_until = meter.valid_until
    where m.workspace_id = workspace;
  end if;
end
$function$;

-- Counts one attempt against every quota, or against none if one of them is full.
-- quotas: [{ subject: hex, limit, window_ms }]
-- returns: null if the attempt is admitted, otherwise { limit, window_ms, wait_ms } of the quota that frees last
create or replace function private.admit_attempt(quotas jsonb)
 returns jsonb
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  now_at timestamptz;
  quota record;
  refusal jsonb;
begin
  -- Locked in order of the subjects, so that two attempts cannot deadlock; the time is taken afterwards.
  for quota in
    select decode(value ->> 'subject', 'hex') as subject from jsonb_array_elements(quotas) order by 1
  loop
    insert into private.throttle_windows as t (subject) values (quota.subject)
    on conflict (subject) do update set moments = t.moments;
  end loop;
  now_at := clock_timestamp();

  refusal := private.full_quota(quotas, now_at);
  if refusal is not null then
    return refusal;
  end if;

  update private.throttle_windows as t
  set moments = array(
        select moment from unnest(t.moments) as moment
        where moment > now_at - q.window_ms * interval '1 millisecond'
        order by moment
      ) || now_at,
      ends_at = now_at + q.window_ms * interval '1 millisecond'
  from jsonb_to_recordset(quotas) as q (subject text, "limit" integer, window_ms bigint)
  where t.subject = decode(q.subject, 'hex');

  delete from private.throttle_windows
  where subject in (
    select subject from private.throttle_windows where ends_at < now_at order by ends_at limit 20 for update skip locked
  );
  return null;
end
$function$;
grant execute on function private.admit_attempt(jsonb) to outlay_service, service_role;

-- Stores the progress of a correction; when it is done, adds an entry to the audit log.
create or replace function private.advance_repricing(workspace uuid, repricing uuid, examined integer, changed integer, change numeric, at_moment timestamptz, at_id uuid, is_done boolean)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  with advanced as (
    update public.repricings
    set status = case when is_done then 'done' else 'running' end,
        finished_at = case when is_done then now() end,
        examined_count = examined_count + examined,
        changed_count = changed_count + changed,
        change_usd = change_usd + change,
        cursor_at = coalesce(at_moment, cursor_at),
        cursor_id = coalesce(at_id, cursor_id)
    where workspace_id = workspace and id = repricing
    returning *
  )
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, after)
  select workspace_id, requested_by, requested_by_email, 'messages.repriced', 'repricing ' || id, jsonb_build_object(
    'provider', provider, 'from', from_at, 'includes_priced', includes_priced,
    'examined', examined_count, 'changed', changed_count, 'change_usd', trim_scale(change_usd)
  )
  from advanced where is_done
$function$;
grant execute on function private.advance_repricing(uuid,uuid,integer,integer,numeric,timestamptz,uuid,boolean) to outlay_service, service_role;

create or replace function private.advance_subscription(workspace uuid, subscription uuid, booked integer, next_day date)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  update public.recurring_subscriptions
  set booked_periods = booked, next_on = next_day
  where workspace_id = workspace and id = subscription
$function$;
grant execute on function private.advance_subscription(uuid,uuid,integer,date) to outlay_service, service_role;

-- Adds totals to their series. A total that is not later than those that are known was told before and is left out.
--
-- points: [{ series, start, time, value }], decimal text
-- returns: [{ series, start, settled, pending: [{ time, value }] }], for each series that was named
create or replace function private.advance_totals(workspace uuid, env text, points jsonb)
 returns jsonb
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  answer jsonb;
begin
  -- A process that is this long silent has ended; its totals will not be compared again.
  delete from private.running_totals
  where ctid in (
    select ctid from private.running_totals where updated_at < now() - interval '40 days' limit 100 for update skip locked
  );

  insert into private.running_totals (workspace_id, environment, series, start_ns)
  select distinct workspace, env, p.series, p.start
  from jsonb_to_recordset(points) as p (series text, start numeric)
  order by p.series, p.start
  on conflict do nothing;

  perform from private.running_totals as t
  where t.workspace_id = workspace and t.environment = env
    and (t.series, t.start_ns) in (select p.series, p.start from jsonb_to_recordset(points) as p (series text, start numeric))
  order by t.series, t.start_ns
  for update;

  update private.running_totals as t
  set updated_at = now(), pending = t.pending || later.totals
  from (
    select p.series, p.start, jsonb_agg(jsonb_build_object('time', p.time::text, 'value', p.value::text) order by p.time) as totals
    from (
      select distinct on (series, start, time) series, start, time, value
      from jsonb_to_recordset(points) as one (series text, start numeric, time numeric, value numeric)
      order by series, start, time, value
    ) as p
    join private.running_totals as known
      on known.workspace_id = workspace and known.environment = env and known.series = p.series and known.start_ns = p.start
    where p.time > greatest(known.settled_ns, coalesce((known.pending -> -1 ->> 'time')::numeric, 0))
    group by p.series, p.start
  ) as later
  where t.workspace_id = workspace and t.environment = env and t.series = later.series and t.start_ns = later.start;

  select coalesce(jsonb_agg(jsonb_build_object(
    'series', t.series, 'start', t.start_ns::text, 'settled', t.settled::text, 'pending', t.pending
  )), '[]') into answer
  from private.running_totals as t
  where t.workspace_id = workspace and t.environment = env
    and (t.series, t.start_ns) in (select p.series, p.start from jsonb_to_recordset(points) as p (series text, start numeric));
  return answer;
end
$function$;
grant execute on function private.advance_totals(uuid,text,jsonb) to outlay_service, service_role;

-- Raises the alerts of budgets whose present period has reached a threshold, each once in a period: what was raised before
-- is not raised again, also after a correction lowered the spend.
--
-- A caller that has just counted postings holds the meter of the workspace, so that two at once cannot each see too little.
-- is_quiet: recorded only, and told to nobody.
-- returns: how many were raised
create or replace function private.alert_on_budgets(workspaces uuid[], budgets uuid[], is_quiet boolean default false)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  raised jsonb;
  -- One instant, which Postgres can merge into the statement with the functions that use it.
  at timestamptz := clock_timestamp();
begin
  select jsonb_agg(jsonb_build_object(
    'workspace_id', b.workspace_id, 'rule', 'budget_threshold', 'subject_type', 'budget', 'subject_id', b.id,
    'period', spend.period_from, 'level', threshold.level, 'is_quiet', alert_on_budgets.is_quiet,
    'details', jsonb_strip_nulls(jsonb_build_object(
      'budget', b.name, 'scope_type', b.scope_type, 'scope_value', b.scope_value, 'percent', coalesce(threshold.percent, trim_scale(round(threshold.usd * 100 / present.limit_usd, 2)))::text,
      'threshold_usd', trim_scale(threshold.usd)::text, 'amount_usd', trim_scale(present.limit_usd)::text,
      'spent_usd', trim_scale(spend.spent_usd)::text, 'period_from', spend.period_from,
      'period_until', private.budget_period_end(b, spend.period_from), 'time_zone', b.time_zone
    ))
  ) order by b.workspace_id, b.id, threshold.usd)
  into raised
  from public.budgets as b
  cross join lateral (
    select private.budget_period(b, at) as period_from, private.budget_limit(b, at) as limit_usd
  ) as present
  join public.budget_counts as spend
    on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
      and spend.period_from = present.period_from
  cross join lateral (
    select trim_scale(percent)::text as level, trim_scale(percent) as percent, present.limit_usd * percent / 100 as usd
    from unnest(b.alert_percents) as percent
    union all
    select '$' || trim_scale(usd), null, usd from unnest(b.alert_amounts) as usd
  ) as threshold
  where b.workspace_id = any (workspaces) and b.id = any (budgets)
    and spend.spent_usd >= threshold.usd
    -- A value rather than a join, so that the few that are asked for are looked up by the index.
    and (
      select a.id from public.alerts as a
      where a.workspace_id = b.workspace_id and a.rule = 'budget_threshold' and a.subject_id = b.id::text
        and a.period = spend.period_from and a.level = threshold.level
    ) is null;
  if raised is not null then
    perform private.raise_alerts(raised);
  end if;
  update public.budget_counts as spend
  set alert_at_usd = private.next_threshold(b, spend.spent_usd, at)
  from public.budgets as b
  where b.workspace_id = any (workspaces) and b.id = any (budgets)
    and spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
    and spend.period_from = private.budget_period(b, at)
    and spend.alert_at_usd is distinct from private.next_threshold(b, spend.spent_usd, at);
  return coalesce(jsonb_array_length(raised), 0);
end
$function$;

-- A lower limit or a new threshold may be reached by what is spent already. What is being recorded meanwhile is counted
-- first, or sees the new limit: changed_budgets_take_what_waits holds the meter.
create or replace function private.alert_on_changed_budget()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform private.alert_on_budgets(array[new.workspace_id], array[new.id]);
  return null;
end
$function$;

-- Raises what time alone makes true: a period begins with spend that was booked ahead, or a raise ends.
-- returns: how many alerts were raised
create or replace function private.alert_on_due_budgets()
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  raised integer;
begin
  perform private.count_waiting_spend(m.workspace_id)
  from (
    select workspace_id from private.budget_meters
    where valid_until <= clock_timestamp() and waiting_groups > 0 order by workspace_id
  ) as m;
  select private.alert_on_budgets(array_agg(distinct b.workspace_id), array_agg(b.id)) into raised
  from public.budgets as b
  join public.budget_counts as spend
    on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
      and spend.period_from = private.budget_period(b, clock_timestamp());
  return raised;
end
$function$;
grant execute on function private.alert_on_due_budgets() to outlay_service, service_role;

-- Every rule with its default parameter. All rules are on.
create or replace function private.alert_rule_defaults()
 returns table(rule text, parameter numeric)
 language sql
 immutable
 set search_path to ''
as $function$
  values
    ('budget_threshold', null::numeric), ('budget_forecast', 100), ('budget_pace', 150), ('unusual_day', 10),
    ('key_limit', 80), ('key_expiry', 7), ('unpriced_usage', null), ('silent_source', 24)
$function$;
grant execute on function private.alert_rule_defaults() to authenticated, outlay_service, service_role;

-- The parameter of a rule where it is on in a workspace, 0 for a rule without one; null where it is off.
create or replace function private.alert_rule_parameter(workspace uuid, of_rule text)
 returns numeric
 language sql
 stable security definer
 set search_path to ''
as $function$
  select case when coalesce(s.is_on, true) then coalesce(s.parameter, d.parameter, 0) end
  from private.alert_rule_defaults() as d
  left join public.alert_rules as s on s.workspace_id = workspace and s.rule = d.rule
  where d.rule = of_rule
$function$;

-- Changes what postings cost and, in the same transaction, the sums they are part of.
-- changes: [{ id, part, occurred_at, amount_usd, cost_status, price, list_price_usd }]. Returns the change of the total, USD.
create or replace function private.apply_repricing(workspace uuid, changes jsonb)
 returns numeric
 language plpgsql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
as $function$
declare
  per_day public.daily_spend[];
  budgeted private.budget_posting[];
  total numeric;
begin
  perform private.hold_budgets(array[workspace]);
  with change as (
    select id, part, occurred_at, amount_usd, cost_status, price, list_price_usd
    from jsonb_to_recordset(changes) as c (
      id uuid, part smallint, occurred_at timestamptz, amount_usd numeric, cost_status text, price jsonb,
      list_price_usd numeric
    )
  ), difference as (
    select m.workspace_id, m.occurred_at, m.created_at, m.project_id, m.api_key_id, m.type, m.provider, m.model, m.feature,
      m.source, m.environment, m.end_user, m.tags, c.amount_usd - m.amount_usd as amount_usd,
      coalesce(c.list_price_usd, 0) - coalesce(m.list_price_usd, 0) as included_usd,
      (c.cost_status = 'unpriced')::int - (m.cost_status = 'unpriced')::int as unpriced_count
    from public.messages as m
    join change as c using (id, part, occurred_at)
    where m.workspace_id = workspace
  ), updated as (
    update public.messages as m
    set amount_usd = c.amount_usd, cost_status = c.cost_status, price = c.price, list_price_usd = c.list_price_usd
    from change as c
    where m.workspace_id = workspace and m.id = c.id and m.part = c.part and m.occurred_at = c.occurred_at
  ), per_key as (
    insert into public.key_spend as spend (workspace_id, api_key_id, month, amount_usd, message_count)
    select workspace_id, api_key_id, date_trunc('month', created_at)::date, sum(amount_usd), 0
    from difference
    where api_key_id is not null
    group by 1, 2, 3
    order by 1, 2, 3
    on conflict (workspace_id, api_key_id, month) do update set amount_usd = spend.amount_usd + excluded.amount_usd
  )
  select
    (
      select array_agg(row(
        workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
        amount_usd, 0, 0, unpriced_count, end_user, tags, included_usd
      )::public.daily_spend)
      from (
        select workspace_id, occurred_at::date as day, project_id, api_key_id, type, provider, model, feature, source,
          environment, end_user, tags, sum(amount_usd) as amount_usd, sum(unpriced_count) as unpriced_count,
          sum(included_usd) as included_usd
        from difference
        group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
      ) as sums
    ),
    (
      select array_agg(row(
        workspace_id, environment, occurred_at, type, amount_usd, project_id, api_key_id, provider, model, feature, end_user, tags
      )::private.budget_posting)
      from difference
      where exists (select from public.budgets where budgets.workspace_id = difference.workspace_id)
    ),
    (select coalesce(sum(amount_usd), 0) from difference)
  into per_day, budgeted, total;
  perform private.add_daily_spend(per_day);
  if budgeted is not null then
    perform private.add_budget_spend(budgeted);
  end if;
  return total;
end
$function$;
grant execute on function private.apply_repricing(uuid,jsonb) to outlay_service, service_role;

-- Whether each of these is an address or a range of addresses.
create or replace function private.are_addresses(list text[])
 returns boolean
 language plpgsql
 immutable
 set search_path to ''
as $function$
begin
  perform entry::inet from unnest(list) as entry;
  return cardinality(list) <= 100 and array_position(list, null) is null;
exception when invalid_text_representation then
  return false;
end
$function$;
grant execute on function private.are_addresses(text[]) to authenticated, outlay_service, service_role;

-- A key may be limited to some users: it records for them alone, and reads only what was recorded for them.
-- These checks apply to every writer of the row: one value that the guard cannot read would fail all calls of the same
-- group.
--
-- Whether these are conditions as the guard reads them: lists of names, and nothing else.
create or replace function private.are_key_conditions(conditions jsonb)
 returns boolean
 language sql
 immutable
 set search_path to ''
as $function$
  select coalesce(bool_and(
    name in ('project_slugs', 'deny_project_slugs', 'features', 'sources', 'users')
    and jsonb_typeof(list) = 'array'
    and jsonb_array_length(list) <= 100
    and not exists (
      select from jsonb_array_elements(list) as item
      where jsonb_typeof(item) <> 'string' or char_length(item #>> '{}') not between 1 and case name when 'users' then 255 else 128 end
    )
    and (name <> 'sources' or list <@ '["api", "mcp", "manual", "import"]')
  ), true)
  from (
    select name, case when jsonb_typeof(list) = 'array' then list else '[null]' end as list
    from jsonb_each(conditions) as members (name, list)
  ) as members
$function$;
grant execute on function private.are_key_conditions(jsonb) to authenticated, outlay_service, service_role;

-- Whether these are a source's settings as the service reads them.
create or replace function private.are_source_settings(settings jsonb)
 returns boolean
 language sql
 immutable
 set search_path to ''
as $function$
  select jsonb_typeof(settings) = 'object' and coalesce((
    select bool_and(case
      when name in ('program', 'project_attribute', 'default_project', 'feature_attribute', 'default_feature')
        then jsonb_typeof(value) = 'string' and char_length(value #>> '{}') between 1 and 128
      when name in ('trusted_cost', 'subscription_covered') then jsonb_typeof(value) = 'boolean'
      when name = 'tags' then jsonb_typeof(value) = 'array' and jsonb_array_length(value) <= 10 and not exists (
        select from jsonb_array_elements(value) as tag
        where case when jsonb_typeof(tag) = 'object' then
          coalesce(jsonb_typeof(tag -> 'name') <> 'string' or jsonb_typeof(tag -> 'attribute') <> 'string'
            or char_length(tag ->> 'name') not between 1 and 64 or char_length(tag ->> 'attribute') not between 1 and 128
            or tag - 'name' - 'attribute' <> '{}', true)
        else true end
      )
      else false
    end)
    from jsonb_each(case when jsonb_typeof(settings) = 'object' then settings else '{}' end) as members (name, value)
  ), true)
$function$;
grant execute on function private.are_source_settings(jsonb) to authenticated, outlay_service, service_role;

-- question: { nonce: hex, user_id, session_id, client_id, redirect_uri, state, code_challenge, resource, wanted }
-- The page can be opened any number of times; the latest twenty of a user's open requests can be answered.
create or replace function private.ask_consent(question jsonb)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  delete from private.oauth_authorizations
  where id in (
    select id from private.oauth_authorizations
    where user_id = (question ->> 'user_id')::uuid and decided_at is null
    order by expires_at desc offset 19
  );
  update private.oauth_clients set last_asked_at = now() where id = question ->> 'client_id';
  insert into private.oauth_authorizations
    (nonce, user_id, session_id, client_id, redirect_uri, state, code_challenge, resource, wanted, expires_at)
  select decode(nonce, 'hex'), user_id, session_id, client_id, redirect_uri, state, code_challenge, resource, wanted,
    clock_timestamp() + interval '10 minutes'
  from jsonb_to_record(question) as q (
    nonce text, user_id uuid, session_id uuid, client_id text, redirect_uri text, state text, code_challenge text,
    resource text, wanted text[]
  )
$function$;
grant execute on function private.ask_consent(jsonb) to outlay_service, service_role;

-- A short value that stands for a person and tags in the key of the rollup. The names together may be longer than a row of an
-- index can be.
create or replace function private.attribution_of(end_user text, tags text[])
 returns bytea
 language plpgsql
 immutable
 set search_path to ''
as $function$
begin
  return sha256(convert_to(jsonb_build_array(end_user, tags)::text, 'UTF8'));
end
$function$;

-- Adds an event of an account's second factors to the log of every workspace that the account can reach.
create or replace function private.audit_account(holder uuid, holder_email text, done text, caller_address text)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, address)
  select m.workspace_id, holder, holder_email, done, split_part(done, '.', 1) || ' ' || holder, caller_address
  from public.workspace_members as m
  where m.user_id = holder
$function$;
grant execute on function private.audit_account(uuid,text,text,text) to outlay_service, service_role;

-- The audit log names a rule by its name.
create or replace function private.audit_alert_rule()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  before jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) - 'changed_at' end;
begin
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, before, after, address)
  values (
    new.workspace_id, auth.uid(), auth.email(), 'alert_rule.changed', 'alert_rule ' || new.rule, before,
    to_jsonb(new) - 'changed_at', nullif(current_setting('request.address', true), '')
  );
  return null;
end
$function$;

-- Adds an entry to the audit log for every change of a row, by the user in the transaction's claims. It is a trigger, so
-- that no statement can change the row without an entry. The trigger's argument is the name of the subject in the log.
--
-- A workspace's row is identified by its id, a member's by the user's id with their e-mail address, which outlives the
-- membership. Rows that are deleted together with their workspace get no entry.
create or replace function private.audit_change()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  before jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  after jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
  changed jsonb := coalesce(after, before);
  workspace uuid := (coalesce(changed ->> 'workspace_id', changed ->> 'id'))::uuid;
  member jsonb;
begin
  if tg_table_name = 'workspace_members' then
    member := jsonb_build_object('email', (select p.email from public.profiles as p where p.id = (changed ->> 'user_id')::uuid));
    before := before || member;
    after := after || member;
  end if;
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, before, after, address)
  select
    workspace, auth.uid(), auth.email(),
    tg_argv[0] || case tg_op when 'INSERT' then '.created' when 'UPDATE' then '.changed' else '.deleted' end,
    tg_argv[0] || ' ' || coalesce(changed ->> 'id', changed ->> 'user_id', ''),
    before, after, nullif(current_setting('request.address', true), '')
  where exists (select from public.workspaces as w where w.id = workspace);
  return null;
end
$function$;

-- The audit log says that a person was erased, and not who.
create or replace function private.audit_erasure()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, after, address)
  values (
    new.workspace_id, auth.uid(), auth.email(), 'person.erased', 'person ' || new.id,
    jsonb_build_object('pseudonym', new.pseudonym), nullif(current_setting('request.address', true), '')
  );
  return null;
end
$function$;

-- The audit log says who voided which cost, and why. Reads the row again, which has by then what was recorded in its place.
create or replace function private.audit_void()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, after, address)
  select
    v.workspace_id, auth.uid(), auth.email(),
    case when v.corrected_by is null then 'message.voided' else 'message.corrected' end, 'message ' || v.message_id,
    jsonb_strip_nulls(jsonb_build_object('void_id', v.void_id, 'corrected_by', v.corrected_by, 'reason', v.reason)),
    nullif(current_setting('request.address', true), '')
  from public.message_voids as v
  where v.workspace_id = new.workspace_id and v.message_id = new.message_id;
  return null;
end
$function$;

-- Waits until what is being recorded in the workspace is there, and decides from which period on a new budget counts.
create or replace function private.begin_budget()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || new.workspace_id, 0));
  -- Later it would be added to the new budget, too, which counts it now.
  perform private.count_waiting_spend(new.workspace_id);
  new.counted_from := case when new.period = 'once' then new.starts_on else private.budget_period(
    new, greatest(clock_timestamp(), new.starts_on::timestamp at time zone new.time_zone)
  ) end;
  if new.counted_from is null then
    raise exception 'the budget ends before it begins to count' using errcode = 'invalid_parameter_value';
  end if;
  return new;
end
$function$;

-- Queues a test of a channel and takes it at once, for an admin who waits for its outcome. It is tried once.
-- returns: as describe_delivery
create or replace function private.begin_channel_test(workspace uuid, channel uuid, lease_seconds integer)
 returns jsonb
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  queued public.alert_deliveries;
begin
  perform private.require_admin_of(workspace);
  insert into public.alert_deliveries
    (workspace_id, channel_id, channel_name, channel_kind, attempts, give_up_at, lease, leased_until)
  select c.workspace_id, c.id, c.name, c.kind, 1, now(), gen_random_uuid(), now() + lease_seconds * interval '1 second'
  from public.alert_channels as c
  where c.workspace_id = workspace and c.id = channel
  returning * into queued;
  return private.describe_delivery(queued);
end
$function$;
grant execute on function private.begin_channel_test(uuid,uuid,integer) to outlay_service, service_role;

-- The limit of a budget at an instant, USD.
create or replace function private.budget_limit(budget public.budgets, instant timestamptz)
 returns numeric
 language sql
 stable
return (case when (((instant at time zone (budget).time_zone))::date <= (budget).raised_until) then (budget).raised_amount else (budget).amount end * (budget).usd_rate)
as ;
grant execute on function private.budget_limit(public.budgets,timestamptz) to authenticated, outlay_key, outlay_service;

-- The instant whose period a budget shows: now, while it is not before its start or after its end.
create or replace function private.budget_now(budget public.budgets)
 returns timestamptz
 language sql
 stable
begin atomic
 select greatest((((budget).starts_on)::timestamp without time zone at time zone (budget).time_zone), least(now(), (((((budget).ends_on + 1))::timestamp without time zone at time zone (budget).time_zone) - '00:00:00.000001'::interval))) as "greatest";
end
as ;
grant execute on function private.budget_now(public.budgets) to authenticated, outlay_key, outlay_service;

-- The first day of the period that an instant lies in; null where the budget does not count it.
create or replace function private.budget_period(budget public.budgets, instant timestamptz)
 returns date
 language sql
 stable
return case when ((((instant at time zone (budget).time_zone))::date < (budget).starts_on) or (((instant at time zone (budget).time_zone))::date > (budget).ends_on)) then null::date when ((budget).period = 'once') then (budget).starts_on when ((budget).period = 'week') then (((instant at time zone (budget).time_zone))::date - ((((extract(isodow from (instant at time zone (budget).time_zone)))::integer - (budget).week_start) + 7) % 7)) else (date_trunc((budget).period, (instant at time zone (budget).time_zone)))::date end
as ;
grant execute on function private.budget_period(public.budgets,timestamptz) to authenticated, outlay_key, outlay_service;

-- The day after the last of the period that begins on a day.
create or replace function private.budget_period_end(budget public.budgets, first_day date)
 returns date
 language sql
 stable
return case (budget).period when 'once' then ((budget).ends_on + 1) when 'day' then (first_day + 1) when 'week' then (first_day + 7) else ((first_day + case (budget).period when 'month' then '1 mon'::interval when 'quarter' then '3 mons'::interval else '1 year'::interval end))::date end
as ;
grant execute on function private.budget_period_end(public.budgets,date) to authenticated, outlay_key, outlay_service;

-- The period of a budget that an instant lies in, with its limit and its live spend, as a decision about a message needs
-- them; no row for an instant that the budget does not count. The limit is the one of now, or of the period's first or last
-- moment where that is over or still to come. Without a security context of its own, so that Postgres merges it into the
-- statements that use it.
-- period: { budget_id, from, until: days; starts_at, ends_at: ms since 1970; limit_usd, spent_usd: exact text }
create or replace function private.budget_periods(budget public.budgets, instant timestamptz)
 returns table(period jsonb)
 language sql
 stable
begin atomic
 select jsonb_build_object('budget_id', (budget_periods.budget).id, 'from', days.first_day, 'until', days.next_day, 'starts_at', (floor((extract(epoch from instants.starts_at) * (1000)::numeric)))::bigint, 'ends_at', (floor((extract(epoch from instants.ends_at) * (1000)::numeric)))::bigint, 'limit_usd', (trim_scale(private.budget_limit(budget_periods.budget, greatest(instants.starts_at, least(now(), (instants.ends_at - '00:00:00.000001'::interval))))))::text, 'spent_usd', (coalesce(( select trim_scale(spend.spent_usd) as trim_scale
            from public.budget_counts spend
           where ((spend.workspace_id = (budget_periods.budget).workspace_id) and (spend.budget_id = (budget_periods.budget).id) and (spend.environment = 'live') and (spend.period_from = days.first_day))), (0)::numeric))::text) as jsonb_build_object
    from ((( select private.budget_period(budget_periods.budget, budget_periods.instant) as first_day
          offset 0) first
      cross join lateral ( select first.first_day,
             private.budget_period_end(budget_periods.budget, first.first_day) as next_day) days)
      cross join lateral ( select ((days.first_day)::timestamp without time zone at time zone (budget_periods.budget).time_zone) as starts_at,
             ((days.next_day)::timestamp without time zone at time zone (budget_periods.budget).time_zone) as ends_at) instants)
   where (days.first_day >= (budget_periods.budget).counted_from);
end
as ;

-- Budgets that are to be judged, and notes that they are being judged now.
-- returns: [{ workspace_id, id, name, scope_type, scope_value, period, period_from, period_until, time_zone, local_ms,
--   limit_usd, spent_usd, booked_usd, before_usd, forecast_percent, pace_percent, known }]. `before_usd`: at the same point of
--   the last period, null where there was none; the percentages are null where a rule is off; `known`: the period of its state by rule
create or replace function private.budgets_to_judge(at timestamptz, at_most integer)
 returns jsonb
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  answer jsonb;
begin
  with due as materialized (
    select b as budget, present.period_from, present.limit_usd, coalesce(spend.spent_usd, 0) as spent_usd,
      coalesce(spend.booked_usd, 0) as booked_usd, at at time zone b.time_zone as local_time
    from public.budgets as b
    cross join lateral (
      select private.budget_period(b, at) as period_from, private.budget_limit(b, at) as limit_usd
    ) as present
    left join public.budget_spend as spend
      on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
        and spend.period_from = present.period_from
    left join private.budget_checks as c on c.workspace_id = b.workspace_id and c.budget_id = b.id
    where c.checked_at is null or c.checked_at < at - interval '1 hour'
      or (c.period_from, c.spent_usd, c.limit_usd)
        is distinct from (present.period_from, coalesce(spend.spent_usd, 0), present.limit_usd)
    order by c.checked_at nulls first
    limit at_most
  ), noted as (
    insert into private.budget_checks as c (workspace_id, budget_id, period_from, spent_usd, limit_usd, checked_at)
    select (budget).workspace_id, (budget).id, period_from, spent_usd, limit_usd, at from due
    on conflict (workspace_id, budget_id) do update
    set period_from = excluded.period_from, spent_usd = excluded.spent_usd, limit_usd = excluded.limit_usd,
      checked_at = excluded.checked_at
  )
  select jsonb_agg(jsonb_build_object(
    'workspace_id', (budget).workspace_id, 'id', (budget).id, 'name', (budget).name, 'scope_type', (budget).scope_type,
    'scope_value', (budget).scope_value, 'period', (budget).period, 'period_from', due.period_from,
    'period_until', private.budget_period_end(budget, due.period_from), 'time_zone', (budget).time_zone,
    'local_ms', (extract(epoch from due.local_time) * 1000)::bigint::text,
    'limit_usd', trim_scale(due.limit_usd)::text, 'spent_usd', trim_scale(due.spent_usd)::text,
    'booked_usd', trim_scale(due.booked_usd)::text,
    'before_usd', case when rule.pace_percent is not null and due.spent_usd > 0 and last.period_from is not null then
      trim_scale(round(private.estimate_budget_spend(
        budget, last.period_from::timestamp at time zone (budget).time_zone,
        -- The end of the last period, where it is shorter.
        least(last.period_from + (due.local_time - due.period_from::timestamp), due.period_from::timestamp) at time zone (budget).time_zone
      ), 18))::text
    end,
    'forecast_percent', rule.forecast_percent::text, 'pace_percent', rule.pace_percent::text,
    'known', (
      select coalesce(jsonb_object_agg(s.rule, s.period), '{}') from public.alert_states as s
      where s.workspace_id = (budget).workspace_id and s.subject_id = (budget).id::text
        and s.rule in ('budget_forecast', 'budget_pace')
    )
  ))
  into answer
  from due
  cross join lateral (
    select private.alert_rule_parameter((budget).workspace_id, 'budget_forecast') as forecast_percent,
      private.alert_rule_parameter((budget).workspace_id, 'budget_pace') as pace_percent
  ) as rule
  cross join lateral (
    select case when (budget).period <> 'once' then private.budget_period(
      budget, due.period_from::timestamp at time zone (budget).time_zone - interval '1 microsecond'
    ) end as period_from
  ) as last;
  return coalesce(answer, '[]');
end
$function$;
grant execute on function private.budgets_to_judge(timestamptz,integer) to outlay_service, service_role;

-- Cancels what a channel has not sent, and what it has collected. What is being sent at this moment ends by itself.
create or replace function private.cancel_alert_deliveries(workspace uuid, channel uuid)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  update public.alert_deliveries as d
  set state = 'cancelled'
  where d.channel_id = channel and d.workspace_id = workspace and d.lease is null
    and (d.state = 'pending' or d.state = 'collected' and d.digest_id is null)
$function$;

-- Changes the fields that are given. A channel that is enabled again sends what is left in its queue at once; one that a
-- person disables drops it.
--
-- changes: { name, target, rules, least_percent, is_disabled, address }, any of them
create or replace function private.change_alert_channel(workspace uuid, channel uuid, changes jsonb)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform private.require_admin_of(workspace);
  update public.alert_channels as c
  set name = coalesce(changes ->> 'name', c.name),
    target = coalesce(changes ->> 'target', c.target),
    rules = case
      when jsonb_typeof(changes -> 'rules') = 'array' then array(select jsonb_array_elements_text(changes -> 'rules'))
      when changes ? 'rules' then null
      else c.rules
    end,
    least_percent = case when changes ? 'least_percent' then (changes ->> 'least_percent')::integer else c.least_percent end,
    secret_set_at = case when changes ? 'address' then now() else c.secret_set_at end
  where c.workspace_id = workspace and c.id = channel;

  update private.channel_secrets
  set address = changes ->> 'address'
  where workspace_id = workspace and channel_id = channel and changes ? 'address';

  if changes -> 'is_disabled' = 'true' then
    update public.alert_channels as c
    set disabled_at = coalesce(c.disabled_at, now()), disabled_reason = 'by_admin', tell_owners_at = null
    where c.workspace_id = workspace and c.id = channel and c.disabled_reason is distinct from 'by_admin';
    perform private.cancel_alert_deliveries(workspace, channel);
  elsif changes -> 'is_disabled' = 'false' then
    update public.alert_channels as c
    set disabled_at = null, disabled_reason = null, failing_since = null, tell_owners_at = null
    where c.workspace_id = workspace and c.id = channel and c.disabled_at is not null;
    if found then
      update public.alert_deliveries as d
      set next_attempt_at = now()
      where d.channel_id = channel and d.workspace_id = workspace and d.state = 'pending' and d.lease is null;
    end if;
  end if;
end
$function$;
grant execute on function private.change_alert_channel(uuid,uuid,jsonb) to outlay_service, service_role;

-- A budget of a project or key names one of its own workspace by id. Other values would match nothing.
create or replace function private.check_budget_scope()
 returns trigger
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
begin
  if new.scope_type = 'project' and not exists (
    select from public.projects where workspace_id = new.workspace_id and id::text = new.scope_value
  ) or new.scope_type = 'key' and not exists (
    select from public.api_keys where workspace_id = new.workspace_id and id::text = new.scope_value
  ) then
    raise exception 'the workspace has no % %', new.scope_type, new.scope_value using errcode = 'foreign_key_violation';
  end if;
  return new;
end
$function$;

-- A time zone that Postgres does not know would make every message fail.
create or replace function private.check_budget_time_zone()
 returns trigger
 language plpgsql
 stable
 set search_path to ''
as $function$
begin
  if not exists (select from pg_catalog.pg_timezone_names where name = new.time_zone) then
    raise exception 'there is no time zone %', new.time_zone using errcode = 'invalid_parameter_value';
  end if;
  return new;
end
$function$;

-- Takes at most `room` deliveries that are due, and leases them. A channel has at most `room_channel` leased deliveries, and a
-- failing channel one. All failing channels together have at most `room_failing`, so that receivers that hang do not delay
-- the others. Of a channel's deliveries about one rule and subject, only the oldest is taken.
-- returns: as describe_delivery
create or replace function private.claim_alert_deliveries(room integer, room_failing integer, room_channel integer, lease_seconds integer)
 returns jsonb
 language plpgsql
 security definer
 set search_path to ''
 set enable_seqscan to 'off'
 set enable_hashjoin to 'off'
 set enable_mergejoin to 'off'
as $function$
declare
  at_moment constant timestamptz := clock_timestamp();
  taken jsonb;
begin
  with recursive waiting as (
    -- The channels with anything in the queue, each found by one look into the index.
    (select d.channel_id from public.alert_deliveries as d where d.state = 'pending' order by d.channel_id limit 1)
    union all
    select (
      select d.channel_id from public.alert_deliveries as d
      where d.state = 'pending' and d.channel_id > waiting.channel_id
      order by d.channel_id limit 1
    )
    from waiting
    where waiting.channel_id is not null
  ), candidates as (
    select due.at, due.next_attempt_at, c.failing_since is not null as is_failing,
      row_number() over (partition by c.id order by due.next_attempt_at, due.number) as place
    from waiting
    join public.alert_channels as c on c.id = waiting.channel_id and c.disabled_at is null
    join public.workspaces as w on w.id = c.workspace_id and w.deleted_at is null
    cross join lateral (
      select d.ctid as at, d.number, d.next_attempt_at
      from public.alert_deliveries as d
      where d.channel_id = c.id and d.state = 'pending' and d.next_attempt_at <= at_moment
        and (d.leased_until is null or d.leased_until <= at_moment)
        and (d.ordered_by is null or d.number = (
          select first.number from public.alert_deliveries as first
          where first.channel_id = d.channel_id and first.ordered_by = d.ordered_by and first.state = 'pending'
          order by first.number limit 1
        ))
      order by d.next_attempt_at, d.number
      limit greatest(0, case when c.failing_since is null then room_channel else 1 end - (
        select count(*) from (
          select from public.alert_deliveries as held
          where held.channel_id = c.id and held.lease is not null and held.leased_until > at_moment
          order by held.leased_until limit room_channel
        ) as held
      ))
    ) as due
  ), ranked as (
    select at, is_failing,
      row_number() over (partition by is_failing order by place, next_attempt_at) as turn
    from candidates
  ), chosen as (
    select at from ranked
    where not is_failing or turn <= room_failing
    order by is_failing, turn
    limit room
  ), locked as (
    select d.ctid as at
    from chosen
    join public.alert_deliveries as d on d.ctid = chosen.at
    where d.state = 'pending' and d.next_attempt_at <= at_moment
      and (d.leased_until is null or d.leased_until <= at_moment)
    for update of d skip locked
  ), claimed as (
    update public.alert_deliveries as d
    set lease = gen_random_uuid(), leased_until = at_moment + lease_seconds * interval '1 second', attempts = d.attempts + 1
    from locked
    where d.ctid = locked.at
    returning d.*
  )
  select coalesce(jsonb_agg(private.describe_delivery(claimed::public.alert_deliveries) order by claimed.number), '[]')
  into taken
  from claimed;
  return taken;
end
$function$;
grant execute on function private.claim_alert_deliveries(integer,integer,integer,integer) to outlay_service, service_role;

-- Takes channels that the service disabled and whose owners have not been told yet; the next process may try in ten minutes.
-- Nobody is told after three days.
-- returns: [{ workspace_id, workspace: { slug, name }, channel: { id, name, kind, target }, reason, failing_since, owners }]
create or replace function private.claim_channel_notices(at_most integer)
 returns jsonb
 language sql
 security definer
 set search_path to ''
as $function$
  with due as (
    select c.workspace_id, c.id
    from public.alert_channels as c
    where c.tell_owners_at <= clock_timestamp()
      and not exists (select from public.workspaces as w where w.id = c.workspace_id and w.deleted_at is not null)
    order by c.tell_owners_at
    limit at_most
    for no key update skip locked
  ), claimed as (
    update public.alert_channels as c
    set tell_owners_at = case
      when c.disabled_at > clock_timestamp() - interval '3 days' then clock_timestamp() + interval '10 minutes'
    end
    from due
    where c.workspace_id = due.workspace_id and c.id = due.id
    returning c.*
  )
  select coalesce(jsonb_agg(jsonb_build_object(
    'workspace_id', claimed.workspace_id,
    'workspace', jsonb_build_object('slug', w.slug, 'name', w.name),
    'channel', jsonb_build_object('id', claimed.id, 'name', claimed.name, 'kind', claimed.kind, 'target', claimed.target),
    'reason', claimed.disabled_reason,
    'failing_since', claimed.failing_since,
    'owners', (
      select coalesce(jsonb_agg(p.email order by p.email), '[]')
      from public.workspace_members as m
      join public.profiles as p on p.id = m.user_id
      where m.workspace_id = claimed.workspace_id and m.role = 'owner'
    )
  )), '[]')
  from claimed
  join public.workspaces as w on w.id = claimed.workspace_id
  where claimed.tell_owners_at is not null
$function$;
grant execute on function private.claim_channel_notices(integer) to outlay_service, service_role;

-- Announces that the slices of a month will be made: whoever changes the month from now on says so in `state`. Whoever began before
-- may have found nothing to say, but holds the lock of folding until the end. So what is read after this transaction has all changes
-- that `state` does not tell.
create or replace function private.claim_month_to_slice(workspace uuid, first_day date)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform pg_advisory_xact_lock(private.slice_lock(workspace));
  perform pg_advisory_xact_lock(private.fold_lock(workspace));
  update public.sliced_months set state = 'claimed'
  where workspace_id = workspace and month = first_day and state = 'changed';
end
$function$;
grant execute on function private.claim_month_to_slice(uuid,date) to outlay_service, service_role;

-- Takes notices that are due; another process may try again in ten minutes. What could not be sent for three days is dropped.
-- returns: [{ id, kind, recipient, details }]
create or replace function private.claim_notices(at_most integer)
 returns jsonb
 language sql
 security definer
 set search_path to ''
as $function$
  with dropped as (
    delete from private.notices where next_attempt_at <= clock_timestamp() and give_up_at <= clock_timestamp()
  ), due as (
    select id from private.notices
    where next_attempt_at <= clock_timestamp() and give_up_at > clock_timestamp()
    order by next_attempt_at
    limit at_most
    for update skip locked
  ), claimed as (
    update private.notices as n set next_attempt_at = clock_timestamp() + interval '10 minutes'
    from due where n.id = due.id
    returning n.id, n.kind, n.recipient, n.details
  )
  select coalesce(jsonb_agg(to_jsonb(claimed)), '[]') from claimed
$function$;
grant execute on function private.claim_notices(integer) to outlay_service, service_role;

-- Takes units for a telling, where they are free or its own already.
--
-- returns: the units that the other telling holds
create or replace function private.claim_tellings(workspace uuid, env text, wanted_telling text, units text[])
 returns text[]
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  held text[];
begin
  delete from private.telling_claims
  where ctid in (
    select ctid from private.telling_claims where claimed_at < now() - interval '2 days' limit 100 for update skip locked
  );

  with taken as (
    insert into private.telling_claims as claim (workspace_id, environment, unit, telling)
    select workspace, env, unit, wanted_telling
    from (select distinct unit from unnest(units) as unit order by unit) as wanted
    on conflict (workspace_id, environment, unit) do update
      set telling = excluded.telling, claimed_at = now()
      where claim.telling = excluded.telling or claim.claimed_at < now() - interval '1 day'
    returning unit
  )
  select coalesce(array_agg(distinct wanted), '{}') into held
  from unnest(units) as wanted
  where wanted not in (select unit from taken);
  return held;
end
$function$;
grant execute on function private.claim_tellings(uuid,text,text,text[]) to outlay_service, service_role;

-- Queues the reports that are due, and takes mails that are due, for as long as the lease lasts. A process that was away for
-- weeks sends the report of the last week only.
-- returns: [{ workspace_id, user_id, week, lease, attempts, time_zone, email, has_factor, workspace: { slug, name } }]
create or replace function private.claim_weekly_reports(at_most integer, lease_seconds integer)
 returns jsonb
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  at_moment constant timestamptz := clock_timestamp();
  taken jsonb;
begin
  with due as (
    select r.workspace_id, r.user_id
    from public.weekly_reports as r
    where r.next_at <= at_moment
      and not exists (select from public.workspaces as w where w.id = r.workspace_id and w.deleted_at is not null)
    order by r.next_at
    limit 1000
    for update skip locked
  ), planned as (
    update public.weekly_reports as r
    set next_at = private.next_local_time(at_moment, r.time_zone, '08:00', 1)
    from due
    where r.workspace_id = due.workspace_id and r.user_id = due.user_id
    returning r.workspace_id, r.user_id, r.time_zone
  )
  insert into private.weekly_report_mails (workspace_id, user_id, week, next_attempt_at, give_up_at)
  select workspace_id, user_id, date_trunc('week', at_moment at time zone time_zone)::date - 7, at_moment,
    at_moment + interval '3 days'
  from planned
  on conflict (workspace_id, user_id, week) do nothing;

  with locked as (
    select m.workspace_id, m.user_id, m.week
    from private.weekly_report_mails as m
    where m.state = 'pending' and m.next_attempt_at <= at_moment and (m.leased_until is null or m.leased_until <= at_moment)
      and not exists (select from public.workspaces as w where w.id = m.workspace_id and w.deleted_at is not null)
    order by m.next_attempt_at
    limit at_most
    for update skip locked
  ), claimed as (
    update private.weekly_report_mails as m
    set lease = gen_random_uuid(), leased_until = at_moment + lease_seconds * interval '1 second', attempts = m.attempts + 1
    from locked
    where m.workspace_id = locked.workspace_id and m.user_id = locked.user_id and m.week = locked.week
    returning m.*
  )
  select coalesce(jsonb_agg(jsonb_build_object(
    'workspace_id', claimed.workspace_id, 'user_id', claimed.user_id, 'week', claimed.week, 'lease', claimed.lease,
    'attempts', claimed.attempts, 'time_zone', r.time_zone, 'email', p.email,
    'has_factor', private.has_verified_factor(claimed.user_id),
    'workspace', jsonb_build_object('slug', w.slug, 'name', w.name)
  )), '[]')
  into taken
  from claimed
  join public.weekly_reports as r on r.workspace_id = claimed.workspace_id and r.user_id = claimed.user_id
  join public.profiles as p on p.id = claimed.user_id
  join public.workspaces as w on w.id = claimed.workspace_id;
  return taken;
end
$function$;
grant execute on function private.claim_weekly_reports(integer,integer) to outlay_service, service_role;

-- Keeps an alert for the digest where its channel has one. The channel is locked until then, so that a change of its cadence
-- waits, and sends what this transaction collects.
create or replace function private.collect_for_digest()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  planned timestamptz;
begin
  perform from public.alert_channels as c
  where c.workspace_id = new.workspace_id and c.id = new.channel_id and c.cadence <> 'immediate';
  if not found then
    return new;
  end if;
  select c.next_digest_at into planned from public.alert_channels as c
  where c.workspace_id = new.workspace_id and c.id = new.channel_id and c.cadence <> 'immediate'
  for share;
  if found then
    new.state := 'collected';
    new.give_up_at := greatest(planned, clock_timestamp()) + interval '3 days';
  end if;
  return new;
end
$function$;

-- Connects a client to a workspace as the user allowed, or gives an existing connection these permissions.
create or replace function private.connect(allowed private.oauth_authorizations, granted text[])
 returns uuid
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  client private.oauth_clients;
  connected uuid;
begin
  select * into client from private.oauth_clients where id = allowed.client_id;
  select id into connected from public.connections
  where workspace_id = allowed.workspace_id and user_id = allowed.user_id and client_id = allowed.client_id;
  if connected is null then
    insert into public.api_keys
      (workspace_id, name, prefix, last_four, kind, permissions, project_id, monthly_limit, created_by)
    values (
      allowed.workspace_id, client.name, 'svc_at_', 'none', 'connection', granted, allowed.project_id,
      allowed.monthly_limit, allowed.user_id
    )
    returning id into connected;
    insert into public.connections
      (workspace_id, id, user_id, client_id, client_kind, client_name, client_uri, redirect_uri)
    values (
      allowed.workspace_id, connected, allowed.user_id, client.id, client.kind, client.name, client.uri,
      allowed.redirect_uri
    );
  else
    update public.api_keys
    set name = client.name, permissions = granted, project_id = allowed.project_id, monthly_limit = allowed.monthly_limit
    where workspace_id = allowed.workspace_id and id = connected;
    update public.connections
    set client_name = client.name, client_uri = client.uri, redirect_uri = allowed.redirect_uri
    where workspace_id = allowed.workspace_id and id = connected;
  end if;
  return connected;
end
$function$;

-- What waits is added before a budget changes: what is left until its next threshold changes with it, and a budget that
-- blocks from now on needs its sums.
create or replace function private.count_before_change()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform private.count_waiting_spend(new.workspace_id);
  return new;
end
$function$;

-- Counts what was recorded before a budget was made: whole UTC days of its period from the daily totals; the hours before
-- and after them, and what is booked ahead, from the messages.
create or replace function private.count_budget(budget public.budgets)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  begins timestamptz := greatest(budget.counted_from, budget.starts_on)::timestamp at time zone budget.time_zone;
  ends timestamptz := least(private.budget_period_end(budget, budget.counted_from), budget.ends_on + 1)::timestamp
    at time zone budget.time_zone;
  first_whole timestamptz := date_trunc('day', begins + interval '1 day' - interval '1 microsecond', 'UTC');
  after_whole timestamptz := greatest(date_trunc('day', ends, 'UTC'), first_whole);
begin
  insert into public.budget_counts (workspace_id, budget_id, environment, period_from, spent_usd, booked_usd)
  select budget.workspace_id, budget.id, environment, first_day, sum(amount_usd),
    coalesce(sum(amount_usd) filter (where type in ('subscription', 'expense')), 0)
  from (
    select environment, budget.counted_from as first_day, type, amount_usd
    from public.daily_totals
    where workspace_id = budget.workspace_id
      -- Each dimension sums to the whole; there are fewest providers.
      and dimension = case budget.scope_type when 'global' then 'provider' else budget.scope_type end
      and day >= (first_whole at time zone 'UTC')::date and day < (after_whole at time zone 'UTC')::date
      and case budget.scope_type when 'global' then true when 'provider' then lower(value) = lower(budget.scope_value)
        else value = budget.scope_value end
    union all
    select m.environment, private.budget_period(budget, m.occurred_at), m.type, m.amount_usd
    from public.messages as m
    where m.workspace_id = budget.workspace_id
      and (m.occurred_at >= begins and m.occurred_at < first_whole or m.occurred_at >= after_whole)
      and private.is_in_budget(budget, m)
  ) as counted
  where first_day is not null
  group by 3, 4
  having sum(amount_usd) <> 0;
end
$function$;

-- The number of budgets of a workspace. A key that may not read all of them learns how many are hidden.
create or replace function private.count_budgets(of_workspace uuid)
 returns integer
 language sql
 stable security definer
 set search_path to ''
as $function$
  select count(*)::integer from public.budgets where workspace_id = of_workspace
$function$;
grant execute on function private.count_budgets(uuid) to outlay_service, service_role;

-- Adds the postings of a void or a correction to every sum, as those of other messages are added when they are recorded.
create or replace function private.count_message(workspace uuid, message uuid)
 returns void
 language plpgsql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
as $function$
declare
  changes public.daily_spend[];
  budgeted private.budget_posting[];
begin
  with posted as (
    select *, private.sign_of(voids) as sign from public.messages where workspace_id = workspace and id = message
  ), per_key as (
    insert into public.key_spend as spend (workspace_id, api_key_id, month, amount_usd, message_count)
    select workspace_id, api_key_id, date_trunc('month', coalesce(counted_at, created_at))::date, sum(amount_usd),
      coalesce(sum(sign) filter (where part = 0), 0)
    from posted
    where api_key_id is not null
    group by 1, 2, 3
    on conflict (workspace_id, api_key_id, month) do update
      set amount_usd = spend.amount_usd + excluded.amount_usd,
          message_count = spend.message_count + excluded.message_count
  )
  select array_agg(row(
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )::public.daily_spend), (
    select array_agg(row(
      workspace_id, environment, occurred_at, type, amount_usd, project_id, api_key_id, provider, model, feature, end_user, tags
    )::private.budget_posting)
    from posted
    where exists (select from public.budgets where budgets.workspace_id = posted.workspace_id)
  ) into changes, budgeted
  from (
    select workspace_id, occurred_at::date as day, project_id, api_key_id, type, provider, model, feature, source, environment,
      end_user, tags, sum(amount_usd) as amount_usd,
      coalesce(sum(sign) filter (where part = 0), 0) as message_count,
      sum(sign) as item_count,
      coalesce(sum(sign) filter (where cost_status = 'unpriced'), 0) as unpriced_count,
      coalesce(sum(list_price_usd), 0) as included_usd
    from posted
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
  ) as sums;
  perform private.add_daily_spend(changes);
  if budgeted is not null then
    perform private.add_budget_spend(budgeted);
  end if;
end
$function$;

-- A new budget is quiet about the thresholds that were reached before it was made.
create or replace function private.count_new_budget()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform private.count_budget(new);
  perform private.alert_on_budgets(array[new.workspace_id], array[new.id], true);
  return null;
end
$function$;

create or replace function private.count_price_change()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  -- Waits for the groups of messages that were admitted at the old prices, and blocks new ones until this commits: later
  -- messages have the new price, and a repricing finds the earlier ones.
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || coalesce(new.workspace_id, old.workspace_id), 0));
  update public.workspaces set prices_version = prices_version + 1
  where id = coalesce(new.workspace_id, old.workspace_id);
  return null;
end
$function$;

-- Counts what is spent of a restored budget: its former periods are as they were, and the present one is counted anew, because
-- messages may have been recorded since it was deleted.
create or replace function private.count_restored_budget(restored public.budgets, spend jsonb)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  present date := private.budget_period(restored, clock_timestamp());
  counted public.budgets := restored;
begin
  -- One that has not begun counts from its first period on.
  if present is null and (clock_timestamp() at time zone restored.time_zone)::date > restored.ends_on then
    present := 'infinity';
  end if;
  insert into public.budget_counts (workspace_id, budget_id, environment, period_from, spent_usd, booked_usd)
  select s.workspace_id, s.budget_id, s.environment, s.period_from, s.spent_usd, s.booked_usd
  from jsonb_populate_recordset(null::public.budget_spend, spend) as s
  where s.period_from < coalesce(present, restored.counted_from);
  if present = 'infinity' then
    return;
  end if;
  counted.counted_from := coalesce(present, restored.counted_from);
  perform private.count_budget(counted);
  perform private.alert_on_budgets(array[restored.workspace_id], array[restored.id]);
end
$function$;

-- Adds what waits in a workspace, and more postings of it, to the budgets that they are in, and raises the alerts of those
-- that reach a threshold by it. The caller has locked the workspace's meter.
create or replace function private.count_spend(workspace uuid, more private.budget_posting[])
 returns void
 language plpgsql
 security definer
 set search_path to ''
 set plan_cache_mode to 'force_generic_plan'
as $function$
declare
  waiting private.budget_posting[];
  workspaces uuid[];
  counted uuid[];
begin
  select array_agg(posting) into waiting
  from private.budget_meters as m
  join private.waiting_spend as w on w.workspace_id = m.workspace_id and w.place < m.waiting_groups
  cross join unnest(w.postings) as posting
  where m.workspace_id = workspace;
  waiting := coalesce(waiting, '{}') || more;
  with summed as materialized (
    select p.workspace_id, p.environment, p.at,
      case grouping(p.project_id, p.api_key_id, p.provider, p.model, p.feature, p.end_user)
        when 63 then 'global' when 31 then 'project' when 47 then 'key' when 55 then 'provider' when 59 then 'model'
        when 61 then 'feature' else 'user'
      end as scope_type,
      case grouping(p.project_id, p.api_key_id, p.provider, p.model, p.feature, p.end_user)
        when 63 then '' when 31 then p.project_id::text when 47 then p.api_key_id::text when 55 then p.provider when 59 then p.model
        when 61 then p.feature else p.end_user
      end as scope_key,
      sum(p.amount_usd) as spent_usd,
      coalesce(sum(p.amount_usd) filter (where p.type in ('subscription', 'expense')), 0) as booked_usd
    from (
      select posting.workspace_id, posting.environment, posting.project_id, posting.api_key_id, lower(posting.provider) as provider,
        posting.model, posting.feature, posting.end_user, posting.amount_usd, posting.type,
        date_bin('15 minutes', posting.occurred_at, timestamptz '2000-01-01 00:00:00Z') as at
      from unnest(waiting) as posting
      where posting.amount_usd <> 0
    ) as p
    group by p.workspace_id, p.environment, p.at, grouping sets (
      (), (p.project_id), (p.api_key_id), (p.provider), (p.model), (p.feature), (p.end_user)
    )
    union all
    select p.workspace_id, p.environment, date_bin('15 minutes', p.occurred_at, timestamptz '2000-01-01 00:00:00Z'), 'tag', tag,
      sum(p.amount_usd), coalesce(sum(p.amount_usd) filter (where p.type in ('subscription', 'expense')), 0)
    from unnest(waiting) as p
    cross join lateral unnest(p.tags) as tag
    where p.amount_usd <> 0
    group by 1, 2, 3, 5
  ), counted as materialized (
    select b.workspace_id, b.id, summed.environment, private.budget_period(b, summed.at) as period_from, b.counted_from,
      summed.spent_usd, summed.booked_usd
    from summed
    join public.budgets as b
      on b.workspace_id = summed.workspace_id and b.scope_type = summed.scope_type and b.scope_key = summed.scope_key
  ), added as (
    insert into public.budget_counts as spend (workspace_id, budget_id, environment, period_from, spent_usd, booked_usd)
    select workspace_id, id, environment, period_from, sum(spent_usd), sum(booked_usd)
    from counted
    where period_from >= counted_from
    group by 1, 2, 3, 4
    order by 1, 2, 3, 4
    on conflict (workspace_id, budget_id, environment, period_from) do update
      set spent_usd = spend.spent_usd + excluded.spent_usd, booked_usd = spend.booked_usd + excluded.booked_usd
    returning workspace_id, budget_id, environment, spent_usd >= coalesce(alert_at_usd, 0) as is_due
  )
  select array_agg(distinct workspace_id), array_agg(distinct budget_id) into workspaces, counted
  from added
  where environment = 'live' and is_due;
  update private.budget_meters as m set waiting_groups = 0, waiting_count = 0 where m.workspace_id = workspace;
  if counted is not null then
    perform private.alert_on_budgets(workspaces, counted);
  end if;
end
$function$;

-- Adds what waits in a workspace to its budgets, and measures them anew with the next message.
create or replace function private.count_waiting_spend(workspace uuid)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  insert into private.budget_meters as m (workspace_id, left_usd, valid_until) values (workspace, 0, '-infinity')
  on conflict (workspace_id) do update set left_usd = 0;
  -- A statement of its own: it sees what was committed while this one waited.
  perform private.count_spend(workspace, '{}');
end
$function$;

-- Creates a personal workspace whose slug is the local part of the e-mail address: ada@… gets /ada, or /ada-4f1c if that
-- is taken or reserved.
create or replace function private.create_personal_workspace(address text, owner_name text)
 returns uuid
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  base text := btrim(left(btrim(regexp_replace(lower(split_part(address, '@', 1)), '[^a-z0-9]+', '-', 'g'), '-'), 48), '-');
  wanted text;
  made uuid;
begin
  if base = '' then
    base := 'workspace';
  end if;
  wanted := base;
  for try in 1..20 loop
    begin
      insert into public.workspaces (slug, name, type)
      values (wanted, left(owner_name, 108) || '''s workspace', 'personal')
      on conflict (slug) do nothing
      returning id into made;
    exception when check_violation then
      made := null;
    end;
    exit when made is not null;
    wanted := base || '-' || substr(replace(gen_random_uuid()::text, '-', ''), 1, 4 + try / 4);
  end loop;
  if made is null then
    raise exception 'no free slug was found for %', base;
  end if;
  return made;
end
$function$;

-- A project is archived at the current time, whatever time the statement gives, and only once.
create or replace function private.date_archiving()
 returns trigger
 language plpgsql
 set search_path to ''
as $function$
begin
  new.archived_at := coalesce(old.archived_at, now());
  return new;
end
$function$;

-- A key is revoked at the current time, whatever time the statement gives.
create or replace function private.date_revocation()
 returns trigger
 language plpgsql
 set search_path to ''
as $function$
begin
  new.revoked_at := now();
  return new;
end
$function$;

-- A subscription is stopped at the current time, whatever time the statement gives, and only once.
create or replace function private.date_stop()
 returns trigger
 language plpgsql
 set search_path to ''
as $function$
begin
  new.stopped_at := coalesce(old.stopped_at, now());
  return new;
end
$function$;

-- For how long a deletion can be undone.
create or replace function private.days_to_undo()
 returns interval
 language sql
 immutable
 set search_path to ''
return '30 days'::interval
as ;

-- Answers a request, once. decision: { nonce: hex, user_id, session_id } and, if it allows,
-- { code: hex, workspace_id, permissions, project_id, monthly_limit }.
-- returns: whether this was the first answer
create or replace function private.decide_consent(decision jsonb)
 returns boolean
 language sql
 security definer
 set search_path to ''
as $function$
  with decided as (
    update private.oauth_authorizations as a
    set decided_at = clock_timestamp(), expires_at = clock_timestamp() + interval '60 seconds',
      code = decode(d.code, 'hex'), workspace_id = d.workspace_id, permissions = d.permissions,
      project_id = d.project_id, monthly_limit = d.monthly_limit
    from jsonb_to_record(decision) as d (
      nonce text, user_id uuid, session_id uuid, code text, workspace_id uuid, permissions text[], project_id uuid,
      monthly_limit numeric
    )
    where a.nonce = decode(d.nonce, 'hex') and a.user_id = d.user_id and a.session_id = d.session_id
      and a.decided_at is null and a.expires_at > clock_timestamp()
    returning 1
  )
  select exists (select from decided)
$function$;
grant execute on function private.decide_consent(jsonb) to outlay_service, service_role;

-- Deletes the signed-in user's account, of a session that proved lately who they are.
-- returns: { blocked: [{ slug, name }] }: workspaces with other members that would be without an owner, and nothing was done; or
--   { deleted_at, erased_at: ms }
create or replace function private.delete_account()
 returns jsonb
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  own public.profiles;
  at timestamptz;
  blocked jsonb;
  alone uuid;
begin
  if not private.signed_in_recently() or not private.session_is_complete() then
    raise exception 'only a session that signed in within the last hour may delete an account'
      using errcode = 'insufficient_privilege';
  end if;
  -- Before the account, as changes of members do. What another owner changes meanwhile is seen.
  perform from public.workspaces as w
  where w.id in (select m.workspace_id from public.workspace_members as m where m.user_id = auth.uid())
  order by w.id
  for no key update;
  select * into own from public.profiles where id = auth.uid() and deleted_at is null for update;
  if not found then
    raise exception 'the account is deleted already' using errcode = 'insufficient_privilege';
  end if;

  select jsonb_agg(jsonb_build_object('slug', w.slug, 'name', w.name) order by w.name) into blocked
  from public.workspace_members as m
  join public.workspaces as w on w.id = m.workspace_id
  where m.user_id = own.id and m.role = 'owner' and w.deleted_at is null
    and exists (
      select from public.workspace_members as o join public.profiles as p on p.id = o.user_id
      where o.workspace_id = w.id and o.user_id <> own.id and p.deleted_at is null
    )
    and not exists (
      select from public.workspace_members as o join public.profiles as p on p.id = o.user_id
      where o.workspace_id = w.id and o.user_id <> own.id and p.deleted_at is null and o.role = 'owner'
    );
  if blocked is not null then
    return jsonb_build_object('blocked', blocked);
  end if;

  at := clock_timestamp();
  for alone in
    select w.id
    from public.workspace_members as m
    join public.workspaces as w on w.id = m.workspace_id
    where m.user_id = own.id and w.deleted_at is null and w.type <> 'demo'
      and not exists (
        select from public.workspace_members as o join public.profiles as p on p.id = o.user_id
        where o.workspace_id = w.id and o.user_id <> own.id and p.deleted_at is null
      )
    order by w.id
  loop
    perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || alone, 0));
    update public.workspaces
    set deleted_at = at, deleted_by = own.id, prices_version = prices_version - private.deletion_mark()
    where id = alone;
    delete from private.oauth_authorizations where workspace_id = alone;
  end loop;
  perform private.audit_account(own.id, own.email, 'account.deleted', nullif(current_setting('request.address', true), ''));
  delete from private.oauth_authorizations where user_id = own.id;
  delete from public.connections where user_id = own.id;
  update public.profiles set deleted_at = at where id = own.id;
  insert into private.notices (kind, recipient, details)
  values ('account_deleted', own.email, jsonb_build_object(
    'erased_at', floor(extract(epoch from at + private.days_to_undo()) * 1000)::bigint
  ));
  return jsonb_build_object(
    'deleted_at', floor(extract(epoch from at) * 1000)::bigint,
    'erased_at', floor(extract(epoch from at + private.days_to_undo()) * 1000)::bigint
  );
end
$function$;
grant execute on function private.delete_account() to outlay_service, service_role;

-- Deletes a workspace of the signed-in user, an owner who proved lately who they are. It waits for open transactions that
-- record costs in the workspace. After its commit, nothing is recorded there.
-- returns: false where it is deleted already
create or replace function private.delete_workspace(workspace uuid)
 returns boolean
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  if not private.signed_in_recently() or not exists (
    select from private.member_workspaces(array['owner']) as owned where owned = workspace
  ) then
    raise exception 'only an owner who signed in within the last hour may delete a workspace'
      using errcode = 'insufficient_privilege';
  end if;
  -- Groups of calls hold this lock from the look-up of their keys until they are written (private.load_admission).
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
  update public.workspaces
  set deleted_at = clock_timestamp(), deleted_by = auth.uid(), prices_version = prices_version - private.deletion_mark()
  where id = workspace and deleted_at is null;
  if not found then
    return false;
  end if;
  -- Questions for consent, and codes that were not redeemed yet.
  delete from private.oauth_authorizations where workspace_id = workspace;
  perform private.tell_members(workspace, 'deleted');
  return true;
end
$function$;
grant execute on function private.delete_workspace(uuid) to outlay_service, service_role;

-- The signed-in user's workspaces that were deleted and can still be restored: what their members are told of them. A session
-- that lacks its user's second factor learns nothing.
create or replace function private.deleted_memberships()
 returns table(id uuid, slug text, name text, role text, require_mfa boolean, deleted_at timestamptz, erased_at timestamptz, deleted_by text)
 language sql
 stable security definer
 set search_path to ''
as $function$
  select w.id, w.slug, w.name, m.role, w.require_mfa, w.deleted_at, w.deleted_at + private.days_to_undo(),
    (select coalesce(p.display_name, p.email) from public.profiles as p where p.id = w.deleted_by)
  from public.workspace_members as m
  join public.workspaces as w on w.id = m.workspace_id
  where m.user_id = auth.uid() and w.deleted_at > now() - private.days_to_undo() and private.session_is_complete()
  order by w.name, w.slug
$function$;
grant execute on function private.deleted_memberships() to outlay_service, service_role;

-- Far below any version, so that changes of prices while a workspace is erased keep it negative.
create or replace function private.deletion_mark()
 returns bigint
 language sql
 immutable
 set search_path to ''
return '1000000000000000'::bigint
as ;

-- An alert as what sends it needs it.
create or replace function private.describe_alert(a public.alerts)
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select jsonb_build_object(
      'id', a.id, 'rule', a.rule, 'state', a.state, 'level', a.level, 'period', a.period, 'subject_type', a.subject_type,
      'subject_id', a.subject_id, 'details', a.details, 'fired_at', a.fired_at,
      -- A budget stores its project by id; links name projects by slug.
      'project_slug', (
        select p.slug from public.projects as p
        where p.workspace_id = a.workspace_id and a.details ->> 'scope_type' = 'project'
          and a.details ->> 'scope_value' in (p.id::text, p.slug)
        limit 1
      )
  )
$function$;

-- What a process needs to send a delivery.
-- returns: { workspace_id, id, lease, attempts, workspace, channel, alert, digest }, with the channel's secrets; `digest` has
--   the channel's time zone, the count of its alerts and the newest hundred; a test has neither an alert nor a digest
create or replace function private.describe_delivery(d public.alert_deliveries)
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select jsonb_build_object(
    'workspace_id', d.workspace_id, 'id', d.id, 'lease', d.lease, 'attempts', d.attempts,
    'workspace', jsonb_build_object('slug', w.slug, 'name', w.name),
    'channel', jsonb_build_object(
      'id', c.id, 'name', c.name, 'kind', c.kind, 'is_failing', c.failing_since is not null,
      'address', s.address,
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
    ),
    'alert', (
      select private.describe_alert(a)
      from public.alerts as a
      where a.workspace_id = d.workspace_id and a.id = d.alert_id
    ),
    'digest', case when d.digest_at is not null then (
      select jsonb_build_object('time_zone', c.time_zone, 'count', count(*), 'alerts', coalesce(
        jsonb_agg(private.describe_alert(a) order by a.number desc) filter (where listed.place <= 100), '[]'
      ))
      from (
        select m.alert_id, row_number() over (order by m.number desc) as place
        from public.alert_deliveries as m
        where m.workspace_id = d.workspace_id and m.digest_id = d.id
      ) as listed
      join public.alerts as a on a.workspace_id = d.workspace_id and a.id = listed.alert_id
    ) end
  )
  from public.alert_channels as c
  join private.channel_secrets as s on s.workspace_id = c.workspace_id and s.channel_id = c.id
  join public.workspaces as w on w.id = c.workspace_id
  where c.workspace_id = d.workspace_id and c.id = d.channel_id
$function$;

create or replace function private.end_alert_snooze(workspace uuid, snooze uuid)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform private.require_admin_of(workspace);
  delete from public.alert_snoozes where workspace_id = workspace and id = snooze;
end
$function$;
grant execute on function private.end_alert_snooze(uuid,uuid) to outlay_service, service_role;

create or replace function private.end_connection_of_key()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  delete from public.connections where workspace_id = new.workspace_id and id = new.id;
  return null;
end
$function$;

create or replace function private.end_connection_without_grants()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  delete from public.connections as c
  where c.id = old.connection_id
    and not exists (select from private.oauth_grants as g where g.connection_id = old.connection_id);
  return null;
end
$function$;

-- When a workspace begins to require a second factor, its connections end, because their users may not have proved one. A
-- session that has proved one can connect them again. API keys belong to the workspace and not to a user, so they stay.
create or replace function private.end_connections_of_lesser_sessions()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  delete from private.oauth_authorizations where workspace_id = new.id;
  delete from public.connections where workspace_id = new.id;
  return null;
end
$function$;

-- Ends an export. Does not end another export of the same user that began after this one's lease had expired.
create or replace function private.end_export(of_user uuid, export uuid)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  delete from private.running_exports where user_id = of_user and export_id = export
$function$;
grant execute on function private.end_export(uuid,uuid) to outlay_service, service_role;

-- A connection and its key end together, whichever of the two is ended first.
create or replace function private.end_key_of_connection()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  update public.api_keys set revoked_at = now()
  where workspace_id = old.workspace_id and id = old.id and revoked_at is null;
  return null;
end
$function$;

-- Ends the report that a mail's link belongs to; no role of users may ask who that is.
create or replace function private.end_weekly_report(secret_hash bytea)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  delete from public.weekly_reports as r
  using private.report_links as l
  where l.secret_hash = end_weekly_report.secret_hash and l.created_at > now() - interval '1 year'
    and r.workspace_id = l.workspace_id and r.user_id = l.user_id
$function$;
grant execute on function private.end_weekly_report(bytea) to outlay_service, service_role;

-- Creates the partition of the month that contains `moment`, unless it exists. It is created separately and attached; the
-- lock for that does not block readers and writers of other months.
create or replace function private.ensure_messages_month(moment timestamptz)
 returns void
 language plpgsql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
as $function$
declare
  first_day date := date_trunc('month', moment)::date;
  partition_name text := 'messages_' || to_char(first_day, 'YYYY_MM');
begin
  if exists (select from pg_catalog.pg_tables where schemaname = 'private' and tablename = partition_name) then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended('outlay.' || partition_name, 0));
  -- Checks again with a new snapshot: to_regclass would use a cache that is older than the lock.
  if exists (select from pg_catalog.pg_tables where schemaname = 'private' and tablename = partition_name) then
    return;
  end if;
  execute format('create table private.%I (like public.messages including defaults including constraints)', partition_name);
  execute format('alter table private.%I enable row level security', partition_name);
  execute format('revoke all on private.%I from public, anon, authenticated, service_role, outlay_service', partition_name);
  execute format(
    'alter table public.messages attach partition private.%I for values from (%L) to (%L)',
    partition_name, first_day, (first_day + interval '1 month')::date
  );
end
$function$;
grant execute on function private.ensure_messages_month(timestamptz) to outlay_service, service_role;

-- Erases one account whose deletion can no longer be undone. One transaction: nothing of it happened where it is interrupted.
-- returns: null where none is due; else { user_id, identity: whether the identity could be deleted, too }
create or replace function private.erase_account_step()
 returns jsonb
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  gone public.profiles;
  pseudonym text := 'deleted-' || left(replace(gen_random_uuid()::text, '-', ''), 12);
  -- The address where it stands by itself, and not as a part of a longer one.
  named text;
  is_deleted boolean := true;
begin
  select * into gone from public.profiles
  where deleted_at <= clock_timestamp() - private.days_to_undo()
  order by deleted_at
  limit 1
  for update skip locked;
  if not found then
    return null;
  end if;
  named := '(?<![[:alnum:]._%+-])' || regexp_replace(gone.email, '([^[:alnum:]@])', '\\\1', 'g') || '(?![[:alnum:].-])';

  -- The key under which they recorded by hand has their name.
  update public.api_keys set name = pseudonym, revoked_at = coalesce(revoked_at, now())
  where created_by = gone.id and kind = 'member';
  update public.repricings set requested_by_email = pseudonym where requested_by = gone.id;
  delete from public.invitations where email = lower(gone.email);
  delete from private.notices where recipient = gone.email;
  update private.channel_secrets as s set address = regexp_replace(s.address, named, pseudonym, 'g')
  from public.alert_channels as c
  where c.workspace_id = s.workspace_id and c.id = s.channel_id and c.kind = 'email' and position(gone.email in s.address) > 0;
  update public.alert_channels set target = regexp_replace(target, named, pseudonym, 'g')
  where kind = 'email' and position(gone.email in target) > 0;

  begin
    delete from auth.users where id = gone.id;
  exception when insufficient_privilege then
    is_deleted := false;
  end;
  delete from public.profiles where id = gone.id;

  -- After what was changed above, which the log tells of.
  update public.audit_log
  set actor_email = case when actor_id = gone.id then pseudonym else actor_email end,
    before = regexp_replace(before::text, named, pseudonym, 'g')::jsonb,
    after = regexp_replace(after::text, named, pseudonym, 'g')::jsonb
  where actor_id = gone.id or position(gone.email in before::text) > 0 or position(gone.email in after::text) > 0;
  return jsonb_build_object('user_id', gone.id, 'identity', is_deleted);
end
$function$;
grant execute on function private.erase_account_step() to outlay_service, service_role;

-- Goes on with the oldest erasure that no process is working on, by one step. First a day of postings with all their sums, at
-- most as many as asked for at a time; then the answers to idempotency keys, ten times as many; then what else names the person.
-- Sums of messages that were removed change as they are.
--
-- returns: how many postings and answers it changed; null where there is nothing to do
create or replace function private.erase_some(at_most integer)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
as $function$
declare
  job public.erasures;
  first_day date;
  changes public.daily_spend[];
  changed integer;
  last_key text;
  last_environment text;
  seen integer;
  old_json text;
  new_json text;
begin
  select * into job from public.erasures where status <> 'done' order by created_at, id limit 1 for update skip locked;
  if job.id is null then
    return null;
  end if;
  select min(day) into first_day from public.daily_spend
  where workspace_id = job.workspace_id and end_user = job.end_user;

  if first_day is not null then
    with found as (
      select m.id, m.part, m.occurred_at from public.messages as m
      where m.workspace_id = job.workspace_id and m.end_user = job.end_user
        and m.occurred_at >= first_day and m.occurred_at < first_day + 1
      limit at_most
      for update
    ), renamed as (
      update public.messages as m set end_user = job.pseudonym
      from found
      where m.workspace_id = job.workspace_id and m.id = found.id and m.part = found.part
        and m.occurred_at = found.occurred_at
      returning m.*
    ), sums as (
      select project_id, api_key_id, type, provider, model, feature, source, environment, tags,
        sum(amount_usd) as amount_usd, count(*) as posting_count,
        coalesce(sum(private.sign_of(voids)) filter (where part = 0), 0) as message_count,
        sum(private.sign_of(voids)) as item_count,
        coalesce(sum(private.sign_of(voids)) filter (where cost_status = 'unpriced'), 0) as unpriced_count,
        coalesce(sum(list_price_usd), 0) as included_usd
      from renamed
      group by 1, 2, 3, 4, 5, 6, 7, 8, 9
    )
    select array_agg(row(
        job.workspace_id, first_day, project_id, api_key_id, type, provider, model, feature, source, environment,
        side * amount_usd, side * message_count, side * item_count, side * unpriced_count,
        case side when 1 then job.pseudonym else job.end_user end, tags, side * included_usd
      )::public.daily_spend),
      coalesce(sum(posting_count) filter (where side = 1), 0)
    into changes, changed
    from sums cross join (values (1), (-1)) as sides (side);
    if changed = 0 then
      select array_agg(row(
          d.workspace_id, d.day, d.project_id, d.api_key_id, d.type, d.provider, d.model, d.feature, d.source, d.environment,
          side * d.amount_usd, side * d.message_count, side * d.item_count, side * d.unpriced_count,
          case side when 1 then job.pseudonym else job.end_user end, d.tags, side * d.included_usd
        )::public.daily_spend)
      into changes
      from public.daily_spend as d cross join (values (1), (-1)) as sides (side)
      where d.workspace_id = job.workspace_id and d.end_user = job.end_user and d.day = first_day;
    end if;
    perform private.add_daily_spend(changes);
    perform private.count_waiting_spend(job.workspace_id);
    delete from private.waiting_spend where workspace_id = job.workspace_id;
    -- Sums of nothing may stand for messages and their voids, which are to be found by them: they go after the last posting.
    if changed < at_most then
      delete from public.daily_spend
      where workspace_id = job.workspace_id and end_user = job.end_user and day = first_day
        and amount_usd = 0 and message_count = 0 and item_count = 0 and unpriced_count = 0 and included_usd = 0;
      delete from public.daily_totals
      where workspace_id = job.workspace_id and dimension = 'user' and value = job.end_user and day = first_day
        and amount_usd = 0 and message_count = 0 and unpriced_count = 0 and included_usd = 0;
    end if;
    update public.erasures set status = 'running', changed_count = changed_count + changed
    where workspace_id = job.workspace_id and id = job.id;
    return changed;
  end if;

  with next as materialized (
    select key, environment from private.idempotency
    where workspace_id = job.workspace_id
      and (job.cursor_key is null or (key, environment) > (job.cursor_key, job.cursor_environment))
    order by key, environment
    limit at_most * 10
  ), forgotten as (
    update private.idempotency as i set request = private.without_person(i.request, job.end_user)
    from next
    where i.workspace_id = job.workspace_id and i.key = next.key and i.environment = next.environment
      and i.request is distinct from private.without_person(i.request, job.end_user)
    returning 1
  )
  select count(*), (array_agg(key order by key desc, environment desc))[1],
    (array_agg(environment order by key desc, environment desc))[1], (select count(*) from forgotten)
  into seen, last_key, last_environment, changed
  from next;
  if seen > 0 then
    update public.erasures
    set status = 'running', cursor_key = last_key, cursor_environment = last_environment
    where workspace_id = job.workspace_id and id = job.id;
    return changed;
  end if;

  update public.budgets
  set scope_value = job.pseudonym, name = case when name = left(job.end_user, 120) then job.pseudonym else name end
  where workspace_id = job.workspace_id and scope_type = 'user' and scope_value = job.end_user;
  -- A condition without its name would allow every user; with the pseudonym it allows nobody in the place of the person.
  update public.api_keys
  set conditions = jsonb_set(conditions, '{users}', (
    select jsonb_agg(case when name = job.end_user then job.pseudonym else name end order by place)
    from jsonb_array_elements_text(conditions -> 'users') with ordinality as users (name, place)
  ))
  where workspace_id = job.workspace_id and conditions -> 'users' ? job.end_user;

  old_json := to_jsonb(job.end_user)::text;
  new_json := to_jsonb(job.pseudonym)::text;
  delete from public.refused_exports
  where workspace_id = job.workspace_id and position(old_json in records::text) > 0;
  update public.alerts set details = replace(details::text, old_json, new_json)::jsonb
  where workspace_id = job.workspace_id and position(old_json in details::text) > 0;
  update public.source_refusals set example = null
  where workspace_id = job.workspace_id and position(old_json in example::text) > 0;
  -- The only change of the audit log there is: what was changed, when and by whom stays.
  update public.audit_log
  set before = replace(before::text, old_json, new_json)::jsonb, after = replace(after::text, old_json, new_json)::jsonb
  where workspace_id = job.workspace_id and (subject like 'budget %' or subject like 'api\_key %')
    and (position(old_json in before::text) > 0 or position(old_json in after::text) > 0);

  update public.erasures
  set status = 'done', end_user = null, cursor_key = null, cursor_environment = null, finished_at = now()
  where workspace_id = job.workspace_id and id = job.id;
  return 0;
end
$function$;
grant execute on function private.erase_some(integer) to outlay_service, service_role;

-- returns: how many rows were deleted; null where nothing is to be erased
create or replace function private.erase_workspace_step(at_most integer)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  workspace uuid;
  next_table regclass;
  gone integer;
begin
  select w.id into workspace
  from public.workspaces as w
  where w.deleted_at <= clock_timestamp() - private.days_to_undo()
  order by w.deleted_at
  limit 1
  for update skip locked;
  if workspace is null then
    return null;
  end if;
  -- Waits for whoever looked a key up before the deletion, however unlikely after thirty days.
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));

  for next_table in select private.tables_of_workspaces() loop
    execute format(
      'delete from only %1$s where ctid = any (array(select ctid from only %1$s where workspace_id = $1 limit $2))', next_table
    ) using workspace, at_most;
    get diagnostics gone = row_count;
    if gone > 0 then
      return gone;
    end if;
  end loop;

  delete from private.rate_windows where ctid = any (array(
    select w.ctid from private.rate_windows as w
    join public.api_keys as k on k.id = w.api_key_id
    where k.workspace_id = workspace
    limit at_most
  ));
  get diagnostics gone = row_count;
  if gone > 0 then
    return gone;
  end if;

  delete from public.workspaces where id = workspace;
  -- Nothing is left that a new workspace with this id could show.
  delete from private.deleted_workspaces where id = workspace;
  return 1;
end
$function$;
grant execute on function private.erase_workspace_step(integer) to outlay_service, service_role;

-- What is spent in a budget's scope between two moments, by its daily totals; a UTC day that is partly within counts with the
-- share of its hours.
create or replace function private.estimate_budget_spend(budget public.budgets, begins timestamptz, ends timestamptz)
 returns numeric
 language sql
 stable security definer
 set search_path to ''
as $function$
  select coalesce(sum(
    t.amount_usd * extract(epoch from (
      least((t.day + 1)::timestamp at time zone 'UTC', ends) - greatest(t.day::timestamp at time zone 'UTC', begins)
    ))::numeric / 86400
  ), 0)
  from public.daily_totals as t
  where t.workspace_id = budget.workspace_id and t.environment = 'live'
    -- Each dimension sums to the whole; there are fewest providers.
    and t.dimension = case budget.scope_type when 'global' then 'provider' else budget.scope_type end
    and t.day >= (begins at time zone 'UTC')::date and t.day::timestamp at time zone 'UTC' < ends
    and case budget.scope_type when 'global' then true when 'provider' then lower(t.value) = lower(budget.scope_value)
      else t.value = budget.scope_value end
$function$;

-- The blocking budget that a message's void and correction took past its limit; of several the one that resets last. Null
-- where there is none: what lowers a budget's spend, or leaves it as it is, is within every limit. Called under
-- hold_blocking_budgets, after both were counted.
-- returns: { budget: as load_blocking_budgets has it, with the period; added_usd: exact text }
create or replace function private.exceeded_budget(workspace uuid, message uuid)
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  with changed as (
    select b.id, period.first_day, min(m.occurred_at) as at, sum(m.amount_usd) as usd
    from public.message_voids as v
    join public.messages as m on m.workspace_id = v.workspace_id and m.id in (v.void_id, v.corrected_by)
    join public.budgets as b on b.workspace_id = m.workspace_id and b.blocks and private.is_in_budget(b, m)
    cross join lateral (select private.budget_period(b, m.occurred_at) as first_day) as period
    where v.workspace_id = workspace and v.message_id = message and m.environment = 'live'
      and period.first_day >= b.counted_from
    group by 1, 2
    having sum(m.amount_usd) > 0
  )
  select jsonb_build_object(
    'budget', jsonb_build_object(
      'id', b.id, 'workspace_id', b.workspace_id, 'name', b.name, 'scope_type', b.scope_type, 'scope_key', b.scope_key,
      'time_zone', b.time_zone,
      'counts_from', floor(extract(epoch from
        greatest(b.counted_from, b.starts_on)::timestamp at time zone b.time_zone) * 1000)::bigint,
      'counts_until', floor(extract(epoch from (b.ends_on + 1)::timestamp at time zone b.time_zone) * 1000)::bigint,
      'period', found.period
    ),
    'added_usd', trim_scale(changed.usd)::text
  )
  from changed
  join public.budgets as b on b.workspace_id = workspace and b.id = changed.id
  cross join lateral private.budget_periods(b, changed.at) as found
  where (found.period ->> 'spent_usd')::numeric > (found.period ->> 'limit_usd')::numeric
  order by (found.period ->> 'ends_at')::bigint desc, b.name, b.id
  limit 1
$function$;
grant execute on function private.exceeded_budget(uuid,uuid) to outlay_service, service_role;

-- What the service keeps of the signed-in user, apart from what they recorded: their profile, how they sign in, sessions,
-- memberships, connections, and what they did, the newest first.
create or replace function private.export_account(at_most integer)
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
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
$function$;
grant execute on function private.export_account(integer) to outlay_service, service_role;

-- returns: { secret, hash }, with the hash by which requests name the key; null where no secret is kept
create or replace function private.find_signing_secret(key_id uuid, for_gateway text)
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select jsonb_build_object('secret', kept.secret, 'hash', encode(s.hash, 'hex'))
  from private.signing_secrets as kept
  join private.api_key_secrets as s on s.api_key_id = kept.api_key_id
  where kept.api_key_id = key_id and kept.gateway = for_gateway
$function$;
grant execute on function private.find_signing_secret(uuid,text) to outlay_service, service_role;

-- Records how an attempt ended, unless the lease was lost to another process.
-- ended: { workspace_id, id, lease, outcome: 'delivered' | 'failed' | 'gone', status, error, retry_in_ms }
-- returns: the delivery's state, or null where the lease was lost
create or replace function private.finish_alert_delivery(ended jsonb)
 returns text
 language plpgsql
 security definer
 set search_path to ''
 set enable_seqscan to 'off'
as $function$
declare
  workspace constant uuid := (ended ->> 'workspace_id')::uuid;
  delivery constant uuid := (ended ->> 'id')::uuid;
  outcome constant text := ended ->> 'outcome';
  at_moment constant timestamptz := clock_timestamp();
  channel public.alert_channels;
  sent public.alert_deliveries;
  new_state text;
  is_test boolean;
  next_at timestamptz;
begin
  select c.* into channel from public.alert_channels as c
  where c.workspace_id = workspace and c.id = (
    select d.channel_id from public.alert_deliveries as d where d.workspace_id = workspace and d.id = delivery
  )
  for no key update;
  select d.* into sent from public.alert_deliveries as d
  where d.workspace_id = workspace and d.id = delivery and d.state = 'pending' and d.lease = (ended ->> 'lease')::uuid
  for update;
  if sent.id is null then
    return null;
  end if;

  is_test := sent.alert_id is null and sent.digest_at is null;
  new_state := case
    when outcome = 'delivered' then 'delivered'
    when not is_test and (channel.id is null or coalesce(channel.disabled_reason = 'by_admin', false)) then 'cancelled'
    when outcome = 'gone' or at_moment >= sent.give_up_at then 'dead'
    else 'pending'
  end;
  -- The last attempt is made when the three days are over.
  next_at := case when new_state = 'pending'
    then least(at_moment + (ended ->> 'retry_in_ms')::bigint * interval '1 millisecond', sent.give_up_at)
    else at_moment
  end;
  update public.alert_deliveries as d
  set state = new_state, next_attempt_at = next_at, lease = null, leased_until = null,
    last_status = (ended ->> 'status')::integer, last_error = left(ended ->> 'error', 500),
    delivered_at = case when new_state = 'delivered' then at_moment end
  where d.workspace_id = workspace and d.id = delivery;
  -- What this one held back is due with its next attempt, or now.
  update public.alert_deliveries as d
  set next_attempt_at = next_at
  where d.ctid = any (array(
    select later.ctid from public.alert_deliveries as later
    where later.channel_id = sent.channel_id and later.ordered_by = sent.ordered_by and later.state = 'pending'
      and later.number > sent.number and later.lease is null
    order by later.number
  ));

  if outcome = 'delivered' then
    update public.alert_channels as c set failing_since = null
    where c.workspace_id = workspace and c.id = channel.id and c.failing_since is not null;
  elsif outcome = 'gone' then
    update public.alert_channels as c
    set failing_since = coalesce(c.failing_since, at_moment), disabled_at = at_moment, disabled_reason = 'gone',
      tell_owners_at = at_moment
    where c.workspace_id = workspace and c.id = channel.id and c.disabled_at is null;
    update public.alert_deliveries as d
    set state = 'dead', last_error = 'The receiver answered another delivery with 410, which turns the channel off.'
    where d.workspace_id = workspace and d.channel_id = channel.id and d.lease is null
      and (d.state = 'pending' or d.state = 'collected' and d.digest_id is null);
  elsif not is_test then
    -- A failed test does not count: whoever asked for it is told.
    update public.alert_channels as c set failing_since = at_moment
    where c.workspace_id = workspace and c.id = channel.id and c.failing_since is null;
    update public.alert_channels as c
    set disabled_at = at_moment, disabled_reason = 'failing', tell_owners_at = at_moment
    where c.workspace_id = workspace and c.id = channel.id and c.disabled_at is null
      and c.failing_since <= at_moment - interval '1 day';
  end if;
  return new_state;
end
$function$;
grant execute on function private.finish_alert_delivery(jsonb) to outlay_service, service_role;

-- Records how an attempt ended, unless the lease was lost to another process.
-- ended: { workspace_id, user_id, week, lease, error: null where it was sent, retry_in_ms: null where another attempt is no use }
-- returns: the mail's state, or null where the lease was lost or the reader ended the report meanwhile
create or replace function private.finish_weekly_report(ended jsonb)
 returns text
 language sql
 security definer
 set search_path to ''
as $function$
  update private.weekly_report_mails as m
  set state = case
      when ended ->> 'error' is null then 'sent'
      when ended ->> 'retry_in_ms' is null or clock_timestamp() >= m.give_up_at then 'dead'
      else 'pending'
    end,
    next_attempt_at = least(
      clock_timestamp() + coalesce((ended ->> 'retry_in_ms')::bigint, 0) * interval '1 millisecond', m.give_up_at
    ),
    lease = null, leased_until = null, last_error = left(ended ->> 'error', 500)
  where m.workspace_id = (ended ->> 'workspace_id')::uuid and m.user_id = (ended ->> 'user_id')::uuid
    and m.week = (ended ->> 'week')::date and m.lease = (ended ->> 'lease')::uuid
  returning m.state
$function$;
grant execute on function private.finish_weekly_report(jsonb) to outlay_service, service_role;

-- Whoever folds the days of a workspace holds this lock alone, and whoever changes sums of past days holds it together with
-- others, so that each change is in the folded sums exactly once.
create or replace function private.fold_lock(workspace uuid)
 returns bigint
 language sql
 immutable
 set search_path to ''
return hashtextextended(('outlay.fold ' || workspace), (0)::bigint)
as ;

-- Folds the past days of a workspace, at most to the end of a month. A day is past twelve hours after the day that follows it:
-- no transaction that took it for a present one is still open then (see `private.add_daily_spend`).
--
-- returns: the number of sums that were folded; null where there is nothing to do
create or replace function private.fold_past_days()
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
#variable_conflict use_variable
declare
  past_until date := ((now() - interval '12 hours') at time zone 'UTC')::date - 1;
  workspace uuid;
  first_day date;
  until_day date;
  folded integer;
begin
  select w.id into workspace
  from public.workspaces as w
  left join public.spend_folds as f on f.workspace_id = w.id
  where w.deleted_at is null and exists (
    select from public.daily_spend as d
    where d.workspace_id = w.id and d.day >= coalesce(f.folded_until, '-infinity') and d.day < past_until
  )
  order by f.folded_until nulls first, w.id
  limit 1;
  if workspace is null then
    return null;
  end if;
  perform pg_advisory_xact_lock(private.fold_lock(workspace));
  select f.folded_until into first_day from public.spend_folds as f where f.workspace_id = workspace;
  select min(d.day) into first_day from public.daily_spend as d
  where d.workspace_id = workspace and d.day >= coalesce(first_day, '-infinity') and d.day < past_until;
  if first_day is null then
    -- Another process was first.
    return 0;
  end if;
  until_day := least(past_until, (date_trunc('month', first_day::timestamp) + interval '1 month')::date);

  insert into public.monthly_spend as kept (
    workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )
  select d.workspace_id, date_trunc('month', d.day::timestamp)::date, d.project_id, d.api_key_id, d.type, d.provider, d.model,
    d.feature, d.source, d.environment, sum(d.amount_usd), sum(d.message_count), sum(d.item_count), sum(d.unpriced_count),
    d.end_user, d.tags, sum(d.included_usd)
  from public.daily_spend as d
  where d.workspace_id = workspace and d.day >= first_day and d.day < until_day
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 15, 16
  order by 1, 10, 3, 2
  on conflict (
    workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment,
    (case when end_user is not null or tags is not null then private.attribution_of(end_user, tags) end)
  ) do update
    set amount_usd = kept.amount_usd + excluded.amount_usd,
        message_count = kept.message_count + excluded.message_count,
        item_count = kept.item_count + excluded.item_count,
        unpriced_count = kept.unpriced_count + excluded.unpriced_count,
        included_usd = kept.included_usd + excluded.included_usd;
  get diagnostics folded = row_count;

  insert into public.weekly_totals as kept (
    workspace_id, environment, dimension, first_day, value, type, amount_usd, message_count, unpriced_count, included_usd
  )
  select t.workspace_id, t.environment, t.dimension, private.week_in_month(t.day), t.value, t.type,
    sum(t.amount_usd), sum(t.message_count), sum(t.unpriced_count), sum(t.included_usd)
  from public.daily_totals as t
  where t.workspace_id = workspace and t.environment in ('live', 'test')
    and t.dimension in ('project', 'key', 'provider', 'model', 'feature', 'user', 'tag')
    and t.day >= first_day and t.day < until_day
  group by 1, 2, 3, 4, 5, 6
  -- Rows that are read together are stored together.
  order by 1, 2, 3, 4
  on conflict on constraint weekly_totals_key do update
    set amount_usd = kept.amount_usd + excluded.amount_usd,
        message_count = kept.message_count + excluded.message_count,
        unpriced_count = kept.unpriced_count + excluded.unpriced_count,
        included_usd = kept.included_usd + excluded.included_usd;

  insert into public.monthly_totals as kept (
    workspace_id, environment, dimension, first_day, value, type, amount_usd, message_count, unpriced_count, included_usd
  )
  select t.workspace_id, t.environment, t.dimension, date_trunc('month', t.day::timestamp)::date, t.value, t.type,
    sum(t.amount_usd), sum(t.message_count), sum(t.unpriced_count), sum(t.included_usd)
  from public.daily_totals as t
  where t.workspace_id = workspace and t.environment in ('live', 'test')
    and t.dimension in ('project', 'key', 'provider', 'model', 'feature', 'user', 'tag')
    and t.day >= first_day and t.day < until_day
  group by 1, 2, 3, 4, 5, 6
  -- Rows that are read together are stored together.
  order by 1, 2, 3, 4
  on conflict on constraint monthly_totals_key do update
    set amount_usd = kept.amount_usd + excluded.amount_usd,
        message_count = kept.message_count + excluded.message_count,
        unpriced_count = kept.unpriced_count + excluded.unpriced_count,
        included_usd = kept.included_usd + excluded.included_usd;

  insert into public.sliced_months (workspace_id, month)
  values (workspace, date_trunc('month', first_day::timestamp)::date)
  on conflict (workspace_id, month) do update set state = 'changed', slices = '{}';
  insert into public.spend_folds (workspace_id, folded_until) values (workspace, until_day)
  on conflict (workspace_id) do update set folded_until = excluded.folded_until;
  return folded;
end
$function$;
grant execute on function private.fold_past_days() to outlay_service, service_role;

-- Resets the count of wrong guesses of a user who has proved their identity.
-- quotas: [{ subject: hex }], as for `private.admit_attempt`
create or replace function private.forget_attempts(quotas jsonb)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  delete from private.throttle_windows
  where subject in (select decode(value ->> 'subject', 'hex') from jsonb_array_elements(quotas))
$function$;
grant execute on function private.forget_attempts(jsonb) to outlay_service, service_role;

-- Resets a default workspace that its user has left.
create or replace function private.forget_left_workspace()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  update public.profiles set default_workspace_id = null
  where id = old.user_id and default_workspace_id = old.workspace_id;
  return null;
end
$function$;

create or replace function private.forget_notice(notice uuid)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  delete from private.notices where id = notice
$function$;
grant execute on function private.forget_notice(uuid) to outlay_service, service_role;

-- Deletes the refresh tokens of a grant except the latest.
create or replace function private.forget_older_refresh_tokens(of_grant uuid)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  delete from private.oauth_refresh_tokens where hash in (
    select hash from private.oauth_refresh_tokens where grant_id = of_grant order by expires_at desc offset 500
  )
$function$;

-- Guesses are limited by their failures, so that right secrets do not count. So a caller checks whether a quota is full
-- before an attempt, and counts the attempt after it failed.
--
-- The quota that is full at a time; if there are several, the one that frees last. Counts nothing.
-- quotas: [{ subject: hex, limit, window_ms }]
-- returns: null if none is full, otherwise { limit, window_ms, wait_ms }
create or replace function private.full_quota(quotas jsonb, at_moment timestamptz default clock_timestamp())
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select jsonb_build_object('limit', full_ones."limit", 'window_ms', full_ones.window_ms, 'wait_ms', full_ones.wait_ms)
  from (
    select q."limit", q.window_ms,
      ceil(extract(epoch from counted[cardinality(counted) - q."limit" + 1] - at_moment) * 1000)::bigint + q.window_ms as wait_ms
    from jsonb_to_recordset(quotas) as q (subject text, "limit" integer, window_ms bigint)
    join private.throttle_windows as t on t.subject = decode(q.subject, 'hex')
    cross join lateral (
      select coalesce(array_agg(moment order by moment), '{}') as counted from unnest(t.moments) as moment
      where moment > at_moment - q.window_ms * interval '1 millisecond'
    ) as recent
    where cardinality(counted) >= q."limit"
    order by wait_ms desc
    limit 1
  ) as full_ones
$function$;
grant execute on function private.full_quota(jsonb,timestamptz) to outlay_service, service_role;

-- Stores a key's first or next secret; the former one becomes invalid with the commit. For the service, in a transaction
-- in which the user has locked the row under their own policies.
create or replace function private.give_key_secret(key_id uuid, secret_hash text, secret_prefix text, secret_last_four text)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  update public.api_keys
  set prefix = secret_prefix,
      last_four = secret_last_four,
      -- Taken under the row's lock, and later than the last rotation in milliseconds, the precision of responses: of two
      -- rotations, the one with the later time has the valid secret.
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
$function$;
grant execute on function private.give_key_secret(uuid,text,text,text) to outlay_service, service_role;

-- An admin may require a second factor of everybody in the workspace, if their own session has proved one, so that nobody
-- locks themselves out.
create or replace function private.guard_required_mfa()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  if auth.uid() is not null and not private.proved_second_factor() then
    raise exception 'only a session that proved a second factor may require one'
      using errcode = 'insufficient_privilege', constraint = 'workspaces_require_mfa_is_proved';
  end if;
  return new;
end
$function$;

create or replace function private.handle_changed_email()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  update public.profiles set email = new.email where id = new.id and nullif(new.email, '') is not null;
  return new;
end
$function$;

-- A user without an e-mail address (signed in by phone, or anonymous) gets a profile when they add one.
create or replace function private.handle_new_user()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  address text := nullif(new.email, '');
  given_name text := left(nullif(btrim(coalesce(
    new.raw_user_meta_data ->> 'display_name', new.raw_user_meta_data ->> 'full_name', new.raw_user_meta_data ->> 'name'
  )), ''), 120);
  picture text := new.raw_user_meta_data ->> 'avatar_url';
  workspace uuid;
begin
  if address is null or exists (select from public.profiles where id = new.id) then
    return new;
  end if;
  workspace := private.create_personal_workspace(address, coalesce(given_name, split_part(address, '@', 1)));
  insert into public.profiles (id, email, display_name, avatar_url, default_workspace_id)
  values (
    new.id, address, given_name,
    -- The user's own claim: accepted only if browsers load it as a picture, and not from this service's own addresses.
    case when picture ~ '^https://' and char_length(picture) <= 2048 then picture end,
    workspace
  );
  insert into public.workspace_members (workspace_id, user_id, role) values (workspace, new.id, 'owner');
  return new;
end
$function$;

-- Whether the user has a running export.
create or replace function private.has_running_export(of_user uuid)
 returns boolean
 language sql
 stable security definer
 set search_path to ''
as $function$
  select exists (
    select from private.running_exports where user_id = of_user and lease_ends_at > clock_timestamp()
  )
$function$;
grant execute on function private.has_running_export(uuid) to outlay_service, service_role;

-- Any verified factor, of any type. On hosted Supabase the owner of this function may read auth.mfa_factors.
create or replace function private.has_verified_factor(holder uuid)
 returns boolean
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
begin
  return exists (select from auth.mfa_factors where user_id = holder and status = 'verified');
end
$function$;
grant execute on function private.has_verified_factor(uuid) to outlay_service, service_role;

-- The permissions of the signed-in user in a workspace. Their keys cannot have more.
create or replace function private.held_permissions(workspace uuid)
 returns text[]
 language sql
 stable security definer
 set search_path to ''
as $function$
  select private.permissions_of_role(role)
  from public.workspace_members
  where workspace_id = workspace and user_id = (select auth.uid())
$function$;
grant execute on function private.held_permissions(uuid) to authenticated;

-- Locks what decisions about a workspace's blocking budgets lock, before anything is counted, so that no two transactions
-- wait for each other and both cannot spend what is left.
create or replace function private.hold_blocking_budgets(workspace uuid)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('outlay.prices.' || workspace, 0));
  perform pg_advisory_xact_lock(hashtextextended('outlay.budgets.' || workspace, 0))
  where exists (select from public.budgets as b where b.blocks and b.workspace_id = workspace);
end
$function$;
grant execute on function private.hold_blocking_budgets(uuid) to outlay_service, service_role;

-- Keeps a new budget of these workspaces waiting until the transaction ends, and this transaction until a new budget is
-- counted: a posting is counted either as it is recorded or as its budget is made. Groups of calls take the same lock when
-- they are admitted (`load_admission`).
create or replace function private.hold_budgets(workspaces uuid[])
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform pg_advisory_xact_lock_shared(hashtextextended('outlay.prices.' || workspace, 0))
  from (select distinct workspace from unnest(workspaces) as workspace order by workspace) as writing;
end
$function$;
grant execute on function private.hold_budgets(uuid[]) to outlay_service, service_role;

-- Begins an export, or renews its lease. returns: false if the user has another running one
create or replace function private.hold_export(of_user uuid, export uuid, lease_seconds integer)
 returns boolean
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  -- Deletes expired rows of processes that were killed.
  delete from private.running_exports
  where user_id in (
    select user_id from private.running_exports
    where lease_ends_at < clock_timestamp() - interval '1 hour'
    limit 10 for update skip locked
  );
  insert into private.running_exports as running (user_id, export_id, lease_ends_at)
  values (of_user, export, clock_timestamp() + lease_seconds * interval '1 second')
  on conflict (user_id) do update
  set export_id = excluded.export_id, lease_ends_at = excluded.lease_ends_at
  where running.export_id = excluded.export_id or running.lease_ends_at <= clock_timestamp();
  return found;
end
$function$;
grant execute on function private.hold_export(uuid,uuid,integer) to outlay_service, service_role;

-- A change of a blocking budget waits until what was decided on its old limit is recorded.
create or replace function private.hold_writers_of_budget()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || new.workspace_id, 0));
  return new;
end
$function$;

create or replace function private.idempotency_key_of(workspace uuid, message uuid)
 returns text
 language sql
 stable security definer
 set search_path to ''
as $function$
  select key from private.idempotency where workspace_id = workspace and message_id = message
$function$;
grant execute on function private.idempotency_key_of(uuid,uuid) to outlay_service, service_role;

-- Inserts a kept row with its former values. Postgres computes generated columns again.
create or replace function private.insert_kept_row(target regclass, kept jsonb)
 returns void
 language plpgsql
 set search_path to ''
as $function$
declare
  columns text := (
    select string_agg(quote_ident(a.attname), ', ' order by a.attnum) from pg_catalog.pg_attribute as a
    where a.attrelid = target and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
  );
begin
  perform set_config('outlay.is_restoring', 'on', true);
  execute format('insert into %1$s (%2$s) select %2$s from jsonb_populate_record(null::%1$s, $1)', target, columns)
  using kept;
  perform set_config('outlay.is_restoring', '', true);
end
$function$;

create or replace function private.is_document_outage()
 returns boolean
 language sql
 stable security definer
 set search_path to ''
as $function$
  select exists (select from private.oauth_document_outage where ends_at > clock_timestamp())
$function$;
grant execute on function private.is_document_outage() to outlay_service, service_role;

-- Whether a posting is in the scope of a budget.
create or replace function private.is_in_budget(budget public.budgets, posting public.messages)
 returns boolean
 language sql
 immutable
return case (budget).scope_type when 'global' then true when 'project' then (((posting).project_id)::text = (budget).scope_value) when 'key' then (((posting).api_key_id)::text = (budget).scope_value) when 'provider' then (lower((posting).provider) = lower((budget).scope_value)) when 'model' then ((posting).model = (budget).scope_value) when 'feature' then ((posting).feature = (budget).scope_value) when 'user' then ((posting).end_user = (budget).scope_value) when 'tag' then ((budget).scope_value = any ((posting).tags)) else null::boolean end
as ;

-- Issues a new pair for a grant. Access tokens are valid for an hour, refresh tokens for 60 days without use.
create or replace function private.issue_tokens(for_grant uuid, access text, refresh text)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  insert into private.oauth_access_tokens (hash, grant_id, expires_at)
  values (decode(access, 'hex'), for_grant, clock_timestamp() + interval '1 hour');
  insert into private.oauth_refresh_tokens (hash, grant_id, expires_at)
  values (decode(refresh, 'hex'), for_grant, clock_timestamp() + interval '60 days')
$function$;

-- What was told of budgets that were deleted. returns: verdicts, as private.settle_alert_states takes them
create or replace function private.judge_gone_budgets()
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select coalesce(jsonb_agg(jsonb_build_object(
    'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
    'period', s.period, 'state', 'ok', 'details', jsonb_build_object('because', 'gone')
  )), '[]')
  from public.alert_states as s
  where s.rule in ('budget_forecast', 'budget_pace')
    and not exists (
      select from public.budgets as b where b.workspace_id = s.workspace_id and b.id::text = s.subject_id
    )
$function$;
grant execute on function private.judge_gone_budgets() to outlay_service, service_role;

-- What was told of keys that are gone.
create or replace function private.judge_gone_keys(at timestamptz)
 returns setof jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select jsonb_build_object(
    'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
    'period', s.period, 'state', 'ok', 'details', jsonb_build_object('because', 'gone')
  )
  from public.alert_states as s
  where s.rule in ('key_limit', 'key_expiry', 'silent_source')
    and not exists (
      select from public.api_keys as k
      where k.workspace_id = s.workspace_id and k.id::text = s.subject_id and k.revoked_at is null
        and (s.rule = 'key_expiry' or k.expires_at is null or k.expires_at > at)
    )
  limit 1000
$function$;

-- A key warns before it expires, and alerts when it has expired, if that was within a day. Forgotten after 30 days.
create or replace function private.judge_key_expiries(at timestamptz)
 returns setof jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  with judged as (
    select k.workspace_id, k.id::text as subject_id, k.name, k.expires_at, s.state as old_state, s.period as old_period,
      coalesce((k.expires_at at time zone 'UTC')::date, s.period) as period,
      case
        when k.expires_at is null or k.expires_at > at + rule.days * interval '1 day' then 'ok'
        when k.expires_at > at then 'warning'
        when k.expires_at > at - interval '1 day' or s.state is not null and k.expires_at > at - interval '30 days' then 'alert'
        when s.state is not null then 'forget'
        else 'ok'
      end as state
    from public.api_keys as k
    left join public.alert_states as s
      on s.workspace_id = k.workspace_id and s.rule = 'key_expiry' and s.subject_id = k.id::text
    join private.alert_rule_defaults() as d on d.rule = 'key_expiry'
    left join public.alert_rules as r on r.workspace_id = k.workspace_id and r.rule = 'key_expiry'
    cross join lateral (select coalesce(r.parameter, d.parameter) as days) as rule
    where k.kind = 'key' and k.revoked_at is null and coalesce(r.is_on, true)
      -- The longest notice that can be set is 365 days.
      and (s.state is not null or k.expires_at between at - interval '1 day' and at + interval '366 days')
  )
  select jsonb_build_object(
    'workspace_id', workspace_id, 'rule', 'key_expiry', 'subject_type', 'key', 'subject_id', subject_id,
    -- Where it is over, that is no new period.
    'period', case when state = 'ok' then coalesce(old_period, period) else period end, 'state', state,
    'details', jsonb_build_object(
      'subject', name,
      'expires_at', to_char(expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"')
    )
  )
  from judged
  where state is distinct from coalesce(old_state, 'ok') or state in ('warning', 'alert') and period is distinct from old_period
  limit 1000
$function$;

create or replace function private.judge_key_limits(at timestamptz)
 returns setof jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  with month as (
    select date_trunc('month', at, 'UTC')::timestamptz as begins, (date_trunc('month', at at time zone 'UTC'))::date as first_day
  ), judged as (
    select k.workspace_id, k.id::text as subject_id, k.name, month.first_day, k.monthly_limit as limit_usd,
      coalesce(spent.amount_usd, 0) as spent_usd,
      case
        when k.monthly_limit is null or coalesce(spent.amount_usd, 0) * 100 < k.monthly_limit * rule.percent then 'ok'
        when coalesce(spent.amount_usd, 0) >= k.monthly_limit then 'alert'
        else 'warning'
      end as state,
      s.state as old_state, s.period as old_period
    from month
    cross join public.api_keys as k
    left join public.key_spend as spent
      on spent.workspace_id = k.workspace_id and spent.api_key_id = k.id and spent.month = month.first_day
    left join public.alert_states as s
      on s.workspace_id = k.workspace_id and s.rule = 'key_limit' and s.subject_id = k.id::text
    join private.alert_rule_defaults() as d on d.rule = 'key_limit'
    left join public.alert_rules as r on r.workspace_id = k.workspace_id and r.rule = 'key_limit'
    cross join lateral (select coalesce(r.parameter, d.parameter) as percent) as rule
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
      'period_from', first_day, 'period_until', (first_day + interval '1 month')::date
    )
  )
  from judged
  where (state, first_day) is distinct from (coalesce(old_state, 'ok'), coalesce(old_period, first_day))
  limit 1000
$function$;

-- Judges the rules about keys and sources, for all workspaces. Another process that judges them meanwhile does it instead.
-- at: the moment to judge at; another one than the present in tests. returns: how many alerts were to be raised
create or replace function private.judge_key_rules(at timestamptz default clock_timestamp())
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  if not private.lock_alert_rules('keys') then
    return 0;
  end if;
  return private.settle_alert_states((
    select jsonb_agg(verdict)
    from (
      select private.judge_gone_keys(at) as verdict
      union all select private.judge_key_limits(at)
      union all select private.judge_key_expiries(at)
      union all select private.judge_silent_sources(at)
    ) as judged
  ));
end
$function$;
grant execute on function private.judge_key_rules(timestamptz) to outlay_service, service_role;

-- A source is silent that used to send for at least as long as it may be silent, and stopped within the last week.
create or replace function private.judge_silent_sources(at timestamptz)
 returns setof jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  with sources as (
    select a.workspace_id, a.api_key_id, min(a.first_at) as first_at, max(a.last_at) as arrived_at
    from public.source_arrivals as a
    group by a.workspace_id, a.api_key_id
  ), judged as (
    select k.workspace_id, k.id::text as subject_id, k.name, seen.last_at, rule.hours::integer as hours, s.state as old_state,
      coalesce(s.period, (seen.last_at at time zone 'UTC')::date) as period,
      case
        when seen.last_at >= at - rule.hours * interval '1 hour' then 'ok'
        when s.state is not null then 'warning'
        when seen.last_at >= at - rule.hours * interval '1 hour' - interval '7 days'
          and seen.last_at - sources.first_at >= rule.hours * interval '1 hour' then 'warning'
        else 'ok'
      end as state
    from sources
    join public.api_keys as k on k.workspace_id = sources.workspace_id and k.id = sources.api_key_id
    left join public.alert_states as s
      on s.workspace_id = k.workspace_id and s.rule = 'silent_source' and s.subject_id = k.id::text
    cross join lateral (
      -- A request that was refused shows that the source is alive.
      select greatest(sources.arrived_at, (
        select max(r.last_at) from public.source_refusals as r
        where r.workspace_id = k.workspace_id and r.api_key_id = k.id and not r.of_record
      )) as last_at
    ) as seen
    join private.alert_rule_defaults() as d on d.rule = 'silent_source'
    left join public.alert_rules as r on r.workspace_id = k.workspace_id and r.rule = 'silent_source'
    cross join lateral (select coalesce(r.parameter, d.parameter) as hours) as rule
    where k.revoked_at is null and (k.expires_at is null or k.expires_at > at) and coalesce(r.is_on, true)
  )
  select jsonb_build_object(
    'workspace_id', workspace_id, 'rule', 'silent_source', 'subject_type', 'source', 'subject_id', subject_id,
    'period', period, 'state', state,
    'details', jsonb_build_object(
      'subject', name, 'hours', hours,
      'last_at', to_char(last_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"+00:00"')
    )
  )
  from judged
  where state is distinct from coalesce(old_state, 'ok')
  limit 1000
$function$;

-- Models that are used in the present month and have no price; and those of which all is priced now.
create or replace function private.judge_unpriced_usage(at timestamptz)
 returns setof jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  with month as (select date_trunc('month', at at time zone 'UTC')::date as first_day),
  unpriced as (
    select w.id as workspace_id, month.first_day, usage.model, usage.line_count
    from month
    cross join public.workspaces as w
    cross join lateral (
      select t.value as model, sum(t.unpriced_count) as line_count
      from public.daily_totals as t
      where t.workspace_id = w.id and t.environment = 'live' and t.dimension = 'model' and t.day >= month.first_day
        and t.unpriced_count > 0
      group by t.value
    ) as usage
  ), fresh as materialized (
    select u.*, coalesce(u.model, '(no model)') as subject_id
    from unpriced as u
    where not exists (
      select from public.alert_states as s
      where s.workspace_id = u.workspace_id and s.rule = 'unpriced_usage' and s.subject_id = coalesce(u.model, '(no model)')
    )
    and private.alert_rule_parameter(u.workspace_id, 'unpriced_usage') is not null
    limit 1000
  )
  select jsonb_build_object(
    'workspace_id', f.workspace_id, 'rule', 'unpriced_usage', 'subject_type', 'model', 'subject_id', left(f.subject_id, 256),
    'period', f.first_day, 'state', 'warning',
    'details', jsonb_build_object(
      'subject', coalesce(f.model, 'no model'), 'model', f.model, 'line_count', f.line_count,
      'provider', (
        select d.provider from public.daily_spend as d
        where d.workspace_id = f.workspace_id and d.environment = 'live' and d.model is not distinct from f.model
          and d.day >= f.first_day and d.unpriced_count > 0
        order by d.day desc
        limit 1
      ),
      'period_from', f.first_day, 'period_until', (f.first_day + interval '1 month')::date
    )
  )
  from fresh as f
  union all
  (
    select jsonb_build_object(
      'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
      'period', s.period, 'state', 'ok', 'details', jsonb_build_object('line_count', 0)
    )
    from public.alert_states as s
    where s.rule = 'unpriced_usage'
      and not exists (
        select from public.daily_totals as t
        where t.workspace_id = s.workspace_id and t.environment = 'live' and t.dimension = 'model' and t.day >= s.period
          and t.unpriced_count > 0 and coalesce(t.value, '(no model)') = s.subject_id
      )
    limit 1000
  )
$function$;

-- A day whose usage is far above the same weekdays of the four weeks before. Subscriptions and expenses are left out: they
-- are booked on days of the month. A workspace younger than four weeks is not judged. The last minutes of a day are judged
-- after it.
create or replace function private.judge_unusual_days(at timestamptz)
 returns setof jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  with today as (select ((at - interval '5 minutes') at time zone 'UTC')::date as day),
  spent as materialized (
    select w.id as workspace_id, w.name, today.day, coalesce(r.parameter, d.parameter) as least_usd, usage.*
    from today
    cross join public.workspaces as w
    join private.alert_rule_defaults() as d on d.rule = 'unusual_day'
    left join public.alert_rules as r on r.workspace_id = w.id and r.rule = 'unusual_day'
    cross join lateral (
      -- One look into the index for the five days.
      select coalesce(sum(t.amount_usd) filter (where t.day = today.day), 0) as spent_usd,
        coalesce(sum(t.amount_usd) filter (where t.day = today.day - 7), 0) as first_usd,
        coalesce(sum(t.amount_usd) filter (where t.day = today.day - 14), 0) as second_usd,
        coalesce(sum(t.amount_usd) filter (where t.day = today.day - 21), 0) as third_usd,
        coalesce(sum(t.amount_usd) filter (where t.day = today.day - 28), 0) as fourth_usd
      from public.daily_totals as t
      where t.workspace_id = w.id and t.environment = 'live' and t.dimension = 'provider'
        and t.day = any (array[today.day, today.day - 7, today.day - 14, today.day - 21, today.day - 28])
        and t.type not in ('subscription', 'expense')
    ) as usage
    where coalesce(r.is_on, true)
  ), unusual as materialized (
    select spent.*, usual.*
    from spent
    cross join lateral private.unusual_above(array[first_usd, second_usd, third_usd, fourth_usd], least_usd) as usual
    where spent_usd >= least_usd
      -- Twice the median of four, without sorting: most days end here.
      and spent_usd >= first_usd + second_usd + third_usd + fourth_usd
        - greatest(first_usd, second_usd, third_usd, fourth_usd) - least(first_usd, second_usd, third_usd, fourth_usd)
      and spent_usd >= usual.above_usd
      and not exists (
        select from public.alert_states as s
        where s.workspace_id = spent.workspace_id and s.rule = 'unusual_day' and s.period = spent.day
      )
      and exists (
        select from public.daily_totals as t
        where t.workspace_id = spent.workspace_id and t.environment = 'live' and t.dimension = 'provider'
          and t.day <= spent.day - 28
      )
  )
  (
    select jsonb_build_object(
      'workspace_id', c.workspace_id, 'rule', 'unusual_day', 'subject_type', 'workspace', 'subject_id', c.workspace_id,
      'period', c.day, 'state', 'warning',
      'details', jsonb_build_object(
        'subject', c.name, 'day', c.day, 'spent_usd', trim_scale(c.spent_usd)::text,
        'median_usd', trim_scale(c.median_usd)::text, 'mad_usd', trim_scale(c.mad_usd)::text,
        'above_usd', trim_scale(c.above_usd)::text,
        'compared', jsonb_build_array(
          jsonb_build_object('day', c.day - 28, 'spent_usd', trim_scale(c.fourth_usd)::text),
          jsonb_build_object('day', c.day - 21, 'spent_usd', trim_scale(c.third_usd)::text),
          jsonb_build_object('day', c.day - 14, 'spent_usd', trim_scale(c.second_usd)::text),
          jsonb_build_object('day', c.day - 7, 'spent_usd', trim_scale(c.first_usd)::text)
        ),
        'period_from', c.day, 'period_until', c.day + 1
      )
    )
    from unusual as c
    limit 1000
  )
  union all
  (
    -- A day passes by itself.
    select jsonb_build_object(
      'workspace_id', s.workspace_id, 'rule', s.rule, 'subject_type', s.subject_type, 'subject_id', s.subject_id,
      'period', s.period, 'state', 'forget'
    )
    from public.alert_states as s
    where s.rule = 'unusual_day' and s.period < (select day from today)
      -- The new day may be unusual, too.
      and not exists (select from unusual as c where c.workspace_id = s.workspace_id)
    limit 1000
  )
$function$;

-- The rules about usage, for all workspaces. They read more, and are judged less often.
create or replace function private.judge_usage_rules(at timestamptz default clock_timestamp())
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  if not private.lock_alert_rules('usage') then
    return 0;
  end if;
  return private.settle_alert_states((
    select jsonb_agg(verdict)
    from (
      select private.judge_unusual_days(at) as verdict
      union all select private.judge_unpriced_usage(at)
    ) as judged
  ));
end
$function$;
grant execute on function private.judge_usage_rules(timestamptz) to outlay_service, service_role;

-- An owner whose account was deleted does not count: the workspace would be without one when the account is erased.
create or replace function private.keep_an_owner()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  if tg_op = 'UPDATE' and new.role = 'owner' then
    return new;
  end if;
  perform from public.workspaces where id = old.workspace_id for no key update;
  if found
    and exists (select from public.profiles where id = old.user_id)
    and not exists (
      select from public.workspace_members as m
      join public.profiles as p on p.id = m.user_id and p.deleted_at is null
      where m.workspace_id = old.workspace_id and m.role = 'owner' and m.user_id <> old.user_id
    )
  then
    raise exception 'a workspace keeps at least one owner'
      using errcode = 'check_violation', constraint = 'workspace_members_keep_an_owner';
  end if;
  if tg_op = 'DELETE' then
    return old;
  end if;
  return new;
end
$function$;

-- Keeps something that its service deletes next, in the same transaction. Whether the caller may delete it is decided there.
create or replace function private.keep_deleted(kind text, workspace uuid, thing uuid)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  kept jsonb;
begin
  case keep_deleted.kind
    when 'budget' then
      -- What is being recorded meanwhile is counted first, or finds no budget.
      perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
      select jsonb_build_object('row', to_jsonb(b), 'spend', coalesce((
        select jsonb_agg(to_jsonb(s)) from public.budget_spend as s
        where s.workspace_id = workspace and s.budget_id = thing
      ), '[]'))
      into kept from public.budgets as b where b.workspace_id = workspace and b.id = thing;
    when 'saved_view' then
      select jsonb_build_object('row', to_jsonb(v))
      into kept from public.saved_views as v where v.workspace_id = workspace and v.id = thing;
    when 'alert_channel' then
      select jsonb_build_object('row', to_jsonb(c), 'secrets', (
        select to_jsonb(s) from private.channel_secrets as s where s.workspace_id = workspace and s.channel_id = thing
      ), 'waiting', coalesce((
        select jsonb_object_agg(d.id, d.state) from public.alert_deliveries as d
        where d.channel_id = thing and d.workspace_id = workspace and d.lease is null
          and (d.state = 'pending' or d.state = 'collected' and d.digest_id is null)
      ), '{}'))
      into kept from public.alert_channels as c where c.workspace_id = workspace and c.id = thing;
    when 'invitation' then
      select jsonb_build_object('row', to_jsonb(i), 'secret', (
        select to_jsonb(s) from private.invitation_secrets as s where s.invitation_id = thing
      ))
      into kept from public.invitations as i
      where i.workspace_id = workspace and i.id = thing and i.accepted_at is null;
  end case;
  if kept is null then
    return;
  end if;
  insert into private.deleted_things (workspace_id, kind, id, content)
  values (workspace, keep_deleted.kind, thing, kept)
  on conflict on constraint deleted_things_pkey do update set content = excluded.content, deleted_at = excluded.deleted_at;
end
$function$;
grant execute on function private.keep_deleted(text,uuid,uuid) to outlay_service, service_role;

-- Nobody can accept an invitation without a secret. The service adds it in the transaction that creates the invitation.
create or replace function private.keep_invitation_secret(invitation uuid, hash text)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  insert into private.invitation_secrets (invitation_id, hash)
  values (invitation, decode(keep_invitation_secret.hash, 'hex'))
$function$;
grant execute on function private.keep_invitation_secret(uuid,text) to outlay_service, service_role;

-- Keeps a secret, in the place of the one before; null removes it.
create or replace function private.keep_signing_secret(key_id uuid, for_gateway text, new_secret text)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  if new_secret is null then
    delete from private.signing_secrets as kept where kept.api_key_id = key_id and kept.gateway = for_gateway;
    return;
  end if;
  insert into private.signing_secrets (api_key_id, gateway, secret)
  values (key_id, for_gateway, new_secret)
  on conflict (api_key_id, gateway) do update set secret = excluded.secret, updated_at = now();
end
$function$;
grant execute on function private.keep_signing_secret(uuid,text,text) to outlay_service, service_role;

-- What the calling key may see, as the guard wrote it into the transaction:
-- { id, workspace_id, environment, allow: [project slug] | null, deny: [project slug], users: [name] | absent }.
-- Security definer, because a policy's functions run as the reader, who has no access to this schema.
create or replace function private.key_claims()
 returns jsonb
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
begin
  return nullif(current_setting('request.api_key', true), '')::jsonb;
end
$function$;
grant execute on function private.key_claims() to outlay_key;

create or replace function private.key_environment()
 returns text
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
begin
  return private.key_claims() ->> 'environment';
end
$function$;
grant execute on function private.key_environment() to outlay_key;

-- Whether the key is limited to users and to nothing else.
create or replace function private.key_is_of_users()
 returns boolean
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
declare
  claims jsonb := private.key_claims();
begin
  return jsonb_typeof(claims -> 'users') = 'array' and jsonb_typeof(claims -> 'allow') is distinct from 'array'
    and jsonb_array_length(coalesce(claims -> 'deny', '[]')) = 0;
end
$function$;
grant execute on function private.key_is_of_users() to outlay_key;

create or replace function private.key_is_unconfined()
 returns boolean
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
declare
  claims jsonb := private.key_claims();
begin
  return jsonb_typeof(claims -> 'allow') is distinct from 'array'
    and jsonb_array_length(coalesce(claims -> 'deny', '[]')) = 0
    and jsonb_typeof(claims -> 'users') is distinct from 'array';
end
$function$;
grant execute on function private.key_is_unconfined() to outlay_key;

-- The projects in the key's scope. An allow-list that names no existing project allows none.
create or replace function private.key_projects()
 returns setof uuid
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
declare
  claims jsonb := private.key_claims();
begin
  return query
    select id
    from public.projects
    where workspace_id = (claims ->> 'workspace_id')::uuid
      and (jsonb_typeof(claims -> 'allow') is distinct from 'array' or claims -> 'allow' ? slug)
      and not coalesce(claims -> 'deny' ? slug, false);
end
$function$;
grant execute on function private.key_projects() to outlay_key;

-- The users to whom the key is limited; null where it is not.
create or replace function private.key_users()
 returns text[]
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
declare
  users jsonb := private.key_claims() -> 'users';
begin
  return case when jsonb_typeof(users) = 'array' then array(select jsonb_array_elements_text(users)) end;
end
$function$;
grant execute on function private.key_users() to outlay_key;

create or replace function private.key_workspace()
 returns uuid
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
begin
  return (private.key_claims() ->> 'workspace_id')::uuid;
end
$function$;
grant execute on function private.key_workspace() to outlay_key;

-- The keys that a request names, and how it names them. A key with a secret is found by its secret only, a connection by
-- a valid access token only. In plpgsql, which caches its plans, because every group of messages calls it.
-- token: { expires_at: ms, resource, client_id } for an access token, else null
create or replace function private.keys_named(requested jsonb)
 returns table(id uuid, lookup text, token jsonb)
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
#variable_conflict use_column
begin
  return query
    select s.api_key_id, wanted.value, null::jsonb
    from jsonb_array_elements_text(requested -> 'hashes') as wanted
    join private.api_key_secrets as s on s.hash = decode(wanted.value, 'hex');
  if jsonb_array_length(requested -> 'ids') > 0 then
    return query
      select k.id, wanted.value, null::jsonb
      from jsonb_array_elements_text(requested -> 'ids') as wanted
      join public.api_keys as k on k.id = wanted.value::uuid and k.kind in ('member', 'environment');
  end if;
  if jsonb_array_length(requested -> 'tokens') > 0 then
    return query
      select c.id, wanted.value, jsonb_build_object(
        'expires_at', (extract(epoch from t.expires_at) * 1000)::bigint, 'resource', g.resource, 'client_id', c.client_id
      )
      from jsonb_array_elements_text(requested -> 'tokens') as wanted
      join private.oauth_access_tokens as t on t.hash = decode(wanted.value, 'hex') and t.expires_at > clock_timestamp()
      join private.oauth_grants as g on g.id = t.grant_id
      join public.connections as c on c.id = g.connection_id;
  end if;
end
$function$;

-- Whatever judges the rules of alerts, nothing is raised in a deleted workspace and no state changes, so that an undo finds
-- them as they were. The last step of the erasure deletes the states.
create or replace function private.leave_deleted_workspace()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  at_stake uuid := case when tg_op = 'DELETE' then old.workspace_id else new.workspace_id end;
begin
  if exists (
    select from public.workspaces as w
    where w.id = at_stake and w.deleted_at > now() - private.days_to_undo()
  ) then
    return null;
  end if;
  return case when tg_op = 'DELETE' then old else new end;
end
$function$;

-- Budgets in other currencies than USD whose present period has no rate yet.
-- returns: [{ workspace_id, id, currency, period_from }], or null
create or replace function private.list_unrated_budgets()
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select jsonb_agg(jsonb_build_object(
    'workspace_id', b.workspace_id, 'id', b.id, 'currency', b.currency, 'period_from', present.first_day
  ))
  from public.budgets as b
  cross join lateral (select private.budget_period(b, clock_timestamp()) as first_day) as present
  where b.currency <> 'USD' and present.first_day is distinct from b.rated_from and present.first_day is not null
$function$;
grant execute on function private.list_unrated_budgets() to outlay_service, service_role;

-- Blocking budgets are loaded together with the keys of a group: no further round trip.
-- The state of the keys of a group of requests that the guard needs, at one point in time.
--
-- requested: { hashes: [hex], tokens: [hex], ids: [uuid], projects: [{ slug }], idempotency: [{ key }] }; hashes (of secrets),
--   tokens (hashes of access tokens) and ids are how the requests name their keys.
-- returns: { now: ms, keys: [...], projects: [{ workspace_id, slug, id }], idempotency: [{ workspace_id, key, request, response }] }
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
as $function$
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

  -- Shared with other groups; a change of the workspace's prices takes this lock exclusively.
  perform pg_advisory_xact_lock_shared(hashtextextended('outlay.prices.' || workspace_id, 0))
  from (select distinct workspace_id from public.api_keys where id = any (key_ids) order by workspace_id) as sending;

  limited_ids := array(
    select id from public.api_keys
    where id = any (key_ids) and (monthly_limit is not null or rate_limit_rpm is not null)
    order by id
    for no key update
  );

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
    'prices_version', (select w.prices_version from public.workspaces as w where w.id = k.workspace_id),
    'environment', k.environment,
    'permissions', k.permissions,
    'project', (select p.slug from public.projects as p where p.workspace_id = k.workspace_id and p.id = k.project_id),
    'project_id', k.project_id,
    'conditions', k.conditions,
    'monthly_limit', k.monthly_limit::text,
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

  if jsonb_array_length(requested -> 'idempotency') > 0 then
    select coalesce(json_agg(json_build_object(
      'workspace_id', i.workspace_id, 'key', i.key, 'request', i.request, 'response', i.response
    )), '[]')
    into replays
    from private.idempotency as i
    where i.workspace_id = any (workspace_ids)
      and i.key = any (array(select wanted.value ->> 'key' from jsonb_array_elements(requested -> 'idempotency') as wanted));
  end if;

  return json_build_object(
    'now', (extract(epoch from now_at) * 1000)::bigint,
    'keys', keys, 'projects', projects, 'idempotency', replays, 'budgets', budgets
  );
end
$function$;
grant execute on function private.load_admission(jsonb) to outlay_service, service_role;

-- The blocking budgets of workspaces, with their present periods. Until the transaction ends, no other transaction loads
-- them to decide about messages: two processes cannot both spend what is left. Which budgets block does not change
-- meanwhile, because the caller holds the workspaces' lock that a change of a blocking budget takes exclusively.
-- returns: [{ id, workspace_id, name, scope_type, scope_key, time_zone, counts_from, counts_until: ms; period }]
create or replace function private.load_blocking_budgets(workspaces uuid[])
 returns jsonb
 language plpgsql
 security definer
 set search_path to ''
 set plan_cache_mode to 'force_generic_plan'
as $function$
declare
  now_at timestamptz;
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.budgets.' || workspace_id, 0))
  from (
    select distinct workspace_id from public.budgets where blocks and workspace_id = any (workspaces) order by workspace_id
  ) as blocking;
  now_at := clock_timestamp();
  -- A statement of its own: it sees what was committed while this one waited.
  return (
    select jsonb_agg(jsonb_build_object(
      'id', b.id, 'workspace_id', b.workspace_id, 'name', b.name, 'scope_type', b.scope_type, 'scope_key', b.scope_key,
      'time_zone', b.time_zone,
      'counts_from', floor(extract(epoch from
        greatest(b.counted_from, b.starts_on)::timestamp at time zone b.time_zone) * 1000)::bigint,
      'counts_until', floor(extract(epoch from (b.ends_on + 1)::timestamp at time zone b.time_zone) * 1000)::bigint,
      'period', present.period
    ) order by b.name, b.id)
    from public.budgets as b
    left join lateral private.budget_periods(b, now_at) as present on true
    where b.blocks and b.workspace_id = any (workspaces)
  );
end
$function$;

-- The periods of workspaces' blocking budgets that instants lie in, each once. Called under the lock of
-- load_blocking_budgets.
-- wanted: [{ workspace_id, at: [ms since 1970] }]. returns: periods as budget_periods has them
create or replace function private.load_budget_periods(wanted jsonb)
 returns jsonb
 language sql
 security definer
 set search_path to ''
as $function$
  select coalesce(jsonb_agg(found.period), '[]')
  from (
    select distinct present.period
    from jsonb_to_recordset(wanted) as w (workspace_id uuid, at jsonb)
    join public.budgets as b on b.workspace_id = w.workspace_id and b.blocks
    cross join lateral (
      select to_timestamp(value::numeric / 1000) as at from jsonb_array_elements_text(w.at)
    ) as instant
    cross join lateral private.budget_periods(b, instant.at) as present
  ) as found
$function$;
grant execute on function private.load_budget_periods(jsonb) to outlay_service, service_role;

-- returns: { id, kind, name, uri, redirect_uris } or null
create or replace function private.load_oauth_client(client_id text)
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select jsonb_build_object('id', id, 'kind', kind, 'name', name, 'uri', uri, 'redirect_uris', redirect_uris)
  from private.oauth_clients where id = client_id
$function$;
grant execute on function private.load_oauth_client(text) to outlay_service, service_role;

-- A workspace's prices with their version, read in one snapshot.
create or replace function private.load_prices(workspace uuid)
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
as $function$
  select jsonb_build_object(
    'version', w.prices_version,
    'prices', coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', p.id, 'provider', p.provider, 'model', p.model, 'unitType', p.unit_type,
        'rate', trim_scale(p.rate)::text, 'startsAt', p.starts_at
      ))
      from public.prices as p where p.workspace_id = w.id
    ), '[]')
  )
  from public.workspaces as w where w.id = workspace
$function$;
grant execute on function private.load_prices(uuid) to outlay_service, service_role;

-- What projects have spent in ranges of days, for allocations: no allocation may move more than its source has spent in
-- that month. So the caller locks the source, environment and month until its transaction ends, and the next caller sees
-- what it moved. The locks are taken in one order, after the keys' locks and before any row is written.
--
-- In plpgsql and volatile: each statement has its own snapshot, and that of the second is taken under the locks.
--
-- wanted: [{ workspace_id, project_id, environment, from, until }] → [{ …, amount_usd }]
create or replace function private.load_project_spend(wanted jsonb)
 returns jsonb
 language plpgsql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
as $function$
declare
  spend jsonb;
begin
  perform pg_advisory_xact_lock(hashtextextended('outlay.allocations.' || source, 0))
  from (
    select distinct concat_ws(' ', workspace_id, project_id, environment, date_trunc('month', "from")::date) as source
    from jsonb_to_recordset(wanted) as w (workspace_id uuid, project_id uuid, environment text, "from" date)
    order by 1
  ) as sources;

  select coalesce(jsonb_agg(jsonb_build_object(
    'project_id', w.project_id, 'environment', w.environment, 'from', w.from, 'until', w.until,
    'amount_usd', coalesce((
      select sum(d.amount_usd) from public.daily_spend as d
      where d.workspace_id = w.workspace_id and d.project_id = w.project_id and d.environment = w.environment
        and d.day >= w.from and d.day < w.until
    ), 0)::text
  )), '[]') into spend
  from (
    select distinct * from jsonb_to_recordset(wanted)
      as w (workspace_id uuid, project_id uuid, environment text, "from" date, until date)
  ) as w;
  return spend;
end
$function$;
grant execute on function private.load_project_spend(jsonb) to outlay_service, service_role;

-- One process judges the rules about `keys`, `usage` or `budgets` at a time, until the end of its transaction.
-- returns: whether this one does
create or replace function private.lock_alert_rules(about text)
 returns boolean
 language sql
 security definer
 set search_path to ''
as $function$
  select pg_try_advisory_xact_lock(hashtextextended('outlay.alert_rules.' || about, 0))
$function$;
grant execute on function private.lock_alert_rules(text) to outlay_service, service_role;

-- Subscriptions with a period that has begun and is not booked, locked for the caller. Skips those that another process
-- has locked.
create or replace function private.lock_due_subscriptions(today date, at_most integer)
 returns setof public.recurring_subscriptions
 language sql
 security definer
 set search_path to ''
as $function$
  select * from public.recurring_subscriptions as s
  where next_on <= today
    and not exists (select from public.workspaces as w where w.id = s.workspace_id and w.deleted_at is not null)
  order by next_on
  limit at_most
  for update skip locked
$function$;
grant execute on function private.lock_due_subscriptions(date,integer) to outlay_service, service_role;

-- The oldest correction that no process is working on, locked for the caller.
create or replace function private.lock_next_repricing()
 returns setof public.repricings
 language sql
 security definer
 set search_path to ''
as $function$
  select * from public.repricings as r
  where status <> 'done'
    and not exists (select from public.workspaces as w where w.id = r.workspace_id and w.deleted_at is not null)
  order by created_at, id
  limit 1
  for update skip locked
$function$;
grant execute on function private.lock_next_repricing() to outlay_service, service_role;

-- The next postings that a correction may change, in the order of their messages, locked for the caller: as many as asked
-- for, and the rest of the last one's message, so that no message is corrected in two steps. What was voided stays as it is,
-- and its void: the update that voids a posting makes a correction that waits for it look again.
create or replace function private.lock_repriceable(workspace uuid, repricing uuid, at_most integer)
 returns setof public.messages
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  job public.repricings;
begin
  select * into job from public.repricings where workspace_id = workspace and id = repricing;
  if job.includes_priced then
    -- Lines are found by the first one of their batch.
    return query
    select line.*
    from public.messages as head
    join public.messages as line
      on line.workspace_id = head.workspace_id and line.id = head.id and line.occurred_at = head.occurred_at
    where head.workspace_id = workspace and head.part = 0 and head.type in ('usage', 'batch')
      and head.occurred_at >= coalesce(job.cursor_at, job.from_at) and head.occurred_at < job.to_at
      and (job.cursor_at is null or (head.occurred_at, head.id) > (job.cursor_at, job.cursor_id))
      and lower(head.provider) = lower(job.provider)
      and line.workspace_id = workspace and line.cost_status <> 'client'
      and line.voids is null and line.voided_by is null
      -- What a client gave as the list price of included usage stays, as a cost that it gave does.
      and (line.cost_status <> 'included' or line.price is not null or line.list_price_usd is null)
      and line.occurred_at >= coalesce(job.cursor_at, job.from_at) and line.occurred_at < job.to_at
    order by head.occurred_at, head.id
    fetch first at_most rows with ties
    for update of line;
  else
    return query
    select m.*
    from public.messages as m
    where m.workspace_id = workspace and m.voids is null and m.voided_by is null
      and (m.cost_status = 'unpriced' or m.cost_status = 'included' and m.list_price_usd is null)
      and m.occurred_at >= coalesce(job.cursor_at, job.from_at) and m.occurred_at < job.to_at
      and (job.cursor_at is null or (m.occurred_at, m.id) > (job.cursor_at, job.cursor_id))
      and m.type in ('usage', 'batch')
      and lower(m.provider) = lower(job.provider)
    order by m.occurred_at, m.id
    fetch first at_most rows with ties
    for update of m;
  end if;
end
$function$;
grant execute on function private.lock_repriceable(uuid,uuid,integer) to outlay_service, service_role;

-- The signed-in user's workspaces that this session cannot read because they require a second factor, so that the user
-- learns where to prove one. Returns nothing to a session that lacks its own user's factor.
create or replace function private.locked_workspaces()
 returns table(slug text, name text)
 language sql
 stable security definer
 set search_path to ''
as $function$
  select w.slug, w.name
  from public.workspace_members as m
  join public.workspaces as w on w.id = m.workspace_id
  where m.user_id = auth.uid() and w.require_mfa and w.deleted_at is null
    and not private.proved_second_factor() and private.session_is_complete()
  order by w.name, w.slug
$function$;
grant execute on function private.locked_workspaces() to outlay_service, service_role;

-- Makes the digests that are due: one delivery with all that a channel has collected, and none where there is nothing. The
-- channel is locked, and the next digest planned, in the same transaction. A service that was away makes one for all of the
-- time. A channel that is off makes none before it is on again. returns: how many it made
create or replace function private.make_digests(at_most integer)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  at_moment constant timestamptz := clock_timestamp();
  channel public.alert_channels;
  made uuid;
  count integer := 0;
begin
  for channel in
    select c.* from public.alert_channels as c
    where c.next_digest_at <= at_moment and c.disabled_at is null
      and not exists (select from public.workspaces as w where w.id = c.workspace_id and w.deleted_at is not null)
    order by c.next_digest_at
    limit at_most
    for no key update skip locked
  loop
    made := null;
    insert into public.alert_deliveries (workspace_id, channel_id, channel_name, channel_kind, ordered_by, digest_at)
    select channel.workspace_id, channel.id, channel.name, channel.kind, 'digest', channel.next_digest_at
    where exists (
      select from public.alert_deliveries as d
      where d.channel_id = channel.id and d.workspace_id = channel.workspace_id and d.state = 'collected' and d.digest_id is null
    )
    returning id into made;
    if made is not null then
      update public.alert_deliveries as d
      set digest_id = made
      where d.channel_id = channel.id and d.workspace_id = channel.workspace_id and d.state = 'collected' and d.digest_id is null;
      count := count + 1;
    end if;
    update public.alert_channels as c
    set next_digest_at = case when c.cadence <> 'immediate' then private.next_local_time(
      at_moment, c.time_zone, c.digest_time, case when c.cadence = 'weekly' then c.digest_weekday end
    ) end
    where c.workspace_id = channel.workspace_id and c.id = channel.id;
  end loop;
  return count;
end
$function$;
grant execute on function private.make_digests(integer) to outlay_service, service_role;

-- Whether the transaction's user may have something back: an admin everything but others' private views, who saved a view
-- their own as long as they may save such a one.
create or replace function private.may_restore(kind text, workspace uuid, kept jsonb)
 returns boolean
 language sql
 stable security definer
 set search_path to ''
as $function$
  select workspace in (select private.member_workspaces(case
    when kind <> 'saved_view' then array['owner', 'admin']
    when not (kept ->> 'is_shared')::boolean and (kept ->> 'created_by')::uuid = auth.uid()
      then array['owner', 'admin', 'member', 'viewer']
    when (kept ->> 'is_shared')::boolean and (kept ->> 'created_by')::uuid = auth.uid()
      then array['owner', 'admin', 'member']
    when (kept ->> 'is_shared')::boolean then array['owner', 'admin']
    else '{}'
  end))
$function$;

-- How much may be recorded in a workspace before a threshold of its budgets may be reached, USD, and until when that holds.
-- Nothing where a budget blocks: its sums are needed with every message.
create or replace function private.measure_budgets(workspace uuid, out left_usd numeric, out valid_until timestamptz)
 returns record
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  at timestamptz := clock_timestamp();
begin
  if exists (select from public.budgets as b where b.workspace_id = workspace and b.blocks) then
    left_usd := 0;
    valid_until := 'infinity';
    return;
  end if;
  select
    coalesce(min((
      select min(threshold.usd) - coalesce(spend.spent_usd, 0)
      from (
        select private.budget_limit(b, at) * percent / 100 as usd from unnest(b.alert_percents) as percent
        union all
        select usd from unnest(b.alert_amounts) as usd
      ) as threshold
      where threshold.usd > coalesce(spend.spent_usd, 0) and present.first_day is not null
    )), 'infinity'),
    coalesce(min(least(
      private.budget_period_end(b, present.first_day)::timestamp at time zone b.time_zone,
      case when b.raised_until >= present.day then (b.raised_until + 1)::timestamp at time zone b.time_zone end,
      case when b.starts_on > present.day then b.starts_on::timestamp at time zone b.time_zone end
    )), 'infinity')
  into left_usd, valid_until
  from public.budgets as b
  cross join lateral (
    select private.budget_period(b, at) as first_day, (at at time zone b.time_zone)::date as day
  ) as present
  left join public.budget_counts as spend
    on spend.workspace_id = b.workspace_id and spend.budget_id = b.id and spend.environment = 'live'
      and spend.period_from = present.first_day
  where b.workspace_id = workspace;
end
$function$;

-- The median of some amounts; null of none.
create or replace function private.median(amounts numeric[])
 returns numeric
 language sql
 immutable
 set search_path to ''
as $function$
  select (sorted[(cardinality(sorted) + 1) / 2] + sorted[cardinality(sorted) / 2 + 1]) / 2
  from (select array(select amount from unnest(amounts) as amount order by amount) as sorted) as all_amounts
  where cardinality(sorted) > 0
$function$;

-- The signed-in member's own key. It is created when first needed and named after the member. Null if they may not record.
-- It may read summaries, because an allocation by percent reveals what its source has spent.
create or replace function private.member_key(workspace uuid, key_environment text)
 returns uuid
 language plpgsql
 security definer
 set search_path to ''
as $function$
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
      workspace, left(person, 120), 'member', 'none', 'member', private.permissions_of_role('member'),
      '{"sources": ["manual", "import"]}', key_environment, auth.uid()
    )
    on conflict (workspace_id, created_by, environment) where kind = 'member' do update set name = excluded.name
    returning * into known;
  end if;
  return known.id;
end
$function$;
grant execute on function private.member_key(uuid,text) to outlay_service, service_role;

-- Who may do what in a workspace is decided here, and nobody may do anything in a deleted one.
create or replace function private.member_workspaces(required_roles text[] default array['owner', 'admin', 'member', 'viewer'])
 returns setof uuid
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
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
$function$;
grant execute on function private.member_workspaces(text[]) to authenticated;

-- The day before which messages of a workspace were removed; null where none were. The caller has checked who asks.
create or replace function private.messages_removed_before(workspace uuid)
 returns date
 language sql
 stable security definer
 set search_path to ''
as $function$
  select (max(month) + interval '1 month')::date from private.removed_messages where workspace_id = workspace
$function$;
grant execute on function private.messages_removed_before(uuid) to outlay_service, service_role;

-- The month's totals of each project that a key may see, by type, for each of several keys. The function runs with the
-- rights of its caller: it sets the claims of each key before it reads for it, so row-level security admits what that key
-- may see. Folded days are read from the totals of the month. Postgres caches its plans per connection.
--
-- callers: an array of the claims of keys, each as JSON text (see `private.key_claims()`).
-- returns: a row for each caller, by its place in the array, from 1. `totals` has an array for each project and type that
--   cost something in the current UTC month: slug, name, type, USD as exact text, messages, unpriced messages,
--   and USD of included usage as exact text.
create or replace function private.month_totals(callers json)
 returns table(place integer, totals json)
 language plpgsql
 set search_path to ''
 set enable_sort to 'off'
as $function$
#variable_conflict use_column
declare
  month_start date := date_trunc('month', now() at time zone 'UTC');
  month_end date := month_start + interval '1 month';
  caller text;
  caller_place integer := 0;
  workspace uuid;
  in_environment text;
begin
  for caller in select value from json_array_elements_text(callers) loop
    caller_place := caller_place + 1;
    perform set_config('request.api_key', caller, true);
    workspace := private.key_workspace();
    in_environment := private.key_environment();
    -- The totals have no rows by project and person together.
    if private.key_users() is null then
      return query
        select caller_place, coalesce(
          json_agg(json_build_array(
            projects.slug, projects.name, spend.type, spend.total::text, spend.messages, spend.unpriced, spend.included::text
          )),
          '[]'
        )
        -- Summed before the names are joined, which are far fewer than the rows.
        from (
          select value::uuid as project_id, type, sum(amount_usd) as total, sum(message_count) as messages,
            sum(unpriced_count) as unpriced, sum(included_usd) as included
          from (
            select value, type, amount_usd, message_count, unpriced_count, included_usd
            from public.monthly_totals as folded
            where workspace_id = workspace and environment = in_environment and dimension = 'project'
              and folded.first_day = month_start
            union all
            select value, type, amount_usd, message_count, unpriced_count, included_usd
            from public.daily_totals
            where workspace_id = workspace and environment = in_environment and dimension = 'project'
              -- Read in this statement, so that no day is folded between the two reads.
              and day >= greatest(month_start, (select folded_until from public.spend_folds where workspace_id = workspace))
              and day < month_end
          ) as totals
          group by value, type
        ) as spend
        join public.projects on projects.workspace_id = workspace and projects.id = spend.project_id;
    else
      return query
        select caller_place, coalesce(
          json_agg(json_build_array(
            projects.slug, projects.name, spend.type, spend.total::text, spend.messages, spend.unpriced, spend.included::text
          )),
          '[]'
        )
        -- Summed before the names are joined, which are far fewer than the rows.
        from (
          select project_id, type, sum(amount_usd) as total, sum(message_count) as messages,
            sum(unpriced_count) as unpriced, sum(included_usd) as included
          from public.daily_spend
          where workspace_id = workspace and environment = in_environment
            and day >= month_start and day < month_end
          group by 1, 2
        ) as spend
        join public.projects on projects.workspace_id = workspace and projects.id = spend.project_id;
    end if;
  end loop;
end
$function$;
grant execute on function private.month_totals(json) to outlay_key;

-- The months whose slices are to be made, of all workspaces, the latest ones first.
create or replace function private.months_to_slice()
 returns table(workspace_id uuid, month date)
 language sql
 stable security definer
 set search_path to ''
begin atomic
 select s.workspace_id,
     s.month
    from (public.sliced_months s
      join public.workspaces w on (((w.id = s.workspace_id) and (w.deleted_at is null))))
   where (s.state <> 'made')
   order by s.month desc, s.workspace_id
  limit 10000;
end
as ;
grant execute on function private.months_to_slice() to outlay_service, service_role;

-- An id of a new message: a UUID of version 7, which sorts by time.
create or replace function private.new_message_id()
 returns uuid
 language sql
 set search_path to ''
as $function$
  select encode(
    set_byte(
      overlay(uuid_send(gen_random_uuid()) placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3) from 1 for 6),
      6, (get_byte(uuid_send(gen_random_uuid()), 0) & 15) | 112
    ), 'hex')::uuid
$function$;
grant execute on function private.new_message_id() to authenticated;

-- The first instant after another at which the clocks of a time zone show a time, on any day or on one weekday (1 is
-- Monday). A time that clocks skip in spring is as much later as they go forward; one that they show twice in autumn is
-- the second. So each local day has exactly one.
create or replace function private.next_local_time(after timestamptz, zone text, at_time time without time zone, weekday integer)
 returns timestamptz
 language sql
 stable
 set search_path to ''
as $function$
  select min(candidate.instant)
  from generate_series(-1, 15) as ahead
  cross join lateral (select (after at time zone zone)::date + ahead as day) as local
  cross join lateral (select (local.day + at_time) at time zone zone as instant) as candidate
  where candidate.instant > after and (weekday is null or extract(isodow from local.day) = weekday)
$function$;

-- The lowest threshold of a budget above a spend, USD, with the limit of an instant; infinity above all of them.
create or replace function private.next_threshold(budget public.budgets, spent_usd numeric, instant timestamptz)
 returns numeric
 language sql
 stable
 set search_path to ''
as $function$
  select coalesce(min(threshold.usd), 'infinity')
  from (
    select private.budget_limit(budget, instant) * percent / 100 as usd from unnest(budget.alert_percents) as percent
    union all
    select usd from unnest(budget.alert_amounts) as usd
  ) as threshold
  where threshold.usd > next_threshold.spent_usd
$function$;

-- seconds: how long documents are not advertised from now on; 0: they are advertised again
create or replace function private.note_document_outage(seconds integer)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  insert into private.oauth_document_outage (ends_at)
  select clock_timestamp() + seconds * interval '1 second' where seconds > 0
    or exists (select from private.oauth_document_outage where ends_at > clock_timestamp())
  on conflict (only_row) do update set ends_at = excluded.ends_at
$function$;
grant execute on function private.note_document_outage(integer) to outlay_service, service_role;

-- Stores that keys were used, at most once a minute each, over all processes. Locks them in order of id, as the guard
-- does, so that the two cannot deadlock. It is a statement of its own, so that the locks end at once.
create or replace function private.note_key_use(key_ids uuid[])
 returns void
 language sql
 security definer
 set search_path to ''
 set lock_timeout to '1s'
as $function$
  with due as materialized (
    select id from public.api_keys
    where id = any (key_ids)
      and (last_used_at is null or last_used_at < clock_timestamp() - interval '1 minute')
    order by id
    for no key update
  )
  update public.api_keys as k set last_used_at = clock_timestamp() from due where k.id = due.id
$function$;
grant execute on function private.note_key_use(uuid[]) to outlay_service, service_role;

create or replace function private.note_owners_told(workspace uuid, channel uuid)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  update public.alert_channels set tell_owners_at = null
  where workspace_id = workspace and id = channel and tell_owners_at is not null
$function$;
grant execute on function private.note_owners_told(uuid,uuid) to outlay_service, service_role;

-- Adds what came in from sources. Rows are locked in the order of their keys, because processes write at the same time.
--
-- noted: {
--   arrivals: [{ key, emitter, told, recorded, repeated, refused, latest: { id, provider, model, amount, status } | null }],
--   refusals: [{ key, reason, code, of_record, description, count, example }],
--   exports: [{ key, address, records }]
-- }
create or replace function private.note_sources(noted jsonb)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  insert into public.source_arrivals as known (
    workspace_id, api_key_id, emitter, told_count, recorded_count, repeated_count, refused_count,
    last_message_id, last_provider, last_model, last_amount_usd, last_cost_status, last_recorded_at
  )
  select k.workspace_id, k.id, a.emitter, a.told, a.recorded, a.repeated, a.refused,
    (a.latest ->> 'id')::uuid, a.latest ->> 'provider', a.latest ->> 'model', (a.latest ->> 'amount')::numeric,
    a.latest ->> 'status', case when a.latest is not null then now() end
  from jsonb_to_recordset(noted -> 'arrivals') as a (
    key uuid, emitter text, told bigint, recorded bigint, repeated bigint, refused bigint, latest jsonb
  )
  join public.api_keys as k on k.id = a.key
  order by k.id, a.emitter
  on conflict (workspace_id, api_key_id, emitter) do update set
    told_count = known.told_count + excluded.told_count,
    recorded_count = known.recorded_count + excluded.recorded_count,
    repeated_count = known.repeated_count + excluded.repeated_count,
    refused_count = known.refused_count + excluded.refused_count,
    last_at = now(),
    last_message_id = coalesce(excluded.last_message_id, known.last_message_id),
    last_provider = case when excluded.last_message_id is null then known.last_provider else excluded.last_provider end,
    last_model = case when excluded.last_message_id is null then known.last_model else excluded.last_model end,
    last_amount_usd = coalesce(excluded.last_amount_usd, known.last_amount_usd),
    last_cost_status = coalesce(excluded.last_cost_status, known.last_cost_status),
    last_recorded_at = coalesce(excluded.last_recorded_at, known.last_recorded_at);

  insert into public.source_refusals as known (workspace_id, api_key_id, reason, code, of_record, description, refused_count, example)
  select k.workspace_id, k.id, r.reason, r.code, r.of_record, r.description, r.count, r.example
  from jsonb_to_recordset(noted -> 'refusals') as r (
    key uuid, reason text, code text, of_record boolean, description text, count bigint, example jsonb
  )
  join public.api_keys as k on k.id = r.key
  order by k.id, r.reason
  on conflict (workspace_id, api_key_id, reason) do update set
    refused_count = known.refused_count + excluded.refused_count,
    description = excluded.description,
    last_at = now(),
    example = coalesce(excluded.example, known.example);

  delete from public.source_refusals as old
  using (
    select workspace_id, api_key_id, reason,
      row_number() over (partition by workspace_id, api_key_id order by last_at desc, refused_count desc, reason) as place
    from public.source_refusals
    where api_key_id in (select (r.value ->> 'key')::uuid from jsonb_array_elements(noted -> 'refusals') as r)
      and workspace_id in (select k.workspace_id from public.api_keys as k where k.id in (
        select (r.value ->> 'key')::uuid from jsonb_array_elements(noted -> 'refusals') as r
      ))
  ) as ranked
  where ranked.place > 50 and old.workspace_id = ranked.workspace_id and old.api_key_id = ranked.api_key_id
    and old.reason = ranked.reason;

  if jsonb_array_length(noted -> 'exports') = 0 then
    return;
  end if;
  insert into public.refused_exports (workspace_id, api_key_id, record_count, byte_count, address, records)
  select k.workspace_id, k.id, jsonb_array_length(e.records), octet_length(e.records::text), e.address, e.records
  from jsonb_to_recordset(noted -> 'exports') as e (key uuid, address text, records jsonb)
  join public.api_keys as k on k.id = e.key;

  delete from public.refused_exports as old
  using (
    select workspace_id, api_key_id, id,
      row_number() over newest as place, sum(byte_count) over newest as bytes
    from public.refused_exports
    where api_key_id in (select (e.value ->> 'key')::uuid from jsonb_array_elements(noted -> 'exports') as e)
    window newest as (partition by workspace_id, api_key_id order by at desc, id rows unbounded preceding)
  ) as ranked
  where (ranked.place > 20 or ranked.bytes > 1048576) and old.workspace_id = ranked.workspace_id
    and old.api_key_id = ranked.api_key_id and old.id = ranked.id;
  delete from public.refused_exports
  where ctid in (
    select ctid from public.refused_exports where at < now() - interval '7 days' limit 100 for update skip locked
  );
end
$function$;
grant execute on function private.note_sources(jsonb) to outlay_service, service_role;

-- The age of the oldest delivery that waits for an enabled channel, in seconds; 0 where there is none.
create or replace function private.oldest_alert_delivery_seconds()
 returns double precision
 language sql
 stable security definer
 set search_path to ''
as $function$
  select coalesce((
    select extract(epoch from clock_timestamp() - d.created_at)::float8
    from public.alert_deliveries as d
    join public.alert_channels as c on c.workspace_id = d.workspace_id and c.id = d.channel_id
    where d.state = 'pending' and c.disabled_at is null
    order by d.created_at
    limit 1
  ), 0)
$function$;
grant execute on function private.oldest_alert_delivery_seconds() to outlay_service, service_role;

-- The request of a nonce, while this session can answer it.
-- returns: { client_id, redirect_uri, state, wanted } or null
create or replace function private.open_question(nonce text, user_id uuid, session_id uuid)
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select jsonb_build_object(
    'client_id', a.client_id, 'redirect_uri', a.redirect_uri, 'state', a.state, 'wanted', a.wanted
  )
  from private.oauth_authorizations as a
  where a.nonce = decode(open_question.nonce, 'hex') and a.user_id = open_question.user_id
    and a.session_id = open_question.session_id and a.decided_at is null and a.expires_at > clock_timestamp()
$function$;
grant execute on function private.open_question(text,uuid,uuid) to outlay_service, service_role;

-- A price names the user who set it last. The service and the schema's owner set the column themselves.
create or replace function private.own_changed_price()
 returns trigger
 language plpgsql
 set search_path to ''
as $function$
begin
  new.created_by := coalesce(auth.uid(), new.created_by);
  return new;
end
$function$;

-- A user may change their name while their default workspace is one that they cannot use at the moment.
create or replace function private.own_default_workspace()
 returns uuid
 language sql
 stable security definer
 set search_path to ''
as $function$
  select p.default_workspace_id from public.profiles as p where p.id = auth.uid()
$function$;
grant execute on function private.own_default_workspace() to authenticated;

-- Makes the creator of a workspace its owner in the same statement, so that no workspace is ever without one, and limits
-- how many one user owns. The service and the owner of the schema create workspaces without an owner (the demo, and a
-- personal one that is about to get its owner).
create or replace function private.own_new_workspace()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
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
$function$;

-- The permissions of a role. Its holder cannot give more to a program.
create or replace function private.permissions_of_role(role text)
 returns text[]
 language sql
 immutable
 set search_path to ''
as $function$
  select case
    when role in ('owner', 'admin', 'member')
      then array['log_usage', 'add_expenses', 'manage_subscriptions', 'read_summaries']
    when role = 'viewer' then array['read_summaries']
    else '{}'
  end
$function$;

-- Plans a channel's next digest where its cadence, time, weekday or zone changed. What was collected for a channel that is
-- immediate from now on is sent as one last digest.
create or replace function private.plan_digest()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  if not exists (select from pg_catalog.pg_timezone_names where name = new.time_zone) then
    raise exception 'there is no time zone %', new.time_zone using errcode = 'invalid_parameter_value';
  end if;
  new.next_digest_at := case
    when new.cadence <> 'immediate' then private.next_local_time(
      clock_timestamp(), new.time_zone, new.digest_time, case when new.cadence = 'weekly' then new.digest_weekday end
    )
    when old.cadence <> 'immediate' then clock_timestamp()
  end;
  return new;
end
$function$;

-- Plans the next report. A zone that Postgres does not know would make the job fail.
create or replace function private.plan_weekly_report()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  if not exists (select from pg_catalog.pg_timezone_names where name = new.time_zone) then
    raise exception 'there is no time zone %', new.time_zone using errcode = 'invalid_parameter_value';
  end if;
  new.next_at := private.next_local_time(clock_timestamp(), new.time_zone, '08:00', 1);
  return new;
end
$function$;

-- Posts a void. Raises an error of class P0 where there is nothing to void.
create or replace function private.post_void()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
as $function$
declare
  stored bigint;
  wanted bigint;
  is_void boolean;
begin
  perform private.hold_budgets(array[new.workspace_id]);
  perform 1 from public.messages
  where workspace_id = new.workspace_id and id = new.message_id
  order by part for update;
  select count(*), bool_or(voids is not null),
    case when bool_or(type = 'subscription' and details ->> 'interval' = 'year') then 12 else max(part) + 1 end
  into stored, is_void, wanted
  from public.messages where workspace_id = new.workspace_id and id = new.message_id;
  if stored = 0 then
    raise exception 'there is no message %', new.message_id using errcode = 'no_data_found';
  elsif is_void then
    raise exception 'a void cannot be voided' using errcode = 'raise_exception';
  elsif stored <> wanted then
    raise exception 'entries of the message were removed' using errcode = 'raise_exception';
  end if;

  update public.messages set voided_by = new.void_id
  where workspace_id = new.workspace_id and id = new.message_id;
  insert into public.messages
  select (jsonb_populate_record(m, jsonb_build_object(
    'id', new.void_id, 'voids', m.id, 'voided_by', null, 'created_at', new.created_at,
    'counted_at', coalesce(m.counted_at, m.created_at), 'user_id', new.user_id, 'notes', new.reason,
    'quantity', -m.quantity, 'amount_usd', -m.amount_usd, 'original_amount', -m.original_amount,
    'list_price_usd', -m.list_price_usd, 'given_cost_usd', -m.given_cost_usd
  ))).*
  from public.messages as m
  where m.workspace_id = new.workspace_id and m.id = new.message_id;
  perform private.count_message(new.workspace_id, new.void_id);
  return null;
end
$function$;

-- What a project spent in a range of whole days, by pairs of model and feature: far fewer than the rows that it sums. Whole months,
-- and the part of a month that is folded, are read from the monthly sums. The function runs with the rights of its caller, under
-- row-level security. Postgres caches its plan per connection.
create or replace function private.project_pairs(workspace uuid, project uuid, first_day date, until_day date)
 returns table(model text, feature text, amount_usd numeric)
 language plpgsql
 stable
 set search_path to ''
 set enable_sort to 'off'
as $function$
#variable_conflict use_column
declare
  folded_until date := (select f.folded_until from public.spend_folds as f where f.workspace_id = workspace);
  -- From the first month that begins in the range until before this one, or to where days are folded.
  from_month date := (date_trunc('month', first_day - 1) + interval '1 month')::date;
  until_month date := greatest(
    case when folded_until <= until_day then folded_until else date_trunc('month', until_day)::date end, from_month
  );
begin
  if folded_until is null or until_month = from_month or from_month >= until_day then
    return query
      select model, feature, sum(amount_usd)
      from public.daily_spend
      where workspace_id = workspace and project_id = project and day >= first_day and day < until_day
      group by model, feature;
    return;
  end if;
  return query
    select model, feature, sum(amount_usd)
    from (
      select model, feature, amount_usd from public.monthly_spend
      where workspace_id = workspace and project_id = project and month >= from_month and month < until_month
      union all
      select model, feature, amount_usd from public.daily_spend
      where workspace_id = workspace and project_id = project and day >= first_day and day < from_month
      union all
      select model, feature, amount_usd from public.daily_spend
      where workspace_id = workspace and project_id = project and day >= until_month and day < until_day
    ) as spend
    group by model, feature;
end
$function$;
grant execute on function private.project_pairs(uuid,uuid,date,date) to outlay_key;

-- Whether the session of the transaction's claims has proved a second factor.
create or replace function private.proved_second_factor()
 returns boolean
 language sql
 stable
 set search_path to ''
as $function$
  select coalesce(auth.jwt() ->> 'aal' in ('aal2', 'aal3'), false)
$function$;
grant execute on function private.proved_second_factor() to authenticated;

-- Records alerts in the order of the array, and queues each new one for the channels that want it, in the caller's
-- transaction. What was recorded before is neither changed nor sent again. What is snoozed, or of a rule that is off, is
-- recorded quietly.
-- raised: [{ workspace_id, rule, subject_type, subject_id, period, level, state, is_quiet, quiet_reason, details }]; without
-- `state`, a threshold's follows from its percentage
create or replace function private.raise_alerts(raised jsonb)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  with fired as (
    insert into public.alerts as a
      (workspace_id, rule, subject_type, subject_id, period, level, state, is_quiet, quiet_reason, details)
    select r.workspace_id, r.rule, r.subject_type, r.subject_id, r.period, r.level,
      coalesce(r.state, case when (r.details ->> 'percent')::numeric >= 100 then 'alert' else 'warning' end),
      quiet.reason is not null, quiet.reason, coalesce(r.details, '{}')
    from rows from (
      jsonb_to_recordset(raised) as (
        workspace_id uuid, rule text, subject_type text, subject_id text, period date, level text, state text, is_quiet boolean,
        quiet_reason text, details jsonb
      )
    ) with ordinality as r
      (workspace_id, rule, subject_type, subject_id, period, level, state, is_quiet, quiet_reason, details, place)
    join public.workspaces as w on w.id = r.workspace_id
    cross join lateral (
      select case
        when r.is_quiet then coalesce(r.quiet_reason, 'was_above')
        when exists (
          select from public.alert_rules as s where s.workspace_id = r.workspace_id and s.rule = r.rule and not s.is_on
        ) then 'rule_off'
        when exists (
          select from public.alert_snoozes as s
          where s.workspace_id = r.workspace_id and s.rule = r.rule and s.until > clock_timestamp()
            and (s.subject_id is null or s.subject_id = r.subject_id)
        ) then 'snoozed'
      end as reason
    ) as quiet
    order by r.place
    for key share of w
    on conflict (workspace_id, rule, subject_id, period, level) do nothing
    returning a.workspace_id, a.id, a.number, a.rule, a.subject_id, a.level, a.is_quiet
  )
  insert into public.alert_deliveries (workspace_id, channel_id, channel_name, channel_kind, alert_id, ordered_by)
  select c.workspace_id, c.id, c.name, c.kind, fired.id, fired.rule || ' ' || fired.subject_id
  from fired
  join public.alert_channels as c on c.workspace_id = fired.workspace_id
  where not fired.is_quiet
    and (c.disabled_at is null or c.disabled_reason = 'failing')
    and (c.rules is null or fired.rule = any (c.rules))
    and case
      when fired.level ~ '^\d{1,9}(\.\d{1,9})?$' then coalesce(fired.level::numeric >= c.least_percent, true)
      else true
    end
  order by fired.number
  for key share of c
$function$;
grant execute on function private.raise_alerts(jsonb) to outlay_service, service_role;

-- Stores the rates of periods that have begun, each once. rated: [{ workspace_id, id, period_from, usd_rate }]
create or replace function private.rate_budgets(rated jsonb)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  update public.budgets as b
  set usd_rate = r.usd_rate, rated_from = r.period_from
  from jsonb_to_recordset(rated) as r (workspace_id uuid, id uuid, period_from date, usd_rate numeric)
  where b.workspace_id = r.workspace_id and b.id = r.id and b.rated_from is distinct from r.period_from
$function$;
grant execute on function private.rate_budgets(jsonb) to outlay_service, service_role;

-- A new budget's rate is of the period in which it is made.
create or replace function private.rate_new_budget()
 returns trigger
 language plpgsql
 set search_path to ''
as $function$
begin
  if new.currency <> 'USD' then
    new.rated_from := new.counted_from;
  end if;
  return new;
end
$function$;

-- What a link to a deleted workspace offers is nothing; it is valid again after an undo.
create or replace function private.read_invitation(hash text)
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select jsonb_build_object(
    'workspace_id', w.id,
    'slug', w.slug,
    'name', w.name,
    'role', i.role,
    'email', i.email,
    'invited_by', coalesce(inviter.display_name, inviter.email),
    'expires_at', floor(extract(epoch from i.expires_at) * 1000)::bigint,
    'is_member', exists (
      select from public.workspace_members as m where m.workspace_id = w.id and m.user_id = auth.uid()
    ),
    'is_for_caller', i.email is null or exists (
      select from public.profiles as p where p.id = auth.uid() and lower(p.email) = i.email
    )
  )
  from private.invitation_secrets as s
  join public.invitations as i on i.id = s.invitation_id
  join public.workspaces as w on w.id = i.workspace_id
  join public.profiles as inviter on inviter.id = i.invited_by
  where s.hash = decode(read_invitation.hash, 'hex') and i.accepted_at is null and i.expires_at > now()
    and w.deleted_at is null
$function$;
grant execute on function private.read_invitation(text) to outlay_service, service_role;

-- What a key may learn of its limits whatever its permissions: what it spent, and which blocking budgets its own settings
-- name. Budgets of other scopes may hold it back, too; the refusal names them.
-- returns: { spent_usd: exact text, this UTC month; budgets: as load_blocking_budgets, with a period of now }
create or replace function private.read_key_limits(of_key uuid)
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select jsonb_build_object(
    'spent_usd', coalesce((
      select trim_scale(spend.amount_usd) from public.key_spend as spend
      where spend.workspace_id = k.workspace_id and spend.api_key_id = k.id
        and spend.month = date_trunc('month', now() at time zone 'UTC')::date
    ), 0)::text,
    'budgets', coalesce((
      select jsonb_agg(jsonb_build_object(
        'id', b.id, 'workspace_id', b.workspace_id, 'name', b.name, 'scope_type', b.scope_type, 'scope_key', b.scope_key,
        'time_zone', b.time_zone,
        'counts_from', floor(extract(epoch from
          greatest(b.counted_from, b.starts_on)::timestamp at time zone b.time_zone) * 1000)::bigint,
        'counts_until', floor(extract(epoch from (b.ends_on + 1)::timestamp at time zone b.time_zone) * 1000)::bigint,
        'period', present.period
      ) order by b.name, b.id)
      from public.budgets as b
      cross join lateral private.budget_periods(b, now()) as present
      where b.workspace_id = k.workspace_id and b.blocks and k.environment = 'live'
        and case b.scope_type
          when 'global' then true
          when 'key' then b.scope_value = k.id::text
          when 'feature' then k.conditions -> 'features' ? b.scope_value
          when 'project' then case
            when k.project_id is not null then b.scope_value = k.project_id::text
            else exists (
              select from public.projects as p
              where p.workspace_id = k.workspace_id and p.id::text = b.scope_value
                and k.conditions -> 'project_slugs' ? p.slug
            )
          end
          else false
        end
    ), '[]')
  )
  from public.api_keys as k
  where k.id = of_key
$function$;
grant execute on function private.read_key_limits(uuid) to outlay_service, service_role;

-- Counts admitted calls against their keys' rates, and deletes rows that have left every window.
-- admissions: [{ api_key_id, admitted, total, at }], `at` in milliseconds since 1970
create or replace function private.record_admissions(admissions jsonb)
 returns void
 language plpgsql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
as $function$
begin
  with counted as (
    select api_key_id, admitted, total, to_timestamp(at / 1000.0) as at
    from jsonb_to_recordset(admissions) as a (api_key_id uuid, admitted integer, total bigint, at bigint)
  ), forgotten as (
    delete from private.rate_windows as w using counted
    where w.api_key_id = counted.api_key_id and w.at <= counted.at - interval '60 seconds'
  )
  insert into private.rate_windows (api_key_id, total, admitted, at)
  select api_key_id, total, admitted, at from counted;
end
$function$;
grant execute on function private.record_admissions(jsonb) to outlay_service, service_role;

-- Records what replaces a message that was voided in this transaction.
-- postings: rows of `messages`
create or replace function private.record_correction(workspace uuid, message uuid, postings jsonb)
 returns void
 language plpgsql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
as $function$
declare
  original public.messages;
begin
  select * into original from public.messages
  where workspace_id = workspace and id = message and voided_by is not null
  order by part limit 1;
  update public.message_voids set corrected_by = (postings -> 0 ->> 'id')::uuid
  where workspace_id = workspace and message_id = message and corrected_by is null and xmin::text = pg_current_xact_id_if_assigned()::xid::text;
  if original.id is null or not found then
    raise exception 'the message was not voided in this transaction' using errcode = 'raise_exception';
  end if;
  insert into public.messages
  select (jsonb_populate_record(null::public.messages, '{"part": 0}' || posting || jsonb_build_object(
    'workspace_id', workspace, 'api_key_id', original.api_key_id, 'environment', original.environment, 'source', original.source,
    'emitter', original.emitter, 'user_id', auth.uid(), 'counted_at', coalesce(original.counted_at, original.created_at)
  ))).*
  from jsonb_array_elements(postings) as posting;
  perform private.count_message(workspace, (postings -> 0 ->> 'id')::uuid);
end
$function$;
grant execute on function private.record_correction(uuid,uuid,jsonb) to outlay_service, service_role;

-- Exchanges a code for a first pair of tokens. Every attempt uses the code up; a second one revokes the first one's tokens.
-- attempt: { code: hex, client_id, redirect_uri | null, code_challenge, resource | null, access: hex, refresh: hex }
-- returns: { refused: why } or { permissions, resource }
create or replace function private.redeem_code(attempt jsonb)
 returns jsonb
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  allowed private.oauth_authorizations;
  held_role text;
  granted text[];
  new_grant uuid;
begin
  select * into allowed from private.oauth_authorizations
  where code = decode(attempt ->> 'code', 'hex') for update;
  if not found then return jsonb_build_object('refused', 'unknown'); end if;
  if allowed.redeemed_at is not null then
    delete from private.oauth_grants where id = allowed.grant_id;
    return jsonb_build_object('refused', 'replayed');
  end if;
  update private.oauth_authorizations set redeemed_at = clock_timestamp() where id = allowed.id;

  if allowed.expires_at <= clock_timestamp() then return jsonb_build_object('refused', 'expired'); end if;
  if allowed.client_id <> attempt ->> 'client_id' then return jsonb_build_object('refused', 'client'); end if;
  if allowed.code_challenge <> attempt ->> 'code_challenge' then return jsonb_build_object('refused', 'verifier'); end if;
  if allowed.redirect_uri <> attempt ->> 'redirect_uri' then return jsonb_build_object('refused', 'redirect'); end if;
  if allowed.resource <> attempt ->> 'resource' then return jsonb_build_object('refused', 'resource'); end if;

  -- Locked until the end, so that two exchanges for one connection, and a change of role, run one after the other.
  select m.role into held_role
  from public.workspace_members as m
  join public.workspaces as w on w.id = m.workspace_id and w.deleted_at is null
  where m.workspace_id = allowed.workspace_id and m.user_id = allowed.user_id
  for no key update of m;
  granted := array(
    select permission from unnest(allowed.permissions) with ordinality as p (permission, place)
    where permission = any (private.permissions_of_role(held_role)) order by place
  );
  if granted = '{}' then return jsonb_build_object('refused', 'membership'); end if;

  -- The audit log names the user who allowed the connection.
  perform set_config('request.jwt.claims', (
    select jsonb_build_object('sub', id, 'email', email, 'role', 'authenticated')::text
    from public.profiles where id = allowed.user_id
  ), true);
  insert into private.oauth_grants (connection_id, resource)
  values (private.connect(allowed, granted), allowed.resource)
  returning id into new_grant;
  update private.oauth_authorizations set grant_id = new_grant where id = allowed.id;
  perform private.issue_tokens(new_grant, attempt ->> 'access', attempt ->> 'refresh');
  return jsonb_build_object('permissions', granted, 'resource', allowed.resource);
end
$function$;
grant execute on function private.redeem_code(jsonb) to outlay_service, service_role;

create or replace function private.refuse_deleted_workspace()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  if exists (select from private.deleted_workspaces where id = new.id) then
    raise exception 'the id % belonged to a workspace that was deleted', new.id
      using errcode = 'check_violation', constraint = 'workspaces_id_is_new',
        hint = 'To restore that workspace, delete its row in private.deleted_workspaces first.';
  end if;
  return new;
end
$function$;

-- client: { id, kind: registered, name, uri, redirect_uris }
create or replace function private.register_oauth_client(client jsonb, at_most_unused integer)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  select private.save_oauth_client(client);
  delete from private.oauth_clients where id in (
    select id from private.oauth_clients
    where kind = 'registered' and last_asked_at is null
    order by created_at desc offset at_most_unused limit 100
    for update skip locked
  )
$function$;
grant execute on function private.register_oauth_client(jsonb,integer) to outlay_service, service_role;

create or replace function private.remember_deleted_workspace()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
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
$function$;

-- Deletes a channel and its secrets. Its log stays, and what it has not sent is cancelled.
create or replace function private.remove_alert_channel(workspace uuid, channel uuid)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform private.require_admin_of(workspace);
  delete from public.alert_channels where workspace_id = workspace and id = channel;
  perform private.cancel_alert_deliveries(workspace, channel);
end
$function$;
grant execute on function private.remove_alert_channel(uuid,uuid) to outlay_service, service_role;

-- Removes every message of a month that is over, of all workspaces, and remembers what they came to: all of it or nothing.
-- The partition stays, empty, so that recording never misses it. Only the owner of the schema may run this.
--
-- Whoever writes to this one month waits while its postings are summed; readers wait only while the partition is emptied.
-- Raises lock_not_available (55P03) where others hold the month too long; nothing has happened then.
create or replace function private.remove_messages_month(first_day date)
 returns void
 language plpgsql
 set search_path to ''
 set "TimeZone" to 'UTC'
 set lock_timeout to '200ms'
as $function$
declare
  partition_name text := 'messages_' || to_char(first_day, 'YYYY_MM');
begin
  if first_day >= date_trunc('month', now())::date then
    raise exception 'the month of % is not over', first_day using errcode = 'invalid_parameter_value';
  end if;
  execute format('lock table only private.%I in share row exclusive mode', partition_name);
  execute format(
    $statement$
      with gone as materialized (
        select workspace_id, environment, api_key_id, date_trunc('month', coalesce(counted_at, created_at))::date as recorded_in,
          sum(amount_usd) as amount_usd,
          coalesce(sum(private.sign_of(voids)) filter (where part = 0), 0) as message_count,
          sum(private.sign_of(voids)) as item_count,
          coalesce(sum(private.sign_of(voids)) filter (where cost_status = 'unpriced'), 0) as unpriced_count,
          coalesce(sum(list_price_usd), 0) as included_usd
        from private.%I
        group by 1, 2, 3, 4
      ), per_key as (
        insert into private.removed_key_spend as kept (workspace_id, api_key_id, month, amount_usd, message_count)
        select workspace_id, api_key_id, recorded_in, sum(amount_usd), sum(message_count)
        from gone where api_key_id is not null
        group by 1, 2, 3
        on conflict (workspace_id, api_key_id, month) do update
          set amount_usd = kept.amount_usd + excluded.amount_usd,
              message_count = kept.message_count + excluded.message_count
      )
      insert into private.removed_messages as kept
        (workspace_id, month, environment, amount_usd, message_count, item_count, unpriced_count, included_usd, removed_at)
      select workspace_id, $1, environment, sum(amount_usd), sum(message_count), sum(item_count), sum(unpriced_count),
        sum(included_usd), clock_timestamp()
      from gone
      group by 1, 3
      on conflict (month, workspace_id, environment) do update
        set amount_usd = kept.amount_usd + excluded.amount_usd,
            message_count = kept.message_count + excluded.message_count,
            item_count = kept.item_count + excluded.item_count,
            unpriced_count = kept.unpriced_count + excluded.unpriced_count,
            included_usd = kept.included_usd + excluded.included_usd,
            removed_at = excluded.removed_at
    $statement$, partition_name
  ) using first_day;
  -- Readers come and go; each attempt holds up new ones for at most the lock timeout.
  for attempt in 1..20 loop
    begin
      execute format('lock table only private.%I in access exclusive mode', partition_name);
      exit;
    exception when lock_not_available then
      if attempt = 20 then
        raise;
      end if;
    end;
    perform pg_catalog.pg_sleep(0.05);
  end loop;
  execute format('truncate table only private.%I', partition_name);
end
$function$;

create or replace function private.require_admin_of(workspace uuid)
 returns void
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
begin
  if not exists (
    select from private.member_workspaces(array['owner', 'admin']) as administered where administered = workspace
  ) then
    raise exception 'only an admin of the workspace may do this' using errcode = 'insufficient_privilege';
  end if;
end
$function$;

-- Queues a dead delivery again, for another three days.
-- returns: null where it is queued, otherwise why not: 'not_dead', or 'disabled' (the channel is, or was deleted)
create or replace function private.resend_alert_delivery(workspace uuid, delivery uuid)
 returns text
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  -- An alert that was sent with a digest is sent again with it.
  whole uuid := (
    select coalesce(digest_id, id) from public.alert_deliveries where workspace_id = workspace and id = delivery
  );
  of_channel uuid := (select channel_id from public.alert_deliveries where workspace_id = workspace and id = delivery);
begin
  perform private.require_admin_of(workspace);
  perform from public.alert_channels where workspace_id = workspace and id = of_channel and disabled_at is null for share;
  if not found then
    return 'disabled';
  end if;
  update public.alert_deliveries
  set state = 'pending', attempts = 0, next_attempt_at = now(), give_up_at = now() + interval '3 days'
  where workspace_id = workspace and id = whole and state = 'dead' and (alert_id is not null or digest_at is not null);
  return case when not found then 'not_dead' end;
end
$function$;
grant execute on function private.resend_alert_delivery(uuid,uuid) to outlay_service, service_role;

-- Undoes the deletion of the signed-in user's account, and of the workspaces that were deleted with it, for a session that
-- proved after the deletion who they are, with their second factor where they have one.
-- returns: whether it did
create or replace function private.restore_account()
 returns boolean
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  own public.profiles;
begin
  select * into own from public.profiles
  where id = auth.uid() and deleted_at > clock_timestamp() - private.days_to_undo()
  for update;
  if not found or not private.session_is_complete() or not exists (
    select from jsonb_array_elements(
      case when jsonb_typeof(auth.jwt() -> 'amr') = 'array' then auth.jwt() -> 'amr' else '[]' end
    ) as proof
    where jsonb_typeof(proof -> 'timestamp') = 'number'
      and (proof ->> 'timestamp')::numeric > floor(extract(epoch from own.deleted_at))
  ) then
    return false;
  end if;
  update public.profiles set deleted_at = null where id = own.id;
  update public.workspaces
  set deleted_at = null, deleted_by = null, prices_version = prices_version + private.deletion_mark()
  where deleted_by = own.id and deleted_at = own.deleted_at;
  perform private.audit_account(own.id, own.email, 'account.restored', nullif(current_setting('request.address', true), ''));
  insert into private.notices (kind, recipient, details) values ('account_restored', own.email, '{"erased_at": null}');
  return true;
end
$function$;
grant execute on function private.restore_account() to outlay_service, service_role;

-- Puts something back that was deleted at most ten minutes ago, with its id and all that belonged to it.
--
-- at_most: how many of its kind the workspace, of a view its maker, may have
-- returns: 'restored', 'unknown' (never there, swept, or not the caller's to restore), or 'full'
create or replace function private.restore_deleted(kind text, workspace uuid, thing uuid, at_most integer)
 returns text
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  kept jsonb;
  restored public.budgets;
begin
  select d.content into kept from private.deleted_things as d
  where d.workspace_id = workspace and d.kind = restore_deleted.kind and d.id = thing
    and d.deleted_at >= clock_timestamp() - interval '10 minutes'
  for update;
  if kept is null or not private.may_restore(restore_deleted.kind, workspace, kept -> 'row') then
    return 'unknown';
  end if;
  case restore_deleted.kind
    when 'budget' then
      perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
      -- Later it would be added to the restored budget, too, which counts it now.
      perform private.count_waiting_spend(workspace);
      perform private.insert_kept_row('public.budgets', kept -> 'row');
      select * into restored from public.budgets as b where b.workspace_id = workspace and b.id = thing;
      perform private.count_restored_budget(restored, kept -> 'spend');
    when 'saved_view' then
      -- Locks the workspace, so that two that are added at once are both counted.
      perform from public.workspaces where id = workspace for no key update;
      if (
        select count(*) >= at_most from public.saved_views as v
        where v.workspace_id = workspace and v.created_by = (kept #>> '{row,created_by}')::uuid
      ) then
        return 'full';
      end if;
      perform private.insert_kept_row('public.saved_views', kept -> 'row');
    when 'alert_channel' then
      -- Locks the workspace, so that two that are added at once are both counted.
      perform from public.workspaces where id = workspace for no key update;
      if (select count(*) >= at_most from public.alert_channels as c where c.workspace_id = workspace) then
        return 'full';
      end if;
      perform private.insert_kept_row('public.alert_channels', kept -> 'row');
      perform private.insert_kept_row('private.channel_secrets', kept -> 'secrets');
      update public.alert_deliveries as d set state = kept #>> array['waiting', d.id::text]
      where d.workspace_id = workspace and d.channel_id = thing and d.state = 'cancelled'
        and kept -> 'waiting' ? d.id::text;
    when 'invitation' then
      perform private.insert_kept_row('public.invitations', kept -> 'row');
      perform private.insert_kept_row('private.invitation_secrets', kept -> 'secret');
  end case;
  delete from private.deleted_things as d
  where d.workspace_id = workspace and d.kind = restore_deleted.kind and d.id = thing;
  return 'restored';
end
$function$;
grant execute on function private.restore_deleted(text,uuid,uuid,integer) to outlay_service, service_role;

-- Undoes the deletion of a workspace, for an owner of it whose session has the second factor that it requires.
-- returns: false where there is nothing to undo
create or replace function private.restore_workspace(workspace uuid)
 returns boolean
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  if not private.session_is_complete() or not exists (
    select from public.workspace_members as m
    join public.workspaces as w on w.id = m.workspace_id
    where m.workspace_id = workspace and m.user_id = auth.uid() and m.role = 'owner'
      and (not w.require_mfa or private.proved_second_factor())
  ) then
    raise exception 'only an owner may undo the deletion of a workspace' using errcode = 'insufficient_privilege';
  end if;
  update public.workspaces
  set deleted_at = null, deleted_by = null, prices_version = prices_version + private.deletion_mark()
  where id = workspace and deleted_at > clock_timestamp() - private.days_to_undo();
  if not found then
    return false;
  end if;
  perform private.tell_members(workspace, 'restored');
  return true;
end
$function$;
grant execute on function private.restore_workspace(uuid) to outlay_service, service_role;

-- Keys are refused before they read anything. If one is not, the policies of the ledger and its sums hide a deleted workspace.
create or replace function private.reused_workspaces()
 returns setof uuid
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
begin
  return query
    select deleted.id from private.deleted_workspaces as deleted join public.workspaces using (id)
    union all
    select w.id from public.workspaces as w where w.deleted_at is not null;
end
$function$;
grant execute on function private.reused_workspaces() to authenticated, outlay_key;

-- Revokes the invitations of a user who may no longer invite: with a link they kept, they could return.
create or replace function private.revoke_invitations_of_former_admin()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  delete from public.invitations
  where workspace_id = old.workspace_id and invited_by = old.user_id and accepted_at is null;
  return null;
end
$function$;

-- Revokes a token (RFC 7009): an access token alone, a refresh token with its whole grant. A token of another client stays
-- valid.
-- returns: whether there was such a token
create or replace function private.revoke_oauth_token(token text, for_client text)
 returns boolean
 language sql
 security definer
 set search_path to ''
as $function$
  with access as (
    delete from private.oauth_access_tokens as t
    using private.oauth_grants as g, public.connections as c
    where t.hash = decode(token, 'hex') and g.id = t.grant_id and c.id = g.connection_id and c.client_id = for_client
    returning 1
  ), refresh as (
    delete from private.oauth_grants as g
    using private.oauth_refresh_tokens as t, public.connections as c
    where t.hash = decode(token, 'hex') and g.id = t.grant_id and c.id = g.connection_id and c.client_id = for_client
    returning 1
  )
  select exists (select from access) or exists (select from refresh)
$function$;
grant execute on function private.revoke_oauth_token(text,text) to outlay_service, service_role;

-- Sets a new secret that signs. The present one signs beside it for some time, so that receivers can change over.
-- returns: until when; null where the channel signs nothing
create or replace function private.rotate_channel_secret(workspace uuid, channel uuid, new_secret text, overlap_seconds integer)
 returns timestamptz
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  ends_at timestamptz := now() + overlap_seconds * interval '1 second';
begin
  perform private.require_admin_of(workspace);
  update public.alert_channels set secret_set_at = now()
  where workspace_id = workspace and id = channel and kind = 'webhook';
  update private.channel_secrets
  set old_signing_secret = signing_secret, old_ends_at = ends_at, signing_secret = new_secret
  where workspace_id = workspace and channel_id = channel and signing_secret is not null;
  return case when found then ends_at end;
end
$function$;
grant execute on function private.rotate_channel_secret(uuid,uuid,text,integer) to outlay_service, service_role;

-- Exchanges a refresh token for the next pair. Assistants send parallel requests with one token, and responses get lost, so
-- within 60 seconds of its first use a token gives another pair. A later reuse means that two parties have the token, and
-- the grant ends for both.
-- attempt: { token: hex, client_id, resources: [url], access: hex, refresh: hex }
-- returns: { refused: why } or { permissions, resource }; above the limit { refused: 'rate', limit, window_ms, wait_ms }
create or replace function private.rotate_refresh_token(attempt jsonb)
 returns jsonb
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  token private.oauth_refresh_tokens;
  held record;
  excess jsonb;
begin
  -- Locks the grant before its tokens, as functions that end it do, so that the refreshes of a grant run one by one.
  perform from private.oauth_grants where id = (
    select grant_id from private.oauth_refresh_tokens where hash = decode(attempt ->> 'token', 'hex')
  ) for update;
  select * into token from private.oauth_refresh_tokens
  where hash = decode(attempt ->> 'token', 'hex') for update;
  if not found then return jsonb_build_object('refused', 'unknown'); end if;
  select c.client_id, g.resource, k.permissions, w.deleted_at is not null as is_deleted into held
  from private.oauth_grants as g
  join public.connections as c on c.id = g.connection_id
  join public.api_keys as k on k.workspace_id = c.workspace_id and k.id = c.id
  join public.workspaces as w on w.id = c.workspace_id
  where g.id = token.grant_id;
  if held.client_id <> attempt ->> 'client_id' then return jsonb_build_object('refused', 'client'); end if;
  if token.used_at < clock_timestamp() - interval '60 seconds' then
    delete from private.oauth_grants where id = token.grant_id;
    return jsonb_build_object('refused', 'reused');
  end if;
  if token.expires_at <= clock_timestamp() then return jsonb_build_object('refused', 'expired'); end if;
  if not attempt -> 'resources' ? held.resource then return jsonb_build_object('refused', 'resource'); end if;

  -- The token stays as it is: an undo makes it valid again.
  if held.is_deleted then return jsonb_build_object('refused', 'workspace_deleted'); end if;

  -- Counted per grant. Only a holder of its token can reach it, so no client can use up the quota of another.
  excess := private.admit_attempt(jsonb_build_array(jsonb_build_object(
    'subject', encode(sha256(convert_to('token refreshes ' || token.grant_id, 'utf8')), 'hex'),
    'limit', 120,
    'window_ms', 3600000
  )));
  if excess is not null then return jsonb_build_object('refused', 'rate') || excess; end if;

  update private.oauth_refresh_tokens set used_at = clock_timestamp() where hash = token.hash and used_at is null;
  perform private.issue_tokens(token.grant_id, attempt ->> 'access', attempt ->> 'refresh');
  perform private.forget_older_refresh_tokens(token.grant_id);
  return jsonb_build_object('permissions', held.permissions, 'resource', held.resource);
end
$function$;
grant execute on function private.rotate_refresh_token(jsonb) to outlay_service, service_role;

-- Stores a client; a document replaces what was stored. client: { id, kind, name, uri, redirect_uris }
create or replace function private.save_oauth_client(client jsonb)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  insert into private.oauth_clients as known (id, kind, name, uri, redirect_uris)
  select id, kind, name, uri, redirect_uris
  from jsonb_to_record(client) as c (id text, kind text, name text, uri text, redirect_uris text[])
  on conflict (id) do update set name = excluded.name, uri = excluded.uri, redirect_uris = excluded.redirect_uris
  where known.kind = 'document' and excluded.kind = 'document'
$function$;
grant execute on function private.save_oauth_client(jsonb) to outlay_service, service_role;

-- Whether the signed-in user's session has proved a second factor, if the user has one.
create or replace function private.session_is_complete()
 returns boolean
 language plpgsql
 stable security definer
 set search_path to ''
as $function$
begin
  return private.proved_second_factor() or not private.has_verified_factor(auth.uid());
end
$function$;
grant execute on function private.session_is_complete() to authenticated;

-- Turns a rule on or off, or sets its parameter. What is off has no states: it begins anew when it is turned on.
-- changes: { is_on, parameter }, either of them; a null parameter is the default
create or replace function private.set_alert_rule(workspace uuid, of_rule text, changes jsonb)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform private.require_admin_of(workspace);
  insert into public.alert_rules as r (workspace_id, rule, is_on, parameter)
  values (workspace, of_rule, coalesce((changes ->> 'is_on')::boolean, true), (changes ->> 'parameter')::numeric)
  on conflict (workspace_id, rule) do update
  set is_on = coalesce((changes ->> 'is_on')::boolean, r.is_on),
    parameter = case when changes ? 'parameter' then (changes ->> 'parameter')::numeric else r.parameter end,
    changed_at = now();
  delete from public.alert_states as s
  where s.workspace_id = workspace and s.rule = of_rule and changes -> 'is_on' = 'false';
  delete from private.budget_checks where workspace_id = workspace;
end
$function$;
grant execute on function private.set_alert_rule(uuid,text,jsonb) to outlay_service, service_role;

-- Sets the cadence of a channel, for admins.
-- digest: { cadence, digest_time, digest_weekday, time_zone }
create or replace function private.set_channel_digest(workspace uuid, channel uuid, digest jsonb)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform private.require_admin_of(workspace);
  update public.alert_channels as c
  set cadence = digest ->> 'cadence',
    digest_time = coalesce((digest ->> 'digest_time')::time, c.digest_time),
    digest_weekday = coalesce((digest ->> 'digest_weekday')::smallint, c.digest_weekday),
    time_zone = coalesce(digest ->> 'time_zone', c.time_zone)
  where c.workspace_id = workspace and c.id = channel;
end
$function$;
grant execute on function private.set_channel_digest(uuid,uuid,jsonb) to outlay_service, service_role;

-- Compares what was judged with the states that are known, records the new ones, and raises an alert for each change
-- upward and for what is over. A state is raised once in a period, and so is its end.
--
-- The caller holds the lock of private.lock_alert_rules.
-- verdicts: [{ workspace_id, rule, subject_type, subject_id, period, state, details }], one for a rule and subject; `state`:
--   ok, warning, alert, or `forget`: it is over, and nobody is told. Without details, those of the last alert hold.
-- A null is no verdict. returns: how many were to be raised
create or replace function private.settle_alert_states(verdicts jsonb)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  raised jsonb;
begin
  if verdicts is null then
    return 0;
  end if;
  with judged as materialized (
    select v.*, s.state as old_state, s.period as old_period, last.details as old_details, coalesce(last.was_told, false) as was_told
    from jsonb_to_recordset(verdicts) as v (
      workspace_id uuid, rule text, subject_type text, subject_id text, period date, state text, details jsonb
    )
    join public.workspaces as w on w.id = v.workspace_id
    left join public.alert_states as s on s.workspace_id = v.workspace_id and s.rule = v.rule and s.subject_id = v.subject_id
    left join lateral (
      select (array_agg(a.details order by a.number desc))[1] as details, bool_or(not a.is_quiet) as was_told
      from public.alerts as a
      where a.workspace_id = s.workspace_id and a.rule = s.rule and a.subject_id = s.subject_id and a.period = s.period
        and a.state <> 'ok'
    ) as last on s.state is not null
  ), changes as (
    -- What is over, also because a new period began. Every day ends by itself.
    select 1 as place, workspace_id, rule, subject_type, subject_id, old_period as period, 'ok' as level, not was_told as is_quiet,
      case
        when period is distinct from old_period then old_details || jsonb_build_object('because', 'period_over')
        else coalesce(old_details, '{}') || coalesce(details, '{}')
      end as details
    from judged
    where old_state is not null and rule <> 'unusual_day' and state <> 'forget' and (state = 'ok' or period is distinct from old_period)
    union all
    select 2, workspace_id, rule, subject_type, subject_id, period, state, false, details
    from judged
    where state in ('warning', 'alert')
      and (old_state is null or period is distinct from old_period or (state = 'alert' and old_state = 'warning'))
  )
  select jsonb_agg(jsonb_build_object(
    'workspace_id', workspace_id, 'rule', rule, 'subject_type', subject_type, 'subject_id', subject_id, 'period', period,
    'level', level, 'state', level, 'is_quiet', is_quiet, 'quiet_reason', 'start_untold', 'details', details
  ) order by place, workspace_id, rule, subject_id)
  into raised
  from changes;

  delete from public.alert_states as s
  using jsonb_to_recordset(verdicts) as v (workspace_id uuid, rule text, subject_id text, state text)
  where v.state in ('ok', 'forget') and s.workspace_id = v.workspace_id and s.rule = v.rule and s.subject_id = v.subject_id;
  insert into public.alert_states as s (workspace_id, rule, subject_type, subject_id, period, state, since)
  select v.workspace_id, v.rule, v.subject_type, v.subject_id, v.period, v.state, clock_timestamp()
  from jsonb_to_recordset(verdicts) as v (
    workspace_id uuid, rule text, subject_type text, subject_id text, period date, state text
  )
  join public.workspaces as w on w.id = v.workspace_id
  where v.state in ('warning', 'alert')
  on conflict (workspace_id, rule, subject_id) do update
  set period = excluded.period, state = excluded.state, since = excluded.since
  where (s.period, s.state) is distinct from (excluded.period, excluded.state);

  if raised is null then
    return 0;
  end if;
  perform private.raise_alerts(raised);
  return jsonb_array_length(raised);
end
$function$;
grant execute on function private.settle_alert_states(jsonb) to outlay_service, service_role;

-- Keeps what is refused still of a refused export, or removes it where nothing is.
create or replace function private.settle_refused_export(workspace uuid, key_id uuid, export_id uuid, refused jsonb)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  if jsonb_array_length(refused) = 0 then
    delete from public.refused_exports where workspace_id = workspace and api_key_id = key_id and id = export_id;
    return;
  end if;
  update public.refused_exports
  set records = refused, record_count = jsonb_array_length(refused), byte_count = octet_length(refused::text)
  where workspace_id = workspace and api_key_id = key_id and id = export_id;
end
$function$;
grant execute on function private.settle_refused_export(uuid,uuid,uuid,jsonb) to outlay_service, service_role;

-- Remembers that the ledger holds what was used up to these totals.
--
-- totals: [{ series, start, time, value }], decimal text
create or replace function private.settle_totals(workspace uuid, env text, totals jsonb)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  update private.running_totals as t
  set settled = s.value, settled_ns = s.time,
    pending = coalesce((
      select jsonb_agg(later.value order by (later.value ->> 'time')::numeric)
      from jsonb_array_elements(t.pending) as later
      where (later.value ->> 'time')::numeric > s.time
    ), '[]')
  from jsonb_to_recordset(totals) as s (series text, start numeric, time numeric, value numeric)
  where t.workspace_id = workspace and t.environment = env and t.series = s.series and t.start_ns = s.start
    and t.settled_ns < s.time;
$function$;
grant execute on function private.settle_totals(uuid,text,jsonb) to outlay_service, service_role;

-- When a user loses permissions, their connections lose them too.
create or replace function private.shrink_connections()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  allowed text[] := private.permissions_of_role(new.role);
begin
  update public.api_keys as k
  set permissions = array(select held from unnest(k.permissions) with ordinality as p (held, place) where held = any (allowed) order by place)
  from public.connections as c
  where c.workspace_id = new.workspace_id and c.user_id = new.user_id
    and k.workspace_id = c.workspace_id and k.id = c.id and not k.permissions <@ allowed;

  delete from public.connections as c
  using public.api_keys as k
  where c.workspace_id = new.workspace_id and c.user_id = new.user_id
    and k.workspace_id = c.workspace_id and k.id = c.id and k.permissions = '{}';
  return null;
end
$function$;

-- How a posting counts: a void takes away one that was counted.
create or replace function private.sign_of(voids uuid)
 returns integer
 language sql
 immutable
 set search_path to ''
return case when (voids is null) then 1 else '-1'::integer end
as ;

-- Whether the signed-in user proved within the last hour who they are: when the session began, or with a code since. A found
-- browser with an old session can so not delete anything. `amr` is a list as Supabase Auth writes it.
create or replace function private.signed_in_recently()
 returns boolean
 language sql
 stable
 set search_path to ''
as $function$
  select exists (
    select from jsonb_array_elements(
      case when jsonb_typeof(auth.jwt() -> 'amr') = 'array' then auth.jwt() -> 'amr' else '[]' end
    ) as proof
    where jsonb_typeof(proof -> 'timestamp') = 'number'
      and (proof ->> 'timestamp')::numeric > extract(epoch from now() - interval '1 hour')
  )
$function$;

-- Whoever makes slices of a workspace holds this lock, so that no month is claimed again while its slices are being made.
create or replace function private.slice_lock(workspace uuid)
 returns bigint
 language sql
 immutable
 set search_path to ''
return hashtextextended(('outlay.slice ' || workspace), (0)::bigint)
as ;

-- Makes the slices of a month that was claimed in an earlier transaction. Nobody waits for it: where the month is changed meanwhile,
-- nothing is kept. A slice is kept where it has far fewer rows than the month, so that all slices of a month stay in proportion to it.
--
-- least_sums, most_sums: the fewest and the most rows of `monthly_spend` that a month with slices has
-- least_ratio: how many rows the month has at least for each row of a slice that is kept
-- returns: the number of the slices' rows
create or replace function private.slice_month(workspace uuid, first_day date, least_sums integer, most_sums integer, least_ratio integer)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
#variable_conflict use_variable
declare
  month_sums integer;
  kept text[] := '{}';
  sliced integer := 0;
begin
  perform pg_advisory_xact_lock(private.slice_lock(workspace));
  if not exists (
    select from public.sliced_months as s where s.workspace_id = workspace and s.month = first_day and s.state = 'claimed'
  ) then
    return 0;
  end if;
  delete from public.monthly_slices as s where s.workspace_id = workspace and s.month = first_day;

  select count(*) into month_sums from public.monthly_spend as m where m.workspace_id = workspace and m.month = first_day;
  if month_sums between least_sums and most_sums then
    with sums as materialized (
      select concat_ws(
          ' ',
          case when grouping(m.feature) = 0 then 'feature' end,
          case when grouping(m.api_key_id) = 0 then 'key' end,
          case when grouping(m.model) = 0 then 'model' end,
          case when grouping(m.project_id) = 0 then 'project' end,
          case when grouping(m.end_user) = 0 then 'user' end
        ) as names,
        m.environment, m.type, m.project_id, m.api_key_id, m.provider, m.model, m.feature, m.end_user,
        sum(m.amount_usd) as amount_usd, sum(m.message_count) as message_count, sum(m.item_count) as item_count
      from public.monthly_spend as m
      where m.workspace_id = workspace and m.month = first_day
      group by m.environment, m.type, grouping sets (
        (m.feature, m.api_key_id, m.provider, m.model),
        (m.feature, m.api_key_id, m.project_id),
        (m.feature, m.api_key_id, m.end_user),
        (m.feature, m.provider, m.model, m.project_id),
        (m.feature, m.provider, m.model, m.end_user),
        (m.feature, m.project_id, m.end_user),
        (m.api_key_id, m.provider, m.model, m.project_id),
        (m.api_key_id, m.provider, m.model, m.end_user),
        (m.api_key_id, m.project_id, m.end_user),
        (m.provider, m.model, m.project_id, m.end_user)
      )
    ), counted as (
      select names, count(*) as row_count from sums group by names having count(*) * least_ratio <= month_sums
    ), stored as (
      insert into public.monthly_slices (
        workspace_id, month, names, environment, type, project_id, api_key_id, provider, model, feature, end_user,
        amount_usd, message_count, item_count
      )
      select workspace, first_day, names, environment, type, project_id, api_key_id, provider, model, feature, end_user,
        amount_usd, message_count, item_count
      from sums join counted using (names)
      -- Rows that are read together are stored together.
      order by names, environment
      returning 1
    )
    select coalesce(array_agg(names order by row_count, names), '{}'), (select count(*) from stored)
    into kept, sliced
    from counted;
  end if;
  update public.sliced_months as s set state = 'made', slices = kept
  where s.workspace_id = workspace and s.month = first_day and s.state = 'claimed';
  if not found then
    -- Whoever erased a person meanwhile could not see these rows.
    delete from public.monthly_slices as s where s.workspace_id = workspace and s.month = first_day;
    return 0;
  end if;
  return sliced;
end
$function$;
grant execute on function private.slice_month(uuid,date,integer,integer,integer) to outlay_service, service_role;

-- Tells nobody of a rule, or of one of its subjects, until a moment. A later call for the same replaces it.
-- returns: its id; null where the moment is over, or more than so many days away
create or replace function private.snooze_alerts(workspace uuid, of_rule text, subject text, until_moment timestamptz, at_most_days integer)
 returns uuid
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  made uuid;
begin
  perform private.require_admin_of(workspace);
  if until_moment <= clock_timestamp() or until_moment > clock_timestamp() + at_most_days * interval '1 day' then
    return null;
  end if;
  insert into public.alert_snoozes (workspace_id, rule, subject_id, until)
  values (workspace, of_rule, subject, until_moment)
  on conflict (workspace_id, rule, subject_id) do update set until = excluded.until
  returning id into made;
  return made;
end
$function$;
grant execute on function private.snooze_alerts(uuid,text,text,timestamptz,integer) to outlay_service, service_role;

-- Stores recurring subscriptions in the transaction of their first charges: that of the message and those of further
-- periods that have begun already. `booked_periods` counts all of them.
create or replace function private.start_subscriptions(subscriptions jsonb)
 returns void
 language sql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
as $function$
  insert into public.recurring_subscriptions (
    workspace_id, id, project_id, api_key_id, source, environment, message, period, anchor_on, ends_on, booked_periods,
    next_on, created_at
  )
  select
    workspace_id, id, project_id, api_key_id, source, environment, message, period, anchor_on, ends_on, booked_periods,
    next_on, created_at
  from jsonb_to_recordset(subscriptions) as s (
    workspace_id uuid, id uuid, project_id uuid, api_key_id uuid, source text, environment text, message jsonb,
    period text, anchor_on date, ends_on date, booked_periods integer, next_on date, created_at timestamptz
  )
$function$;
grant execute on function private.start_subscriptions(jsonb) to outlay_service, service_role;

-- Writes admitted messages with everything that must be true at the same moment: their projects, the sums, the keys'
-- spend and the answers to their idempotency keys. One transaction, always in this order.
--
-- messages: [[{ column: value }]], the postings in groups, without the columns that `shared` has and without those that are null.
-- shared: [{ column: value }], what the postings of each group have in common. Instead of both, one group: [{ column: value }]
-- and an object.
-- replays: [{ workspace_id, keys, message_id, request, response, created_at }], each with the keys that have the same answer.
-- Raises serialization_failure (40001) where another process was first with a project or an idempotency key; the caller
-- then loads again and decides again.
create or replace function private.store_messages(projects jsonb, messages jsonb, replays jsonb, shared jsonb default '{}'::jsonb)
 returns void
 language plpgsql
 security definer
 set search_path to ''
 set "TimeZone" to 'UTC'
 set plan_cache_mode to 'force_generic_plan'
as $function$
declare
  written integer;
  missing integer;
  first_part public.messages := jsonb_populate_record(null::public.messages, '{"part": 0}');
  changes public.daily_spend[];
  budgeted private.budget_posting[];
begin
  -- Without groups, all rows are one.
  if jsonb_typeof(shared) = 'object' then
    shared := jsonb_build_array(shared);
    messages := jsonb_build_array(messages);
  end if;

  if jsonb_array_length(projects) > 0 then
    insert into public.projects (workspace_id, id, slug, name)
    select workspace_id, id, slug, name
    from jsonb_to_recordset(projects) as p (workspace_id uuid, id uuid, slug text, name text)
    order by workspace_id, slug
    on conflict (workspace_id, slug) do nothing;
    get diagnostics written = row_count;
    if written <> jsonb_array_length(projects) then
      raise exception 'another request made the project first' using errcode = 'serialization_failure';
    end if;
  end if;

  if jsonb_array_length(replays) > 0 then
    with wanted as materialized (
      select r.workspace_id, r.request ->> 'environment' as environment, named.key, r.message_id, r.request, r.response, r.created_at
      from jsonb_to_recordset(replays)
        as r (workspace_id uuid, keys text[], key text, message_id uuid, request jsonb, response jsonb, created_at timestamptz)
      -- Versions before this one name one key.
      cross join lateral unnest(coalesce(r.keys, array[r.key])) as named (key)
    ), written as (
      insert into private.idempotency (workspace_id, environment, key, message_id, request, response, created_at)
      select workspace_id, environment, key, message_id, request, response, created_at
      from wanted
      order by workspace_id, environment, key
      on conflict (workspace_id, key, environment) do nothing
      returning 1
    )
    select (select count(*) from wanted) - (select count(*) from written) into missing;
    if missing > 0 then
      raise exception 'another request used the idempotency key first' using errcode = 'serialization_failure';
    end if;
  end if;

  with stored as (
    insert into public.messages
    select completed.*
    from jsonb_array_elements(shared) with ordinality as groups (common, place)
    cross join lateral jsonb_populate_recordset(
      jsonb_populate_record(first_part, groups.common), messages -> (groups.place - 1)::integer
    ) as completed
    returning workspace_id, part, occurred_at, created_at, project_id, api_key_id, type, provider, model, feature, source,
      environment, amount_usd, cost_status, end_user, tags, list_price_usd
  ), per_key as (
    insert into public.key_spend as spend (workspace_id, api_key_id, month, amount_usd, message_count)
    select workspace_id, api_key_id, date_trunc('month', created_at)::date, sum(amount_usd), count(*) filter (where part = 0)
    from stored
    where api_key_id is not null
    group by 1, 2, 3
    order by 1, 2, 3
    on conflict (workspace_id, api_key_id, month) do update
      set amount_usd = spend.amount_usd + excluded.amount_usd,
          message_count = spend.message_count + excluded.message_count
  )
  select array_agg(row(
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count, end_user, tags, included_usd
  )::public.daily_spend), (
    select array_agg(row(
      workspace_id, environment, occurred_at, type, amount_usd, project_id, api_key_id, provider, model, feature, end_user, tags
    )::private.budget_posting)
    from stored
    where exists (select from public.budgets where budgets.workspace_id = stored.workspace_id)
  ) into changes, budgeted
  from (
    select
      workspace_id, occurred_at::date as day, project_id, api_key_id, type, provider, model, feature, source, environment,
      end_user, tags,
      sum(amount_usd) as amount_usd,
      -- A message counts once, on its first posting.
      count(*) filter (where part = 0) as message_count,
      count(*) as item_count,
      count(*) filter (where cost_status = 'unpriced') as unpriced_count,
      coalesce(sum(list_price_usd), 0) as included_usd
    from stored
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12
  ) as sums;
  perform private.add_daily_spend(changes);
  if budgeted is not null then
    perform private.add_budget_spend(budgeted);
  end if;
end
$function$;
grant execute on function private.store_messages(jsonb,jsonb,jsonb,jsonb) to outlay_service, service_role;

-- Deletes the log of more than 30 days ago, and ends what nobody will send: its channel was disabled until it was too late,
-- or was deleted while it was being sent. returns: how many it changed
create or replace function private.sweep_alert_deliveries(at_most integer)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  old_ones integer;
  left_ones integer;
begin
  delete from public.alert_deliveries as d
  where (d.workspace_id, d.id) in (
    select o.workspace_id, o.id from public.alert_deliveries as o
    where o.created_at < clock_timestamp() - interval '30 days' and o.state <> 'pending'
      and not (o.state = 'collected' and o.digest_id is null)
    order by o.created_at limit at_most
    for update skip locked
  );
  get diagnostics old_ones = row_count;

  update public.alert_deliveries as d
  set state = case when ended.is_there then 'dead' else 'cancelled' end, lease = null, leased_until = null,
    last_error = coalesce(d.last_error, case when ended.is_there then 'The channel was off for too long.' end)
  from (
    select o.workspace_id, o.id, c.id is not null as is_there
    from public.alert_deliveries as o
    left join public.alert_channels as c on c.workspace_id = o.workspace_id and c.id = o.channel_id
    where (o.state = 'pending' or o.state = 'collected' and o.digest_id is null)
      and (o.leased_until is null or o.leased_until < clock_timestamp())
      and (c.id is null or (c.disabled_at is not null and o.give_up_at < clock_timestamp()))
    order by o.created_at limit at_most
    for update of o skip locked
  ) as ended
  where d.workspace_id = ended.workspace_id and d.id = ended.id;
  get diagnostics left_ones = row_count;
  return old_ones + left_ones;
end
$function$;
grant execute on function private.sweep_alert_deliveries(integer) to outlay_service, service_role;

-- Deletes for good what nobody took back in time.
-- returns: how many
create or replace function private.sweep_deleted_things(at_most integer)
 returns integer
 language sql
 security definer
 set search_path to ''
as $function$
  with swept as (
    delete from private.deleted_things as d
    where (d.workspace_id, d.kind, d.id) in (
      select o.workspace_id, o.kind, o.id from private.deleted_things as o
      where o.deleted_at < clock_timestamp() - interval '10 minutes'
      order by o.deleted_at limit at_most
      for update skip locked
    )
    returning 1
  )
  select count(*)::integer from swept
$function$;
grant execute on function private.sweep_deleted_things(integer) to outlay_service, service_role;

-- Deletes what can no longer be used, so that nobody can fill the tables: answered and expired requests for consent,
-- expired tokens, grants that cannot be refreshed, and clients without a connection. A client that never asked a user is
-- deleted after a day, another one 30 days after it last asked, because assistants keep the id they registered with.
-- returns: how many rows
create or replace function private.sweep_oauth(at_most integer)
 returns integer
 language plpgsql
 security definer
 set search_path to ''
as $function$
declare
  swept integer := 0;
  gone integer;
begin
  delete from private.oauth_authorizations where id in (
    select id from private.oauth_authorizations where expires_at < now() - interval '1 day' limit at_most
  );
  get diagnostics gone = row_count;
  swept := swept + gone;

  delete from private.oauth_access_tokens where hash in (
    select hash from private.oauth_access_tokens where expires_at < now() limit at_most
  );
  get diagnostics gone = row_count;
  swept := swept + gone;

  -- One by one, skipping locked rows, because a token may be in the process of being refreshed.
  delete from private.oauth_grants where id in (
    select g.id from private.oauth_grants as g
    where not exists (select from private.oauth_refresh_tokens as t where t.grant_id = g.id and t.expires_at > now())
      and not exists (select from private.oauth_access_tokens as t where t.grant_id = g.id and t.expires_at > now())
    limit at_most for update skip locked
  );
  get diagnostics gone = row_count;
  swept := swept + gone;

  delete from private.oauth_refresh_tokens where hash in (
    select hash from private.oauth_refresh_tokens where expires_at < now() limit at_most
  );
  get diagnostics gone = row_count;
  swept := swept + gone;

  delete from private.oauth_clients where id in (
    select client.id from private.oauth_clients as client
    where client.created_at < now() - interval '1 day'
      and coalesce(client.last_asked_at, '-infinity') < now() - interval '30 days'
      and not exists (select from public.connections as c where c.client_id = client.id)
    limit at_most for update skip locked
  );
  get diagnostics gone = row_count;
  return swept + gone;
end
$function$;
grant execute on function private.sweep_oauth(integer) to outlay_service, service_role;

-- Tables of the product, and partitions of its tables, that have a workspace's id, in the order in which they are emptied. Tables
-- that others refer to are small, and left to the last step; the audit log is last, as deleting may write to it.
create or replace function private.tables_of_workspaces()
 returns setof regclass
 language sql
 stable security definer
 set search_path to ''
as $function$
  select c.oid::regclass
  from pg_catalog.pg_class as c
  join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attname = 'workspace_id' and not a.attisdropped
  where c.relkind = 'r' and c.relnamespace in ('public'::regnamespace, 'private'::regnamespace)
    and (
      c.oid = 'public.alerts'::regclass
      or not exists (select from pg_catalog.pg_constraint as k where k.contype = 'f' and k.confrelid = c.oid and k.conrelid <> c.oid)
    )
  order by c.oid = 'public.audit_log'::regclass, c.oid = 'public.alerts'::regclass, not c.relispartition, c.oid
$function$;

-- The kept refused records of a key, oldest first, and the hash by which the guard finds the key.
--
-- returns: { hash: hex | null, exports: [{ id, address, records }] }
create or replace function private.take_refused_exports(workspace uuid, key_id uuid)
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select jsonb_build_object('hash', encode(s.hash, 'hex'), 'exports', coalesce((
    select jsonb_agg(jsonb_build_object('id', e.id, 'address', e.address, 'records', e.records) order by e.at, e.id)
    from public.refused_exports as e
    where e.workspace_id = workspace and e.api_key_id = key_id and e.at >= now() - interval '7 days'
  ), '[]'))
  from public.api_keys as k
  left join private.api_key_secrets as s on s.api_key_id = k.id
  where k.workspace_id = workspace and k.id = key_id
$function$;
grant execute on function private.take_refused_exports(uuid,uuid) to outlay_service, service_role;

-- Writes the audit log's entry about a deletion or its undo, and queues a mail for every member.
create or replace function private.tell_members(workspace uuid, done text)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, before, after, address)
  select w.id, auth.uid(), auth.email(), 'workspace.' || done, 'workspace ' || w.id, null,
    case when w.deleted_at is not null then
      jsonb_build_object('name', w.name, 'slug', w.slug, 'erased_at', w.deleted_at + private.days_to_undo())
    else jsonb_build_object('name', w.name, 'slug', w.slug) end,
    nullif(current_setting('request.address', true), '')
  from public.workspaces as w where w.id = workspace;
  insert into private.notices (kind, recipient, details)
  select 'workspace_' || done, p.email, jsonb_build_object(
    'name', w.name, 'slug', w.slug, 'role', m.role,
    'by', (select coalesce(actor.display_name, actor.email) from public.profiles as actor where actor.id = auth.uid()),
    'erased_at', floor(extract(epoch from w.deleted_at + private.days_to_undo()) * 1000)::bigint
  )
  from public.workspaces as w
  join public.workspace_members as m on m.workspace_id = w.id
  join public.profiles as p on p.id = m.user_id
  where w.id = workspace
$function$;

-- Forgets the folded sums of a workspace. Its days are read one by one until they are folded again.
create or replace function private.unfold_days(workspace uuid)
 returns void
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform pg_advisory_xact_lock(private.fold_lock(workspace));
  delete from public.spend_folds where workspace_id = workspace;
  delete from public.monthly_spend where workspace_id = workspace;
  delete from public.weekly_totals where workspace_id = workspace;
  delete from public.monthly_totals where workspace_id = workspace;
  delete from public.sliced_months where workspace_id = workspace;
  delete from public.monthly_slices where workspace_id = workspace;
end
$function$;

create or replace function private.unfold_deleted_workspace()
 returns trigger
 language plpgsql
 security definer
 set search_path to ''
as $function$
begin
  perform private.unfold_days(old.id);
  return null;
end
$function$;

-- From which amount on a day is unusual, compared with others: above their median by five times their median distance from
-- it (scaled by 1.4826 to a standard deviation), by as much as the median itself, and by a least amount.
-- https://en.wikipedia.org/wiki/Median_absolute_deviation
create or replace function private.unusual_above(amounts numeric[], least_usd numeric, out median_usd numeric, out mad_usd numeric, out above_usd numeric)
 returns record
 language plpgsql
 immutable
 set search_path to ''
as $function$
begin
  median_usd := private.median(amounts);
  mad_usd := private.median(array(select abs(amount - median_usd) from unnest(amounts) as amount));
  above_usd := median_usd + greatest(mad_usd * 5 * 1.4826, median_usd, least_usd);
end
$function$;

-- The live usage of some budgets of any workspace on some days, for the job that judges them.
--
-- returns: [{ id, day, amount }], the amount as exact text
create or replace function private.usage_of_budgets(budgets uuid[], days date[])
 returns jsonb
 language sql
 stable security definer
 set search_path to ''
as $function$
  select coalesce(jsonb_agg(jsonb_build_object(
    'id', budget_id, 'day', to_char(day, 'YYYY-MM-DD'), 'amount', trim_scale(amount_usd)::text
  )), '[]')
  from public.budget_usage
  where environment = 'live' and budget_id = any (budgets) and day = any (days)
$function$;
grant execute on function private.usage_of_budgets(uuid[],date[]) to outlay_service, service_role;

-- What waits in a workspace, by budget and period, for the caller's workspaces; for the service, any.
create or replace function private.waiting_of(workspace uuid)
 returns table(budget_id uuid, environment text, period_from date, spent_usd numeric, booked_usd numeric)
 language sql
 stable security definer rows 50
 set search_path to ''
as $function$
  select b.id, p.environment, period.first_day, sum(p.amount_usd),
    coalesce(sum(p.amount_usd) filter (where p.type in ('subscription', 'expense')), 0)
  from private.budget_meters as m
  join private.waiting_spend as w on w.workspace_id = m.workspace_id and w.place < m.waiting_groups
  cross join unnest(w.postings) as p
  cross join lateral (
    select scope.type, scope.key
    from (values
      ('global', ''), ('project', p.project_id::text), ('key', p.api_key_id::text), ('provider', lower(p.provider)),
      ('model', p.model), ('feature', p.feature), ('user', p.end_user)
    ) as scope (type, key)
    union all
    select distinct 'tag', tag from unnest(p.tags) as tag
  ) as scope
  join public.budgets as b
    on b.workspace_id = w.workspace_id and b.scope_type = scope.type and b.scope_key = scope.key
  cross join lateral (select private.budget_period(b, p.occurred_at) as first_day) as period
  where m.workspace_id = workspace and period.first_day >= b.counted_from
    and (
      current_setting('role') not in ('authenticated', 'anon', 'outlay_key')
      or workspace in (select private.member_workspaces()) or workspace = (select private.key_workspace())
    )
  group by 1, 2, 3
$function$;
grant execute on function private.waiting_of(uuid) to authenticated, outlay_key, service_role;

-- The first day of the part of a week that lies in one month.
create or replace function private.week_in_month(day date)
 returns date
 language sql
 immutable
 set search_path to ''
return (greatest(date_trunc('week', (day)::timestamp without time zone), date_trunc('month', (day)::timestamp without time zone)))::date
as ;

-- The request of an idempotency key without a person: null in the place of the name, which a retry may have.
create or replace function private.without_person(request jsonb, name text)
 returns jsonb
 language plpgsql
 immutable
 set search_path to ''
as $function$
begin
  if request #>> '{message,user}' = name then
    request := jsonb_set(request, '{message,user}', 'null');
  end if;
  if jsonb_typeof(request #> '{message,items}') = 'array' then
    request := jsonb_set(request, '{message,items}', (
      select jsonb_agg(case when item ->> 'user' = name then item || '{"user": null}' else item end order by place)
      from jsonb_array_elements(request #> '{message,items}') with ordinality as items (item, place)
    ));
  end if;
  return request;
end
$function$;

-- entry: { workspace_id, actor_id, actor_email, action, subject, before, after, address }
create or replace function private.write_audit(entry jsonb)
 returns void
 language sql
 security definer
 set search_path to ''
as $function$
  insert into public.audit_log (workspace_id, actor_id, actor_email, action, subject, before, after, address)
  select workspace_id, actor_id, actor_email, action, subject, before, after, address
  from jsonb_to_record(entry) as e (
    workspace_id uuid, actor_id uuid, actor_email text, action text, subject text, before jsonb, after jsonb, address text
  )
$function$;
grant execute on function private.write_audit(jsonb) to outlay_service, service_role;
