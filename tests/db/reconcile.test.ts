import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { closeDatabase, configureDatabase } from "@/lib/db/pool";
import type { Difference } from "@/lib/ledger/reconcile/difference";
import { reconcile, UnknownWorkspaceError } from "@/lib/ledger/reconcile/service";
import { waitingSessions } from "@/tests/helpers/block";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import { exactClient } from "@/tests/helpers/ledger/client";
import { Load } from "@/tests/helpers/load";

const harness = withHarness();
const sql = (text: string, values: unknown[] = []) => harness.fixtures.sql.query(text, values);

/** A workspace with one message of every kind, in a month of its own and in this one. */
async function fill() {
  const slug = `w-${randomUUID()}`;
  const id = await harness.fixtures.workspace(slug);
  const key = await harness.fixtures.key(id);
  const client = exactClient(harness.services[0]?.baseUrl ?? "", key.secret);
  await sql(
    "insert into public.budgets (workspace_id, name, scope_type, amount) values ($1, 'all', 'global', 10)",
    [id],
  );
  const line = { model: "m", unit_type: "requests", quantity: "1", feature: "chat" };
  const of = (message: Record<string, unknown>, project = "alpha") => ({ project, source: "api", message });
  const { body } = await client.bulk([
    { ...of({ type: "usage", provider: "p", ...line, estimated_cost: "1.5" }), idempotency_key: "kept" },
    of({ type: "usage", provider: "p", ...line }),
    of({
      type: "usage",
      provider: "p",
      ...line,
      estimated_cost: "2",
      occurred_at: "2026-02-14T23:59:59.999Z",
    }),
    of({
      type: "batch",
      provider: "p",
      batch_id: "b",
      items: [
        { ...line, estimated_cost: "0.25" },
        { ...line, model: "n" },
      ],
    }),
    of({ type: "expense", vendor: "v", amount: "28600", currency: "JPY" }),
    of({
      type: "subscription",
      vendor: "v",
      amount: "100",
      currency: "EUR",
      interval: "year",
      starts_on: "2026-01-31",
    }),
    of({ type: "allocation", from_project: "alpha", amount: "0.4" }, "beta"),
  ]);
  const ids = (body.results as { id: string }[]).map((result) => result.id);
  const [usage = "", , , batch = "", expense = "", subscription = "", allocation = ""] = ids;
  return { id, slug, secret: key.secret, ids: { usage, batch, expense, subscription, allocation } };
}

type Filled = Awaited<ReturnType<typeof fill>>;

const check = (workspace: Filled, repair = false) => reconcile({ workspace: workspace.slug, repair });
const short = ({ kind, figure, difference }: Difference) => `${kind} ${figure} ${difference}`;

let workspace: Filled;
beforeAll(() => {
  configureDatabase(harness.database);
});
beforeEach(async () => {
  workspace = await fill();
});
afterAll(closeDatabase);

test("Finds no difference in a ledger as the service writes it", async () => {
  const report = await reconcile({ repair: false });
  expect([report.found, report.unlisted]).toEqual([[], 0]);
  expect(report.months).toBeGreaterThan(11);
});

test("Reports an unknown workspace as an error, not as a clean ledger", async () => {
  await expect(reconcile({ workspace: "nowhere", repair: false })).rejects.toThrow(UnknownWorkspaceError);
});

/** A corruption, and what of it must be found. */
type Corruption = [
  name: string,
  statement: (of: Filled) => string,
  found: string[],
  place?: Record<string, unknown>,
];

