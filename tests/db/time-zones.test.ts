import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { connectService } from "@/tests/helpers/connect-service";
import { foldPastDays } from "@/tests/helpers/folds";
import { withHarness } from "@/tests/helpers/harness";
import { check, type Filled, fillWorkspace } from "@/tests/helpers/ledger/reconcilable";
import { Load } from "@/tests/helpers/load";
import { addUser } from "@/tests/helpers/team";

const harness = withHarness();
connectService(() => harness.database);
const sql = async (text: string, values: unknown[] = []) =>
  (await harness.fixtures.sql.query(text, values)).rows;

// The service's job would do the steps that the tests do.
beforeAll(() => sql("revoke execute on function private.change_time_zone_step(integer) from outlay_service"));

let workspace: Filled;
beforeEach(async () => {
  workspace = await fillWorkspace(harness);
});
afterEach(async () => {
  await sql("delete from public.time_zone_changes");
});

const request = (zone: string) =>
  sql("insert into public.time_zone_changes (workspace_id, time_zone) values ($1, $2)", [workspace.id, zone]);

/** One step of the change. @returns null where nothing is left to do */
async function step(atMost: number): Promise<number | null> {
  const [row] = await sql("select private.change_time_zone_step($1) as changed", [atMost]);
  return row?.changed;
}

async function finish(atMost: number): Promise<number> {
  for (let steps = 0; ; steps += 1) if ((await step(atMost)) === null) return steps;
}

/** What is summed by day, of one dimension, and what the messages come to by the days of a zone. */
const summed = () =>
  sql(
    `select to_char(day, 'YYYY-MM-DD') as day, sum(amount_usd)::float8 as usd, sum(item_count)::int as items
     from public.daily_spend where workspace_id = $1 group by 1 having sum(item_count) <> 0 order by 1`,
    [workspace.id],
  );
const counted = (zone: string) =>
  sql(
    `select to_char(
         case when occurred_at = date_trunc('day', occurred_at, 'UTC') then occurred_at at time zone 'UTC'
           else occurred_at at time zone $2 end, 'YYYY-MM-DD'
       ) as day, sum(amount_usd)::float8 as usd, count(*)::int as items
     from public.messages where workspace_id = $1 group by 1 order by 1`,
    [workspace.id, zone],
  );

const zones = ["Pacific/Auckland", "America/New_York", "Asia/Kolkata", "Pacific/Chatham", "UTC"];

test("Sums by the days of one zone after another, with old answers until each change is done", async () => {
  const before = await summed();
  await foldPastDays(harness.fixtures);
  let present = "UTC";
  for (const zone of zones) {
    await request(zone);
    while ((await step(1)) !== null) {
      const [{ time_zone: now }] = await sql("select time_zone from public.workspaces where id = $1", [
        workspace.id,
      ]);
      expect(await summed()).toEqual(await counted(now));
      expect(now === present || now === zone).toBe(true);
    }
    expect(await summed()).toEqual(await counted(zone));
    expect((await check(workspace)).found).toEqual([]);
    await foldPastDays(harness.fixtures);
    expect((await check(workspace)).found).toEqual([]);
    present = zone;
  }
  expect(await summed()).toEqual(before);
  expect(
    await sql("select from public.daily_spend where workspace_id not in (select id from public.workspaces)"),
  ).toEqual([]);
}, 120_000);

test("Loses and doubles nothing that is recorded, voided or repriced meanwhile", async () => {
  const load = new Load({
    clients: 4,
    secret: workspace.secret,
    baseUrl: () => harness.services[0]?.baseUrl ?? "",
    retry: "never",
  });
  for (const zone of zones) {
    await load.storesMore(20);
    await request(zone);
    await load.storesMore(5);
    await finish(7);
    await load.storesMore(5);
  }
  await load.stop();
  expect(await summed()).toEqual(await counted("UTC"));
  expect((await check(workspace)).found).toEqual([]);
  const [{ count }] = await sql(
    "select count(*)::int as count from public.messages where workspace_id = $1 and label like '% % %'",
    [workspace.id],
  );
  expect(count).toBe(load.stored.length);
}, 120_000);

