-- Lets admins close months: their figures stay as they were filed, and later costs of them are adjustments.
alter table public.workspaces add column closed_until date check (extract(day from closed_until) = 1);
comment on column public.workspaces.closed_until is 'The first day that is open: the months before it are closed. Null where none is.';
alter table public.messages add column adjusts timestamptz;
comment on column public.messages.adjusts is 'Of an adjustment: when the cost occurred, in a month that was closed by then. It is booked at `occurred_at`, when it was recorded.';
create index messages_adjusts_idx on public.messages (workspace_id, adjusts) where adjusts is not null;

-- Each closing of a month, with what was filed: live costs, in USD. A month that was reopened and closed again has two.
create table public.closed_months (
  workspace_id uuid not null references public.workspaces (id) on delete cascade,
  id uuid not null default gen_random_uuid(),
  month date not null check (extract(day from month) = 1),
  amount_usd numeric not null,
  -- Of it, adjustments of months that were closed before.
  adjustments_usd numeric not null,
  message_count bigint not null,
  unpriced_count bigint not null,
  closed_at timestamptz not null default date_trunc('milliseconds', clock_timestamp()),
  closed_by uuid default auth.uid(),
  closed_by_email text default auth.email(),
  -- Of the filed export; null until that is written, shortly after the closing.
  sha256 text check (sha256 ~ '^[0-9a-f]{64}$'),
  byte_count bigint,
  reopened_at timestamptz,
  reopened_by uuid,
  reopened_by_email text,
  reopen_reason text check (char_length(reopen_reason) between 1 and 500),
  primary key (workspace_id, id),
  check ((reopened_at is null) = (reopen_reason is null))
);

create unique index closed_months_once on public.closed_months (workspace_id, month) where reopened_at is null;
create index closed_months_to_file_idx on public.closed_months (closed_at) where sha256 is null;

alter table public.closed_months enable row level security;
revoke all on public.closed_months from anon, authenticated, service_role;
grant select on public.closed_months to authenticated, outlay_key, service_role;

create policy "A member reads the closed months of their workspaces"
  on public.closed_months for select to authenticated
  using (workspace_id in (select private.member_workspaces()));

-- The figures are of all projects and people.
create policy "A key that may read all spend reads the closed months"
  on public.closed_months for select to outlay_key
  using (
    workspace_id = (select private.key_workspace())
    and (select private.key_environment()) = 'live' and (select private.key_is_unconfined())
  );

create trigger closed_months_are_audited
  after insert or update of reopened_at on public.closed_months
  for each row execute function private.audit_change('closed_month');

-- The filed export of a closing: the parts of a gzip file, in order. It is written once and never changed.
create table private.filed_exports (
  workspace_id uuid not null,
  closing_id uuid not null,
  part integer not null,
  content bytea not null,
  primary key (workspace_id, closing_id, part),
  foreign key (workspace_id, closing_id) references public.closed_months (workspace_id, id) on delete cascade
);

alter table private.filed_exports enable row level security;
revoke all on private.filed_exports from anon, authenticated, service_role;

-- The first open day of a workspace; null where no month is closed.
create function private.closed_until(workspace uuid)
returns date
language sql stable security definer set search_path = ''
as $$
  select w.closed_until from public.workspaces as w where w.id = workspace
$$;
grant execute on function private.closed_until(uuid) to outlay_service, service_role;

-- A posting as it is booked while the days before `closed_until` are closed: one of a closed day at the time of its recording, as
-- an adjustment. The same as `bookOpen` of the service.
create function private.book_open(posting public.messages, closed_until date)
returns public.messages
language plpgsql immutable set search_path = '' set timezone = 'UTC'
as $$
begin
  if posting.occurred_at < closed_until then
    posting.adjusts := posting.occurred_at;
    posting.occurred_at := posting.created_at;
  end if;
  return posting;
end
$$;

-- Raises serialization_failure (40001) where changes of the daily sums change figures of a closed month. Whoever recorded that
-- decided before the month was closed, and decides again. The name of a person is no figure: an erasure replaces it.
create function private.demand_open_days(changes public.daily_spend[])
returns void
language plpgsql stable set search_path = ''
as $$
begin
  if exists (
    select from unnest(changes) as c
    where c.day < private.closed_until(c.workspace_id)
    group by c.workspace_id, c.day, c.project_id, c.api_key_id, c.type, c.provider, c.model, c.feature, c.source, c.environment, c.tags
    having sum(c.amount_usd) <> 0 or sum(c.message_count) <> 0 or sum(c.item_count) <> 0 or sum(c.unpriced_count) <> 0
      or sum(c.included_usd) <> 0
  ) then
    raise exception 'the month is closed' using errcode = 'serialization_failure';
  end if;
