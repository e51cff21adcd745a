import { expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

// Summaries that are asked for at the same time are read by one statement.

const harness = withSharedHarness();
const clientOf = (secret: string) => apiClient(harness.services[0]?.baseUrl ?? "", secret);
const summaryOf = async (secret: string) => {
  const { body } = await clientOf(secret).get("/api/v1/summary/month");
  return body.total_usd;
};

test("Has every message that was acknowledged before the request, though the same is being read already", async () => {
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
  const record = async () => expect((await clientOf(secret).post(costMessage())).status).toBe(201);
  await record();
  const first = await summaryOf(secret);
  // Holds up summaries, but no messages: the policies of the sums read this table.
  const holder = await harness.fixtures.sql.connect();
  const held = () =>
    expect
      .poll(async () => {
        const { rows } = await harness.fixtures.sql.query(
          `select count(*)::int as held from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock' and query like '%private.month_totals(%'`,
        );
        return rows[0].held;
      })
      .toBeGreaterThan(0);
  try {
    await holder.query("begin");
    await holder.query("lock table private.deleted_workspaces in access exclusive mode");
    const early = summaryOf(secret);
    await held();
    await record();
    const late = Promise.all([summaryOf(secret), summaryOf(secret)]);
    await record();
    await holder.query("commit");
    expect(await early).toBeGreaterThanOrEqual(Number(first));
    for (const total of await late) expect(total).toBeGreaterThanOrEqual(2 * Number(first));
  } finally {
    await holder.query("rollback");
    holder.release();
  }
});

test("Answers each of many requests at once for its own workspace and its own projects", async () => {
  const { fixtures } = harness;
  const tenants = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => {
      const workspace = await fixtures.workspace();
      const { secret } = await fixtures.key(workspace);
      const cost = { estimated_cost: index + 1 };
      for (const project of ["checkout", "search"]) {
        expect((await clientOf(secret).post(costMessage(cost, { project }))).status).toBe(201);
      }
      const confined = await fixtures.key(workspace, { conditions: { project_slugs: ["search"] } });
      return [
        { secret, total: 2 * (index + 1) },
        { secret: confined.secret, total: index + 1 },
      ];
    }),
  );
  const asked = tenants.flat().flatMap((tenant) => [tenant, tenant]);
  const totals = await Promise.all(asked.map(({ secret }) => summaryOf(secret)));
  expect(totals).toEqual(asked.map(({ total }) => total));
});
