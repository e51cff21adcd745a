import { randomUUID } from "node:crypto";
import pg from "pg";
import { beforeAll, beforeEach, expect, test } from "vitest";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { withDatabase } from "@/tests/helpers/with-database";

// Thresholds that time alone makes due. Time passes by moving what it is compared with, without the triggers of a change.

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

const spend = async (usd: string) =>
  service.query("select private.store_messages('[]', $1, '[]')", [
    JSON.stringify([
      {
        workspace_id: workspace,
        id: randomUUID(),
        created_at: new Date().toISOString(),
        occurred_at: new Date().toISOString(),
        project_id: await fixtures.project(workspace, `p-${randomUUID()}`),
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