end
$$;

-- How long after its end a month can be closed: what its last hours cost has arrived by then.
create function private.closing_delay()
returns interval
language sql immutable set search_path = ''
return interval '2 days';

-- Closes a month and the open ones before it, as an admin of the workspace: the user of the transaction's claims. Groups of messages that are being recorded are counted
-- before; later ones wait until this commits, and are booked after.
create function private.close_months(workspace uuid, through date)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  first_open date;
begin
  if workspace not in (select private.member_workspaces(array['owner', 'admin'])) then
    raise exception 'only an admin closes a month' using errcode = 'insufficient_privilege';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
  select w.closed_until into first_open from public.workspaces as w where w.id = workspace for no key update;
  if through <> date_trunc('month', through)::date or through < first_open
    or clock_timestamp() < through + interval '1 month' + private.closing_delay()
  then
    raise exception 'the month of % cannot be closed', through using errcode = 'object_not_in_prerequisite_state';
  end if;
  first_open := coalesce(first_open, least(through, (
    select date_trunc('month', min(t.day))::date from public.daily_totals as t
    where t.workspace_id = workspace and t.environment = 'live' and t.dimension = 'project'
  )));
  insert into public.closed_months (workspace_id, month, amount_usd, adjustments_usd, message_count, unpriced_count)
  select workspace, first_day, coalesce(filed.amount_usd, 0), coalesce(adjustments.amount_usd, 0),
    coalesce(filed.message_count, 0), coalesce(filed.unpriced_count, 0)
  from generate_series(first_open::timestamp, through, interval '1 month') as months (first_day)
  cross join lateral (
    select sum(t.amount_usd) as amount_usd, sum(t.message_count) as message_count, sum(t.unpriced_count) as unpriced_count
    from public.daily_totals as t
    where t.workspace_id = workspace and t.environment = 'live' and t.dimension = 'project'
      and t.day >= first_day and t.day < first_day + interval '1 month'
  ) as filed
  cross join lateral (
    select sum(m.amount_usd) as amount_usd from public.messages as m
    where m.workspace_id = workspace and m.environment = 'live' and m.adjusts is not null
      and m.occurred_at >= first_day and m.occurred_at < first_day + interval '1 month'
  ) as adjustments
  order by first_day;
  update public.workspaces set closed_until = (through + interval '1 month')::date where id = workspace;
end
$$;
grant execute on function private.close_months(uuid, date) to outlay_service, service_role;

-- Reopens the last closed month once its export is filed, as an admin of the workspace: the user of the transaction's claims. What was booked as an adjustment of it stays where it is.
create function private.reopen_month(workspace uuid, closing uuid, reason text)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  reopened date;
begin
  if workspace not in (select private.member_workspaces(array['owner', 'admin'])) then
    raise exception 'only an admin reopens a month' using errcode = 'insufficient_privilege';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
  update public.closed_months as c
  set reopened_at = date_trunc('milliseconds', clock_timestamp()), reopened_by = auth.uid(), reopened_by_email = auth.email(),
    reopen_reason = reason
  from public.workspaces as w
  where c.workspace_id = workspace and c.id = closing and c.reopened_at is null and c.sha256 is not null
    and w.id = c.workspace_id and w.closed_until = (c.month + interval '1 month')::date
  returning c.month into reopened;
  if reopened is null then
    raise exception 'only the last closed month is reopened' using errcode = 'object_not_in_prerequisite_state';
  end if;
  update public.workspaces set closed_until = case when exists (
    select from public.closed_months as c where c.workspace_id = workspace and c.reopened_at is null
  ) then reopened end
  where id = workspace;
end
$$;
grant execute on function private.reopen_month(uuid, uuid, text) to outlay_service, service_role;

-- The oldest closing whose export is to be written, locked for the caller. Of one workspace, it waits for another process that
-- writes it; of all of them, it takes another one.
create function private.lock_unfiled_month(workspace uuid)
returns setof public.closed_months
language plpgsql volatile security definer set search_path = ''
as $$
begin
  if workspace is null then
    return query
      select * from public.closed_months as c where c.sha256 is null and c.reopened_at is null
      order by c.closed_at, c.month limit 1 for update skip locked;
  else
    return query
      select * from public.closed_months as c where c.sha256 is null and c.reopened_at is null and c.workspace_id = workspace
      order by c.closed_at, c.month limit 1 for update;
  end if;
