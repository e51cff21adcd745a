import { expect, test } from "vitest";
import { eraseWorkspaces } from "@/lib/access/workspaces/deletion";
import { costMessage } from "@/tests/helpers/client";
import { connectService } from "@/tests/helpers/connect-service";
import { fillTables } from "@/tests/helpers/fill-tables";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import { clientIn } from "@/tests/helpers/recording";
import { tablesWith } from "@/tests/helpers/tables-with";
import { makeTeam, type Team } from "@/tests/helpers/team";

const harness = withHarness();
connectService(() => harness.database);
const rows = async (text: string, values: unknown[] = []) =>
  (await harness.fixtures.sql.query(text, values)).rows;

const step = async (atMost: number) =>
  (await rows("select private.erase_workspace_step($1) as gone", [atMost]))[0].gone as number | null;

/** Records messages of several months, with what is derived from them. */
async function record(team: Team) {
  const client = await clientIn(harness, team.workspace, { rate_limit_rpm: 1_000, monthly_limit: "1000" });
  const line = { model: "m", unit_type: "requests", quantity: 1, estimated_cost: 1 };
  const messages = [
    ...Array.from({ length: 40 }, (_, index) =>
      costMessage(
        { user: "ada", tags: { team: "a" }, occurred_at: `2026-0${1 + (index % 9)}-05T00:00:00Z` },
        { idempotency_key: `k${index}` },
      ),
    ),
    {
      project: "search",
      source: "api",
      message: { type: "batch", provider: "p", batch_id: "b", items: [line, line] },
    },
  ];
  const { body } = await client.call("POST", "/api/v1/messages/batch", { messages });
  expect(body).toMatchObject({ recorded: 41 });
  return client;
}

const found = (text: string) => tablesWith(harness.database, text);

test("Erases a workspace from every table in small steps, whenever one is interrupted, and nothing else", async () => {
  const [team, other] = [await makeTeam(harness), await makeTeam(harness)];
  const [client] = [await record(team), await record(other)];
  const { owner } = team.users;
  const keyId = client.id;
  await fillTables(harness.database, { workspace: team.workspace, memberId: owner.id, keyId });
  const before = await found(other.workspace);
  expect(await found(keyId)).toContain("private.rate_windows");

  expect((await owner.call("POST", `${team.path}/deletion`, { name: team.slug })).status).toBe(200);
  // Not before the thirty days are over.
  expect(await step(50)).toBeNull();
  await rows("update public.workspaces set deleted_at = now() - interval '30 days' where id = $1", [
    team.workspace,
  ]);
  const session = await harness.fixtures.sql.connect();
  let steps = 0;
  for (let gone: number | null = 1; gone !== null; steps += 1) {
    // Every third step is interrupted before its commit. Nobody records meanwhile, or undoes it.
    await session.query("begin");
    gone = (await session.query("select private.erase_workspace_step(7) as gone")).rows[0].gone;
    expect(gone ?? 0).toBeLessThanOrEqual(7);
    if (steps % 3 === 2) {
      await session.query("rollback");
      gone = 1;
    } else await session.query("commit");
    if (steps % 20 === 5) {
      expect([401, 403]).toContain((await client.post(costMessage())).status);
      expect((await owner.call("DELETE", `${team.path}/deletion`)).status).toBe(404);
    }
  }
  session.release();
  expect(steps).toBeGreaterThan(30);
  expect(await found(team.workspace)).toEqual([]);
  expect(await found(keyId)).toEqual([]);
  expect((await client.post(costMessage())).status).toBe(401);

  expect(await found(other.workspace)).toEqual(before);
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  // The address is free again.
  const again = await owner.call("POST", "/api/v1/workspaces", { name: "Again", slug: team.slug });
  expect(again.status).toBe(201);
});

test("The job of the service erases what is due, and leaves the rest", async () => {
  const [due, waiting] = [await makeTeam(harness), await makeTeam(harness)];
  await record(due);
  for (const team of [due, waiting])
    await team.users.owner.call("POST", `${team.path}/deletion`, { name: team.slug });
  await rows("update public.workspaces set deleted_at = now() - interval '31 days' where id = $1", [
    due.workspace,
  ]);
  expect(await eraseWorkspaces()).toBeGreaterThan(40);
  expect(await found(due.workspace)).toEqual([]);
  expect((await waiting.users.owner.call("DELETE", `${waiting.path}/deletion`)).status).toBe(200);
});
