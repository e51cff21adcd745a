import type { PoolClient } from "pg";
import { beforeEach, expect, test, vi } from "vitest";
import { runFolding } from "@/lib/ledger/folding/service";
import { connectService } from "@/tests/helpers/connect-service";
import { foldDays, foldPastDays, sliceMonths } from "@/tests/helpers/folds";
import type { Fixtures } from "@/tests/helpers/keys";
import { createMember, runAs, type SqlUser } from "@/tests/helpers/sql-user";
import { type OpenDatabase, withDatabase } from "@/tests/helpers/with-database";

let open: OpenDatabase;
let fixtures: Fixtures;
withDatabase((opened) => {
  open = opened;
  ({ fixtures } = opened);
});
connectService(() => open.database);
const sql = async (text: string, values: unknown[] = []) => (await fixtures.sql.query(text, values)).rows;

let workspace: string;
beforeEach(async () => {
  workspace = await fixtures.workspace();
});

/** What to add to the sums of a day. The key, the feature and the user are a number each, which repeats. */
type Change = { day: string; rows?: number; keys?: number; features?: number; users?: number };

/** Adds rows to the sums of days, as recorded messages do: the statement and its values. */
const adding = (changes: Change[]) =>
  [
    `select private.add_daily_spend(array_agg(row(
       $1::uuid, (c ->> 'day')::date, $1::uuid, lpad(n % (c ->> 'keys')::int || '', 32, '0')::uuid, 'usage', 'openai', 'gpt-4o',
       'feature-' || n % (c ->> 'features')::int, 'api', 'live', 0.25, 1, 1, 0,
       case when c ? 'users' then 'user-' || n % (c ->> 'users')::int end, null, 0
     )::public.daily_spend))
     from jsonb_array_elements($2) as c cross join generate_series(1, (c ->> 'rows')::int) as n`,
    [
      workspace,
      JSON.stringify(changes.map((change) => ({ rows: 1, keys: 1, features: 1, ...change }))),
    ] as unknown[],
  ] as [string, unknown[]];
const add = (...changes: Change[]) => sql(...adding(changes));

/** The slices of each month, or that it is changed or claimed. */
const slices = async () =>
  Object.fromEntries(
    (
      await sql(
        "select to_char(month, 'YYYY-MM') as month, state, slices from public.sliced_months where workspace_id = $1",
        [workspace],
      )
    ).map(({ month, state, slices }) => [month, state === "made" ? slices : state]),
  );
const count = async (table: string) =>
  (await sql(`select from public.${table} where workspace_id = $1`, [workspace])).length;

/** Makes slices as the job does, with other limits. */
async function make(...limits: [leastSums: number, mostSums: number, leastRatio: number]) {
  const due = "from private.months_to_slice() where workspace_id = $1";
  await sql(`select private.claim_month_to_slice(workspace_id, month) ${due}`, [workspace]);
  return sql(`select private.slice_month(workspace_id, month, $2, $3, $4) as made ${due}`, [
    workspace,
    ...limits,
  ]);
}

/** Slices that are listed and differ from their month, by name. */
const differing = async () =>
  sql(
    `select month, names from public.sliced_months cross join unnest(slices) as names
     where workspace_id = $1 and (
       select row(sum(amount_usd), sum(message_count), sum(item_count)) from public.monthly_slices as s
       where s.workspace_id = $1 and s.month = sliced_months.month and s.names = names.names
     ) is distinct from (
       select row(sum(amount_usd), sum(message_count), sum(item_count)) from public.monthly_spend as m
       where m.workspace_id = $1 and m.month = sliced_months.month
     )`,
    [workspace],
  );

/** Resolves when some session waits for a lock. */
const isWaiting = () =>
  vi.waitUntil(
    async () =>
      (
        await sql(
          "select from pg_catalog.pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
        )
      ).length === 1,
    { timeout: 10_000, interval: 10 },
  );

test("Keeps the slices that have far fewer rows than their month, the shortest first", async () => {
  await add({ day: "2026-01-10", rows: 60, keys: 12, features: 10 });
  await foldDays(fixtures);
  // Of 60 rows, 12 have different keys, 10 different features: a slice with both has all 60.
  const byFeature = ["feature model project", "feature model user", "feature project user"];
  const byKey = ["key model project", "key model user", "key project user"];
  expect(await make(60, 60, 4)).toEqual([{ made: 1 + 3 * 10 + 3 * 12 }]);
  expect(await slices()).toEqual({ "2026-01": ["model project user", ...byFeature, ...byKey] });
  expect(await differing()).toEqual([]);
  expect(await make(60, 60, 4)).toEqual([]);
});

