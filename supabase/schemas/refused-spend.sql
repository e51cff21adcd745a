-- What limits refused to record. The call to the model has usually happened by then, so it may have been spent all the same.

-- By the day on which it occurred, in the time zone that the workspace had. A key makes at most 200 rows on a UTC day: what would
-- need more is summed in one row for each environment, which names neither project, provider, model nor budget.
create table public.refused_spend (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  environment text not null check (environment in ('live', 'test')),
  api_key_id uuid not null,
  day date not null,
  -- The slug, of a project that may not exist.
  project text,
  provider text,
  model text,
  -- The blocking budget that refused it; null for the key's monthly limit.
  budget_id uuid,
  -- The first day of the period of what refused it: of the budget, or of the UTC month. Of a row without names, its day.
  period_from date not null,
  made_on date not null,
  amount_usd numeric not null,
  message_count bigint not null,
  constraint refused_spend_key
    unique nulls not distinct (workspace_id, api_key_id, day, environment, project, provider, model, budget_id, period_from)
);

create index refused_spend_day_idx on public.refused_spend (workspace_id, environment, day);
create index refused_spend_budget_idx on public.refused_spend (workspace_id, budget_id, period_from) where budget_id is not null;
create index refused_spend_made_idx on public.refused_spend (workspace_id, api_key_id, made_on);

alter table public.refused_spend enable row level security;
revoke all on public.refused_spend from anon, authenticated, service_role;
grant select on public.refused_spend to authenticated, outlay_key, service_role;

create policy "A member reads what limits refused in their workspaces"
  on public.refused_spend for select to authenticated
  using (workspace_id = any (array(select private.member_workspaces())));

-- A limit refuses costs of all projects and people.
create policy "A key that may read all spend reads what limits refused"
  on public.refused_spend for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and environment = (select private.key_environment()) and (select private.key_is_unconfined())
  );

-- The refused messages of these sums that have an idempotency key, by its SHA-256: a retry counts once, and what is recorded
-- later is taken back. The latest 5,000 of a key are kept, for thirty days.
create table private.refused_calls (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  environment text not null,
  key_hash bytea not null check (octet_length(key_hash) = 32),
  api_key_id uuid not null,
  day date not null,
  project text,
  provider text,
  model text,
  budget_id uuid,
  period_from date not null,
  amount_usd numeric not null,
  refused_at timestamptz not null,
  primary key (workspace_id, environment, key_hash)
);

create index refused_calls_key_idx on private.refused_calls (workspace_id, api_key_id, refused_at);
create index refused_calls_age_idx on private.refused_calls (refused_at);

alter table private.refused_calls enable row level security;
revoke all on private.refused_calls from anon, authenticated, service_role;

-- Which idempotency keys of workspaces are of messages that a limit refused. Null where there is none.
-- returns: [{ workspace_id, environment, key }]
create function private.refused_among(workspaces uuid[], keys text[])
returns jsonb
language plpgsql stable security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  if not exists (select from private.refused_calls as c where c.workspace_id = any (workspaces)) then
    return null;
  end if;
  return (
    select jsonb_agg(jsonb_build_object('workspace_id', c.workspace_id, 'environment', c.environment, 'key', asked.key))
    from (select key, sha256(convert_to(key, 'UTF8')) as hash from unnest(keys) as key) as asked
    join private.refused_calls as c on c.workspace_id = any (workspaces) and c.key_hash = asked.hash
  );
end
$$;

-- Adds what limits refused to its sums. A message whose idempotency key is remembered is not added again. The caller holds the
-- locks under which the limits refused it.
-- refused: [{ workspace_id, environment, api_key_id, key: its idempotency key or null, at: when it occurred, project, provider, model,
-- budget_id, period_from, amount_usd }], each key once
create function private.record_refusals(refused jsonb)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  now_at constant timestamptz := clock_timestamp();
  today constant date := now_at::date;
begin
  with asked as materialized (
    select r.workspace_id, r.environment, r.api_key_id, private.local_time(r.at, private.time_zone_of(r.workspace_id))::date as day,
      r.project, r.provider, r.model, r.budget_id, r.period_from, r.amount_usd, sha256(convert_to(r.key, 'UTF8')) as key_hash,
      row_number() over (partition by r.workspace_id, r.api_key_id) as place
    from jsonb_to_recordset(refused) as r (
      workspace_id uuid, environment text, api_key_id uuid, key text, at timestamptz, project text, provider text, model text,
      budget_id uuid, period_from date, amount_usd numeric
    )
  ), made as materialized (
    select k.workspace_id, k.api_key_id, (
      select count(*) from public.refused_spend as s
      where s.workspace_id = k.workspace_id and s.api_key_id = k.api_key_id and s.made_on = today
    ) as row_count
    from (select distinct workspace_id, api_key_id from asked) as k
  ), placed as materialized (
    select a.workspace_id, a.environment, a.api_key_id, a.amount_usd, a.key_hash,
      case when fits.well then a.day else today end as day, case when fits.well then a.project end as project,
      case when fits.well then a.provider end as provider, case when fits.well then a.model end as model,
      case when fits.well then a.budget_id end as budget_id, case when fits.well then a.period_from else today end as period_from
    from asked as a
    join made as m on m.workspace_id = a.workspace_id and m.api_key_id = a.api_key_id
    cross join lateral (
      select m.row_count + a.place <= 200 or exists (
        select from public.refused_spend as s
        where s.workspace_id = a.workspace_id and s.api_key_id = a.api_key_id and s.day = a.day and s.environment = a.environment
          and s.project is not distinct from a.project and s.provider is not distinct from a.provider
          and s.model is not distinct from a.model and s.budget_id is not distinct from a.budget_id and s.period_from = a.period_from
      ) as well
    ) as fits
  ), remembered as (
    insert into private.refused_calls (
      workspace_id, environment, key_hash, api_key_id, day, project, provider, model, budget_id, period_from, amount_usd, refused_at
    )
    select workspace_id, environment, key_hash, api_key_id, day, project, provider, model, budget_id, period_from, amount_usd, now_at
    from placed
    where key_hash is not null
    order by workspace_id, environment, key_hash
    on conflict do nothing
    returning workspace_id, environment, api_key_id, day, project, provider, model, budget_id, period_from, amount_usd
  )
  insert into public.refused_spend as s (
    workspace_id, environment, api_key_id, day, project, provider, model, budget_id, period_from, made_on, amount_usd, message_count
  )
  select workspace_id, environment, api_key_id, day, project, provider, model, budget_id, period_from, today, sum(amount_usd), count(*)
  from (
    select * from remembered
    union all
    select workspace_id, environment, api_key_id, day, project, provider, model, budget_id, period_from, amount_usd
    from placed where key_hash is null
  ) as counted
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9
  order by 1, 2, 3, 4, 5, 6, 7, 8, 9
  on conflict on constraint refused_spend_key do update
    set amount_usd = s.amount_usd + excluded.amount_usd, message_count = s.message_count + excluded.message_count;

  delete from private.refused_calls where ctid = any (array(
    select old.ctid
    from (select distinct workspace_id, api_key_id from jsonb_to_recordset(refused) as r (workspace_id uuid, api_key_id uuid)) as k
    cross join lateral (
      select c.ctid from private.refused_calls as c
      where c.workspace_id = k.workspace_id and c.api_key_id = k.api_key_id
      order by c.refused_at desc offset 5000
    ) as old
  ));
