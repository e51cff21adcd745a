import { afterAll, beforeAll } from "vitest";
import { createTestDatabase, type TestDatabase } from "./database";
import { Fixtures } from "./keys";
import { type Service, startService } from "./service";

/** What most API tests stand on: a database of their own, and services on it that are stopped in the end. */
export type Harness = {
  database: TestDatabase;
  fixtures: Fixtures;
  services: Service[];
  start(settings?: Record<string, string>): Promise<Service>;
};

/** Sets a harness up before the tests of this file (or block) and takes it down after them. */
export function withHarness({
  services = 1,
  settings = {},
}: {
  services?: number;
  settings?: Record<string, string>;
} = {}): Harness {
  const harness = { services: [] as Service[] } as Harness;
  harness.start = async (extra = {}) => {
    const service = await startService(harness.database, { ...settings, ...extra });
    harness.services.push(service);
    return service;
  };
  beforeAll(async () => {
    harness.database = await createTestDatabase();
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

/** Every derived figure that differs from the sum of the messages it stands for; none, if the ledger is right. */
export async function ledgerDifferences(fixtures: Fixtures): Promise<unknown[]> {
  const { rows } = await fixtures.sql.query(`
    select 'daily' as what, day::text as at, stored, actual from (
      select coalesce(d.day, m.day) as day, coalesce(d.amount, 0) as stored, coalesce(m.amount, 0) as actual,
        coalesce(d.messages, 0) as stored_count, coalesce(m.messages, 0) as actual_count
      from (
        select workspace_id, project_id, api_key_id, type, model, feature, day, sum(amount_usd) as amount, sum(message_count) as messages
        from public.daily_spend group by 1, 2, 3, 4, 5, 6, 7
      ) as d
      full join (
        select workspace_id, project_id, api_key_id, type, model, feature, (occurred_at at time zone 'UTC')::date as day,
          sum(amount_usd) as amount, count(*) filter (where part = 0) as messages
        from public.messages where items is null group by 1, 2, 3, 4, 5, 6, 7
      ) as m
      on (d.workspace_id, d.project_id, d.type, d.day) = (m.workspace_id, m.project_id, m.type, m.day)
        and d.api_key_id is not distinct from m.api_key_id
        and d.model is not distinct from m.model and d.feature is not distinct from m.feature
    ) as daily
    where stored <> actual or stored_count <> actual_count
    union all
    select 'key', coalesce(k.api_key_id, m.api_key_id)::text, coalesce(k.amount_usd, 0), coalesce(m.amount, 0)
    from public.key_spend as k
    full join (
      select api_key_id, date_trunc('month', created_at at time zone 'UTC')::date as month, sum(amount_usd) as amount
      from public.messages where api_key_id is not null group by 1, 2
    ) as m on (k.api_key_id, k.month) = (m.api_key_id, m.month)
    where coalesce(k.amount_usd, 0) <> coalesce(m.amount, 0)`);
  return rows;
}