end
$$;
grant execute on function private.lock_unfiled_month(uuid) to outlay_service, service_role;

-- The live figures of a month by day, for the filed export: by everything but the person, whose name an erasure has to replace.
create function private.figures_to_file(workspace uuid, of_month date)
returns table (
  day date, project text, project_name text, type text, provider text, model text, feature text, key_id uuid, key_name text,
  source text, tags text[], amount_usd numeric, adjustments_usd numeric, message_count bigint, line_count bigint,
  unpriced_count bigint, included_usd numeric
)
language sql stable security definer set search_path = '' set timezone = 'UTC'
as $$
  select f.day, p.slug, p.name, f.type, f.provider, f.model, f.feature, f.api_key_id, k.name, f.source, f.tags,
    trim_scale(sum(f.amount_usd)), trim_scale(sum(f.adjustments_usd)), sum(f.message_count)::bigint, sum(f.item_count)::bigint,
    sum(f.unpriced_count)::bigint, trim_scale(sum(f.included_usd))
  from (
    select d.day, d.project_id, d.type, d.provider, d.model, d.feature, d.api_key_id, d.source, d.tags, d.amount_usd,
      0 as adjustments_usd, d.message_count, d.item_count, d.unpriced_count, d.included_usd
    from public.daily_spend as d
    where d.workspace_id = workspace and d.environment = 'live'
      and d.day >= of_month and d.day < of_month + interval '1 month'
    union all
    select m.occurred_at::date, m.project_id, m.type, m.provider, m.model, m.feature, m.api_key_id, m.source, m.tags, 0,
      m.amount_usd, 0, 0, 0, 0
    from public.messages as m
    where m.workspace_id = workspace and m.environment = 'live' and m.adjusts is not null
      and m.occurred_at >= of_month and m.occurred_at < of_month + interval '1 month'
  ) as f
  join public.projects as p on p.workspace_id = workspace and p.id = f.project_id
  left join public.api_keys as k on k.workspace_id = workspace and k.id = f.api_key_id
  group by 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
  order by 1, 2, 4, 5, 6, 7, 8, 10, 11
$$;
grant execute on function private.figures_to_file(uuid, date) to outlay_service, service_role;

-- Stores a part of a filed export. content: base64
create function private.store_filed_part(workspace uuid, closing uuid, number integer, content text)
returns void
language sql volatile security definer set search_path = ''
as $$
  insert into private.filed_exports (workspace_id, closing_id, part, content)
  values (workspace, closing, number, decode(content, 'base64'))
$$;
grant execute on function private.store_filed_part(uuid, uuid, integer, text) to outlay_service, service_role;

-- Ends the writing of a filed export. Its hash is set once.
create function private.finish_filing(workspace uuid, closing uuid, hash text, bytes bigint)
returns void
language sql volatile security definer set search_path = ''
as $$
  update public.closed_months set sha256 = hash, byte_count = bytes
  where workspace_id = workspace and id = closing and sha256 is null
$$;
grant execute on function private.finish_filing(uuid, uuid, text, bigint) to outlay_service, service_role;

-- A part of a filed export, in base64; null after the last. The caller has checked who asks.
create function private.filed_part(workspace uuid, closing uuid, number integer)
returns text
language sql stable security definer set search_path = ''
as $$
  select encode(content, 'base64') from private.filed_exports
  where workspace_id = workspace and closing_id = closing and part = number
$$;
grant execute on function private.filed_part(uuid, uuid, integer) to outlay_service, service_role;

revoke execute on function private.closed_until(uuid) from public;
revoke execute on function private.book_open(public.messages, date) from public;
revoke execute on function private.demand_open_days(public.daily_spend[]) from public;
revoke execute on function private.closing_delay() from public;
revoke execute on function private.close_months(uuid, date) from public;
revoke execute on function private.reopen_month(uuid, uuid, text) from public;
revoke execute on function private.lock_unfiled_month(uuid) from public;
revoke execute on function private.figures_to_file(uuid, date) from public;
revoke execute on function private.store_filed_part(uuid, uuid, integer, text) from public;
revoke execute on function private.finish_filing(uuid, uuid, text, bigint) from public;
revoke execute on function private.filed_part(uuid, uuid, integer) from public;

