import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { foldPastDays } from "@/tests/helpers/folds";
import { ledgerDifferences } from "@/tests/helpers/harness";
import type { ExactClient } from "@/tests/helpers/ledger/client";
import { randomQuery } from "@/tests/helpers/ledger/random-query";
import { recordRandomSpend } from "@/tests/helpers/ledger/random-spend";
import { clientIn } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { addUser, type User } from "@/tests/helpers/team";

const harness = withSharedHarness();
const runs = Math.ceil(Number(process.env.SPEND_RUNS ?? 60) / 2);
const now = Date.now();

let workspace: string;
let path: string;
let viewer: ExactClient;
let owner: User;
let client: Awaited<ReturnType<typeof clientIn>>;
beforeAll(async () => {
  const spend = await recordRandomSpend(harness, { now, seed: 11 });
  ({ id: workspace, viewer } = spend);
  path = `/api/v1/workspaces/${spend.slug}`;
  owner = await addUser(harness, workspace, "owner");
  client = await clientIn(harness, workspace);
  await record();
}, 120_000);

const rows = async (text: string) => (await harness.fixtures.sql.query(text, [workspace])).rows;

const month = "2026-01";
const user = "anna@example.com";
const priced = { provider: "in-house", model: "fast", unit_type: "requests" };

/** Records a message of the month. @returns its id */
async function record(): Promise<string> {
  const { status, body } = await client.post({
    ...{ project: "alpha", source: "api" },
    message: {
      type: "usage",
      ...priced,
      quantity: 3,
      feature: "chat",
      user,
      occurred_at: `${month}-01T12:00:00Z`,
    },
  });
  expect(status).toBe(201);
  return String(body.id);
}

async function asOwner(method: string, at: string, body: object): Promise<void> {
  expect([200, 201, 202]).toContain((await owner.call(method, `${path}/${at}`, body)).status);
}

const isDone = (table: string) =>
  expect
    .poll(() => rows(`select distinct status from public.${table} where workspace_id = $1`), {
      timeout: 30_000,
    })
    .toEqual([{ status: "done" }]);

/** What changes a folded month. */
const changes: Record<string, () => Promise<unknown>> = {
  "a late message": record,
  "a void": async () => asOwner("POST", `messages/${await record()}/void`, { reason: "x" }),
  "a new price": async () => {
    await asOwner("PUT", "prices", { ...priced, rate: 2, starts_at: `${month}-01T00:00:00Z` });
    await isDone("repricings");
  },
  "an erasure": async () => {
    await asOwner("POST", "people/erasures", { user });
    await isDone("erasures");
  },
};

const asked = fc.sample(randomQuery(now), { numRuns: runs, seed: 3 });

async function ask(): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const { range, ...rest } of asked)
    answers.push((await viewer.send(`${path}/spend/query`, { ...rest, ...range, environment: "all" })).body);
  return answers;
}

test.each(Object.entries(changes))(
  "Answers members the same from folded months and from days after %s",
  async (_, change) => {
    await foldPastDays(harness.fixtures);
    await change();
    const answers = await ask();
    expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
    await rows("select private.unfold_days($1)");
    expect(await ask()).toEqual(answers);
    await foldPastDays(harness.fixtures);
    expect(await ask()).toEqual(answers);
  },
  120_000,
);
