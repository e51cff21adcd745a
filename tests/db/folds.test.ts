import type { PoolClient } from "pg";
import { beforeEach, expect, test, vi } from "vitest";
import { connectService } from "@/tests/helpers/connect-service";
import { foldPastDays } from "@/tests/helpers/folds";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import { check, type Filled, fillWorkspace } from "@/tests/helpers/ledger/reconcilable";

const harness = withHarness();
connectService(() => harness.database);
const sql = async (text: string, values: unknown[] = []) =>
  (await harness.fixtures.sql.query(text, values)).rows;

let workspace: Filled;
beforeEach(async () => {
  workspace = await fillWorkspace(harness);
});

/** What is folded of the workspace, and what of its days should be. */
async function folded() {
  const [sums] = await sql(
    `select
       (select sum(amount_usd) from public.monthly_spend where workspace_id = $1) as months,
       (select sum(amount_usd) from public.monthly_totals where workspace_id = $1 and dimension = 'provider') as month_totals,
       (
         select sum(amount_usd) from public.daily_spend join public.spend_folds using (workspace_id)
         where workspace_id = $1 and day < folded_until
       ) as days`,
    [workspace.id],
  );
  return sums as Record<"months" | "month_totals" | "days", string | null>;
}

async function expectFolded(): Promise<string | null> {
  const { months, month_totals: monthTotals, days } = await folded();
  expect(Number(months)).toBe(Number(days));
  expect(Number(monthTotals)).toBe(Number(days));
  return days;
}

/** Takes one posting of a past day away, as an erasure or a void does, in a transaction that stays open. */
async function change(client: PoolClient): Promise<void> {
  await client.query("begin");
  await client.query(
    `select private.add_daily_spend(array_agg(row(
       workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment, 0.25, 0, 0, 0,
       end_user, tags, 0
     )::public.daily_spend))
     from (
       select * from public.daily_spend where workspace_id = $1 and day < (now() at time zone 'UTC')::date - 5
       order by day, project_id, type limit 1
     ) as past`,
    [workspace.id],
  );
}

/** Resolves when some session waits for the lock of folding. */
const isWaiting = () =>
  vi.waitUntil(
    async () =>
      (
        await sql(
          `select from pg_catalog.pg_locks where locktype = 'advisory' and not granted
           and database = (select oid from pg_database where datname = current_database())`,
        )
      ).length === 1,
    { timeout: 30_000, interval: 10 },
  );

test("Folds past days, of today and yesterday none, and finds nothing more to fold", async () => {
  await foldPastDays(harness.fixtures);
  expect(Number(await expectFolded())).not.toBe(0);
  const [{ is_past: isPast }] = (await sql(
    `select folded_until <= private.past_until(now()) and folded_until < (now() at time zone 'UTC')::date as is_past
     from public.spend_folds where workspace_id = $1`,
    [workspace.id],
  )) as [{ is_past: boolean }];
  expect(isPast).toBe(true);
  expect(await sql("select private.fold_past_days() as folded")).toEqual([{ folded: null }]);
  expect(await ledgerDifferences(harness.fixtures, workspace.id)).toEqual([]);
  expect((await check(workspace)).found).toEqual([]);
});

test("Folds a day twelve hours after the day that follows it has ended, and no earlier", async () => {
  const until = (at: string) => sql("select private.past_until($1)::text as day", [at]);
  expect(await until("2026-03-12T11:59:59Z")).toEqual([{ day: "2026-03-10" }]);
  expect(await until("2026-03-12T12:00:00Z")).toEqual([{ day: "2026-03-11" }]);
  expect(await until("2026-03-12T23:59:59Z")).toEqual([{ day: "2026-03-11" }]);
});