const day = "(select min(day) from public.daily_spend where workspace_id = $1 and type = 'usage')";
const corruptions: Corruption[] = [
  [
    "an amount of a day, by the last digit",
    () =>
      `update public.daily_spend set amount_usd = amount_usd + 1e-18 where workspace_id = $1 and day = ${day}`,
    ["daily_spend amount_usd 0.000000000000000001"],
    {
      day: "2026-02-14",
      project: "alpha",
      key: "Test key",
      type: "usage",
      provider: "p",
      model: "m",
      feature: "chat",
      source: "api",
      environment: "live",
    },
  ],
  [
    "the messages of a day",
    () => `update public.daily_spend set message_count = 3 where workspace_id = $1 and day = ${day}`,
    ["daily_spend message_count 2"],
  ],
  [
    "the items of a day",
    () => `update public.daily_spend set item_count = 0 where workspace_id = $1 and day = ${day}`,
    ["daily_spend item_count -1"],
  ],
  [
    "the unpriced of a day",
    () => `update public.daily_spend set unpriced_count = 7 where workspace_id = $1 and day = ${day}`,
    ["daily_spend unpriced_count 7"],
  ],
  [
    "a day's row that is gone",
    () => `delete from public.daily_spend where workspace_id = $1 and day = ${day}`,
    ["daily_spend amount_usd -2", "daily_spend message_count -1", "daily_spend item_count -1"],
  ],
  [
    "a day's row of nothing, in a month without messages",
    () =>
      `insert into public.daily_spend select workspace_id, '1999-12-31', project_id, api_key_id, type, provider, model, feature, source, environment, 5, 1, 1, 0 from public.daily_spend where workspace_id = $1 and day = ${day}`,
    ["daily_spend amount_usd 5", "daily_spend message_count 1", "daily_spend item_count 1"],
  ],
  [
    "a day's dimension",
    () => `update public.daily_spend set feature = 'search' where workspace_id = $1 and day = ${day}`,
    [
      "daily_spend amount_usd -2",
      "daily_spend message_count -1",
      "daily_spend item_count -1",
      "daily_spend amount_usd 2",
      "daily_spend message_count 1",
      "daily_spend item_count 1",
    ],
  ],
  [
    "a day's total by one dimension",
    () =>
      `update public.daily_totals set amount_usd = amount_usd + 1e-18
       where workspace_id = $1 and dimension = 'feature' and value = 'chat' and day = ${day}`,
    ["daily_totals amount_usd 0.000000000000000001"],
    { day: "2026-02-14", feature: "chat", type: "usage", environment: "live" },
  ],
  [
    "the messages and the unpriced of a day's total",
    () =>
      `update public.daily_totals set message_count = 5, unpriced_count = 7
       where workspace_id = $1 and dimension = 'project' and type = 'usage' and day = ${day}`,
    ["daily_totals message_count 4", "daily_totals unpriced_count 7"],
  ],
  [
    "a day's totals that are gone",
    () => `delete from public.daily_totals where workspace_id = $1 and dimension = 'model' and day = ${day}`,
    ["daily_totals amount_usd -2", "daily_totals message_count -1"],
  ],
  [
    "a total of nothing, in a month without messages",
    () =>
      `insert into public.daily_totals values ($1, 'live', 'provider', '1999-12-31', 'nobody', 'usage', 5, 1, 0)`,
    ["daily_totals amount_usd 5", "daily_totals message_count 1"],
  ],
  [
    "what a key spent",
    () => "update public.key_spend set amount_usd = amount_usd - 0.01 where workspace_id = $1",
    ["key_spend amount_usd -0.01"],
    { month: new Date().toISOString().slice(0, 7), key: "Test key" },
  ],
  [
    "how many messages a key recorded",
    () => "update public.key_spend set message_count = message_count + 1 where workspace_id = $1",
    ["key_spend message_count 1"],
  ],
  [
    "a key's month that is gone",
    () => "delete from public.key_spend where workspace_id = $1",
    ["key_spend amount_usd", "key_spend message_count -7"],
  ],
  [
    "a batch's amount",
    ({ ids }) =>
      `update public.messages set amount_usd = 0.5 where workspace_id = $1 and id = '${ids.batch}'`,
    ["key_spend amount_usd -0.25", "batch amount_usd 0.25"],
  ],
  [
    "whether a batch is priced",
    ({ ids }) =>
      `update public.messages set cost_status = 'client' where workspace_id = $1 and id = '${ids.batch}'`,
    ["batch status 1"],
  ],
  [
    "one side of an allocation",
    ({ ids }) =>
      `update public.messages set amount_usd = -0.3 where workspace_id = $1 and id = '${ids.allocation}' and part = 1`,
    ["daily_spend amount_usd -0.1", "key_spend amount_usd -0.1", "posting amount_usd 0.1"],
  ],
  [
    "an allocation's other side that is gone",
    ({ ids }) =>
      `delete from public.messages where workspace_id = $1 and id = '${ids.allocation}' and part = 1`,
    [
      "daily_spend amount_usd -0.4",
      "key_spend amount_usd -0.4",
      "posting parts -1",
      "posting amount_usd 0.4",
    ],
  ],
  [
    "a month of a yearly subscription",
    ({ ids }) =>
      `update public.messages set amount_usd = amount_usd + 1 where workspace_id = $1 and id = '${ids.subscription}' and part = 11`,
    ["daily_spend amount_usd -1", "key_spend amount_usd -1", "posting amount_usd 1"],
  ],
  [
    "two months of a yearly subscription that make up for each other",
    ({ ids }) =>
      `update public.messages set amount_usd = amount_usd + case part when 3 then 1 else -1 end where workspace_id = $1 and id = '${ids.subscription}' and part in (3, 4)`,
    ["daily_spend amount_usd -1", "daily_spend amount_usd 1", "posting amount_usd shares"],
  ],
  [
    "a month of a yearly subscription that is gone",
    ({ ids }) =>
      `delete from public.messages where workspace_id = $1 and id = '${ids.subscription}' and part = 1`,
    ["daily_spend amount_usd", "key_spend amount_usd", "posting parts -1", "posting amount_usd"],
  ],
  [
    "an expense beside its rate",
    ({ ids }) =>
      `update public.messages set amount_usd = amount_usd + 0.01 where workspace_id = $1 and id = '${ids.expense}'`,
    ["daily_spend amount_usd -0.01", "key_spend amount_usd -0.01", "posting amount_usd 0.01"],
  ],
  [
    "an answer to a message that is not there",
    () => "update private.idempotency set message_id = gen_random_uuid() where workspace_id = $1",
    ["idempotency message 1"],
    { key: "kept" },
  ],
];