-- What was recorded for tellings that may be told again, and sums that may be taken back, as `load_admission` answers it. The
-- caller holds the lock of the keys (`outlay.tellings`).
--
-- wanted: [{ key, likeness, scope, from, until, last_start, first_end, most }], microseconds: of the alike tellings of a key from the
--   first start to the last end, with the last start and the first end; `scope` is null where several programs tell them; at `most` so
--   many are returned for each. A version before has no `key` (then any of key_ids), `last_start`, `first_end` and `most`
-- marks: of hours, see `private.counted_sums`
-- returns: { calls: rows of call_tellings, messages: rows of messages, sums: rows of counted_sums }
create or replace function private.load_tellings(key_ids uuid[], workspaces uuid[], wanted jsonb, marks text[])
returns jsonb
language plpgsql stable security definer set search_path = '' set timezone = 'UTC' set plan_cache_mode = force_generic_plan
as $$
declare
  calls jsonb;
  told uuid[];
  first_us bigint;
  last_us bigint;
  stored jsonb;
  sums jsonb;
begin
  -- Only those of another program, with what else was told of the same calls. An earlier telling ends at most ten minutes later.
  -- Of many, those that begin or end beside a wanted one come first.
  select jsonb_agg(to_jsonb(candidate) - 'is_other' - 'told_at'), array_agg(distinct candidate.message_id), min(candidate.ended_us), max(candidate.ended_us)
  into calls, told, first_us, last_us
  from (
    select near.*, bool_or(w.scope is null or near.scope <> w.scope) over (partition by near.message_id) as is_other
    from jsonb_to_recordset(wanted) as w (
      key uuid, likeness bigint, scope bigint, "from" bigint, until bigint, last_start bigint, first_end bigint, most integer
    )
    cross join lateral (
      select * from private.call_tellings as t
      where t.api_key_id = any (case when w.key is null then key_ids else array[w.key] end) and t.likeness = w.likeness
        and t.ended_us between w."from" - 1000000 and w.until + 600000000 and t.started_us <= w.until + 1000000
      order by t.ended_us not between w.first_end - 1000000 and w.until + 1000000
        and t.started_us not between w."from" - 1000000 and w.last_start + 1000000
      limit coalesce(w.most, 500)
    ) as near
  ) as candidate
  where candidate.is_other;

  if calls is not null then
    select jsonb_agg(to_jsonb(m) || jsonb_build_object(
      'quantity', m.quantity::text, 'amount_usd', m.amount_usd::text, 'given_cost_usd', m.given_cost_usd::text,
      'list_price_usd', m.list_price_usd::text
    ) order by m.id, m.part) into stored
    from public.messages as m
    where m.workspace_id = any (workspaces) and m.id = any (told)
      and m.occurred_at between to_timestamp(first_us / 1000000.0) - interval '1 day' and to_timestamp(last_us / 1000000.0) + interval '1 day';
    -- Calls of a closed month are booked when they were recorded.
    if exists (select from public.workspaces as w where w.id = any (workspaces) and w.closed_until > to_timestamp(first_us / 1000000.0) - interval '1 day') then
      select coalesce(stored, '[]') || coalesce(jsonb_agg(to_jsonb(m) || jsonb_build_object(
        'quantity', m.quantity::text, 'amount_usd', m.amount_usd::text, 'given_cost_usd', m.given_cost_usd::text,
        'list_price_usd', m.list_price_usd::text
      ) order by m.id, m.part), '[]') into stored
      from public.messages as m
      where m.workspace_id = any (workspaces) and m.id = any (told)
        and m.adjusts between to_timestamp(first_us / 1000000.0) - interval '1 day' and to_timestamp(last_us / 1000000.0) + interval '1 day';
    end if;
  end if;

  if cardinality(marks) > 0 then
    select jsonb_agg(jsonb_build_object('mark', s.mark, 'message_id', s.message_id, 'environment', s.environment)) into sums
    from private.counted_sums as s
    where s.workspace_id = any (workspaces) and s.mark = any (marks);
  end if;
  return jsonb_build_object('calls', coalesce(calls, '[]'), 'messages', coalesce(stored, '[]'), 'sums', coalesce(sums, '[]'));
end
$$;

