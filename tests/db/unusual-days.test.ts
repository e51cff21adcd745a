import fc from "fast-check";
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import type { Fixtures } from "@/tests/helpers/keys";
import { storePostings } from "@/tests/helpers/store-postings";
import { withDatabase } from "@/tests/helpers/with-database";

// Days that cost far more than usual, against a model that knows nothing of SQL.

let fixtures: Fixtures;
let service: pg.Client;

withDatabase((open) => {
  ({ fixtures, service } = open);
});

const runs = Number(process.env.RULE_RUNS ?? 12);
const dayMs = 86_400_000;
const day = (index: number) => new Date(Date.UTC(2026, 9, 1) + index * dayMs).toISOString().slice(0, 10);

/** The median by its definition: half of the amounts are at most it, half at least. */
function medianOf(amounts: number[]): number {
  const sorted = [...amounts].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return sorted.length % 2
    ? (sorted[Math.floor(middle)] ?? 0)
    : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** Whether a day's cents are unusual among the same weekdays of the four weeks before. */
function isUnusual(cents: number[], index: number, leastCents: number): boolean {
  if (!cents.slice(0, Math.max(0, index - 27)).some((amount) => amount > 0)) return false;
  const before = [7, 14, 21, 28].map((days) => cents[index - days] ?? 0);
  const median = medianOf(before);
  const mad = medianOf(before.map((amount) => Math.abs(amount - median)));
  const today = cents[index] ?? 0;
  // 1.4826 × 5 = 7.413, in whole numbers.
  const isFar = (today - median) * 1000 >= mad * 7413;
  return today > 0 && isFar && today >= 2 * median && today - median >= leastCents;
}

const amount = fc.oneof(
  { arbitrary: fc.integer({ min: 900, max: 1_100 }), weight: 6 },
  { arbitrary: fc.integer({ min: 0, max: 6_000 }), weight: 3 },
  { arbitrary: fc.constant(0), weight: 1 },
);

let names = 0;
async function tell(workspace: string, index: number, cents: number, type = "usage"): Promise<void> {
  await fixtures.sql.query(
    `insert into public.daily_totals (workspace_id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count)
     values ($1, 'live', 'provider', $2, 'openai', $3, $4::numeric / 100, 1, 0)`,
    [workspace, day(index), type, cents],
  );
}
const unusualDays = async (workspace: string) =>
  (
    await fixtures.sql.query(
      "select period::text from public.alerts where workspace_id = $1 and rule = 'unusual_day' order by period",
      [workspace],
    )
  ).rows.map(({ period }) => period);
const judge = (at: string) => service.query("select private.judge_usage_rules($1)", [at]);

beforeAll(async () => {
  await fixtures.sql.query("delete from public.workspaces");
  await fixtures.sql.query("select private.ensure_messages_month('2026-10-01')");
});

test("What is unusual equals the model's, day by day", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(amount, { minLength: 30, maxLength: 50 }),
      fc.constantFrom(100, 1_000, 2_500),
      async (cents, least) => {
        const workspace = await fixtures.workspace(`unusual-${names++}`);
        await fixtures.sql.query(
          "insert into public.alert_rules (workspace_id, rule, parameter) values ($1, 'unusual_day', $2)",
          [workspace, least / 100],
        );
        for (const [index, each] of cents.entries()) {
          if (each > 0) await tell(workspace, index, each);
          await judge(`${day(index)}T10:00:00Z`);
          // Each day is judged again and again, and in the minutes after its end.
          await judge(`${day(index + 1)}T00:04:59Z`);
        }
        const expected = cents.flatMap((_, index) => (isUnusual(cents, index, least) ? [day(index)] : []));
        expect(await unusualDays(workspace)).toEqual(expected);
        await fixtures.sql.query("delete from public.workspaces where id = $1", [workspace]);
      },
    ),
    { numRuns: runs, seed: Number(process.env.RULE_SEED ?? Date.now()) },
  );
}, 300_000);

test("Leaves out what is booked on days of the month, and what is in the test environment", async () => {
  const workspace = await fixtures.workspace(`booked-${names++}`);
  for (let index = 0; index <= 28; index += 1) await tell(workspace, index, 1_000);
  await tell(workspace, 28, 500_000, "subscription");
  await judge(`${day(28)}T10:00:00Z`);
  expect(await unusualDays(workspace)).toEqual([]);
});

test("Leaves out adjustments of closed months, whatever their sign, on the day and on those compared with", async () => {
  const adjust = (workspace: string, index: number, usd: string) =>
    storePostings(service, [
      {
        ...{ workspace_id: workspace, project_id: projects.get(workspace), amount_usd: usd },
        ...{ occurred_at: `${day(index)}T09:00:00Z`, adjusts: "2026-08-15T12:00:00Z" },
      },
    ]);
  const projects = new Map<string, string>();
  const usual = async (name: string) => {
    const workspace = await fixtures.workspace(`${name}-${names++}`);
    projects.set(workspace, await fixtures.project(workspace, "checkout"));
    await fixtures.sql.query(
      `insert into public.closed_months (workspace_id, month, amount_usd, adjustments_usd, message_count, unpriced_count)
       values ($1, '2026-08-01', 0, 0, 0, 0)`,
      [workspace],
    );
    for (let index = 0; index < 28; index += 1) await tell(workspace, index, 1_000);
    return workspace;
  };
  const costly = await usual("costly");
  await tell(costly, 28, 1_000);
  await adjust(costly, 28, "5000");
  const taken = await usual("taken");
  await tell(taken, 28, 9_000);
  await adjust(taken, 28, "-85");
  const compared = await usual("compared");
  for (const index of [0, 7, 14]) await adjust(compared, index, "5000");
  await tell(compared, 28, 9_000);
  await judge(`${day(28)}T10:00:00Z`);
  expect([await unusualDays(costly), await unusualDays(taken), await unusualDays(compared)]).toEqual([
    [],
    [day(28)],
    [day(28)],
  ]);
});

test("Records the figures that it was worked out from", async () => {
  const workspace = await fixtures.workspace(`figures-${names++}`);
  for (let index = 0; index < 28; index += 1) await tell(workspace, index, 1_000 + index);
  await tell(workspace, 28, 9_000);
  await judge(`${day(28)}T10:00:00Z`);
  const { rows } = await fixtures.sql.query(
    "select details, subject_type, state from public.alerts where workspace_id = $1",
    [workspace],
  );
  expect(rows).toMatchObject([
    {
      subject_type: "workspace",
      state: "warning",
      details: {
        ...{ day: day(28), spent_usd: "90", median_usd: "10.105", mad_usd: "0.07", above_usd: "20.21" },
        compared: [0, 7, 14, 21].map((index) => ({
          day: day(index),
          spent_usd: String((1_000 + index) / 100),
        })),
      },
    },
  ]);
});
