import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import type { ExactClient } from "@/tests/helpers/ledger/client";
import { exact, show, total } from "@/tests/helpers/ledger/exact";
import { recordRandomSpend } from "@/tests/helpers/ledger/random-spend";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import {
  correspondingTo,
  entryOf,
  groupBy,
  type Line,
  loadRange,
  matches,
  nameIn,
  type SpendFilter,
} from "@/tests/helpers/spend";

const harness = withSharedHarness();
const runs = Number(process.env.SPEND_RUNS ?? 60);
const now = Date.now();

let slug: string;
let viewer: ExactClient;
let lines: Line[];
let keyIds: string[];

beforeAll(async () => {
  ({ slug, viewer, lines } = await recordRandomSpend(harness, { now, seed: 7 }));
  keyIds = [...new Set(lines.map(({ key }) => key ?? ""))];
  expect(new Set(lines.map(({ type }) => type)).size).toBe(5);
}, 120_000);

const periods = [
  ...(["day", "week", "month", "quarter", "year", "all", "last_month", "last_quarter"] as const),
  ...(["year_to_date", "last_7_days", "last_30_days", "last_90_days"] as const),
];
const days = [
  "2023-12-31",
  "2024-01-01",
  "2024-02-29",
  "2025-12-31",
  "2026-01-01",
  new Date(now).toISOString().slice(0, 10),
];
const period: fc.Arbitrary<Pick<SpendFilter, "period" | "from" | "to">> = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(...periods).map((name) => ({ period: name })) },
  fc
    .tuple(fc.constantFrom(...days), fc.constantFrom(...days))
    .map(([a, b]) =>
      a < b ? { period: "range" as const, from: a, to: b } : { period: "range" as const, from: b, to: a },
    ),
);

const comparison: fc.Arbitrary<Pick<SpendFilter, "compare" | "compare_from" | "compare_to">> = fc.oneof(
  fc.constant({}),
  fc.constantFrom("previous" as const, "last_year" as const, "none" as const).map((compare) => ({ compare })),
  fc
    .tuple(fc.constantFrom(...days), fc.constantFrom(...days))
    .map(([a, b]) => (a < b ? { compare_from: a, compare_to: b } : { compare_from: b, compare_to: a }))
    .map((chosen) => ({ compare: "range" as const, ...chosen })),
);

const values = {
  project: fc.constantFrom("alpha", "beta", "gamma", "no-such-project"),
  type: fc.constantFrom("usage", "batch", "allocation", "expense", "subscription"),
  key: fc.nat().map((number) => keyIds[number % keyIds.length] ?? ""),
  provider: fc.constantFrom("acme", "Acme", "Figma", ""),
  model: fc.constantFrom("fast", "FAST", ""),
  feature: fc.constantFrom("chat", "search", ""),
  user: fc.constantFrom("anna@example.com", "bo", "nobody", ""),
  tag: fc.constantFrom("team:growth", "team:search: relevance", "cost_center:4711", "team", ""),
  source: fc.constantFrom("api", "mcp", "import"),
};
const names = Object.keys(values) as (keyof typeof values)[];

const filter: fc.Arbitrary<SpendFilter> = fc
  .tuple(
    period,
    comparison,
    fc.record(values),
    fc.subarray(names, { maxLength: 2 }),
    fc.constantFrom("live", "live", "test"),
  )
  .map(([when, compared, all, chosen, environment]) => ({
    ...when,
    ...(when.period === "all" ? {} : compared),
    ...Object.fromEntries(chosen.map((name) => [name, all[name]])),
    environment,
  }));

/** Every row of the activity, page after page. */
async function readAll(query: Record<string, unknown>, limit: number) {
  const rows: Record<string, unknown>[] = [];
  for (let cursor: unknown; cursor !== null; ) {
    const page = new URLSearchParams({ ...(query as Record<string, string>), limit: String(limit) });
    if (typeof cursor === "string") page.set("cursor", cursor);
    const { status, body } = await viewer.get(`/api/v1/workspaces/${slug}/activity?${page}`);
    expect(status, JSON.stringify(body)).toBe(200);
    const activity = body.activity as Record<string, unknown>[];
    expect(Number(body.count)).toBe(activity.length);
    rows.push(...activity);
    cursor = body.next_cursor;
  }
  return rows;
}

