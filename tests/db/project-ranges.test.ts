import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { exactText } from "@/components/figures/amount";
import { type RangeQuery, rangeQuery } from "@/lib/contract/spend/ledger-query";
import { metricsQuery } from "@/lib/contract/spend/metrics";
import { clockOf } from "@/lib/contract/values/clock";
import { ConvertedNumber } from "@/lib/contract/values/exact-number";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { selectFoldedUntil } from "@/lib/spend/folded-days";
import { loadMetrics, readMetrics } from "@/lib/spend/metrics/service";
import { rangeOf, spentWithin } from "@/lib/spend/period";
import { selectProjects } from "@/lib/spend/projects/project-queries";
import { listSpendOfProjects } from "@/lib/spend/projects/service";
import { connectService } from "@/tests/helpers/connect-service";
import type { TestDatabase } from "@/tests/helpers/database";
import { foldPastDays } from "@/tests/helpers/folds";
import type { Fixtures } from "@/tests/helpers/keys";
import { displayOf } from "@/tests/helpers/ledger/converted";
import { exact, fine, total } from "@/tests/helpers/ledger/exact";
import { claimsOf, createMember } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

let database: TestDatabase;
let fixtures: Fixtures;
const slug = "ranges";
let workspaceId: string;
let member: UserClaims;

const dayMs = 86_400_000;
const daysAgo = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);
/** The days of the history, which begins this many days ago and has charges that are booked for days to come. */
const [history, ahead] = [400, 20];
/** When each project last cost something, in days ago. `quiet` never did. */
const lastDays = { daily: 0, ended: 40, short: 97, old: 310 };

withDatabase((open) => {
  ({ database, fixtures } = open);
});
connectService(() => database);
beforeAll(async () => {
  workspaceId = await fixtures.workspace(slug);
  member = claimsOf(await createMember(fixtures, workspaceId, "viewer"));
  for (const project of [...Object.keys(lastDays), "quiet"]) await fixtures.project(workspaceId, project);
  await fixtures.sql.query(
    "update public.projects set archived_at = now() where workspace_id = $1 and slug in ('old', 'quiet')",
    [workspaceId],
  );
  await fixtures.sql.query(
    `select private.add_daily_spend(array_agg(row(
       $1::uuid, (now() at time zone 'UTC')::date - ago, p.id, null, 'usage', 'p', 'm', null, 'api', environment,
       (1 + ago % 7 * 0.37 + length(p.slug)) / 1000, 1, 1 + abs(ago) % 3, 0, null, null, 0
     )::public.daily_spend))
     from public.projects as p
     join json_each_text($2) as last on last.key = p.slug,
       generate_series($3::integer, $4::integer) as ago, unnest(array['live', 'test']) as environment
     where p.workspace_id = $1 and (ago >= last.value::integer or p.slug = 'daily') and not (p.slug = 'old' and ago % 9 <> 4)`,
    [workspaceId, JSON.stringify(lastDays), -ahead, history],
  );
}, 60_000);

const anyRange = fc.oneof(
  fc.constantFrom<RangeQuery>(
    {},
    ...(["day", "week", "quarter", "year", "last_month", "last_7_days", "last_90_days", "all"] as const).map(
      (period) => ({ period }),
    ),
  ),
  fc
    .tuple(fc.integer({ min: -ahead - 5, max: history + 40 }), fc.integer({ min: 0, max: 150 }))
    .map(([first, days]) => rangeQuery.parse({ from: daysAgo(first), to: daysAgo(first - days) })),
);

/** The list of projects, checked against the metrics of the range. */
async function expectLikeMetrics(range: RangeQuery): Promise<void> {
  const metrics = await readMetrics(member, slug, metricsQuery.parse(range));
  const { projects, trends } = await listSpendOfProjects(member, slug, range);
  expect(projects.map(({ slug: project }) => project)).toEqual(["daily", "ended", "short", "old", "quiet"]);
  expect(total(projects.map(({ range_usd: usd }) => exact(exactText(usd))))).toBe(
    exact(exactText(metrics.totals.total_usd)),
  );
  expect(projects.reduce((sum, { range_message_count: count }) => sum + count, 0)).toBe(
    metrics.totals.message_count,
  );
  const { bucket, points } = metrics.series;
  expect(trends.bucket).toBe(bucket);
  const courses = Object.values(trends.of);
  const spentInBuckets = points
    .slice(0, courses[0]?.length ?? 0)
    .map(({ total_usd: usd }) => exact(exactText(usd)));
  expect(
    spentInBuckets.map((_, place) => total(courses.map((course) => exact(course[place] ?? "")))),
  ).toEqual(spentInBuckets);
  for (const { slug: project, range_usd: usd, last_activity_on: last } of projects) {
    const course = trends.of[project] ?? [];
    expect(total(course.map(exact)), project).toBe(exact(exactText(usd)));
    expect(course.length).toBeLessThanOrEqual(points.length);
    const lastDay = (lastDays as Record<string, number>)[project];
    const lastOfOld = Array.from({ length: history }, (_, ago) => ago).find(
      (ago) => ago >= 310 && ago % 9 === 4,
    );
    const expected = project === "old" ? lastOfOld : lastDay;
    expect(last, project).toBe(expected === undefined ? null : daysAgo(expected));
  }
}

test("Lists projects whose spend and messages are those of the metrics, in any range, folded or not", async () => {
  const check = () =>
    fc.assert(
      fc.asyncProperty(anyRange, (range) => expectLikeMetrics(range)),
      { numRuns: 60 },
    );
  await check();
  await foldPastDays(fixtures);
  const { rows } = await fixtures.sql.query("select from public.spend_folds where folded_until > $1", [
    daysAgo(4),
  ]);
  expect(rows).toHaveLength(1);
  await check();
}, 120_000);

test("Lists projects whose spend in a currency is that of the metrics, each day at its rate, in any range of folded days", async () => {
  await foldPastDays(fixtures);
  const rates = Array.from({ length: 25 }, (_, place) => ({
    date: daysAgo(history - place * 16),
    rate: `1.${place + 10}`,
  }));
  const display = displayOf(rates);
  await fc.assert(
    fc.asyncProperty(anyRange, (range) =>
      asUserReading(member, async (client, now) => {
        const days = spentWithin(rangeOf(range, now), now);
        const foldedUntil = await selectFoldedUntil(client, workspaceId);
        const listed = { ...days, today: daysAgo(0), foldedUntil };
        const projects = await selectProjects(client, workspaceId, listed, null, display);
        const { totals } = await loadMetrics(
          client,
          workspaceId,
          metricsQuery.parse(range),
          clockOf("UTC", now),
          display,
        );
        const spent = totals.total_usd;
        const converted = spent instanceof ConvertedNumber ? spent.converted : "";
        expect(total(projects.map(({ range_converted: each }) => fine(each ?? "")))).toBe(fine(converted));
        expect(total(projects.map(({ range_usd: each }) => exact(each)))).toBe(exact(exactText(spent)));
      }),
    ),
    { numRuns: 60 },
  );
}, 120_000);
