-- One row a day for each combination of what spend is asked by. Written in the transaction of the messages it sums, so
-- that it is never behind and never ahead; `npm run reconcile` proves it. Every headline is read from here.
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
  constraint daily_spend_key unique nulls not distinct
    (workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment)
);

-- What each key recorded in each UTC month, by the time of recording: a backdated message cannot evade the limit.
create table public.key_spend (
  workspace_id uuid not null,
  api_key_id uuid not null,
  month date not null,
  amount_usd numeric not null,
  message_count bigint not null,
  primary key (workspace_id, api_key_id, month)
);

alter table public.daily_spend enable row level security;
alter table public.key_spend enable row level security;
revoke all on public.daily_spend, public.key_spend from anon, authenticated, service_role;
grant select on public.daily_spend to authenticated, outlay_key, service_role;
grant select on public.key_spend to authenticated, service_role;

create policy "A member reads the daily spend of their workspaces"
  on public.daily_spend for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "A key reads the daily spend of its environment in the projects of its scope"
  on public.daily_spend for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and environment = (select private.key_environment())
    and project_id in (select private.key_projects())
  );

create policy "A member reads what the keys of their workspaces spent"
  on public.key_spend for select to authenticated
  using (workspace_id in (select private.member_workspaces()));