test.each([
  ["small", 61, 100],
  ["huge", 1, 59],
])("Makes no slices of a month that is too %s", async (_, least, most) => {
  await add({ day: "2026-01-10", rows: 60, users: 60 });
  await foldDays(fixtures);
  expect(await make(least, most, 1)).toEqual([{ made: 0 }]);
  expect(await slices()).toEqual({ "2026-01": [] });
});

test("Has slices made again after a late change, of the changed months alone", async () => {
  await add({ day: "2026-01-10" }, { day: "2026-02-10" });
  await foldPastDays(fixtures);
  await add({ day: "2026-02-11", features: 3, rows: 3 });
  expect(await slices()).toEqual({ "2026-01": expect.any(Array), "2026-02": "changed" });
  // Messages of a month that had none, which ended before the last folded day.
  await add({ day: "2025-12-24" });
  expect(await slices()).toMatchObject({ "2025-12": "changed" });
  await sliceMonths(fixtures);
  expect(await slices()).toEqual({
    "2025-12": expect.any(Array),
    "2026-01": expect.any(Array),
    "2026-02": expect.any(Array),
  });
  expect(await differing()).toEqual([]);
});

test("Leaves the slices as they are when today's messages are recorded", async () => {
  await add({ day: "2026-01-10" });
  await foldPastDays(fixtures);
  const today = new Date().toISOString().slice(0, 10);
  await add({ day: today, users: 1 });
  expect(await slices()).toEqual({ "2026-01": expect.any(Array) });
});

const claim = () => sql("select private.claim_month_to_slice($1, '2026-01-01')", [workspace]);
const slice = "select private.slice_month($1, '2026-01-01', 0, 1000, 1) as made";

test("Has no slice without a change that is made before, after or while it is built", async () => {
  await add({ day: "2026-01-10", features: 5, rows: 5 });
  await foldDays(fixtures);
  const [one, other] = [await fixtures.sql.connect(), await fixtures.sql.connect()];
  const change = (client: PoolClient, day: string) => client.query(...adding([{ day }]));
  try {
    // The change begins before the month is claimed: the slices have it.
    await one.query("begin");
    await change(one, "2026-01-11");
    const sliced = sliceMonths(fixtures);
    await isWaiting();
    await one.query("commit");
    await sliced;
    expect(await slices()).toEqual({ "2026-01": expect.arrayContaining(["feature key model"]) });
    expect(await differing()).toEqual([]);

    // The change begins after that, and ends after the slices are built: nothing of them is kept.
    await change(one, "2026-01-12");
    await claim();
    await one.query("begin");
    await change(one, "2026-01-13");
    const made = other.query(slice, [workspace]);
    await isWaiting();
    await one.query("commit");
    expect((await made).rows).toEqual([{ made: 0 }]);
    expect(await slices()).toEqual({ "2026-01": "changed" });
    expect(await count("monthly_slices")).toBe(0);

    // The slices are built first: they are not read after the change.
    await claim();
    await one.query("begin");
    await one.query(slice, [workspace]);
    const changed = change(other, "2026-01-14");
    await isWaiting();
    await one.query("commit");
    await changed;
    expect(await slices()).toEqual({ "2026-01": "changed" });

    // A month is not claimed again while its slices are built.
    await claim();
    await one.query("begin");
    await one.query(slice, [workspace]);
    const claimed = claim();
    await isWaiting();
    await one.query("commit");
    await claimed;
    expect(await slices()).toEqual({ "2026-01": expect.any(Array) });
    expect(await differing()).toEqual([]);
  } finally {
    // Closed, because a test that fails leaves a transaction open.
    one.release(true);
    other.release(true);
  }
});

test("Makes the slices of a month once, where two processes find them missing", async () => {
  await add({ day: "2026-01-10", features: 5, rows: 5 });
  await foldDays(fixtures);
  await claim();
  const [one, other] = [await fixtures.sql.connect(), await fixtures.sql.connect()];
  try {
    await one.query("begin");
    await one.query(slice, [workspace]);
    const made = other.query(slice, [workspace]);
    await isWaiting();
    await one.query("commit");
    expect((await made).rows).toEqual([{ made: 0 }]);
    expect(await slices()).toEqual({ "2026-01": expect.arrayContaining(["feature key model"]) });
    expect(await differing()).toEqual([]);
  } finally {
    // Closed, because a test that fails leaves a transaction open.
    one.release(true);
    other.release(true);
  }
});