test("Folds one month of one workspace in a transaction", async () => {
  const foldedUntil = async () =>
    (
      await sql("select folded_until::text as day from public.spend_folds where workspace_id = $1", [
        workspace.id,
      ])
    )[0]?.day;
  const months = await sql(
    `select (date_trunc('month', day) + interval '1 month')::date::text as until from public.daily_spend
     where workspace_id = $1 and day < private.past_until(now()) group by 1 order by 1`,
    [workspace.id],
  );
  expect(months.length).toBeGreaterThan(1);
  const seen: string[] = [];
  for (;;) {
    const [{ folded }] = await sql("select private.fold_past_days() as folded");
    if (folded === null) break;
    const until = await foldedUntil();
    if (until !== undefined && until !== seen.at(-1)) seen.push(until);
  }
  const whole = months.map(({ until }) => until).filter((until) => until <= (seen.at(-1) ?? ""));
  expect(seen.slice(0, whole.length)).toEqual(whole);
  expect(seen.length).toBe(months.length);
});

test("Leaves no name of an erased person in folded sums, nor where a void left sums of nothing", async () => {
  const add = (sign: number) =>
    sql(
      `select private.add_daily_spend(array[row(
         $1::uuid, date '2026-02-10', $1::uuid, null, 'usage', 'openai', 'gpt-4o', 'chat', 'api', 'live', $2 * 0.25, $2, $2, 0,
         'eve@example.com', array['team:growth'], 0
       )::public.daily_spend])`,
      [workspace.id, sign],
    );
  await add(1);
  await foldPastDays(harness.fixtures);
  await add(-1);
  await sql("insert into public.erasures (workspace_id, end_user) values ($1, 'eve@example.com')", [
    workspace.id,
  ]);
  while ((await sql("select private.erase_some(100) as changed"))[0].changed !== null);
  for (const table of ["daily_spend", "daily_totals", "monthly_spend", "monthly_totals"])
    expect(
      await sql(
        `select from public.${table} as t where workspace_id = $1 and to_jsonb(t)::text like '%eve@example.com%'`,
        [workspace.id],
      ),
      table,
    ).toEqual([]);
  expect(await ledgerDifferences(harness.fixtures, workspace.id)).toEqual([]);
});

test("Has a change of a past day once, whether it waits for the folding or the folding for it", async () => {
  const [one, other] = [await harness.fixtures.sql.connect(), await harness.fixtures.sql.connect()];
  try {
    // The folding begins first: the change is added to what is folded.
    await foldPastDays(harness.fixtures);
    await sql("select private.unfold_days($1)", [workspace.id]);
    await one.query("begin");
    while ((await one.query("select private.fold_past_days() as folded")).rows[0].folded !== null);
    const changed = change(other);
    await isWaiting();
    await one.query("commit");
    await changed;
    await other.query("commit");
    const before = await expectFolded();

    // The change begins first: the folding finds it among the days.
    await sql("select private.unfold_days($1)", [workspace.id]);
    await change(one);
    const folding = foldPastDays(harness.fixtures);
    await isWaiting();
    await one.query("commit");
    await folding;
    expect(Number(await expectFolded())).toBe(Number(before) + 0.25);
  } finally {
    one.release();
    other.release();
  }
});

test.each([
  ["a month's sum", "update public.monthly_spend set amount_usd = amount_usd + 1", "monthly_spend"],
  ["a month's row that is gone", "delete from public.monthly_spend", "monthly_spend"],
  ["a month's total", "update public.monthly_totals set included_usd = included_usd + 1", "monthly_totals"],
  ["a month's total that is gone", "delete from public.monthly_totals", "monthly_totals"],
])("Finds and repairs %s that differs from the days", async (_, statement, kind) => {
  await foldPastDays(harness.fixtures);
  await sql(`${statement} where workspace_id = $1`, [workspace.id]);
  const { found } = await check(workspace);
  expect(new Set(found.map((difference) => difference.kind))).toEqual(new Set([kind]));
  expect((await check(workspace, true)).left).toEqual([]);
  await foldPastDays(harness.fixtures);
  await expectFolded();
  expect((await check(workspace)).found).toEqual([]);
});

test("Keeps nothing folded of a workspace that is deleted", async () => {
  await foldPastDays(harness.fixtures);
  await sql("delete from public.workspaces where id = $1", [workspace.id]);
  for (const table of ["monthly_spend", "monthly_totals", "spend_folds"])
    expect(await sql(`select from public.${table} where workspace_id = $1`, [workspace.id])).toEqual([]);
});