-- Blocking budgets are loaded together with the keys of a group: no further round trip.
-- The state of the keys of a group of requests that the guard needs, at one point in time.
--
-- requested: { hashes: [hex], tokens: [hex], ids: [uuid], projects: [{ slug }], idempotency: [{ key }] }; hashes (of secrets),
--   tokens (hashes of access tokens) and ids are how the requests name their keys. Besides, of what emitters tell: tellers:
--   [lookup], the keys that they tell with; tellings and marks, see `private.load_tellings`.
-- returns: { now: ms, keys: [...], projects: [{ workspace_id, slug, id }], idempotency: [{ workspace_id, key, request, response }], tellings }
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
    'closed_until', w.closed_until,
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
    'keys', keys, 'projects', projects, 'idempotency', replays, 'budgets', budgets, 'tellings', tellings
  );
end
$$;

-- What projects have spent in ranges of days, for allocations: no allocation may move more than its source has spent in
-- that month. So the caller locks the source, environment and month until its transaction ends, and the next caller sees
-- what it moved. The locks are taken in one order, after the keys' locks and before any row is written.
--
-- What is booked as an adjustment of a closed month counts for the days that it adjusts, as an allocation of these does.
--
-- In plpgsql and volatile: each statement has its own snapshot, and that of the second is taken under the locks.
--
-- wanted: [{ workspace_id, project_id, environment, from, until }] → [{ …, amount_usd }]
create or replace function private.load_project_spend(wanted jsonb)
returns jsonb
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
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
    'amount_usd', (coalesce((
      select sum(d.amount_usd) from public.daily_spend as d
      where d.workspace_id = w.workspace_id and d.project_id = w.project_id and d.environment = w.environment
        and d.day >= w.from and d.day < w.until
    ), 0) + coalesce((
      select sum(m.amount_usd * ((m.adjusts >= w.from and m.adjusts < w.until)::int - (m.occurred_at >= w.from and m.occurred_at < w.until)::int))
      from public.messages as m
      where m.workspace_id = w.workspace_id and m.project_id = w.project_id and m.environment = w.environment
        and m.adjusts is not null
    ), 0))::text
  )), '[]') into spend
  from (
    select distinct * from jsonb_to_recordset(wanted)
      as w (workspace_id uuid, project_id uuid, environment text, "from" date, until date)
  ) as w;
  return spend;
end
$$;

-- Adds to the daily sums: to the rollup, then to its totals, each in the order of its key. Everything that is recorded or
-- corrected uses this function, so that the two always agree. Days before yesterday may be folded: their changes are added to the
-- folded sums, too.
create or replace function private.add_daily_spend(changes public.daily_spend[])
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

-- The next postings that a correction may change, in the order of their messages, locked for the caller: as many as asked
-- for, and the rest of the last one's message, so that no message is corrected in two steps. What is booked in a closed month stays
-- as it is. What was voided does, too,
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
  job.from_at := greatest(job.from_at, private.closed_until(workspace));
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

-- The usage without a price, of all workspaces.
create or replace function private.unpriced_usage()
returns table (
  workspace_id uuid, provider text, model text, unit_type text, service_tier text, first_at timestamptz, last_at timestamptz
)
language sql stable security definer set search_path = ''
begin atomic
  select m.workspace_id, lower(m.provider), m.model, m.unit_type, m.details ->> 'service_tier', min(m.occurred_at), max(m.occurred_at)
  from public.messages as m
  join public.workspaces as w on w.id = m.workspace_id and w.deleted_at is null
  where (m.cost_status = 'unpriced' or (m.cost_status = 'included' and m.list_price_usd is null))
    and m.type in ('usage', 'batch') and m.provider is not null and m.voids is null and m.voided_by is null
    and m.occurred_at >= coalesce(w.closed_until, '-infinity'::date)
  group by 1, 2, 3, 4, 5
  limit 50000;
end;

