import { randomUUID } from "node:crypto";
import type { PoolClient } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listAudit } from "@/lib/access/audit/service";
import { createInvitation } from "@/lib/access/invitations/service";
import { hashSecret } from "@/lib/access/secrets/secret";
import { createWorkspace } from "@/lib/access/workspaces/service";
import { auditQuery } from "@/lib/contract/access/audit";
import { createInvitationRequest } from "@/lib/contract/access/invitations";
import { ingestRequest } from "@/lib/contract/ledger/message";
import { createBudgetRequest } from "@/lib/contract/spend/budgets";
import { metricsQuery } from "@/lib/contract/spend/metrics";
import { database } from "@/lib/db/pool";
import { recordByHand } from "@/lib/ledger/ingest/by-hand";
import { ingest } from "@/lib/ledger/ingest/service";
import { bookDueSubscriptions } from "@/lib/ledger/recurring/book-due-subscriptions";
import { createBudget } from "@/lib/spend/budgets/service";
import { readMetrics } from "@/lib/spend/metrics/service";
import { listProjects } from "@/lib/spend/projects/service";
import { connectService } from "@/tests/helpers/connect-service";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { claimsOf, createUser } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

let opened: TestDatabase;
let fixtures: Fixtures;
withDatabase((open) => {
  ({ database: opened, fixtures } = open);
});
connectService(() => opened);

// All but one connection of each pool are in use elsewhere: whoever takes a second one would wait for themselves.
let held: PoolClient[] = [];
beforeAll(async () => {
  const pools = [database("writing"), database("reading")];
  held = await Promise.all(
    pools.flatMap((pool) => Array.from({ length: pool.options.max - 1 }, () => pool.connect())),
  );
});
afterAll(() => {
  for (const client of held) client.release();
});

/** Records a message with a key of its own, as a route does. */
async function record(message: object) {
  const workspace = await fixtures.workspace();
  const { secret } = await fixtures.key(workspace);
  const { outcome } = await ingest({
    lookup: { by: "hash", value: hashSecret(secret) },
    address: undefined,
    dryRun: false,
    idempotencyHeader: null,
    body: ingestRequest.parse({ project: "checkout", source: "api", message }),
  });
  if (outcome instanceof Error) throw outcome;
  return { workspace, recorded: outcome[0] };
}

test("Records a message of a new month on one connection", async () => {
  const usage = { type: "usage", provider: "p", unit_type: "requests", quantity: 1, estimated_cost: 1 };
  const answers = await Promise.all(
    ["2019-03-31T23:59:59Z", "2019-04-01T00:00:00Z", "2019-07-15T12:00:00Z"].map((occurred_at) =>
      record({ ...usage, occurred_at }),
    ),
  );
  for (const { recorded } of answers) expect(recorded).toMatchObject({ replayed: false });
});

test("Books a subscription into a new month on one connection", async () => {
  const { workspace } = await record({ type: "subscription", vendor: "v", amount: 1, recurring: true });
  const year = new Date().getUTCFullYear() + 1;
  expect(await bookDueSubscriptions(Date.UTC(year, 11, 31))).toBeGreaterThanOrEqual(12);
  const { rows } = await fixtures.sql.query(
    "select count(distinct date_trunc('month', occurred_at))::int as months from public.messages where workspace_id = $1",
    [workspace],
  );
  expect(rows[0].months).toBeGreaterThanOrEqual(12);
});

test("Needs one connection at a time for the changes and reads of a signed-in user", async () => {
  const claims = claimsOf(await createUser(fixtures));
  const { slug } = await createWorkspace(claims, {
    name: "A team",
    slug: `w-${randomUUID().slice(0, 8)}`,
    description: null,
    base_currency: "USD",
    time_zone: "UTC",
  });
  const byHand = await recordByHand(claims, slug, {
    messages: [
      {
        project: "checkout",
        source: "manual",
        message: { type: "expense", vendor: "v", amount: 12 },
      },
    ],
    environment: "live",
    dryRun: false,
  });
  expect(byHand).toMatchObject({ recorded: 1, refused: 0 });
  await createBudget(claims, slug, createBudgetRequest.parse({ scope_type: "global", amount: 10 }));
  await createInvitation(claims, slug, createInvitationRequest.parse({ role: "viewer" }));
  expect((await listProjects(claims, slug)).projects).toHaveLength(1);
  expect((await listAudit(claims, slug, auditQuery.parse({}))).entries.length).toBeGreaterThanOrEqual(2);
  expect((await readMetrics(claims, slug, metricsQuery.parse({}))).totals.message_count).toBe(1);
});