test("Goes on where a step was killed, and counts no message of it twice", async () => {
  await request("America/New_York");
  await step(3);
  const client = await harness.fixtures.sql.connect();
  await client.query("begin");
  await client.query("select private.change_time_zone_step(3)");
  // As the end of a process does.
  await client.query("rollback");
  client.release();
  const [{ covered_until: covered }] = await sql(
    "select covered_until::text from public.time_zone_changes where workspace_id = $1",
    [workspace.id],
  );
  expect(covered).not.toBe("-infinity");
  await finish(3);
  expect(await summed()).toEqual(await counted("America/New_York"));
  expect((await check(workspace)).found).toEqual([]);
});

test("Mends sums while a change goes on, which then begins again", async () => {
  await request("Asia/Kolkata");
  await step(3);
  await sql("update public.daily_spend set amount_usd = amount_usd + 1 where workspace_id = $1", [
    workspace.id,
  ]);
  const { left } = await check(workspace, true);
  expect(left).toEqual([]);
  await finish(5);
  expect(await summed()).toEqual(await counted("Asia/Kolkata"));
  expect((await check(workspace)).found).toEqual([]);
});

test("Leaves what keys spent in the UTC month, and the sums of removed messages, as they were", async () => {
  const spent = () =>
    sql("select month::text, amount_usd::text from public.key_spend where workspace_id = $1 order by 1", [
      workspace.id,
    ]);
  const before = await spent();
  await request("America/New_York");
  await finish(100);
  await sql("select private.remove_messages_month('2026-02-01')");
  expect((await check(workspace)).found).toEqual([]);
  const total = () =>
    sql(
      "select sum(amount_usd)::float8 as usd, sum(item_count)::int as items from public.daily_spend where workspace_id = $1",
      [workspace.id],
    );
  const all = await total();
  await request("Pacific/Auckland");
  await expect(sql("select private.remove_messages_month('2026-03-01')")).rejects.toThrow("summed anew");
  await finish(100);
  expect(await total()).toEqual(all);
  expect((await check(workspace)).found).toEqual([]);
  expect(await spent()).toEqual(before);
});

test("Is asked for by owners and admins alone, who may not set the zone in use", async () => {
  const asUser = async (userId: string, statement: string, values: unknown[]) => {
    const client = await harness.fixtures.sql.connect();
    try {
      await client.query("begin");
      await client.query("select set_config('request.jwt.claims', $1, true)", [
        JSON.stringify({ sub: userId, role: "authenticated", aal: "aal1" }),
      ]);
      await client.query("set local role authenticated");
      await client.query(statement, values);
      await client.query("rollback");
      return "done";
    } catch (error) {
      await client.query("rollback");
      return (error as { code: string }).code;
    } finally {
      client.release();
    }
  };
  const insert = "insert into public.time_zone_changes (workspace_id, time_zone) values ($1, $2)";
  const outcome: Record<string, string> = {};
  for (const role of ["owner", "admin", "member", "viewer"] as const) {
    const { id } = await addUser(harness, workspace.id, role);
    outcome[role] = await asUser(id, insert, [workspace.id, "Asia/Kolkata"]);
    outcome[`${role} sets`] = await asUser(id, "update public.workspaces set time_zone = $2 where id = $1", [
      workspace.id,
      "Asia/Kolkata",
    ]);
  }
  expect(outcome).toEqual({
    owner: "done",
    admin: "done",
    member: "42501",
    viewer: "42501",
    "owner sets": "42501",
    "admin sets": "42501",
    "member sets": "42501",
    "viewer sets": "42501",
  });
  const { id } = await addUser(harness, workspace.id, "admin");
  expect(await asUser(id, insert, [workspace.id, "Mars/Olympus"])).toBe("22023");
  expect(await asUser(id, insert, [randomUUID(), "Asia/Kolkata"])).toBe("42501");
});