-- Posts voids, those of what is booked in a closed month as adjustments of it. Raises an error of class P0 where there is nothing to void.
create or replace function private.post_voids()
returns trigger
language plpgsql security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  wrong record;
begin
  perform private.hold_budgets(array(select distinct workspace_id from added order by 1));
  perform 1 from public.messages as m join added as a on a.workspace_id = m.workspace_id and a.message_id = m.id
  order by m.workspace_id, m.id, m.part for update of m;
  select a.message_id, found_now.stored, found_now.is_void into wrong
  from added as a
  cross join lateral (
    select count(*) as stored, bool_or(m.voids is not null) as is_void,
      case when bool_or(m.type = 'subscription' and m.details ->> 'interval' = 'year') then 12 else max(m.part) + 1 end as wanted
    from public.messages as m where m.workspace_id = a.workspace_id and m.id = a.message_id
  ) as found_now
  where found_now.stored = 0 or found_now.is_void or found_now.stored <> found_now.wanted
  limit 1;
  if wrong.stored = 0 then
    raise exception 'there is no message %', wrong.message_id using errcode = 'no_data_found';
  elsif wrong.is_void then
    raise exception 'a void cannot be voided' using errcode = 'raise_exception';
  elsif wrong.stored > 0 then
    raise exception 'entries of the message were removed' using errcode = 'raise_exception';
  end if;

  update public.messages as m set voided_by = a.void_id from added as a
  where m.workspace_id = a.workspace_id and m.id = a.message_id;
  insert into public.messages
  select booked.*
  from added as a
  join public.messages as m on m.workspace_id = a.workspace_id and m.id = a.message_id
  cross join lateral private.book_open(jsonb_populate_record(m, jsonb_build_object(
    'id', a.void_id, 'voids', m.id, 'voided_by', null, 'created_at', a.created_at,
    'counted_at', coalesce(m.counted_at, m.created_at), 'user_id', a.user_id, 'notes', a.reason,
    'quantity', -m.quantity, 'amount_usd', -m.amount_usd, 'lines_usd', -m.lines_usd, 'original_amount', -m.original_amount,
    'list_price_usd', -m.list_price_usd, 'given_cost_usd', -m.given_cost_usd
  )), private.closed_until(a.workspace_id)) as booked;
  perform private.count_messages(array_agg(workspace_id), array_agg(void_id)) from added having count(*) > 0;
  return null;
end
$$;

-- Records the replacements of messages that were voided in this transaction.
-- corrections: [{ workspace_id, message_id, postings: rows of `messages` }]
create or replace function private.record_corrections(corrections jsonb)
returns void
language plpgsql security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  voided integer;
begin
  update public.message_voids as v set corrected_by = (c.postings -> 0 ->> 'id')::uuid
  from jsonb_to_recordset(corrections) as c (workspace_id uuid, message_id uuid, postings jsonb)
  where v.workspace_id = c.workspace_id and v.message_id = c.message_id and v.corrected_by is null
    and v.xmin::text = pg_current_xact_id_if_assigned()::xid::text;
  get diagnostics voided = row_count;
  if voided <> jsonb_array_length(corrections) then
    raise exception 'the message was not voided in this transaction' using errcode = 'raise_exception';
  end if;
  insert into public.messages
  select booked.*
  from jsonb_to_recordset(corrections) as c (workspace_id uuid, message_id uuid, postings jsonb)
  cross join lateral (
    select m.api_key_id, m.environment, m.source, m.emitter, m.counted_at, m.created_at from public.messages as m
    where m.workspace_id = c.workspace_id and m.id = c.message_id
    order by m.part limit 1
  ) as original
  cross join lateral jsonb_array_elements(c.postings) as posting
  cross join lateral private.book_open(jsonb_populate_record(null::public.messages, '{"part": 0}' || posting || jsonb_build_object(
    'workspace_id', c.workspace_id, 'api_key_id', original.api_key_id, 'environment', original.environment,
    'source', original.source, 'emitter', coalesce(posting ->> 'emitter', original.emitter), 'user_id', auth.uid(),
    'counted_at', coalesce(original.counted_at, original.created_at)
  )), private.closed_until(c.workspace_id)) as booked;
  perform private.sum_lines(array_agg(c.workspace_id), array_agg((c.postings -> 0 ->> 'id')::uuid)),
    private.count_messages(array_agg(c.workspace_id), array_agg((c.postings -> 0 ->> 'id')::uuid))
  from jsonb_to_recordset(corrections) as c (workspace_id uuid, postings jsonb)
  having count(*) > 0;
end
$$;

-- Erases one account whose deletion can no longer be undone. It is one transaction: if it is interrupted, nothing has changed.
-- returns: null where none is due; else { user_id, identity: whether the identity could be deleted, too }
create or replace function private.erase_account_step()
returns jsonb
language plpgsql volatile security definer set search_path = ''
as $$
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
  update public.closed_months set closed_by_email = pseudonym where closed_by = gone.id;
  update public.closed_months set reopened_by_email = pseudonym where reopened_by = gone.id;
  delete from public.invitations where email = lower(gone.email);
  delete from public.deliveries where recipient = gone.email;
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
$$;