describe("Finds, names and repairs a corrupted figure", () => {
  test.each(corruptions)("%s", async (_, statement, expected, place) => {
    const before = (
      await sql(`select * from public.daily_spend where workspace_id = $1 order by 2,3,4,5,6,7,8,9,10`, [
        workspace.id,
      ])
    ).rows;
    const keysBefore = (await sql("select * from public.key_spend where workspace_id = $1", [workspace.id]))
      .rows;
    await sql(statement(workspace), [workspace.id]);
    const report = await check(workspace);
    // What is spent on the budget follows where the day is of this month, and the totals where a message is not itself.
    const followers = expected[0]?.startsWith("daily_totals") ? ["budget"] : ["budget", "daily_totals"];
    const found = report.found.filter(({ kind }) => !followers.includes(kind));
    expect(
      found
        .map(short)
        .map((line, index) =>
          line.slice(0, expected[index]?.split(" ").length === 2 ? expected[index].length : undefined),
        ),
    ).toEqual(expected);
    expect(found[0]?.workspace).toBe(workspace.slug);
    if (place) expect(found[0]?.where).toEqual(place);
    expect(report.left).toEqual(report.found);

    const repaired = await check(workspace, true);
    expect(repaired.found.map(short)).toEqual(report.found.map(short));
    expect(repaired.left).toEqual([]);
    expect((await check(workspace)).found).toEqual([]);
    const after = (
      await sql(`select * from public.daily_spend where workspace_id = $1 order by 2,3,4,5,6,7,8,9,10`, [
        workspace.id,
      ])
    ).rows;
    const exactly = (rows: Record<string, unknown>[]) =>
      rows.map(({ amount_usd, ...row }) => [Number(amount_usd), JSON.stringify(row)]);
    expect(exactly(after)).toEqual(exactly(before));
    const keysAfter = (await sql("select * from public.key_spend where workspace_id = $1", [workspace.id]))
      .rows;
    expect(exactly(keysAfter)).toEqual(exactly(keysBefore));
  });

  test("Corrects a budget with the sums it is read from", async () => {
    await sql(
      "update public.daily_totals set amount_usd = amount_usd + 3 where workspace_id = $1 and dimension = 'project' and type = 'usage' and unpriced_count = 1",
      [workspace.id],
    );
    const { found } = await check(workspace);
    expect(found.map(short)).toEqual(["daily_totals amount_usd 3", "budget spent 3"]);
    expect(found[1]?.where).toMatchObject({ budget: "all", environment: "live" });
    expect((await check(workspace, true)).left).toEqual([]);
  });

  test("Keeps naming what it cannot restore, and does not guess", async () => {
    await sql("delete from public.messages where workspace_id = $1 and id = $2 and part = 0", [
      workspace.id,
      workspace.ids.allocation,
    ]);
    const { left } = await check(workspace, true);
    expect([...new Set(left.map(({ kind }) => kind))]).toEqual(["posting"]);
    await sql("delete from public.messages where workspace_id = $1 and id = $2", [
      workspace.id,
      workspace.ids.allocation,
    ]);
    expect((await check(workspace, true)).left).toEqual([]);
  });

  test("Repairs one workspace without touching others", async () => {
    const other = await fill();
    for (const { id } of [workspace, other])
      await sql("delete from public.key_spend where workspace_id = $1", [id]);
    await check(workspace, true);
    expect((await check(workspace)).found).toEqual([]);
    expect((await check(other)).found).not.toEqual([]);
    expect((await reconcile({ repair: true })).left).toEqual([]);
  });
});

