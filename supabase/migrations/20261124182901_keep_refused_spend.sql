-- Keeps what limits refuse to record, and lets a key's monthly limit record what is past it.
alter table public.api_keys add column on_limit text not null default 'refuse'
  constraint api_keys_on_limit_check check (on_limit in ('refuse', 'record'));
comment on column public.api_keys.on_limit is 'What its monthly limit does with costs past it: refuses them, or records them and says so.';
grant insert (on_limit), update (on_limit) on public.api_keys to authenticated;

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
revoke execute on function private.refused_among(uuid[], text[]) from public;

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
revoke execute on function private.record_refusals(jsonb) from public;
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
revoke execute on function private.take_back_refusals(jsonb) from public;
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
revoke execute on function private.forget_refused_calls(integer) from public;
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
revoke execute on function private.refused_of_budget(public.budgets, date, date) from public;
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

create or replace function private.load_admission(requested jsonb)
returns json
language plpgsql
security definer
set search_path to ''
set "TimeZone" to 'UTC'
set plan_cache_mode to 'force_generic_plan'
as $$
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
  refused jsonb;
  teller_ids uuid[];
  tellings jsonb;
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

  -- Shared with other groups; a change of the workspace's prices and the closing of a month take this lock exclusively.
  perform pg_advisory_xact_lock_shared(hashtextextended('outlay.prices.' || workspace_id, 0))
  from (select distinct workspace_id from public.api_keys where id = any (key_ids) order by workspace_id) as sending;

  limited_ids := array(
    select id from public.api_keys
    where id = any (key_ids) and (monthly_limit is not null or rate_limit_rpm is not null)
    order by id
    for no key update
  );

  -- What is told with one key is decided by one group after another, so that each sees the calls that the others recorded.
  if requested ? 'tellers' then
    teller_ids := array(
      select distinct id from private.keys_named(requested)
      where lookup = any (array(select jsonb_array_elements_text(requested -> 'tellers')))
      order by id
    );
    perform pg_advisory_xact_lock(hashtextextended('outlay.tellings.' || id, 0)) from unnest(teller_ids) as id;
  end if;

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
    'prices_version', w.prices_version,
    'time_zone', w.time_zone,
    'closed_until', w.closed_until,
    'environment', k.environment,
    'permissions', k.permissions,
    'project', (select p.slug from public.projects as p where p.workspace_id = k.workspace_id and p.id = k.project_id),
    'project_id', k.project_id,
    'conditions', k.conditions,
    'monthly_limit', k.monthly_limit::text,
    'on_limit', k.on_limit,
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
  join public.workspaces as w on w.id = k.workspace_id
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
    refused := private.refused_among(
      workspace_ids, array(select wanted.value ->> 'key' from jsonb_array_elements(requested -> 'idempotency') as wanted)
    );
  end if;

  if cardinality(teller_ids) > 0 then
    tellings := private.load_tellings(
      teller_ids, workspace_ids, (
        select coalesce(jsonb_agg(wanted.value || jsonb_build_object('key', named.id)), '[]')
        from jsonb_array_elements(requested -> 'tellings') as wanted
        left join private.keys_named(requested) as named on named.lookup = requested -> 'tellers' ->> (wanted.value ->> 'teller')::integer
        where named.id is not null or not wanted.value ? 'teller'
      ), array(select jsonb_array_elements_text(requested -> 'marks'))
    );
  end if;

  return json_build_object(
    'now', (extract(epoch from now_at) * 1000)::bigint,
    'keys', keys, 'projects', projects, 'idempotency', replays, 'budgets', budgets, 'refused', refused,
    'tellings', tellings
  );
end
$$;

create or replace function private.read_key_limits(of_key uuid)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'spent_usd', coalesce((
      select trim_scale(spend.amount_usd) from public.key_spend as spend
      where spend.workspace_id = k.workspace_id and spend.api_key_id = k.id
        and spend.month = date_trunc('month', now() at time zone 'UTC')::date
    ), 0)::text,
    'refused_usd', coalesce((
      select trim_scale(sum(s.amount_usd)) from public.refused_spend as s
      where s.workspace_id = k.workspace_id and s.api_key_id = k.id and s.budget_id is null
        and s.period_from = date_trunc('month', now() at time zone 'UTC')::date
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
$$;

create or replace function private.judge_key_limits(at timestamptz)
returns setof jsonb
language sql stable security definer set search_path = ''
as $$
  with month as (
    select date_trunc('month', at, 'UTC')::timestamptz as begins, (date_trunc('month', at at time zone 'UTC'))::date as first_day
  ), judged as (
    select k.workspace_id, k.id::text as subject_id, k.name, month.first_day, k.monthly_limit as limit_usd,
      coalesce(spent.amount_usd, 0) as spent_usd, refused.usd as refused_usd, k.on_limit,
      case
        -- It refuses what would exceed it, so it need not be reached.
        when refused.usd > 0 and coalesce(spent.amount_usd, 0) + refused.usd >= k.monthly_limit then 'alert'
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
    cross join lateral (
      select coalesce(sum(f.amount_usd), 0) as usd from public.refused_spend as f
      where f.workspace_id = k.workspace_id and f.api_key_id = k.id and f.budget_id is null and f.period_from = month.first_day
    ) as refused
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
      'refused_usd', trim_scale(refused_usd)::text, 'on_limit', on_limit,
      'period_from', first_day, 'period_until', (first_day + interval '1 month')::date
    )
  )
  from judged
  where (state, first_day) is distinct from (coalesce(old_state, 'ok'), coalesce(old_period, first_day))
  limit 1000
$$;
