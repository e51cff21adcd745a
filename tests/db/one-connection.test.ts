import type { PoolClient } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ingestRequest } from "@/lib/contract/message";
import { closeDatabase, configureDatabase, database } from "@/lib/db/pool";
import { hashSecret } from "@/lib/keys/secret";
import { ingest } from "@/lib/ledger/ingest/service";
import { bookDueSubscriptions } from "@/lib/ledger/recurring/book-due-subscriptions";
import type { Fixtures } from "@/tests/helpers/keys";
import { withDatabase } from "@/tests/helpers/with-database";

let fixtures: Fixtures;
withDatabase((open) => {
  fixtures = open.fixtures;
  configureDatabase(open.database);
});

// All but one of the pool's connections are in use: a call that takes a second one would wait for itself.
let held: PoolClient[] = [];
beforeAll(async () => {
  const pool = database("writing");
  held = await Promise.all(Array.from({ length: pool.options.max - 1 }, () => pool.connect()));
});
afterAll(async () => {
  for (const client of held) client.release();
  await closeDatabase();
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
