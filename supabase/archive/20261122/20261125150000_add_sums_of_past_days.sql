-- Up to which day the days of a workspace are folded: `monthly_spend` and `weekly_totals` have all earlier ones. Without a row,
-- none are.
create table public.spend_folds (
  workspace_id uuid primary key,
  folded_until date not null
);
alter table public.spend_folds enable row level security;
revoke all on public.spend_folds from anon, authenticated, service_role;
grant select on public.spend_folds to authenticated, outlay_key, service_role;

create policy "A member reads how far their workspaces are folded"
  on public.spend_folds for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));
create policy "A key reads how far its workspace is folded"
  on public.spend_folds for select to outlay_key
  using (workspace_id = (select private.key_workspace()));
create policy "Nobody reads how far a deleted workspace is folded"
  on public.spend_folds as restrictive for select to authenticated, outlay_key
  using (not (workspace_id in (select private.reused_workspaces())));

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
create unique index monthly_spend_key on public.monthly_spend (
  workspace_id, month, project_id, api_key_id, type, provider, model, feature, source, environment,
  (case when end_user is not null or tags is not null then private.attribution_of(end_user, tags) end)
) nulls not distinct;
-- Narrow, because most reads are of all of a month.
create index monthly_spend_month_idx on public.monthly_spend (workspace_id, month, environment);
create index monthly_spend_project_idx on public.monthly_spend (workspace_id, project_id, month);
create index monthly_spend_user_idx on public.monthly_spend (workspace_id, end_user) where end_user is not null;

alter table public.monthly_spend enable row level security;
revoke all on public.monthly_spend from anon, authenticated, service_role;
grant select on public.monthly_spend to authenticated, outlay_key, service_role;

create policy "A member reads the monthly spend of their workspaces"
  on public.monthly_spend for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));
create policy "A key reads the monthly spend of its environment and projects"
  on public.monthly_spend for select to outlay_key
  using (
    workspace_id = (select private.key_workspace()) and environment = (select private.key_environment())
    and project_id = any ((array(select private.key_projects())))
  );
create policy "A key of users reads monthly spend of these alone"
  on public.monthly_spend as restrictive for select to outlay_key
  using (
    case when (select private.key_users()) is null then true
      else end_user = any ((select private.key_users())::text[]) end
  );
create policy "Nobody reads the monthly spend of a deleted workspace"
  on public.monthly_spend as restrictive for select to authenticated, outlay_key
  using (not (workspace_id in (select private.reused_workspaces())));

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
revoke all on public.weekly_totals from anon, authenticated, service_role;
grant select on public.weekly_totals to authenticated, service_role;

create policy "A member reads the weekly totals of their workspaces"
  on public.weekly_totals for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));
create policy "Nobody reads the weekly totals of a deleted workspace"
  on public.weekly_totals as restrictive for select to authenticated
  using (not (workspace_id in (select private.reused_workspaces())));
