-- Closed months. Their figures stay as they were filed: what is recorded of them later is booked at the time of recording, as an
-- adjustment. So no sum, budget or list needs to know of them; what asks how much a day usually costs does (public.daily_adjustments).

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

-- A posting as it is booked while the days before `closed_until` are closed: one of a closed day of the time zone at the time of its
-- recording, as an adjustment. The same as `bookOpen` of the service.
create function private.book_open(posting public.messages, closed_until date, zone text)
returns public.messages
language plpgsql immutable set search_path = '' set timezone = 'UTC'
as $$
begin
  if private.local_time(posting.occurred_at, zone) < closed_until then
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

-- Closes a month of the workspace's time zone and the open ones before it, as an admin of the workspace: the user of the transaction's
-- claims. Groups of messages that are being recorded are counted before; later ones wait until this commits, and are booked after.
create function private.close_months(workspace uuid, through date)
returns void
language plpgsql volatile security definer set search_path = '' set timezone = 'UTC'
as $$
declare
  first_open date;
  zone text;
begin
  if workspace not in (select private.member_workspaces(array['owner', 'admin'])) then
    raise exception 'only an admin closes a month' using errcode = 'insufficient_privilege';
  end if;
  perform pg_advisory_xact_lock(hashtextextended('outlay.prices.' || workspace, 0));
  select w.closed_until, w.time_zone into first_open, zone from public.workspaces as w where w.id = workspace for no key update;
  if exists (select from public.time_zone_changes as c where c.workspace_id = workspace) then
    raise exception 'the days are being summed anew for another time zone' using errcode = 'lock_not_available';
  end if;
  if through <> date_trunc('month', through)::date or through < first_open
    or clock_timestamp() < (through + interval '1 month') at time zone zone + private.closing_delay()
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
      and private.is_on_days(m.occurred_at, zone, first_day::date, (first_day + interval '1 month')::date)
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
    select private.local_time(m.occurred_at, private.time_zone_of(workspace))::date, m.project_id, m.type, m.provider, m.model, m.feature, m.api_key_id, m.source, m.tags, 0,
      m.amount_usd, 0, 0, 0, 0
    from public.messages as m
    where m.workspace_id = workspace and m.environment = 'live' and m.adjusts is not null
      and private.is_on_days(m.occurred_at, private.time_zone_of(workspace), of_month, (of_month + interval '1 month')::date)
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
