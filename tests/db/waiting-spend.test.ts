import { randomUUID } from "node:crypto";
import pg from "pg";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { createMember } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// Spend that can reach no threshold waits, and is added to the sums of budgets together.

let database: TestDatabase;
let fixtures: Fixtures;
let service: pg.Client;
let workspace: string;
let project: string;

withDatabase((open) => {
  ({ database, fixtures, service } = open);
});

beforeAll(() => fixtures.sql.query("select private.ensure_messages_month(now())"));

beforeEach(async () => {
  workspace = await fixtures.workspace();
  project = await fixtures.project(workspace, "web");
});

/** Sets a budget of the whole workspace with thresholds at 50, 80 and 100%. @returns its id */
async function setBudget(columns: { amount?: number; blocks?: boolean; scope?: [string, string] } = {}) {
  const { amount = 100, blocks = false, scope = ["global", null] } = columns;
  const { rows } = await fixtures.sql.query(
    `insert into public.budgets (workspace_id, name, scope_type, scope_value, amount, blocks)
     values ($1, 'All', $2, $3, $4, $5) returning id`,
    [workspace, ...scope, amount, blocks],
  );
  return rows[0].id;
}

/** Records a message of this amount. @param more other columns of it */
async function spend(usd: string, more: object = {}, client: pg.Client = service): Promise<void> {
  const at = new Date().toISOString();
  const message = {
    workspace_id: workspace,
    id: randomUUID(),
    created_at: at,
    occurred_at: at,
    project_id: project,
    type: "usage",
    source: "api",
    environment: "live",
    amount_usd: usd,
    cost_status: "client",
    ...more,
  };
  await client.query("select private.store_messages('[]', $1, '[]')", [JSON.stringify([message])]);
}

/** What is counted in the sums, and what is spent in all, of a budget: USD. */
async function sumsOf(budget: string): Promise<{ counted: string | null; spent: string }> {
  const { rows } = await fixtures.sql.query(
    `select (select trim_scale(spent_usd)::text from public.budget_counts where budget_id = $1 and environment = 'live') as counted,
       (select trim_scale(spent_usd)::text from public.budget_status where id = $1 and environment = 'live') as spent`,
    [budget],
  );
  return rows[0];
}

async function levelsOf(budget: string): Promise<string[]> {
  const { rows } = await fixtures.sql.query(
    `select level || ' at ' || (details ->> 'spent_usd') || case when is_quiet then ', quiet' else '' end as fired
     from public.alerts where subject_id = $1 order by number`,
    [budget],
  );
  return rows.map(({ fired }) => fired);
}

test("Adds nothing to the sums while no threshold can be reached, and leaves nothing out of what is read", async () => {
  const budget = await setBudget();
  await spend("1");
  const { counted } = await sumsOf(budget);
  for (let each = 0; each < 10; each += 1) await spend("2.5", { feature: `f${each}` });
  expect(await sumsOf(budget)).toEqual({ counted, spent: "26" });
  expect(await levelsOf(budget)).toEqual([]);
});

test("The message that reaches a threshold raises its alert with all that waited", async () => {
  const budget = await setBudget();
  for (const usd of ["1", "20", "28.999999"]) await spend(usd);
  expect(await levelsOf(budget)).toEqual([]);
  await spend("0.000001");
  expect(await levelsOf(budget)).toEqual(["50 at 50"]);
  for (const usd of ["10", "19.99"]) await spend(usd);
  await spend("30");
  expect(await levelsOf(budget)).toEqual(["50 at 50", "80 at 109.99", "100 at 109.99"]);
  expect((await sumsOf(budget)).spent).toBe("109.99");
});

test("The smallest distance counts, whichever budget it is of, and what is lowered gives nothing back", async () => {
  const wide = await setBudget({ amount: 1000 });
  const narrow = await setBudget({ amount: 10, scope: ["model", "gpt-5"] });
  await spend("4", { model: "gpt-5" });
  await spend("30", { model: "gpt-4o" });
  await spend("-3", { model: "gpt-5", type: "expense" });
  await spend("3.99", { model: "gpt-5" });
  expect(await levelsOf(narrow)).toEqual([]);
  await spend("0.01", { model: "gpt-5" });
  expect(await levelsOf(narrow)).toEqual(["50 at 5"]);
  expect(await levelsOf(wide)).toEqual([]);
});

