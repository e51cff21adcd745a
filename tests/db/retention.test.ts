import { join } from "node:path";
import { beforeEach, describe, expect, test } from "vitest";
import { RetentionError, removeMessages } from "@/lib/ledger/retention/service";
import { connectService } from "@/tests/helpers/connect-service";
import { withHarness } from "@/tests/helpers/harness";
import { exactClient } from "@/tests/helpers/ledger/client";
import { fillOldMonths, keyed, type OldMonths, oldUsage } from "@/tests/helpers/ledger/old-months";
import { check, short } from "@/tests/helpers/ledger/reconcilable";
import { projectRoot } from "@/tests/helpers/project-root";
import { startScript } from "@/tests/helpers/script";

const harness = withHarness();
connectService(() => harness.database);
const sql = (text: string, values: unknown[] = []) => harness.fixtures.sql.query(text, values);
const rowsOf = async (text: string, values: unknown[] = []) => (await sql(text, values)).rows;

let workspace: OldMonths;
const post = (body: unknown) => exactClient(harness.services[0]?.baseUrl ?? "", workspace.secret).post(body);

beforeEach(async () => {
  workspace = await fillOldMonths(harness);
});

/** Every sum that the service reads. */
async function sums() {
  const tables = ["daily_spend", "daily_totals", "key_spend"];
  const read = (table: string) =>
    rowsOf(`select to_jsonb(t)::text as row from public.${table} as t where workspace_id = $1 order by 1`, [
      workspace.id,
    ]);
  return Promise.all(tables.map(read));
}

const storedMonths = async () =>
  (
    await rowsOf(
      `select to_char(occurred_at at time zone 'UTC', 'YYYY-MM') as month, count(*)::int as postings
       from public.messages where workspace_id = $1 group by 1 order by 1`,
      [workspace.id],
    )
  ).map(({ month, postings }) => `${month}: ${postings}`);

/** Ends the sessions of this database that wait for a lock. */
const endWaiting = `
  select pg_terminate_backend(pid) from pg_stat_activity
  where datname = current_database() and wait_event_type = 'Lock'`;

const remove = (before: string, dryRun = false) => removeMessages({ before, dryRun });

