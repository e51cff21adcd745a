-- Sums of the ledger by day, and of what each key spent, kept in the transaction that records a message.

-- A short value that stands for a person and tags in the key of the rollup. The names themselves could be longer than an index
-- row may be.
create function private.attribution_of(end_user text, tags text[])
returns bytea
language plpgsql immutable set search_path = ''
as $$
begin
  return sha256(convert_to(jsonb_build_array(end_user, tags)::text, 'UTF8'));
end
$$;

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

-- A project's spend is queried by its page, by keys, and by every allocation of a percentage. The spend of a feature,
-- model or key needs all combinations that contain it. Without these indexes, a query reads a month of the rollup: with
-- 570,000 rows, 0.3 to 0.5 seconds per page of metrics; with them, 0.04 to 0.2. The indexes grow only with new
-- combinations, because adding to a sum changes none of their columns: 10 messages with mostly new combinations write
-- 8.5 kB of WAL instead of 7.5, and those with known ones write as much as before. Providers and sources have no index,
-- because there are few, and reading a tenth of the rollup through an index is not faster.
create index daily_spend_project_idx on public.daily_spend (workspace_id, project_id, day);
create index daily_spend_feature_idx on public.daily_spend (workspace_id, feature, day);
create index daily_spend_model_idx on public.daily_spend (workspace_id, model, day);
create index daily_spend_api_key_idx on public.daily_spend (workspace_id, api_key_id, day);
create unique index daily_spend_key on public.daily_spend (
  workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
  (case when end_user is not null or tags is not null then private.attribution_of(end_user, tags) end)
) nulls not distinct;
create index daily_spend_user_idx on public.daily_spend (workspace_id, end_user, day) where end_user is not null;

alter table public.daily_spend enable row level security;
revoke all on public.daily_spend from anon, authenticated, service_role;
grant select on public.daily_spend to authenticated, outlay_key, service_role;

create policy "A member reads the daily spend of their workspaces"
  on public.daily_spend for select to authenticated
  using (workspace_id = any (array(select private.member_workspaces())));

create policy "A key reads the daily spend of its environment and projects"
  on public.daily_spend for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and environment = (select private.key_environment())
    and project_id = any (array(select private.key_projects()))
  );

create policy "Nobody reads the daily spend of a workspace that was deleted"
  on public.daily_spend as restrictive for select to authenticated, outlay_key
  using (workspace_id not in (select private.reused_workspaces()));

-- Every key reads through these policies, but few keys are of users. Postgres takes `a is null or b = any (…)` for a condition that
-- one row in two hundred meets: it read and sorted every message of a month to list the latest 200 of a project, 200 ms in
-- place of 2. It takes a `case` for one that half of the rows meet.
create policy "A key of users reads daily spend of these alone"
  on public.daily_spend as restrictive for select to outlay_key
  using (case when (select private.key_users()) is null then true else end_user = any ((select private.key_users())::text[]) end);

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
  -- The id of a project or key, or a name.
  value text,
  type text not null,
  amount_usd numeric not null,
  message_count bigint not null,
  unpriced_count bigint not null,
  included_usd numeric not null default 0,
  constraint daily_totals_key unique nulls not distinct (workspace_id, environment, dimension, day, value, type),
  constraint daily_totals_dimension_check
  check (dimension = any (array['project', 'key', 'provider', 'model', 'feature', 'user', 'tag']))
);
comment on column public.daily_totals.dimension is 'All but `user` and `tag` contain all spend. These two have rows for names alone; spend has a row for each of its tags.';

alter table public.daily_totals enable row level security;
revoke all on public.daily_totals from anon, authenticated, service_role;
grant select on public.daily_totals to authenticated, outlay_key, service_role;

-- As `= any (array(…))` the condition of a policy can be one of an index: Postgres compares it with the workspace or project
-- that the statement names once per scan. As `in (select …)` it was a filter, asked for every row, thousands per read.
create policy "A member reads the daily totals of their workspaces"
  on public.daily_totals for select to authenticated
  using (workspace_id = any (array(select private.member_workspaces())));

-- The total of anything but a project contains spend of every project.
create policy "A key reads the daily totals whose whole spend it may read"
  on public.daily_totals for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and environment = (select private.key_environment())
    and case
      when (select private.key_is_unconfined()) then true
      when (select private.key_users()) is not null
        then (select private.key_is_of_users()) and dimension = 'user' and value = any ((select private.key_users())::text[])
      when dimension = 'project' then value::uuid in (select private.key_projects())
      when dimension = 'key' then value = (select private.key_claims() ->> 'id')
      else false
    end
  );

create policy "Nobody reads the daily totals of a workspace that was deleted"
  on public.daily_totals as restrictive for select to authenticated, outlay_key
  using (workspace_id not in (select private.reused_workspaces()));

-- What each key recorded in each UTC month, by the time of recording, so that backdated messages count against the limit.
create table public.key_spend (
  workspace_id uuid not null,
  api_key_id uuid not null,
  month date not null,
  amount_usd numeric not null,
  message_count bigint not null,
  primary key (workspace_id, api_key_id, month)
);

alter table public.key_spend enable row level security;
revoke all on public.key_spend from anon, authenticated, service_role;
grant select on public.key_spend to authenticated, service_role;

create policy "A member reads what the keys of their workspaces spent"
  on public.key_spend for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

create policy "Nobody reads what keys of a deleted workspace spent"
  on public.key_spend as restrictive for select to authenticated
  using (workspace_id not in (select private.reused_workspaces()));

-- Adds to the daily sums: to the rollup, then to its totals, each in the order of its key. Everything that is recorded or
-- corrected uses this function, so that the two always agree. Days before yesterday may be folded: their changes are added to the
-- folded sums, too.
create function private.add_daily_spend(changes public.daily_spend[])
 returns void
 language plpgsql
 set search_path to ''
as $$
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

  -- No day after them can be closed.
  if exists (select from unnest(changes) where day < (now() at time zone 'UTC')::date - 1) then
    perform private.demand_open_days(changes);
    perform private.add_folded_spend(changes);
  end if;
end
$$;
