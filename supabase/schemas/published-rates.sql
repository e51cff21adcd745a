-- Rates and prices that the running service fetches.

-- What was published for a day. `content`, of rates: currency → USD for one unit, as text; of prices: the providers of the
-- catalogue. `held`: what differs too much from what was known before, by currency or by provider/model; it is not used until the
-- operator accepts it. `revision` grows with every change, so that a process reads only what it does not have.
create table private.published_data (
  kind text not null,
  source text not null,
  day date not null,
  content jsonb not null,
  held jsonb not null default '{}',
  revision bigint not null,
  fetched_at timestamptz not null default now(),
  constraint published_data_pkey primary key (kind, source, day),
  constraint published_data_kind_check check (kind in ('rates', 'prices'))
);

create index published_data_revision_idx on private.published_data (revision);

alter table private.published_data enable row level security;
revoke all on private.published_data from anon, authenticated, service_role;

-- When rates and prices were last fetched, since when fetching fails and why, and the revision of prices with which unpriced
-- usage was last priced.
create table private.feeds (
  kind text not null,
  tried_at timestamptz not null,
  failed_since timestamptz,
  failure text,
  priced_revision bigint not null default 0,
  constraint feeds_pkey primary key (kind),
  constraint feeds_kind_check check (kind in ('rates', 'prices'))
);

alter table private.feeds enable row level security;
revoke all on private.feeds from anon, authenticated, service_role;

-- Whether the caller should fetch now, because no process has tried for this long.
create function private.claim_feed(of_kind text, pause interval)
returns boolean
language sql security definer set search_path = ''
as $$
  with claimed as (
    insert into private.feeds as f (kind, tried_at) values (of_kind, clock_timestamp())
    on conflict (kind) do update set tried_at = excluded.tried_at where f.tried_at <= clock_timestamp() - pause
    returning kind
  )
  select exists (select from claimed)
$$;
grant execute on function private.claim_feed(text, interval) to outlay_service, service_role;

-- Records why a feed failed; null means that it did not. Returns whether it is the first failure, or the first success after
-- one.
create function private.note_feed(of_kind text, why text)
returns boolean
language plpgsql security definer set search_path = ''
as $$
declare
  had_failed boolean;
begin
  select failure is not null into had_failed from private.feeds where kind = of_kind for update;
  update private.feeds
  set failure = why, failed_since = case when why is not null then coalesce(failed_since, clock_timestamp()) end
  where kind = of_kind;
  return had_failed is distinct from (why is not null);
end
$$;
grant execute on function private.note_feed(text, text) to outlay_service, service_role;

-- Stores what was published: [{ day, content, held }]. Unchanged rates and prices keep their revision, and unchanged prices
-- their day. Of the prices of a source, the latest ten days are kept. Returns how many days are new or changed.
create function private.store_published(of_kind text, of_source text, days jsonb)
returns integer
language plpgsql security definer set search_path = ''
as $$
declare
  next_revision bigint;
  changed integer;
begin
  -- One at a time, so that a reader of a revision has all earlier ones.
  perform pg_advisory_xact_lock(hashtextextended('outlay.published', 0));
  select coalesce(max(revision), 0) + 1 into next_revision from private.published_data;
  insert into private.published_data as p (kind, source, day, content, held, revision)
  select of_kind, of_source, d.day, d.content, d.held, next_revision
  from jsonb_to_recordset(days) as d (day date, content jsonb, held jsonb)
  where of_kind = 'rates' or not exists (
    select from (
      select content, held from private.published_data where kind = of_kind and source = of_source order by day desc limit 1
    ) as latest
    where latest.content = d.content and latest.held = d.held
  )
  on conflict (kind, source, day) do update
  set content = excluded.content, held = excluded.held, revision = excluded.revision, fetched_at = excluded.fetched_at
  where p.content <> excluded.content or p.held <> excluded.held;
  get diagnostics changed = row_count;
  delete from private.published_data
  where of_kind = 'prices' and kind = of_kind and source = of_source and day < (
    select min(kept.day) from (
      select day from private.published_data where kind = of_kind and source = of_source order by day desc limit 10
    ) as kept
  );
  return changed;
end
$$;
grant execute on function private.store_published(text, text, jsonb) to outlay_service, service_role;

-- Returns what was published after a revision: the rates, and the latest prices of a catalogue if they are newer; null if
-- nothing was.
create function private.load_published(after bigint, catalogue text)
returns jsonb
language sql stable security definer set search_path = ''
as $$
  select jsonb_build_object(
    'revision', latest.revision,
    'rates', (
      select coalesce(jsonb_agg(jsonb_build_object('source', source, 'day', day, 'rates', content, 'held', held) order by day), '[]')
      from private.published_data where kind = 'rates' and revision > after
    ),
    'prices', (
      select case when revision > after then jsonb_build_object('day', day, 'providers', content, 'held', held) end
      from private.published_data where kind = 'prices' and source = catalogue order by day desc limit 1
    )
  )
  from (select max(revision) as revision from private.published_data) as latest
  where latest.revision > after
$$;
grant execute on function private.load_published(bigint, text) to outlay_service, service_role;

-- The revision of the latest prices of a catalogue, if unpriced usage should be priced again. That is some time after they
-- arrived, when all processes use them.
create function private.pricing_due(catalogue text, known_for interval)
returns bigint
language sql stable security definer set search_path = ''
as $$
  select p.revision
  from private.feeds as f, lateral (
    select revision, fetched_at from private.published_data where kind = 'prices' and source = catalogue order by day desc limit 1
  ) as p
  where f.kind = 'prices' and p.revision > f.priced_revision and p.fetched_at <= now() - known_for
$$;
grant execute on function private.pricing_due(text, interval) to outlay_service, service_role;

-- Requests corrections of unpriced usage, [{ workspace_id, provider, from_at }], once for a revision of prices.
create function private.request_pricing(at_revision bigint, requests jsonb)
returns void
language sql security definer set search_path = ''
as $$
  with noted as (
    update private.feeds set priced_revision = at_revision
    where kind = 'prices' and priced_revision < at_revision
    returning kind
  )
  insert into public.repricings (workspace_id, provider, from_at)
  select r.workspace_id, r.provider, r.from_at
  from noted, jsonb_to_recordset(requests) as r (workspace_id uuid, provider text, from_at timestamptz)
  where exists (select from public.workspaces as w where w.id = r.workspace_id)
$$;
grant execute on function private.request_pricing(bigint, jsonb) to outlay_service, service_role;