const amount = (value: unknown) => exact(String(value));
const sumOf = (rows: { total_usd?: unknown }[]) => show(total(rows.map((row) => amount(row.total_usd))));

type Slice = { value: string | null; total_usd: string; message_count: string };

test("Answers every filter with the rows, totals, series and breakdowns of an independent query", {
  timeout: 3_000 * runs + 60_000,
}, async () => {
  const today = new Date().toISOString().slice(0, 10);
  await fc.assert(
    fc.asyncProperty(
      filter,
      fc.constantFrom("project", "type", "provider", "model", "feature", "key", "user", "tag"),
      fc.constantFrom(11, 25, 100),
      async (by, stackedBy, limit) => {
        const range = await loadRange(harness.fixtures, by);
        const listed = lines.filter((line) => matches(line, by, range));
        const rows = await readAll(by, limit);
        expect(rows.map((row) => [row.id, Number(row.part), show(amount(row.amount_usd))])).toEqual(
          [...groupBy(listed, entryOf)].map(([, [first, ...rest]]) => [
            first?.id,
            first?.part,
            show(total([first, ...rest].map((line) => line?.amount ?? 0n))),
          ]),
        );

        const query = new URLSearchParams({ ...(by as Record<string, string>), group_by: stackedBy });
        const { status, body } = await viewer.get(`/api/v1/workspaces/${slug}/metrics?${query}`);
        expect(status, JSON.stringify(body)).toBe(200);
        // What lies ahead of today is booked, not spent: every sum below is of what is spent.
        const isSpent = ({ at }: Line) => at.slice(0, 10) <= today;
        const ahead = listed.filter((line) => !isSpent(line));
        const booked = body.booked_ahead as { total_usd: string; from: string; to: string } | null;
        expect(booked === null).toBe(ahead.length === 0);
        if (booked) {
          expect(show(amount(booked.total_usd))).toBe(show(total(ahead.map((line) => line.amount))));
          expect(booked.to).toBe(ahead[0]?.at.slice(0, 10));
          expect(booked.from > today).toBe(true);
        }
        const expected = listed.filter(isSpent);
        const whole = show(total(expected.map((line) => line.amount)));
        const totals = body.totals as Record<string, string>;
        expect(show(amount(totals.total_usd))).toBe(whole);
        const typesOf = {
          usage_usd: ["usage", "batch", "allocation"],
          subscription_usd: ["subscription"],
          expense_usd: ["expense"],
        };
        for (const [name, types] of Object.entries(typesOf)) {
          const ofTypes = expected.filter(({ type }) => types.includes(type)).map((line) => line.amount);
          expect(show(amount(totals[name])), name).toBe(show(total(ofTypes)));
        }
        expect(Number(totals.message_count)).toBe(expected.filter((line) => line.isFirst).length);
        expect(Number(totals.unpriced_count)).toBe(
          expected.filter(({ status }) => status === "unpriced").length,
        );

        expect(show(amount(totals.included_usd))).toBe(show(total(expected.map((line) => line.included))));

        const tagged = expected.flatMap((line) => (line.tags ?? []).map((tag) => ({ ...line, tag })));
        const tags = body.by_tag as Slice[];
        expect(
          tags
            .map((slice) => [slice.value, show(amount(slice.total_usd)), Number(slice.message_count)])
            .sort(),
        ).toEqual(
          [...groupBy(tagged, ({ tag }) => tag)]
            .map(([tag, of]) => [
              tag,
              show(total(of.map((line) => line.amount))),
              of.filter((line) => line.isFirst).length,
            ])
            .sort(),
        );

        for (const dimension of ["project", "type", "provider", "model", "feature", "key", "user"] as const) {
          // What comes to nothing of nobody is not told from the totals.
          const slices = (body[`by_${dimension}`] as Slice[]).filter(
            (slice) => dimension !== "user" || slice.value !== null || Number(slice.message_count) !== 0,
          );
          const sums = new Map(
            [...groupBy(expected, (line) => nameIn(dimension, line[dimension]))].map(([value, of]) => [
              value,
              show(total(of.map((line) => line.amount))),
            ]),
          );
          if (dimension === "user" && !slices.some(({ value }) => value === null)) sums.delete(null);
          expect(
            new Map(
              slices.map((slice) => [nameIn(dimension, slice.value), show(amount(slice.total_usd))] as const),
            ),
            dimension,
          ).toEqual(sums);
          expect(slices.reduce((count, slice) => count + Number(slice.message_count), 0)).toBe(
            Number(totals.message_count),
          );
        }

        const series = body.series as {
          groups: { total_usd: string }[];
          bucket: "day" | "month";
          layers: { kind: string; total_usd: string }[];
          points: { from: string; total_usd: string; amounts_usd: string[]; layers_usd: string[] }[];
          previous: { total_usd: string }[];
        };
        const stacked = stackedBy === "tag" ? show(total(tagged.map((line) => line.amount))) : whole;
        expect(sumOf(series.groups)).toBe(stacked);
        expect(sumOf(series.points)).toBe(stacked);
        for (const point of series.points) {
          expect(show(total(point.amounts_usd.map(amount)))).toBe(show(amount(point.total_usd)));
        }
        for (const [index, group] of series.groups.entries()) {
          expect(show(total(series.points.map((point) => amount(point.amounts_usd[index]))))).toBe(
            show(amount(group.total_usd)),
          );
        }

        // What a chart stacks: the same sums, with what was allocated apart.
        const valued = stackedBy === "tag" ? tagged.map((line) => ({ ...line, of: line.tag })) : expected;
        const bucketOf = ({ at }: Line) =>
          series.bucket === "day" ? at.slice(0, 10) : `${at.slice(0, 7)}-01`;
        for (const point of series.points) {
          expect(show(total(point.layers_usd.map(amount)))).toBe(show(amount(point.total_usd)));
          const layer = (kind: string) =>
            show(
              total(
                series.layers.flatMap((each, index) =>
                  each.kind === kind ? [amount(point.layers_usd[index])] : [],
                ),
              ),
            );
          const within = valued.filter((line) => bucketOf(line) === point.from);
          const moved = within.filter(({ type }) => type === "allocation");
          const nets = [
            ...groupBy(moved, (line) =>
              stackedBy === "type"
                ? line.project
                : "of" in line
                  ? String(line.of)
                  : line[stackedBy as "model"],
            ).values(),
          ].map((of) => total(of.map((line) => line.amount)));
          expect(layer("allocated_in")).toBe(show(total(nets.filter((net) => net > 0n))));
          expect(layer("allocated_out")).toBe(show(total(nets.filter((net) => net < 0n))));
        }
        expect(sumOf(series.layers)).toBe(stacked);

        const previous = body.previous as { totals: Record<string, string> } | null;
        expect(previous === null).toBe(range.before === undefined);
        if (previous && range.before) {
          const { before } = range;
          const earlier = lines
            .filter((line) => isSpent(line) && matches(line, by, before))
            .map((line) => line.amount);
          expect(show(amount(previous.totals.total_usd))).toBe(show(total(earlier)));
          const aligned = correspondingTo(by, range, Date.now())?.aligned ?? before;
          expect(sumOf(series.previous)).toBe(
            show(total(lines.filter((line) => matches(line, by, aligned)).map((line) => line.amount))),
          );
        }
        fc.pre(today === new Date().toISOString().slice(0, 10));
      },
    ),
    { numRuns: runs, endOnFailure: true },
  );
});