describe("What waits is counted once when a budget", () => {
  test("is made", async () => {
    const first = await setBudget();
    for (const usd of ["1", "2", "3"]) await spend(usd);
    const second = await setBudget({ amount: 12 });
    await spend("1");
    expect([await sumsOf(first), await sumsOf(second)].map(({ spent }) => spent)).toEqual(["7", "7"]);
    expect(await levelsOf(second)).toEqual(["50 at 6, quiet"]);
  });

  test("gets a lower limit or a new threshold, which is told at once", async () => {
    const budget = await setBudget();
    for (const usd of ["1", "20", "20"]) await spend(usd);
    await fixtures.sql.query("update public.budgets set amount = 60 where id = $1", [budget]);
    expect(await levelsOf(budget)).toEqual(["50 at 41"]);
    await fixtures.sql.query("update public.budgets set alert_amounts = '{42.5}' where id = $1", [budget]);
    await spend("1");
    expect(await levelsOf(budget)).toEqual(["50 at 41"]);
    await spend("0.5");
    expect(await levelsOf(budget)).toEqual(["50 at 41", "$42.5 at 42.5"]);
    expect(await sumsOf(budget)).toEqual({ counted: "42.5", spent: "42.5" });
  });

  test("begins to block, and from then on nothing waits", async () => {
    const budget = await setBudget();
    for (const usd of ["1", "20", "20"]) await spend(usd);
    await fixtures.sql.query("update public.budgets set blocks = true where id = $1", [budget]);
    expect(await sumsOf(budget)).toEqual({ counted: "41", spent: "41" });
    await spend("1");
    await spend("1");
    expect(await sumsOf(budget)).toEqual({ counted: "43", spent: "43" });
  });
});

test("Spend that two processes record at once raises an alert that neither reaches alone", async () => {
  const budget = await setBudget();
  await spend("1");
  const other = new pg.Client({ connectionString: database.url });
  await other.connect();
  try {
    await service.query("begin");
    await spend("30");
    const second = spend("30", {}, other);
    await fixtures.sql.query("select 1");
    await service.query("commit");
    await second;
  } finally {
    await other.end();
  }
  expect(await levelsOf(budget)).toEqual(["50 at 61"]);
});

test("A new budget waits for spend that is being counted, and counts it once", async () => {
  const first = await setBudget();
  await spend("1");
  const other = new pg.Client({ connectionString: database.adminUrl });
  await other.connect();
  try {
    await service.query("begin");
    await spend("30");
    const made = other.query(
      `insert into public.budgets (workspace_id, name, scope_type, amount) values ($1, 'New', 'global', 1000) returning id`,
      [workspace],
    );
    await service.query("commit");
    const { rows } = await made;
    expect((await sumsOf(rows[0].id)).spent).toBe("31");
  } finally {
    await other.end();
  }
  expect((await sumsOf(first)).spent).toBe("31");
});

test("A user cannot ask what waits, and reads it in sums of their own workspaces only", async () => {
  const budget = await setBudget();
  await spend("1");
  await spend("2");
  const { id: member } = await createMember(fixtures, workspace, "viewer");
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  const asUser = async (id: string, statement: string) => {
    await client.query("begin; set local role authenticated");
    try {
      const claims = JSON.stringify({ sub: id, role: "authenticated" });
      await client.query("select set_config('request.jwt.claims', $1, true)", [claims]);
      return (await client.query(statement)).rows;
    } finally {
      await client.query("rollback");
    }
  };
  const read = `select trim_scale(spent_usd)::text as spent from public.budget_spend where budget_id = '${budget}'`;
  try {
    expect(await asUser(member, read)).toEqual([{ spent: "3" }]);
    expect(await asUser(randomUUID(), read)).toEqual([]);
    await expect(asUser(member, `select * from private.waiting_of('${workspace}')`)).rejects.toThrow(
      "permission denied",
    );
    await expect(asUser(member, "select * from private.waiting_spend")).rejects.toThrow("permission denied");
  } finally {
    await client.end();
  }
});