test("Waits for another repair of the same workspace and then finds nothing to add", async () => {
  await sql("update public.key_spend set amount_usd = amount_usd + 1 where workspace_id = $1", [
    workspace.id,
  ]);
  const first = await harness.fixtures.sql.connect();
  try {
    await first.query("begin");
    await first.query("select pg_advisory_xact_lock(hashtextextended('outlay.reconcile ' || $1, 0))", [
      workspace.id,
    ]);
    const second = check(workspace, true);
    await vi.waitUntil(async () => {
      const { rows } = await sql(
        "select from pg_catalog.pg_locks where locktype = 'advisory' and not granted",
      );
      return rows.length === 1;
    });
    await first.query("update public.key_spend set amount_usd = amount_usd - 1 where workspace_id = $1", [
      workspace.id,
    ]);
    await first.query("commit");
    const { found, left } = await second;
    expect([found.map(short), left]).toEqual([["key_spend amount_usd 1"], []]);
  } finally {
    first.release();
  }
  expect((await check(workspace)).found).toEqual([]);
});

test("Adds a missing amount once when two repairs run at once, and never shows more", async () => {
  const { rows: keys } = await sql("select amount_usd::text from public.key_spend where workspace_id = $1", [
    workspace.id,
  ]);
  await sql("update public.key_spend set amount_usd = amount_usd - 1 where workspace_id = $1", [
    workspace.id,
  ]);
  // Every figure that is written from here on, the passing ones included.
  await sql(`
    create table public.written_spend (workspace_id uuid, amount_usd numeric);
    create function public.note_spend() returns trigger language plpgsql as $$
    begin
      insert into public.written_spend values (new.workspace_id, new.amount_usd);
      return null;
    end $$;
    create trigger spend_is_noted after update on public.key_spend for each row execute function public.note_spend()`);
  const holder = await harness.fixtures.sql.connect();
  try {
    await holder.query("begin");
    await holder.query("select from public.key_spend where workspace_id = $1 for update", [workspace.id]);
    const repairs = [check(workspace, true), check(workspace, true)];
    // Both have seen what is missing, and neither has added it.
    await vi.waitUntil(async () => (await waitingSessions(harness.fixtures.sql)) === 2, {
      timeout: 10_000,
      interval: 10,
    });
    await holder.query("commit");
    const reports = await Promise.all(repairs);
    expect(reports.map(({ left }) => left)).toEqual([[], []]);
  } finally {
    holder.release();
    await sql("drop trigger spend_is_noted on public.key_spend; drop function public.note_spend()");
  }
  const { rows } = await sql("select amount_usd::text from public.written_spend where workspace_id = $1", [
    workspace.id,
  ]);
  await sql("drop table public.written_spend");
  expect(rows).toEqual(keys);
});

test("Neither loses nor double-counts what is recorded during repairs", async () => {
  const load = new Load({
    clients: 4,
    secret: workspace.secret,
    baseUrl: () => harness.services[0]?.baseUrl ?? "",
    retry: "never",
  });
  try {
    for (let round = 0; round < 3; round += 1) {
      await load.storesMore(50);
      // The rows that every client is adding to at this moment.
      await sql(
        "update public.daily_spend set amount_usd = amount_usd * 2 + 1, message_count = message_count + 5 where workspace_id = $1",
        [workspace.id],
      );
      await sql("update public.key_spend set amount_usd = amount_usd - 1 where workspace_id = $1", [
        workspace.id,
      ]);
      if (round % 2)
        await sql(
          "delete from public.daily_spend where workspace_id = $1 and day = (now() at time zone 'UTC')::date",
          [workspace.id],
        );
      const reports = await Promise.all([check(workspace, true), check(workspace, true)]);
      expect(reports.map(({ left }) => left)).toEqual([[], []]);
      await load.storesMore(20);
      expect((await check(workspace)).found).toEqual([]);
    }
  } finally {
    await load.stop();
  }
  expect(load.posted.every(({ answer }) => answer?.status === 201)).toBe(true);
  expect((await check(workspace)).found).toEqual([]);
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
  const { rows } = await sql(
    "select count(*)::int as stored from public.messages where workspace_id = $1 and label is not null",
    [workspace.id],
  );
  expect(rows[0].stored).toBe(load.posted.length);
});
