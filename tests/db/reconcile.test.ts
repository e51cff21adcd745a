import { beforeEach, describe, expect, test } from "vitest";
import { reconcile, UnknownWorkspaceError } from "@/lib/ledger/reconcile/service";
import { connectService } from "@/tests/helpers/connect-service";
import { withHarness } from "@/tests/helpers/harness";
import { corruptedLines, corruptions } from "@/tests/helpers/ledger/corruptions";
import { check, type Filled, fillWorkspace, short } from "@/tests/helpers/ledger/reconcilable";

const harness = withHarness();
connectService(() => harness.database);
const sql = (text: string, values: unknown[] = []) => harness.fixtures.sql.query(text, values);

let workspace: Filled;
beforeEach(async () => {
  workspace = await fillWorkspace(harness);
});

test("Finds no difference in a ledger as the service writes it", async () => {
  const report = await reconcile({ repair: false });
  expect([report.found, report.unlisted]).toEqual([[], 0]);
  expect(report.months).toBeGreaterThan(11);
});

test("Reports an unknown workspace as an error, not as a clean ledger", async () => {
  await expect(reconcile({ workspace: "nowhere", repair: false })).rejects.toThrow(UnknownWorkspaceError);
});

describe("Finds, names and repairs a corrupted figure", () => {
  test.each(corruptions)("%s", async (_, statement, expected, place) => {
    const before = (
      await sql(
        `select * from public.daily_spend where workspace_id = $1 order by 2,3,4,5,6,7,8,9,10,15,16`,
        [workspace.id],
      )
    ).rows;
    const keysBefore = (await sql("select * from public.key_spend where workspace_id = $1", [workspace.id]))
      .rows;
    await sql(statement(workspace), [workspace.id]);
    const report = await check(workspace);
    // A budget's spend differs too when the day is in this month, and totals differ when a message does.
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
      await sql(
        `select * from public.daily_spend where workspace_id = $1 order by 2,3,4,5,6,7,8,9,10,15,16`,
        [workspace.id],
      )
    ).rows;
    const exactly = (rows: Record<string, unknown>[]) =>
      rows.map(({ amount_usd, ...row }) => [Number(amount_usd), JSON.stringify(row)]);
    expect(exactly(after)).toEqual(exactly(before));
    const keysAfter = (await sql("select * from public.key_spend where workspace_id = $1", [workspace.id]))
      .rows;
    expect(exactly(keysAfter)).toEqual(exactly(keysBefore));
  });

  test.each([
    ["set spent_usd = spent_usd + 3", ["budget spent_usd 3"]],
    ["set booked_usd = booked_usd - 0.5", ["budget booked_usd -0.5"]],
  ])("What is spent of a budget: %s", async (change, differences) => {
    await sql(
      `update public.budget_counts ${change}
       where workspace_id = $1 and environment = 'live' and period_from = date_trunc('month', now() at time zone 'UTC')::date`,
      [workspace.id],
    );
    const { found } = await check(workspace);
    expect(found.map(short)).toEqual(differences);
    expect(found[0]?.where).toMatchObject({ budget: "all", environment: "live" });
    expect((await check(workspace, true)).left).toEqual([]);
  });

  test("Of a void: makes it the opposite of what it voids again", async () => {
    const { usage, batch, expense, subscription, allocation, included } = workspace.ids;
    for (const id of [usage, batch, expense, subscription, allocation, included]) {
      await sql("insert into public.message_voids (workspace_id, message_id, reason) values ($1, $2, 'x')", [
        workspace.id,
        id,
      ]);
    }
    expect((await check(workspace)).found).toEqual([]);
    await sql(
      "update public.messages set amount_usd = amount_usd - 0.5 where workspace_id = $1 and voids = $2",
      [workspace.id, usage],
    );
    const { found } = await check(workspace);
    expect(found.filter(({ kind }) => kind === "void")).toMatchObject([
      { where: { message: usage }, stored: "-0.5", actual: "0", difference: "-0.5" },
    ]);
    expect((await check(workspace, true)).left).toEqual([]);
    expect((await check(workspace)).found).toEqual([]);
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

  test.each(corruptedLines)("of a batch: %s; guesses no line", async (_, statement, expected, stays) => {
    await sql(statement, [workspace.id, workspace.ids.batch]);
    const { found } = await check(workspace);
    const followers = ["budget", "daily_totals"];
    expect(found.filter(({ kind }) => !followers.includes(kind)).map(short)).toEqual(expected);
    expect((await check(workspace, true)).left.map(short)).toEqual(stays);
    expect((await check(workspace)).found.map(short)).toEqual(stays);
    // An operator removes the rest of the batch.
    await sql("delete from public.messages where workspace_id = $1 and id = $2", [
      workspace.id,
      workspace.ids.batch,
    ]);
    expect((await check(workspace, true)).left).toEqual([]);
  });

  test("Repairs one workspace without touching others", async () => {
    const other = await fillWorkspace(harness);
    for (const { id } of [workspace, other])
      await sql("delete from public.key_spend where workspace_id = $1", [id]);
    await check(workspace, true);
    expect((await check(workspace)).found).toEqual([]);
    expect((await check(other)).found).not.toEqual([]);
    expect((await reconcile({ repair: true })).left).toEqual([]);
  });
});
