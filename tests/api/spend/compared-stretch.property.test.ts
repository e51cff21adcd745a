import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { type MetricsQuery, metricsQuery } from "@/lib/contract/spend/metrics";
import { spendQuery } from "@/lib/contract/spend/spend-query";
import { clockOf } from "@/lib/contract/values/clock";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { loadChanges } from "@/lib/spend/changes/service";
import { loadComparison } from "@/lib/spend/explore/comparison";
import { loadAnswer } from "@/lib/spend/explore/service";
import { loadMetrics } from "@/lib/spend/metrics/service";
import { comparedWith } from "@/lib/spend/period";
import { exact, show, total } from "@/tests/helpers/ledger/exact";
import { recordRandomSpend } from "@/tests/helpers/ledger/random-spend";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { correspondingTo, type Line, loadRange, matches } from "@/tests/helpers/spend";

const harness = withSharedHarness();
const runs = Number(process.env.SPEND_RUNS ?? 60);
const dayMs = 86_400_000;

let workspaceId: string;
let lines: Line[];
beforeAll(async () => {
  ({ id: workspaceId, lines } = await recordRandomSpend(harness, { now: Date.now(), seed: 5 }));
}, 120_000);

/** A moment at which what is compared with ends within a millisecond of a cost. */
const moment = fc
  .tuple(fc.nat(), fc.constantFrom(1, 7, 28, 30, 92, 364, 365), fc.constantFrom(-1, 0, 1))
  .map(([number, days, ms]) => Date.parse(lines[number % lines.length]?.at ?? "") + days * dayMs + ms);

const query: fc.Arbitrary<MetricsQuery> = fc
  .tuple(
    fc.constantFrom("day", "week", "month", "quarter", "year", "year_to_date", "last_month", "last_30_days"),
    fc.constantFrom(
      {},
      {},
      { compare: "last_year" },
      { compare_from: "2026-01-01", compare_to: "2026-01-20" },
    ),
    fc.constantFrom(
      {},
      { project: "alpha" },
      { model: "fast" },
      { user: "" },
      { tag: "team:growth" },
      { provider: "acme" },
    ),
    fc.constantFrom("live", "live", "test"),
  )
  .map(([period, compared, filters, environment]) =>
    metricsQuery.parse({ period, ...compared, ...filters, environment }),
  );

const shown = (figure: unknown) => show(exact(figure instanceof ExactNumber ? figure.text : String(figure)));

test("Compares a period, to the message, with the same stretch in figures, causes and every grouping of Explore", {
  timeout: 3_000 * runs + 60_000,
}, async () => {
  let cutLines = 0;
  // An example in which the day on which the stretch ends has a cost; random ones may miss it.
  const cut = lines.find(({ environment }) => environment === "live");
  if (!cut) throw new Error("Nothing was recorded in the live environment.");
  const afterOneDay = Date.parse(cut.at) + dayMs + 1;
  await fc.assert(
    fc.asyncProperty(
      moment,
      query,
      fc.constantFrom("project", "provider", "model", "user", "key", "type", "tag:team", "unit"),
      async (now, asked, by) => {
        const {
          period,
          compare,
          compare_from,
          compare_to,
          environment,
          from: _,
          to: __,
          currency: ___,
          group_by: ____,
          ...filters
        } = asked;
        // Nothing explains a stretch that has not begun.
        fc.pre(compare_from === undefined || Date.parse(compare_from) <= now);
        const days = { period, compare, compare_from, compare_to };
        const how =
          compare_from === undefined
            ? { ...(compare && { compare }) }
            : { compare: "range" as const, compare_from, compare_to };
        const filter = Object.fromEntries(
          Object.entries({ ...filters, ...how, period, environment }).filter(
            ([, value]) => value !== undefined,
          ),
        ) as Parameters<typeof loadRange>[1];
        const range = await loadRange(harness.fixtures, filter, now);
        const stretch = correspondingTo(filter, range, now)?.stretch;
        if (!stretch) throw new Error("Nothing is compared.");
        const named = {
          ...filter,
          ...Object.fromEntries(Object.entries(filters).map(([name, value]) => [name, value ?? ""])),
        };
        const within = lines.filter((line) => matches(line, named, stretch));
        cutLines += within.filter(({ at }) => at.slice(0, 10) === stretch.until.slice(0, 10)).length;
        const expected = show(total(within.map(({ amount }) => amount)));
        const client = await harness.fixtures.sql.connect();
        try {
          const { previous } = await loadMetrics(client, workspaceId, asked, clockOf("UTC", now));
          expect(shown(previous?.to_point_usd)).toBe(expected);
          if (Object.values(filters).some((value) => value !== undefined)) return;
          const changes = await loadChanges(client, { workspaceId, environment }, days, clockOf("UTC", now));
          expect(shown(changes?.before_usd)).toBe(expected);
          expect(show(total(changes?.causes.map(({ amount_usd: usd }) => exact(usd)) ?? []))).toBe(
            shown(changes?.difference_usd),
          );
          const today = new Date(now).toISOString().slice(0, 10);
          const to = [new Date(Date.parse(range.until) - dayMs).toISOString().slice(0, 10), today].sort()[0];
          const explored = spendQuery.parse({ from: range.from, to, environment, group_by: [by], top: 2 });
          const who = { workspaceId, isKey: false, isOfUsers: false };
          const answer = await loadAnswer(client, who, explored, clockOf("UTC", now));
          const compared = comparedWith(days, now);
          if (!compared) throw new Error("Nothing is compared.");
          const comparison = await loadComparison(
            client,
            who,
            { query: explored, answer, compared },
            clockOf("UTC", now),
          );
          expect(shown(comparison?.totals.before)).toBe(expected);
          expect(comparison?.stretch).toEqual(previous?.to_point);
          // Where nothing was spent in the period, there is no row to compare.
          if (answer.rows.groups.length === 0) return;
          const gone = comparison?.gone ? [-exact(shown(comparison.gone.difference))] : [];
          const parts = comparison?.rows.map(({ before }) => exact(shown(before))) ?? [];
          expect(show(total([...parts, ...gone]))).toBe(expected);
        } finally {
          client.release();
        }
      },
    ),
    { numRuns: runs, examples: [[afterOneDay, metricsQuery.parse({ period: "day" }), "project"]] },
  );
  expect(cutLines).toBeGreaterThan(0);
});

test("Takes the part of a day with too many lines of its sum, and says so", async () => {
  const workspace = await harness.fixtures.workspace();
  const project = await harness.fixtures.project(workspace, "busy");
  await harness.fixtures.sql.query(
    `select private.add_daily_spend(array[row(
       $1::uuid, '2026-03-01', $2::uuid, null, 'usage', 'acme', 'fast', null, 'api', 'live', 24, 20000, 20000, 0, null, null, 0
     )::public.daily_spend])`,
    [workspace, project],
  );
  const client = await harness.fixtures.sql.connect();
  try {
    const at = Date.parse("2026-03-02T06:00:00Z");
    const { previous } = await loadMetrics(
      client,
      workspace,
      metricsQuery.parse({ period: "day" }),
      clockOf("UTC", at),
    );
    expect(previous?.to_point?.is_estimate).toBe(true);
    expect(shown(previous?.to_point_usd)).toBe(show(exact("6")));
  } finally {
    client.release();
  }
});
