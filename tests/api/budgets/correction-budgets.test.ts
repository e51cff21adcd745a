import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { apiClient } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { expense } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

// Voids and corrections are held to budgets that block, as messages are.

const harness = withSharedHarness({ services: 2 });
type Client = ReturnType<typeof apiClient>;

let team: Team;
let keyId: string;
let key: Client;
/** The same key, at another process. */
let other: Client;

const sql = (text: string, values: unknown[]) => harness.fixtures.sql.query(text, values);

beforeAll(async () => {
  team = await makeTeam(harness);
  const { id, secret } = await harness.fixtures.key(team.workspace);
  keyId = id;
  [key, other] = harness.services.map(({ baseUrl }) => apiClient(baseUrl, secret)) as [Client, Client];
});

beforeEach(async () => {
  await sql("delete from public.budgets where workspace_id = $1", [team.workspace]);
});

const record = async (message: object, project: string) =>
  String((await key.post({ project, source: "api", message })).body.id);
const send = (id: string, how: string, body: object) =>
  team.users.admin.call("POST", `${team.path}/messages/${id}/${how}`, { reason: "It was wrong.", ...body });
const correct = (id: string, message: object, project: string) => send(id, "correct", { project, message });

/** Sets a blocking budget of a project. @returns its id */
async function setBudget(project: string, amount: number): Promise<string> {
  const { rows } = await sql(
    `insert into public.budgets (workspace_id, name, scope_type, scope_value, amount, blocks)
     select $1, 'Of ' || slug, 'project', id::text, $3, true from public.projects where workspace_id = $1 and slug = $2
     returning id`,
    [team.workspace, project, amount],
  );
  return rows[0].id;
}

async function spentOf(budget: string): Promise<number> {
  const { rows } = await sql(
    "select coalesce(sum(spent_usd), 0)::float as spent from public.budget_spend where budget_id = $1",
    [budget],
  );
  return rows[0].spent;
}

describe("A correction", () => {
  test("over a blocking budget is refused, names it, and changes nothing", async () => {
    const id = await record(expense(6), "over");
    const budget = await setBudget("over", 10);
    const { status, body } = await correct(id, expense(10.01), "over");
    expect([status, body]).toMatchObject([
      402,
      { error: "budget_exceeded", budget: { id: budget, name: "Of over" }, limit_usd: 10, spent_usd: 6 },
    ]);
    expect(body.error_description).toContain(
      'This would take the budget "Of over" past its limit: $10, of which $6 is spent.',
    );
    expect(await spentOf(budget)).toBe(6);
    expect((await team.users.admin.get(`${team.path}/messages/${id}`)).body.voided_by).toBeNull();
    expect(await ledgerDifferences(harness.fixtures, team.workspace)).toEqual([]);
    expect((await correct(id, expense(10), "over")).status).toBe(201);
    expect(await spentOf(budget)).toBe(10);
  });

  test("that lowers the cost or leaves it is never refused, whatever is spent already", async () => {
    const id = await record(expense(6), "above");
    const budget = await setBudget("above", 5);
    const same = await correct(id, expense(6), "above");
    expect(same.status).toBe(201);
    const lower = await correct((same.body.correction as { id: string }).id, expense(5.5), "above");
    expect(lower.status).toBe(201);
    const refused = await correct((lower.body.correction as { id: string }).id, expense(5.51), "above");
    expect(refused.body).toMatchObject({ error: "budget_exceeded" });
    expect(refused.body.error_description).toContain('The budget "Of above" is used up');
    expect(await spentOf(budget)).toBe(5.5);
  });

  test("is held to the budget that it moves a cost into, and to its period", async () => {
    const id = await record(expense(6), "from");
    await record(expense(1), "into");
    await setBudget("from", 6);
    await setBudget("into", 6);
    expect((await correct(id, expense(6), "into")).body).toMatchObject({
      error: "budget_exceeded",
      budget: { name: "Of into" },
    });
    expect((await correct(id, expense(5), "into")).status).toBe(201);
  });

  test("is not held to a limit of the key that recorded the message", async () => {
    const id = await record(expense(1), "limited");
    await sql("update public.api_keys set monthly_limit = 2 where id = $1", [keyId]);
    expect((await correct(id, expense(1_000), "limited")).status).toBe(201);
    const refused = await key.post({ project: "limited", source: "api", message: expense(1) });
    expect(refused.body.error).toBe("monthly_limit_exceeded");
    await sql("update public.api_keys set monthly_limit = null where id = $1", [keyId]);
  });
});

test("A void that gives an allocated cost back is refused where its project has no room for it", async () => {
  await record(expense(8), "giver");
  const moved = await record({ type: "allocation", from_project: "giver", amount: 5 }, "taker");
  const budget = await setBudget("giver", 8);
  await record(expense(4), "giver");
  expect((await send(moved, "void", {})).body).toMatchObject({ error: "budget_exceeded", spent_usd: 7 });
  expect(await spentOf(budget)).toBe(7);
});

test("A correction waits for whoever decides about a blocking budget", async () => {
  const id = await record(expense(6), "held");
  await setBudget("held", 10);
  const holder = await harness.fixtures.sql.connect();
  try {
    await holder.query("begin");
    await holder.query("select private.hold_blocking_budgets($1)", [team.workspace]);
    const corrected = correct(id, expense(7), "held");
    await expect
      .poll(
        async () =>
          (
            await sql(
              `select from pg_catalog.pg_locks where locktype = 'advisory' and not granted
               and database = (select oid from pg_database where datname = current_database())`,
              [],
            )
          ).rowCount,
      )
      .toBe(1);
    expect((await team.users.admin.get(`${team.path}/messages/${id}`)).body.voided_by).toBeNull();
    await holder.query("commit");
    expect((await corrected).status).toBe(201);
  } finally {
    // Closed, because a test that fails leaves the transaction open.
    holder.release(true);
  }
});

test("Corrections and messages at once, through two processes, pass no budget", async () => {
  const ids = await Promise.all(Array.from({ length: 6 }, () => record(expense(1), "busy")));
  const budget = await setBudget("busy", 20);
  const answers = await Promise.all(
    ids.flatMap((id) => [
      correct(id, expense(4), "busy"),
      key.post({ project: "busy", source: "api", message: expense(2) }),
      other.post({ project: "busy", source: "api", message: expense(2) }),
    ]),
  );
  const statuses = answers.map(({ status }) => status);
  expect(new Set(statuses)).toEqual(new Set([201, 402]));
  const spent = await spentOf(budget);
  const corrected = answers.filter(({ status }, index) => index % 3 === 0 && status === 201).length;
  const recorded = answers.filter(({ status }, index) => index % 3 !== 0 && status === 201).length;
  expect(spent).toBe(6 + 3 * corrected + 2 * recorded);
  expect(spent).toBeLessThanOrEqual(20);
  expect(spent).toBeGreaterThan(17);
  expect(await ledgerDifferences(harness.fixtures, team.workspace)).toEqual([]);
});