describe("Removing the messages of old months", () => {
  test("leaves the void of a cost of a closed month, which is booked in a later one", async () => {
    // A yearly charge, of which some months are closed and some are not.
    const parts = await rowsOf(
      `select m.id, m.occurred_at from public.messages as m where m.workspace_id = $1 and m.id = (
         select id from public.messages where workspace_id = $1 and type = 'subscription' and part = 11 limit 1
       ) and m.occurred_at < '2026-04-01' order by m.occurred_at`,
      [workspace.id],
    );
    const [message] = parts;
    expect(parts.length).toBeGreaterThan(1);
    await sql("update public.workspaces set closed_until = '2026-04-01' where id = $1", [workspace.id]);
    await sql(
      "insert into public.message_voids (workspace_id, message_id, reason, user_id) values ($1, $2, 'x', null)",
      [workspace.id, message.id],
    );
    const before = await sums();
    expect((await remove("2026-04")).isWhole).toBe(true);
    const left = await rowsOf(
      "select adjusts from public.messages where workspace_id = $1 and voids = $2 and adjusts is not null order by 1",
      [workspace.id, message.id],
    );
    expect(left.map(({ adjusts }) => adjusts)).toEqual(parts.map(({ occurred_at }) => occurred_at));
    expect(await sums()).toEqual(before);
    expect((await check(workspace)).found).toEqual([]);
  });

  test("keeps every sum, and reconcile finds nothing to repair", async () => {
    const before = await sums();
    const { months, isWhole } = await remove("2026-04");
    expect([months.map(({ month }) => month), isWhole]).toEqual([["2026-01", "2026-02", "2026-03"], true]);
    expect((await storedMonths())[0]).toBe("2026-04: 2");
    expect(await sums()).toEqual(before);
    const { found, left, unlisted } = await check(workspace, true);
    expect([found, left, unlisted]).toEqual([[], [], 0]);
    expect(await sums()).toEqual(before);
    expect((await remove("2026-04")).months).toEqual([]);
  });

  test("says in a dry run what it would remove, and changes nothing", async () => {
    const before = [await sums(), await storedMonths()];
    const { months } = await remove("2026-03", true);
    const [january, february] = months;
    // What is stored of all workspaces of this file; January has the first part of a yearly charge of each.
    expect(months.map(({ month }) => month)).toEqual(["2026-01", "2026-02"]);
    expect(january?.messages).toBe(january?.postings);
    expect(february?.postings).toBeGreaterThan(february?.messages ?? 0);
    expect(january?.bytes).toBeGreaterThan(8192);
    expect([await sums(), await storedMonths()]).toEqual(before);
    const removed = await rowsOf("select from private.removed_messages where workspace_id = $1", [
      workspace.id,
    ]);
    expect(removed).toEqual([]);
    expect((await remove("2026-03")).months).toEqual(months);
  });

  test("refuses the current month, later ones and what is no month", async () => {
    const before = await storedMonths();
    for (const wrong of ["2999-01", "2026-13", "2026", "last month", "2026-1"]) {
      await expect(remove(wrong)).rejects.toThrow(RetentionError);
    }
    await expect(
      sql("select private.remove_messages_month(date_trunc('month', now() at time zone 'UTC')::date)"),
    ).rejects.toThrow("is not over");
    expect(await storedMonths()).toEqual(before);
  });

  test("can be killed in the middle and run again", async () => {
    const before = await sums();
    const holder = await harness.fixtures.sql.connect();
    const settings = {
      POSTGRES_URL: harness.database.url,
      POSTGRES_URL_NON_POOLING: harness.database.adminUrl,
    };
    const run = (...args: string[]) =>
      startScript(
        join(projectRoot, "scripts/run.mjs"),
        ["retention", "--before", "2026-04", ...args],
        settings,
      );
    try {
      // Somebody is writing to February.
      await holder.query("begin");
      await holder.query("lock table private.messages_2026_02 in row exclusive mode");
      const killed = run();
      await killed.line((text) => (text.startsWith("2026-01:") ? true : undefined));
      killed.child.kill("SIGKILL");
      await killed.ended;
      // Its session still waits for February, and would remove it when the lock is free: it ends with the program.
      await expect
        .poll(async () => (await rowsOf(endWaiting)).length, { timeout: 20_000, interval: 50 })
        .toBe(0);
    } finally {
      await holder.query("rollback");
      holder.release();
    }
    expect((await storedMonths())[0]).toMatch(/^2026-02: /);
    expect([await sums(), (await check(workspace)).found]).toEqual([before, []]);
    const again = await run().ended;
    expect([again.status, again.output]).toEqual([0, expect.stringContaining("Every sum was kept.")]);
    expect((await storedMonths())[0]).toBe("2026-04: 2");
    expect([await sums(), (await check(workspace)).found]).toEqual([before, []]);
  });

  test("lets messages be recorded meanwhile, and counts each once", async () => {
    const expected = (await sums()).length;
    let isDone = false;
    const recorded: number[] = [];
    const record = async () => {
      while (!isDone) {
        const month = 1 + (recorded.length % 5);
        const { status } = await post({
          project: "alpha",
          source: "api",
          message: oldUsage(`2026-0${month}-15T00:00:00Z`),
        });
        recorded.push(status);
      }
    };
    const clients = [record(), record(), record()];
    for (const before of ["2026-02", "2026-03", "2026-04", "2026-05"]) await remove(before);
    isDone = true;
    await Promise.all(clients);
    expect(new Set(recorded)).toEqual(new Set([201]));
    expect((await check(workspace)).found).toEqual([]);
    const [{ messages }] = (await rowsOf(
      `select sum(message_count)::int as messages from public.daily_spend
       where workspace_id = $1 and type = 'usage' and (day - date_trunc('month', day)::date) = 14`,
      [workspace.id],
    )) as [{ messages: number }];
    expect([messages, expected]).toEqual([recorded.length, 3]);
  });
});

