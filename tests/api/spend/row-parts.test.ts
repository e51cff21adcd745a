import { expect, test } from "vitest";
import { toExploreData } from "@/components/explore/data";
import { queryOfParts, toParts } from "@/components/explore/row-parts";
import { readState, toQuery } from "@/components/explore/state";
import { exactText, sumAmounts } from "@/components/figures/amount";
import type { SpendAnswer } from "@/lib/contract/spend/spend-query";
import { costMessage } from "@/tests/helpers/client";
import { newClient } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { addUser } from "@/tests/helpers/team";

const harness = withSharedHarness();

test("Unfolds every row of an answer to its own highest values, which sum to the row", async () => {
  const client = await newClient(harness);
  // Everybody uses a model of their own most, and one that all use.
  const messages = Array.from({ length: 8 }, (_, person) => [
    { user: `u${person}`, model: `own-${person}`, cost: 3 + person / 8 },
    { user: `u${person}`, model: "shared", cost: 2.25 },
    { user: person % 2 ? undefined : `u${person}`, model: `rare-${person}`, cost: 0.1 },
  ]).flat();
  for (const { cost, ...of } of messages)
    expect((await client.post(costMessage({ ...of, estimated_cost: cost }))).status).toBe(201);
  const viewer = await addUser(harness, client.workspace, "viewer");
  const { rows } = await harness.fixtures.sql.query("select slug from public.workspaces where id = $1", [
    client.workspace,
  ]);
  const today = new Date().toISOString().slice(0, 10);
  const ask = async (query: object) => {
    const { status, body } = await viewer.call(
      "POST",
      `/api/v1/workspaces/${rows[0].slug}/spend/query`,
      query,
    );
    expect(status, JSON.stringify(body)).toBe(200);
    return body as unknown as SpendAnswer;
  };
  for (const by of ["user", "project", "environment", "day"]) {
    const state = readState({ by, over: "model", top: "3" });
    const data = toExploreData(await ask(toQuery(state, { from: today, to: today })), null, []);
    for (const row of data.rows) {
      const parts = toParts(await ask(queryOfParts(state, data, row)));
      expect(exactText(sumAmounts(parts.map(({ cost }) => cost))), `${by} ${row.label}`).toBe(
        exactText(sumAmounts([row.cost])),
      );
      if (row.value?.startsWith("u")) expect(parts[0]?.label).toBe(`own-${row.value.slice(1)}`);
    }
  }
});
