import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { addChannel, crossing, raise } from "@/tests/helpers/alerts";
import type { Fixtures } from "@/tests/helpers/keys";
import { type OpenDatabase, withDatabase } from "@/tests/helpers/with-database";

// Plans are kept per connection. Those of the queue are made while it is empty, and must be good when it is long.

let fixtures: Fixtures;
let service: OpenDatabase["service"];

withDatabase((open) => {
  ({ fixtures, service } = open);
});

const channels = 20;
const alertsOfChannel = 100;

type Claimed = { id: string; lease: string };

const claim = async (): Promise<Claimed[]> =>
  (await service.query("select private.claim_deliveries(64, 32, 4, 60, true) as claimed")).rows[0].claimed;

const finish = ({ id, lease }: Claimed) =>
  service.query("select private.finish_delivery($1)", [
    JSON.stringify({
      id,
      lease,
      outcome: "delivered",
      status: 204,
      error: null,
      retry_in_ms: 0,
    }),
  ]);

/** Fills the queue of a new workspace: each alert goes to each channel. */
async function fill(alerts: number): Promise<void> {
  const workspace = await fixtures.workspace();
  for (let channel = 0; channel < channels; channel += 1) {
    await addChannel(fixtures, workspace, {
      name: `Channel ${channel}`,
      address: "https://receiver.example/",
    });
  }
  await raise(
    fixtures,
    ...Array.from({ length: alerts }, () => crossing(workspace, { subject_id: randomUUID() })),
  );
}

/** Runs something. @returns how many rows of the queue it read */
async function rowsRead(run: () => Promise<unknown>): Promise<number> {
  const before = await countReads();
  await run();
  return (await countReads()) - before;
}

/** How many rows of the queue the connection has read in its transaction. */
async function countReads(): Promise<number> {
  const { rows } = await service.query(
    `select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as count
     from pg_stat_xact_user_tables where relname = 'deliveries'`,
  );
  return rows[0].count;
}

beforeAll(async () => {
  await fill(1);
  for (const each of await claim()) await finish(each);
  for (const each of await claim()) await finish(each);
  await fixtures.sql.query("delete from public.workspaces");
  await fixtures.sql.query("vacuum analyze public.deliveries");
  // Postgres keeps a plan after five calls.
  for (let call = 0; call < 8; call += 1) await claim();
  await fill(alertsOfChannel);
});

test("A claim and its end read a few rows for each delivery, with plans that were made while the queue was empty", async () => {
  await service.query("begin");
  let claimed: Claimed[] = [];
  const readByClaim = await rowsRead(async () => {
    claimed = await claim();
  });
  expect(claimed).toHaveLength(64);
  // Those of each channel that may be next, the first of their order, the row that is locked and the row that is changed.
  expect(readByClaim).toBeLessThan(6 * 64);
  for (const delivery of claimed.slice(0, 3)) {
    expect(await rowsRead(() => finish(delivery))).toBeLessThan(6);
  }
  const readByNext = await rowsRead(async () => {
    expect(await claim()).toHaveLength(channels * 4 - 64 + 3);
  });
  expect(readByNext).toBeLessThan(6 * 64);
  await service.query("commit");
});