describe("After messages were removed", () => {
  beforeEach(async () => {
    await remove("2026-04");
  });

  test("a retry of a removed message is answered as before and not recorded again", async () => {
    const before = await sums();
    const { status, body } = await post(keyed);
    expect([status, body.id]).toEqual([201, workspace.old]);
    const conflict = await post({ ...keyed, message: oldUsage("2026-03-30T00:00:00Z") });
    expect(conflict.status).toBe(409);
    expect(await sums()).toEqual(before);
    // Nor does a repair take the answer for a stray one.
    expect((await check(workspace, true)).found).toEqual([]);
    expect((await post(keyed)).body.id).toBe(workspace.old);
    expect(await sums()).toEqual(before);
  });

  test("a message that occurred in a removed month is recorded, and removed by the next run", async () => {
    const total = "select sum(amount_usd)::text as total from public.daily_spend where workspace_id = $1";
    const [before] = await rowsOf(total, [workspace.id]);
    const late = { project: "alpha", source: "api", message: oldUsage("2026-02-20T00:00:00Z") };
    expect((await post(late)).status).toBe(201);
    expect((await storedMonths())[0]).toBe("2026-02: 1");
    const [after] = await rowsOf(total, [workspace.id]);
    expect(Number(after.total) - Number(before.total)).toBeCloseTo(2, 9);
    expect((await check(workspace)).found).toEqual([]);
    await remove("2026-03");
    expect((await storedMonths())[0]).toBe("2026-04: 2");
    expect((await check(workspace)).found).toEqual([]);
  });

  test("a yearly charge recorded later may lack no part", async () => {
    const message = { type: "subscription", vendor: "v", amount: "12", currency: "USD", interval: "year" };
    const { body } = await post({
      project: "alpha",
      source: "api",
      message: { ...message, starts_on: "2026-02-01" },
    });
    expect((await check(workspace)).found).toEqual([]);
    await sql("delete from public.messages where workspace_id = $1 and id = $2 and part = 0", [
      workspace.id,
      body.id,
    ]);
    const { found, left } = await check(workspace, true);
    expect(found.map(short)).toContain("posting parts -1");
    expect(left).toEqual([]);
    const parts = await rowsOf("select from public.messages where workspace_id = $1 and id = $2", [
      workspace.id,
      body.id,
    ]);
    expect(parts.length).toBe(12);
  });

  test.each([
    [
      "a sum of a removed month",
      "update public.daily_spend set amount_usd = amount_usd + 3 where workspace_id = $1 and day = '2026-02-14'",
      ["removed amount_usd 3"],
      { month: "2026-02", environment: "live" },
    ],
    [
      "a lost day of a removed month",
      "delete from public.daily_spend where workspace_id = $1 and day = '2026-03-05'",
      ["removed amount_usd -2", "removed message_count -1", "removed item_count -1"],
      { month: "2026-03", environment: "test" },
    ],
  ])("a difference is named that cannot be repaired: %s", async (_, statement, expected, place) => {
    await sql(statement, [workspace.id]);
    const { found, left } = await check(workspace);
    expect(found.filter(({ kind }) => kind === "removed").map(short)).toEqual(expected);
    expect(found[0]?.where).toEqual(place);
    expect(left).toEqual(found);
  });

  test.each([
    [
      "a total of a removed month",
      "update public.daily_totals set amount_usd = amount_usd + 1 where workspace_id = $1 and day = '2026-02-14' and dimension = 'model'",
      "daily_totals amount_usd 1",
    ],
    [
      "what a key spent",
      "update public.key_spend set amount_usd = amount_usd - 1 where workspace_id = $1 and amount_usd > 10",
      "key_spend amount_usd -1",
    ],
    [
      "a sum of a month that remains",
      "update public.daily_spend set amount_usd = amount_usd + 1 where workspace_id = $1 and day = '2026-04-01'",
      "daily_spend amount_usd 1",
    ],
    [
      "a part of a yearly charge in a month that remains",
      "delete from public.messages where workspace_id = $1 and part = 11",
      "posting parts -1",
    ],
    [
      "an answer without a message in a month that remains",
      "delete from public.messages where workspace_id = $1 and id = (select message_id from private.idempotency as i where i.workspace_id = $1 and key = 'kept')",
      "idempotency message 1",
    ],
  ])("a difference is found and repaired: %s", async (_, statement, expected) => {
    const before = await sums();
    await sql(statement, [workspace.id]);
    const { found, left } = await check(workspace, true);
    expect(found.map(short)).toContain(expected);
    expect(left).toEqual([]);
    if (!expected.startsWith("idempotency"))
      expect((await sums()).map((rows) => rows.length)).toEqual(before.map((rows) => rows.length));
    expect((await check(workspace)).found).toEqual([]);
  });
});

test("Nobody but the operator removes messages or reads what was removed", async () => {
  for (const role of ["anon", "authenticated", "outlay_key", "outlay_service", "service_role"]) {
    const client = await harness.fixtures.sql.connect();
    try {
      for (const statement of [
        "select private.remove_messages_month('2026-01-01')",
        "delete from private.removed_messages",
        "select from private.removed_key_spend",
      ]) {
        await client.query("begin");
        await client.query(`set local role ${role}`);
        await expect(client.query(statement), `${role}: ${statement}`).rejects.toThrow("permission denied");
        await client.query("rollback");
      }
    } finally {
      client.release();
    }
  }
});
