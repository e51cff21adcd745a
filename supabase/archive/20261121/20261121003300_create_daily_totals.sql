-- The days' sums once more, by one dimension at a time: what a project, key, provider, model or feature came to. The
-- rollup has a row for each combination of them, a few thousand a day where much goes on; a headline that read them all
-- would take longer the more was recorded. Of these there are as many as there are names, whatever is combined.
--
-- Each dimension holds all of the spend: what has no name in it has a null, so that each sums to the total.
create table public.daily_totals (
  workspace_id uuid not null,
  environment text not null,
  dimension text not null check (dimension in ('project', 'key', 'provider', 'model', 'feature')),
  day date not null,
  -- The id of a project or key, or a name.
  value text,
  type text not null,
  amount_usd numeric not null,
  message_count bigint not null,
  unpriced_count bigint not null,
  constraint daily_totals_key unique nulls not distinct (workspace_id, environment, dimension, day, value, type)
);

alter table public.daily_totals enable row level security;
revoke all on public.daily_totals from anon, authenticated, service_role;
grant select on public.daily_totals to authenticated, outlay_key, service_role;

create policy "A member reads the daily totals of their workspaces"
  on public.daily_totals for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- A total by anything but the project holds spend of every project.
create policy "A key reads the daily totals whose whole spend it may read"
  on public.daily_totals for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and environment = (select private.key_environment())
    and case
      when (select private.key_is_unconfined()) then true
      when dimension = 'project' then value::uuid in (select private.key_projects())
      when dimension = 'key' then value = (select private.key_claims() ->> 'id')
      else false
    end
  );

insert into public.daily_totals (
  workspace_id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count
)
select d.workspace_id, d.environment, slice.dimension, d.day, slice.value, d.type,
  sum(d.amount_usd), sum(d.message_count), sum(d.unpriced_count)
from public.daily_spend as d
cross join lateral (values
  ('project', d.project_id::text), ('key', d.api_key_id::text), ('provider', d.provider),
  ('model', d.model), ('feature', d.feature)
) as slice (dimension, value)
group by 1, 2, 3, 4, 5, 6;

-- Adds to the sums of days: to the rollup, then to its totals, each in the order of its key. The one way in which what
-- is recorded or corrected gets there, so that the two never differ.
create function private.add_daily_spend(changes public.daily_spend[])
returns void
language plpgsql volatile set search_path = ''
as $$
begin
  insert into public.daily_spend as daily (
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count
  )
  select
    workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment,
    amount_usd, message_count, item_count, unpriced_count
  from unnest(changes)
  order by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10
  on conflict on constraint daily_spend_key do update
    set amount_usd = daily.amount_usd + excluded.amount_usd,
        message_count = daily.message_count + excluded.message_count,
        item_count = daily.item_count + excluded.item_count,
        unpriced_count = daily.unpriced_count + excluded.unpriced_count;

  insert into public.daily_totals as total (
    workspace_id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count
  )
  select c.workspace_id, c.environment, slice.dimension, c.day, slice.value, c.type,
    sum(c.amount_usd), sum(c.message_count), sum(c.unpriced_count)
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
        unpriced_count = total.unpriced_count + excluded.unpriced_count;
end
$$;
revoke all on function private.add_daily_spend(public.daily_spend[]) from public;
