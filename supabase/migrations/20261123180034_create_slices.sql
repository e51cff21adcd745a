-- Sums of past months by three names.

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

-- The months whose slices are to be made, of all workspaces, the latest ones first.
create function private.months_to_slice()
returns table (workspace_id uuid, month date)
language sql stable security definer set search_path = ''
begin atomic
  select s.workspace_id, s.month
  from public.sliced_months as s
  join public.workspaces as w on w.id = s.workspace_id and w.deleted_at is null
  where s.state <> 'made'
  order by s.month desc, s.workspace_id
  limit 10000;
end;
grant execute on function private.months_to_slice() to outlay_service, service_role;

-- Whoever makes slices of a workspace holds this lock, so that no month is claimed again while its slices are being made.
create function private.slice_lock(workspace uuid)
returns bigint
language sql immutable set search_path = ''
return hashtextextended('outlay.slice ' || workspace, 0);

-- Announces that the slices of a month will be made: whoever changes the month from now on says so in `state`. Whoever began before
-- may have found nothing to say, but holds the lock of folding until the end. So what is read after this transaction has all changes
-- that `state` does not tell.
create function private.claim_month_to_slice(workspace uuid, first_day date)
returns void
language plpgsql security definer set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(private.slice_lock(workspace));
  perform pg_advisory_xact_lock(private.fold_lock(workspace));
  update public.sliced_months set state = 'claimed'
  where workspace_id = workspace and month = first_day and state = 'changed';
end
$$;
grant execute on function private.claim_month_to_slice(uuid, date) to outlay_service, service_role;

-- Makes the slices of a month that was claimed in an earlier transaction. Nobody waits for it: where the month is changed meanwhile,
-- nothing is kept. A slice is kept where it has far fewer rows than the month, so that all slices of a month stay in proportion to it.
--
-- least_sums, most_sums: the fewest and the most rows of `monthly_spend` that a month with slices has
-- least_ratio: how many rows the month has at least for each row of a slice that is kept
-- returns: the number of the slices' rows
create function private.slice_month(workspace uuid, first_day date, least_sums integer, most_sums integer, least_ratio integer)
returns integer
language plpgsql security definer set search_path = ''
as $$
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
$$;
grant execute on function private.slice_month(uuid, date, integer, integer, integer) to outlay_service, service_role;
