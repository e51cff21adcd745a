import { afterAll, beforeAll } from "vitest";
import { hashQuickly } from "./cluster";
import { createTestDatabase, type TestDatabase } from "./database";
import { Fixtures } from "./keys";
import { type Service, startService } from "./service";

/** What most API tests need: a database, and services on it. */
export type Harness = {
  database: TestDatabase;
  fixtures: Fixtures;
  services: Service[];
};

/** A harness of one file, which can start further services. They are stopped at its end. */
export type OwnHarness = Harness & { start(settings?: Record<string, string>): Promise<Service> };

/**
 * Sets a harness up before the tests of this file (or block) and takes it down after them. Files that need neither settings nor
 * a database of their own share one: `withSharedHarness()`.
 */
export function withHarness({
  services = 1,
  settings = {},
}: {
  services?: number;
  settings?: Record<string, string>;
} = {}): OwnHarness {
  const harness = { services: [] as Service[] } as OwnHarness;
  harness.start = async (extra = {}) => {
    const service = await startService(harness.database, { ...settings, ...extra });
    harness.services.push(service);
    return service;
  };
  beforeAll(async () => {
    harness.database = await createTestDatabase();
    await hashQuickly(harness.database);
    harness.fixtures = new Fixtures(harness.database.adminUrl);
    await Promise.all(Array.from({ length: services }, () => harness.start()));
  });
  afterAll(async () => {
    await Promise.all(harness.services.map((service) => service.stop()));
    await harness.fixtures?.close();
    await harness.database?.drop();
  });
  return harness;
}

/**
 * Every derived figure that differs from the sum of its messages. Empty if the ledger is right.
 * @param workspace only the workspace with this id; without it, those that the fixtures made, or all where no other file uses the database
 */
export async function ledgerDifferences(fixtures: Fixtures, workspace?: string): Promise<unknown[]> {
  const workspaces = workspace ? [workspace] : fixtures.isShared ? fixtures.workspaces : null;
  if (workspaces?.length === 0)
    throw new Error("The fixtures made no workspace, so nothing would be compared.");
  const { rows } = await fixtures.sql.query(
    `
    with messages as (
      select m.*, case when voids is null then 1 else -1 end as sign,
        -- A day of the workspace's time zone; exactly midnight UTC is of that day in every zone.
        (case when (occurred_at at time zone 'UTC')::time = '00:00' then occurred_at at time zone 'UTC'
          else occurred_at at time zone (select w.time_zone from public.workspaces as w where w.id = m.workspace_id) end)::date as day
      from public.messages as m where $1::uuid[] is null or workspace_id = any($1)
    ), entries as (
      select workspace_id, day, project_id, api_key_id, type, provider,
        model, feature, source, environment, end_user, tags, amount_usd, (part = 0)::int * sign as messages, sign as items,
        (cost_status = 'unpriced')::int * sign as unpriced, coalesce(list_price_usd, 0) as included
      from messages
    ), dimensions as (
      select 'daily_spend' as what, to_jsonb(d) - '{amount_usd,message_count,item_count,unpriced_count,included_usd}'::text[] as of,
        amount_usd, message_count, item_count, unpriced_count, included_usd, 1 as side
      from public.daily_spend as d
      where $1::uuid[] is null or workspace_id = any($1)
      union all
      select 'daily_spend', to_jsonb(e) - '{amount_usd,messages,items,unpriced,included}'::text[], amount_usd, messages, items, unpriced, included, -1
      from entries as e
      union all
      select 'daily_totals', to_jsonb(t) - '{amount_usd,message_count,unpriced_count,included_usd}'::text[],
        amount_usd, message_count, 0, unpriced_count, included_usd, 1
      from public.daily_totals as t
      where $1::uuid[] is null or workspace_id = any($1)
      union all
      select 'daily_totals',
        jsonb_build_object(
          'workspace_id', workspace_id, 'day', day, 'type', type, 'environment', environment,
          'dimension', dimension, 'value', value
        ),
        amount_usd, messages, 0, unpriced, included, -1
      from entries, lateral (
        values ('project', project_id::text), ('key', api_key_id::text), ('provider', provider), ('model', model), ('feature', feature)
        union all select 'user', end_user where end_user is not null
        union all select 'tag', tag from unnest(tags) as tag
      ) as slices (dimension, value)
      union all
      select 'monthly_spend', to_jsonb(m) - '{amount_usd,message_count,item_count,unpriced_count,included_usd}'::text[],
        amount_usd, message_count, item_count, unpriced_count, included_usd, 1
      from public.monthly_spend as m
      where $1::uuid[] is null or workspace_id = any($1)
      union all
      select 'monthly_spend',
        to_jsonb(e) - '{day,amount_usd,messages,items,unpriced,included}'::text[]
          || jsonb_build_object('month', date_trunc('month', day)::date),
        amount_usd, messages, items, unpriced, included, -1
      from entries as e join public.spend_folds as f using (workspace_id)
      where day < folded_until
      union all
      select 'monthly_totals', to_jsonb(t) - '{amount_usd,message_count,unpriced_count,included_usd}'::text[],
        amount_usd, message_count, 0, unpriced_count, included_usd, 1
      from public.monthly_totals as t
      where $1::uuid[] is null or workspace_id = any($1)
      union all
      select 'monthly_totals',
        jsonb_build_object(
          'workspace_id', workspace_id, 'type', type, 'environment', environment, 'dimension', dimension, 'value', value,
          'first_day', date_trunc('month', day)::date
        ),
        amount_usd, messages, 0, unpriced, included, -1
      from entries join public.spend_folds as f using (workspace_id), lateral (
        values ('project', project_id::text), ('key', api_key_id::text), ('provider', provider), ('model', model), ('feature', feature)
        union all select 'user', end_user where end_user is not null
        union all select 'tag', tag from unnest(tags) as tag
      ) as slices (dimension, value)
      where day < folded_until
      union all
      select 'key_spend', jsonb_build_object('key', api_key_id, 'month', month), amount_usd, message_count, 0, 0, 0, 1
      from public.key_spend
      where $1::uuid[] is null or workspace_id = any($1)
      union all
      select 'key_spend', jsonb_build_object('key', api_key_id, 'month', date_trunc('month', coalesce(counted_at, created_at) at time zone 'UTC')::date),
        amount_usd, (part = 0)::int * sign, 0, 0, 0, -1
      from messages where api_key_id is not null
      union all
      select 'void', jsonb_build_object('message', coalesce(voids, id), 'part', part), amount_usd, sign * (part = 0)::int,
        sign, (cost_status = 'unpriced')::int * sign, coalesce(list_price_usd, 0), 1
      from messages where voids is not null or voided_by is not null
      union all
      select 'lines', jsonb_build_object('message', id), 0, 0, part + 1, 0, 0, 1
      from (select id, max(part) as part from messages where type = 'batch' group by id) as batches
      union all
      select 'lines', jsonb_build_object('message', id), 0, 0, 1, 0, 0, -1 from messages where type = 'batch'
    )
    select what, of, sum(side * amount_usd)::text as amount, sum(side * message_count) as messages,
      sum(side * item_count) as items, sum(side * unpriced_count) as unpriced,
      sum(side * included_usd)::text as included
    from dimensions
    group by what, of
    having sum(side * amount_usd) <> 0 or sum(side * message_count) <> 0
      or sum(side * item_count) <> 0 or sum(side * unpriced_count) <> 0
      or sum(side * included_usd) <> 0`,
    [workspaces],
  );
  return rows;
}
