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
revoke all on public.monthly_totals from anon, authenticated, service_role;
grant select on public.monthly_totals to authenticated, service_role;

create policy "A member reads the monthly totals of their workspaces"
  on public.monthly_totals for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));
create policy "Nobody reads the monthly totals of a deleted workspace"
  on public.monthly_totals as restrictive for select to authenticated
  using (not (workspace_id in (select private.reused_workspaces())));