test("Has slices made again when more days of their month are folded, and not before", async () => {
  await add({ day: "2026-01-10", rows: 2, users: 2 });
  await foldPastDays(fixtures);
  await sql("update public.spend_folds set folded_until = '2026-01-15' where workspace_id = $1", [workspace]);
  // Recorded together with a folded day, of a person whom the slices name.
  await add({ day: "2025-12-24" }, { day: "2026-01-20", users: 1 });
  expect(await slices()).toEqual({ "2025-12": "changed", "2026-01": expect.any(Array) });
  expect(await differing()).toEqual([]);
  await foldDays(fixtures);
  expect(await slices()).toMatchObject({ "2026-01": "changed" });
  await sliceMonths(fixtures);
  expect(await slices()).toMatchObject({ "2026-01": expect.any(Array) });
  expect(await differing()).toEqual([]);
});

test("Has the service's job fold days, and slice the months that have many sums", async () => {
  await add(
    { day: "2026-01-10", rows: 3_000, keys: 4, features: 3, users: 3_000 },
    { day: "2026-02-10", rows: 2_999, users: 2_999 },
  );
  await runFolding();
  expect(await slices()).toEqual({ "2026-01": expect.arrayContaining(["feature key model"]), "2026-02": [] });
  expect(await count("monthly_slices")).toBeGreaterThan(0);
  expect(await differing()).toEqual([]);
  expect(await runFolding()).toBe(0);
});

test("Keeps no name of a person in slices that are out of date", async () => {
  await add({ day: "2026-01-10", rows: 2, users: 2 }, { day: "2026-02-10", rows: 2, users: 2 });
  await foldPastDays(fixtures);
  // January is out of date before user-0 is taken away.
  await add({ day: "2026-01-11" });
  await sql(
    `select private.add_daily_spend(array_agg(row(
       workspace_id, day, project_id, api_key_id, type, provider, model, feature, source, environment, -amount_usd,
       -message_count, -item_count, -unpriced_count, end_user, tags, -included_usd
     )::public.daily_spend))
     from public.daily_spend where workspace_id = $1 and end_user = 'user-0'`,
    [workspace],
  );
  const named =
    "select distinct end_user from public.monthly_slices where workspace_id = $1 and end_user is not null";
  expect(await sql(named, [workspace])).toEqual([{ end_user: "user-1" }]);
  await sliceMonths(fixtures);
  expect(await sql(named, [workspace])).toEqual([{ end_user: "user-1" }]);
  expect(await differing()).toEqual([]);
});

test("Makes no slices of a workspace that is deleted", async () => {
  await add({ day: "2026-01-10" });
  await foldDays(fixtures);
  await sql(
    "update public.workspaces set deleted_at = now(), prices_version = prices_version - private.deletion_mark() where id = $1",
    [workspace],
  );
  await sliceMonths(fixtures);
  expect(await slices()).toEqual({ "2026-01": "changed" });
});

test("Shows slices to members of the workspace alone, and to no key", async () => {
  await add({ day: "2026-01-10" });
  await foldPastDays(fixtures);
  const member = await createMember(fixtures, workspace, "viewer");
  const stranger = await createMember(fixtures, await fixtures.workspace(), "owner");
  const { service } = open;
  const seen = async ({ id }: SqlUser, table: string) => {
    const statement = `select from public.${table} where workspace_id = $1`;
    return (await runAs(service, { sub: id }, "rollback", statement, [workspace])).rowCount;
  };
  for (const table of ["monthly_slices", "sliced_months"]) {
    expect(await seen(member, table), table).toBeGreaterThan(0);
    expect(await seen(stranger, table), table).toBe(0);
    await service.query("begin");
    await service.query("select set_config('role', 'outlay_key', true)");
    await expect(service.query(`select from public.${table}`)).rejects.toThrow(/permission denied/);
    await service.query("rollback");
  }
  await sql("insert into private.deleted_workspaces (id) values ($1)", [workspace]);
  for (const table of ["monthly_slices", "sliced_months"]) expect(await seen(member, table), table).toBe(0);
});
