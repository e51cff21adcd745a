import { beforeEach, expect, test, vi } from "vitest";
import { waitingSessions } from "@/tests/helpers/block";
import { connectService } from "@/tests/helpers/connect-service";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import { check, type Filled, fillWorkspace, short } from "@/tests/helpers/ledger/reconcilable";
import { Load } from "@/tests/helpers/load";

const harness = withHarness();
connectService(() => harness.database);
const sql = (text: string, values: unknown[] = []) => harness.fixtures.sql.query(text, values);

let workspace: Filled;
beforeEach(async () => {
  workspace = await fillWorkspace(harness);
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
    await vi.waitUntil(
      async () => {
        const { rows } = await sql(
          `select from pg_catalog.pg_locks where locktype = 'advisory' and not granted
           and database = (select oid from pg_database where datname = current_database())`,
        );
        return rows.length === 1;
      },
      { timeout: 30_000, interval: 10 },
    );
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
  // Records every value that is written from here on, temporary ones included.
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
    // Both have found the difference, and neither has added it.
    await vi.waitUntil(async () => (await waitingSessions(harness.fixtures.sql)) === 2, {
      timeout: 30_000,
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
      // The rows that every client is updating at this moment.
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
