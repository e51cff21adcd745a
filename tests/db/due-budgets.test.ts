import { randomUUID } from "node:crypto";
import pg from "pg";
import { beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { withDatabase } from "@/tests/helpers/with-database";

// Thresholds that time or another limit makes due. Time passes by moving what it is compared with, without the triggers of a change.

let database: TestDatabase;
let fixtures: Fixtures;
let service: pg.Client;
let workspace: string;
let budget: string;

withDatabase((open) => {
  ({ database, fixtures, service } = open);
});

beforeAll(() => fixtures.sql.query("select private.ensure_messages_month(now())"));

beforeEach(async () => {
  workspace = await fixtures.workspace();
  const { rows } = await fixtures.sql.query(
    `insert into public.budgets (workspace_id, name, scope_type, amount, raised_amount, raised_until)
     values ($1, 'All', 'global', 100, 1000, '2999-01-01') returning id`,
    [workspace],
  );
  budget = rows[0].id;
});

const spent = async () =>
  Number(
    (await fixtures.sql.query("select spent_usd from public.budget_spend where budget_id = $1", [budget]))
      .rows[0]?.spent_usd ?? 0,
  );

const spend = async (usd: string, client = service, project?: string) =>
  client.query("select private.store_messages('[]', $1, '[]')", [
    JSON.stringify([
      {
        workspace_id: workspace,
        id: randomUUID(),
        created_at: new Date().toISOString(),
        occurred_at: new Date().toISOString(),
        project_id: project ?? (await fixtures.project(workspace, `p-${randomUUID()}`)),
        type: "usage",
        source: "api",
        environment: "live",
        amount_usd: usd,
        cost_status: "client",
      },
    ]),
  ]);

/** Changes a column as the passing of time would: no trigger notices. */
async function letTimePass(change: string): Promise<void> {
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  try {
    await client.query("begin; alter table public.budgets disable trigger user");
    await client.query(change, [budget]);
    // What was measured before holds until a raise ends.
    await client.query("update private.budget_meters set valid_until = now()");
    await client.query("alter table public.budgets enable trigger user; commit");
  } finally {
    await client.end();
  }
}

const endRaise = () => letTimePass("update public.budgets set raised_until = current_date - 2 where id = $1");

const watch = async (client = service): Promise<number> =>
  (await client.query("select private.alert_on_due_budgets() as raised")).rows[0].raised;

const levels = async () =>
  (
    await fixtures.sql.query(
      "select level || case when is_quiet then ' quiet' else '' end as level from public.alerts where subject_id = $1 order by number",
      [budget],
    )
  ).rows.map(({ level }) => level);

test("A raise that ends fires the thresholds that are reached without it, once", async () => {
  await spend("90");
  expect([await watch(), await levels()]).toEqual([0, []]);
  await endRaise();
  expect([await watch(), await levels()]).toEqual([2, ["50", "80"]]);
  expect([await watch(), await levels()]).toEqual([0, ["50", "80"]]);
  await spend("10");
  expect([await watch(), await levels()]).toEqual([0, ["50", "80", "100"]]);
});

test("Two watchers at once record each threshold once", async () => {
  await spend("90");
  await endRaise();
  const clients = Array.from({ length: 4 }, () => new pg.Client({ connectionString: database.url }));
  await Promise.all(clients.map((client) => client.connect()));
  await Promise.all(clients.map((client) => watch(client)));
  await Promise.all(clients.map((client) => client.end()));
  expect(await levels()).toEqual(["50", "80"]);
});

test("A period that begins with spend booked ahead fires its thresholds, once", async () => {
  // What is booked for the present month became present: it was counted while the period lay ahead.
  await letTimePass(
    `insert into public.budget_counts (workspace_id, budget_id, environment, period_from, spent_usd, booked_usd)
     select workspace_id, id, 'live', private.budget_period(budgets, now()), 1000, 1000 from public.budgets where id = $1`,
  );
  expect([await watch(), await levels()]).toEqual([3, ["50", "80", "100"]]);
  expect(await watch()).toBe(0);
});

test("Watching writes nothing where nothing is due", async () => {
  await spend("600");
  await watch();
  const version = "select xmin::text, ctid::text from public.budget_counts where budget_id = $1";
  const { rows: before } = await fixtures.sql.query(version, [budget]);
  await watch();
  await watch();
  expect((await fixtures.sql.query(version, [budget])).rows).toEqual(before);
});

const setLimit = (amount: number, more: Record<string, unknown> = {}) =>
  fixtures.sql.query(
    `update public.budgets set ${["amount", ...Object.keys(more)].map((name, at) => `${name} = $${at + 2}`)} where id = $1`,
    [budget, amount, ...Object.values(more)],
  );
/** The raise is over: the limit is what is given. */
const limitOf = (amount: number) => setLimit(amount, { raised_amount: null, raised_until: null });

describe("After a limit has changed", () => {
  test("What lies above the spend fires again, what fired stays, and each level fires once for a limit", async () => {
    await limitOf(100);
    await spend("105");
    expect(await levels()).toEqual(["50", "80", "100"]);
    await limitOf(200);
    await spend("54");
    expect(await levels()).toEqual(["50", "80", "100"]);
    await spend("1");
    await spend("100");
    expect(await levels()).toEqual(["50", "80", "100", "80", "100"]);
    // The first limit again: it was told of.
    await limitOf(1000);
    await limitOf(100);
    expect(await levels()).toEqual(["50", "80", "100", "80", "100"]);
    expect(await watch()).toBe(0);
  });

  test("A lower limit tells of what is reached now, once, and not of what fired", async () => {
    await limitOf(100);
    await spend("85");
    await limitOf(84);
    expect(await levels()).toEqual(["50", "80", "100"]);
    await spend("50");
    expect([await watch(), await levels()]).toEqual([0, ["50", "80", "100"]]);
  });

  test("Thresholds that are set anew belong to the limit, and thresholds in USD to none", async () => {
    await setLimit(100, {
      raised_amount: null,
      raised_until: null,
      alert_percents: [80],
      alert_amounts: [40],
    });
    await spend("81");
    await setLimit(100, { alert_percents: [] });
    await setLimit(100, { alert_percents: [80] });
    expect(await levels()).toEqual(["$40", "80"]);
    await setLimit(200, { alert_percents: [50] });
    await setLimit(200, { alert_percents: [50, 80] });
    await spend("80");
    expect(await levels()).toEqual(["$40", "80", "50", "80"]);
  });

  test("A raise that ends arms what a correction took from under it", async () => {
    await spend("850");
    expect(await levels()).toEqual(["50", "80"]);
    await spend("-780");
    await endRaise();
    expect([await watch(), await levels()]).toEqual([0, ["50", "80"]]);
    await spend("15");
    expect(await levels()).toEqual(["50", "80", "80"]);
  });

  test("Another exchange rate is no other limit", async () => {
    await limitOf(100);
    await spend("100.5");
    await fixtures.sql.query(
      "update public.budgets set currency = 'EUR', usd_rate = 1.01, rated_from = current_date where id = $1",
      [budget],
    );
    await spend("10");
    expect(await levels()).toEqual(["50", "80", "100"]);
  });

  test("Costs and raises at the same time tell each level of each limit once", async () => {
    await limitOf(10);
    const limits = [20, 40, 80];
    const clients = Array.from({ length: 3 }, () => new pg.Client({ connectionString: database.url }));
    await Promise.all(clients.map((client) => client.connect()));
    const project = await fixtures.project(workspace, `p-${randomUUID()}`);
    const costs = clients.map(async (client) => {
      for (let at = 0; at < 40; at += 1) await spend("1", client, project);
    });
    const raises = (async () => {
      for (const amount of limits) {
        await vi.waitUntil(async () => (await spent()) >= amount * 0.6, { interval: 5, timeout: 30_000 });
        await limitOf(amount);
      }
    })();
    const watching = (async () => {
      for (let at = 0; at < 20; at += 1) await watch();
    })();
    await Promise.all([...costs, raises, watching]);
    await Promise.all(clients.map((client) => client.end()));
    const { rows } = await fixtures.sql.query(
      `select level || ' of ' || (details ->> 'amount_usd') as alert from public.alerts where subject_id = $1`,
      [budget],
    );
    const alerts = rows.map(({ alert }) => alert);
    expect(new Set(alerts).size).toBe(alerts.length);
    // The last limit is exceeded, and no threshold above what was spent when it was set stayed silent.
    expect(alerts).toEqual(expect.arrayContaining(["80 of 80", "100 of 80"]));
  });
});
