-- The months of folded days, and which slices of each `monthly_slices` has. `state`: `changed` until the service's job begins to make
-- slices, `claimed` while it makes them, `made` afterwards. A late change of the month sets it to `changed` again.
create table public.sliced_months (
  workspace_id uuid not null,
  month date not null,
  state text not null default 'changed' check (state in ('changed', 'claimed', 'made')),
  slices text[] not null default '{}',
  primary key (workspace_id, month)
);
comment on column public.sliced_months.slices is 'The names of the slices that may be read, the one with the fewest rows first; none unless they are made.';
create index sliced_months_due_idx on public.sliced_months (month desc, workspace_id) where state <> 'made';

alter table public.sliced_months enable row level security;
revoke all on public.sliced_months from anon, authenticated, service_role;
grant select on public.sliced_months to authenticated, service_role;

create policy "A member reads which months of their workspaces have slices"
  on public.sliced_months for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));
create policy "Nobody reads which months of a deleted workspace have slices"
  on public.sliced_months as restrictive for select to authenticated
  using (not (workspace_id in (select private.reused_workspaces())));

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
create index monthly_slices_month_idx on public.monthly_slices (workspace_id, month, names, environment);
create index monthly_slices_user_idx on public.monthly_slices (workspace_id, end_user) where end_user is not null;

alter table public.monthly_slices enable row level security;
revoke all on public.monthly_slices from anon, authenticated, service_role;
grant select on public.monthly_slices to authenticated, service_role;

create policy "A member reads the monthly slices of their workspaces"
  on public.monthly_slices for select to authenticated
  using (workspace_id = any ((array(select private.member_workspaces()))));
create policy "Nobody reads the monthly slices of a deleted workspace"
  on public.monthly_slices as restrictive for select to authenticated
  using (not (workspace_id in (select private.reused_workspaces())));

-- What is folded already.
insert into public.sliced_months (workspace_id, month)
select distinct workspace_id, month from public.monthly_spend;