end
$$;
grant execute on function private.record_refusals(jsonb) to outlay_service, service_role;

-- Takes messages out of these sums that are recorded after all.
-- taken: [{ workspace_id, environment, key }]
create function private.take_back_refusals(taken jsonb)
returns void
language plpgsql volatile security definer set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  with gone as (
    delete from private.refused_calls as c
    using jsonb_to_recordset(taken) as t (workspace_id uuid, environment text, key text)
    where c.workspace_id = t.workspace_id and c.environment = t.environment and c.key_hash = sha256(convert_to(t.key, 'UTF8'))
    returning c.*
  ), sums as (
    select workspace_id, environment, api_key_id, day, project, provider, model, budget_id, period_from,
      sum(amount_usd) as amount_usd, count(*) as message_count
    from gone
    group by 1, 2, 3, 4, 5, 6, 7, 8, 9
  )
  update public.refused_spend as s
  set amount_usd = s.amount_usd - sums.amount_usd, message_count = s.message_count - sums.message_count
  from sums
  where s.workspace_id = sums.workspace_id and s.api_key_id = sums.api_key_id and s.day = sums.day
    and s.environment = sums.environment and s.project is not distinct from sums.project
    and s.provider is not distinct from sums.provider and s.model is not distinct from sums.model
    and s.budget_id is not distinct from sums.budget_id and s.period_from = sums.period_from;
end
$$;
grant execute on function private.take_back_refusals(jsonb) to outlay_service, service_role;

-- Forgets which messages were refused more than thirty days ago; their sums stay. returns: how many
create function private.forget_refused_calls(at_most integer)
returns integer
language plpgsql volatile security definer set search_path = ''
as $$
declare
  forgotten integer;
begin
  delete from private.refused_calls where ctid = any (array(
    select c.ctid from private.refused_calls as c
    where c.refused_at < clock_timestamp() - interval '30 days'
    limit at_most for update skip locked
  ));
  get diagnostics forgotten = row_count;
  return forgotten;
end
$$;
grant execute on function private.forget_refused_calls(integer) to outlay_service, service_role;

-- What limits refused of what a budget counts, live, in a period: by the budget itself, and by others as far as its scope is one of
-- theirs. Read with the caller's own rights.
create function private.refused_of_budget(budget public.budgets, from_day date, until_day date)
returns numeric
language plpgsql stable set search_path = '' set plan_cache_mode = force_generic_plan
as $$
begin
  return coalesce((
    select sum(s.amount_usd) from public.refused_spend as s
    where s.workspace_id = budget.workspace_id and s.environment = 'live' and s.day >= from_day - 1 and s.day <= until_day
      and case when s.budget_id = budget.id then s.period_from = from_day
        else s.day >= from_day and s.day < until_day and case budget.scope_type
          when 'global' then true
          when 'key' then s.api_key_id::text = budget.scope_key
          when 'provider' then lower(s.provider) = budget.scope_key
          when 'model' then s.model = budget.scope_key
          when 'project' then s.project = (
            select p.slug from public.projects as p where p.workspace_id = budget.workspace_id and p.id::text = budget.scope_key
          )
          else false
        end
      end
  ), 0);
end
$$;
grant execute on function private.refused_of_budget(public.budgets, date, date) to authenticated, outlay_key, service_role;

-- What limits refused of what each budget counts in its present period, where anything was refused in its workspace. Read with the
-- caller's own rights.
create view public.budget_refusals with (security_invoker = true) as
select b.workspace_id, b.id as budget_id,
  private.refused_of_budget(b, present.first_day, private.budget_period_end(b, present.first_day)) as refused_usd
from public.budgets as b
cross join lateral (select private.budget_period(b, private.budget_now(b)) as first_day) as present
where exists (select from public.refused_spend as r where r.workspace_id = b.workspace_id);
revoke all on public.budget_refusals from anon, authenticated, service_role;
grant select on public.budget_refusals to authenticated, outlay_key, service_role;
