import fc from "fast-check";
import { beforeAll, expect, test } from "vitest";
import { type Metrics, metricsQuery } from "@/lib/contract/spend/metrics";
import { type SpendAnswer, spendQuery } from "@/lib/contract/spend/spend-query";
import { clockOf } from "@/lib/contract/values/clock";
import { monthOf } from "@/lib/contract/values/month";
import { loadAnswer } from "@/lib/spend/explore/service";
import { selectFoldedUntil } from "@/lib/spend/folded-days";
import { loadMetrics } from "@/lib/spend/metrics/service";
import { selectProjects } from "@/lib/spend/projects/project-queries";
import { type ExactClient, exactClient } from "@/tests/helpers/ledger/client";
import { convert, type DayRate, displayOf, shown, sumOf } from "@/tests/helpers/ledger/converted";
import { dividedBy, exact, fine } from "@/tests/helpers/ledger/exact";
import { recordRandomSpend } from "@/tests/helpers/ledger/random-spend";
import { shippedRate } from "@/tests/helpers/ledger/shipped-rates";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { groupBy, type Line, loadRange, matches, nameIn, valueIn } from "@/tests/helpers/spend";

const harness = withSharedHarness();
const runs = Number(process.env.SPEND_RUNS ?? 60);
const now = Date.now();
const today = new Date(now).toISOString().slice(0, 10);

let workspaceId: string;
let slug: string;
let viewer: ExactClient;
let key: ExactClient;
let lines: Line[];

beforeAll(async () => {
  const spend = await recordRandomSpend(harness, { now, seed: 11 });
  ({ id: workspaceId, slug, viewer, lines } = spend);
  key = exactClient(spend.baseUrl, (await harness.fixtures.key(workspaceId)).secret);
  expect(new Set(lines.map(({ at }) => at.slice(0, 10))).size).toBeGreaterThan(5);
}, 120_000);

/** Rates of EUR by their day. Some are of days of the messages, so that sums have several. */
const rates: fc.Arbitrary<DayRate[]> = fc.uniqueArray(
  fc.record({
    date: fc.oneof(
      fc.nat().map((number) => lines[number % lines.length]?.at.slice(0, 10) ?? today),
      fc.constantFrom("2024-02-29", "2026-01-01", today, "2030-01-01"),
    ),
    rate: fc.tuple(fc.nat(400), fc.nat(99_999_999)).map(([whole, part]) => `${whole}.${part + 1}`),
  }),
  { minLength: 1, maxLength: 8, selector: ({ date }) => date },
);

const filter = fc.record(
  {
    period: fc.constantFrom("month" as const, "year" as const, "all" as const, "last_30_days" as const),
    project: fc.constantFrom("alpha", "beta"),
    model: fc.constantFrom("fast", ""),
  },
  { requiredKeys: ["period"] },
);

test("Sums days that were converted each at its rate, in totals, series and breakdowns, to the last digit", {
  timeout: 3_000 * runs + 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      rates,
      filter,
      fc.constantFrom("project", "type", "model", "key", "user"),
      async (given, by, groups) => {
        const query = metricsQuery.parse({ ...by, group_by: groups, currency: "EUR" });
        const client = await harness.fixtures.sql.connect();
        let body: Metrics;
        try {
          body = await loadMetrics(client, workspaceId, query, clockOf("UTC", Date.now()), displayOf(given));
        } finally {
          client.release();
        }
        const range = await loadRange(harness.fixtures, { ...by, environment: "live" });
        const listed = lines.filter((line) => matches(line, { ...by, environment: "live" }, range));
        const spent = listed.filter(({ at }) => at.slice(0, 10) <= today);
        const inEur = (of: Line[]) =>
          sumOf(of.map(({ amount, at }) => convert(amount, at.slice(0, 10), given)));
        const whole = inEur(spent);
        const { converted } = body;
        if (!converted) throw new Error("Nothing was converted.");
        expect(shown(converted.totals.total)).toBe(whole);
        expect(converted.booked_ahead === null ? 0n : shown(converted.booked_ahead)).toBe(
          inEur(listed.filter((line) => !spent.includes(line))),
        );
        expect(sumOf(converted.series.points.map(({ total }) => shown(total)))).toBe(whole);
        for (const [index, group] of converted.series.groups.entries())
          expect(sumOf(converted.series.points.map(({ amounts }) => shown(amounts[index])))).toBe(
            shown(group),
          );
        expect(converted.series.layers.length).toBe(body.series.layers.length);
        for (const { total, layers } of converted.series.points)
          expect(sumOf(layers.map(shown))).toBe(shown(total));
        for (const [index, layer] of converted.series.layers.entries())
          expect(sumOf(converted.series.points.map(({ layers }) => shown(layers[index])))).toBe(shown(layer));
        for (const dimension of ["project", "type", "provider", "model", "feature", "key"] as const) {
          const sums = groupBy(spent, (line) => nameIn(dimension, line[dimension]));
          const slices = body[`by_${dimension}`].map(({ value }, index) => [
            nameIn(dimension, value),
            shown(converted[`by_${dimension}`][index]),
          ]);
          expect(new Map(slices as [string | null, bigint][]), dimension).toEqual(
            new Map([...sums].map(([value, of]) => [value, inEur(of)])),
          );
        }
        // The sums in USD are the same as without a currency.
        const plain = await viewer.get(
          `/api/v1/workspaces/${slug}/metrics?${new URLSearchParams({ ...by, group_by: groups })}`,
        );
        expect(fine(String((body.totals.total_usd as { text: string }).text))).toBe(
          fine(String((plain.body.totals as Record<string, string>).total_usd)),
        );
      },
    ),
    { numRuns: runs },
  );
});

const question = fc.record({
  group_by: fc.constantFrom<("project" | "model" | "unit" | "month" | "week" | "day" | "user")[][]>(
    [],
    ["project"],
    ["model", "month"],
    ["user", "week"],
    ["project", "day"],
    ["unit", "month"],
  ),
  measure: fc.constantFrom("cost" as const, "messages" as const, "cost_per_million_tokens" as const),
  top: fc.constantFrom(1, 3, 50),
  from: fc.constantFrom("2024-01-01", "2024-02-29", "2026-01-01", "2026-10-15"),
});

test("Answers spend queries with cells of days that were converted each at its rate, which sum to the totals", {
  timeout: 3_000 * runs + 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(rates, question, async (given, { from, ...asked }) => {
      fc.pre(Date.parse(today) - Date.parse(from) < 1_099 * 86_400_000);
      const query = spendQuery.parse({ ...asked, from, to: today, currency: "EUR" });
      const client = await harness.fixtures.sql.connect();
      let answer: SpendAnswer;
      try {
        const who = { workspaceId, isKey: false, isOfUsers: false };
        answer = await loadAnswer(client, who, query, clockOf("UTC", Date.now()), displayOf(given)).catch(
          (error) => (error.code === "validation_failed" ? fc.pre(false) : Promise.reject(error)) as never,
        );
      } finally {
        client.release();
      }
      const of = lines.filter(
        ({ environment, at }) =>
          environment === "live" && at.slice(0, 10) >= from && at.slice(0, 10) <= today,
      );
      const inEur = (some: Line[]) =>
        sumOf(some.map(({ amount, at }) => convert(amount, at.slice(0, 10), given)));
      const { converted } = answer;
      if (!converted) throw new Error("Nothing was converted.");
      expect(shown(converted.totals.cost)).toBe(inEur(of));
      expect(sumOf(converted.cells.map(({ cost }) => shown(cost)))).toBe(inEur(of));
      for (const [side, axis] of [answer.rows, answer.columns].entries()) {
        const groups = converted[side === 0 ? "rows" : "columns"];
        expect(groups.length).toBe(axis.groups.length);
        for (const [place, { value, is_rest: isRest }] of axis.groups.entries()) {
          const { dimension } = axis;
          if (isRest || dimension === null) continue;
          const ofGroup = of.filter((line) => valueIn(line, dimension) === value);
          expect(shown(groups[place]?.cost), `${dimension} ${value}`).toBe(inEur(ofGroup));
        }
      }
      if (asked.measure === "cost") expect(converted.totals.measured).toEqual(converted.totals.cost);
      if (asked.measure === "messages") expect(converted.totals.measured).toEqual(answer.totals.measured);
      const tokens = of.filter(({ unit }) => unit?.endsWith("tokens"));
      if (asked.measure === "cost_per_million_tokens")
        expect(shown(converted.totals.token_cost)).toBe(inEur(tokens));
      // The sums in USD are the same as without a currency.
      const plain = await viewer.send(`/api/v1/workspaces/${slug}/spend/query`, {
        ...asked,
        from,
        to: today,
      });
      const { cost_usd: cost } = plain.body.totals as Record<string, string>;
      expect(fine(String((answer.totals.cost_usd as { text: string }).text))).toBe(fine(String(cost)));
    }),
    { numRuns: runs, endOnFailure: true },
  );
});

/** A line in a currency at the rate of its day that ships. */
const inCurrency = ({ amount, at }: Line, currency: string) =>
  amount * dividedBy(exact("1"), exact(shippedRate(currency, at.slice(0, 10)).rate));

test("Answers spend queries of members and of keys in a currency that is asked for, and no more without one", async () => {
  const asked = { group_by: ["project", "month"], from: "2026-01-01" };
  for (const [client, path] of [
    [viewer, `/api/v1/workspaces/${slug}/spend/query`],
    [key, "/api/v1/spend/query"],
  ] as const) {
    const plain = await client.send(path, asked);
    expect(plain.body.converted).toBeUndefined();
    const { status, body } = await client.send(path, { ...asked, currency: "JPY" });
    expect(status).toBe(200);
    const { converted, ...rest } = body as { converted: Record<string, unknown> } & typeof body;
    expect(rest).toEqual(plain.body);
    expect(converted).toMatchObject({ currency: "JPY" });
    const rates = converted.rates as { from: string | null; rate_date: string; per_usd: string }[];
    expect(rates[0]?.from).toBeNull();
    // A rate for each business day since then that has one, and for no other day.
    for (const { from, rate_date: date, per_usd: perUsd } of rates) {
      const day = from ?? "2026-01-01";
      expect(shippedRate("JPY", day).date).toBe(date);
      expect(exact(perUsd)).toBe(dividedBy(exact("1"), exact(shippedRate("JPY", day).rate)));
    }
    expect(rates.length).toBeGreaterThan(200);
    const cells = converted.cells as { cost: string }[];
    expect(cells.length).toBeGreaterThan(1);
    const of = lines.filter(
      ({ environment, at }) => environment === "live" && at >= "2026" && at.slice(0, 10) <= today,
    );
    expect(sumOf(cells.map(({ cost }) => shown(cost)))).toBe(
      sumOf(of.map((line) => inCurrency(line, "JPY"))),
    );
    expect((await client.send(path, { ...asked, currency: "USD" })).body).toEqual(plain.body);
    for (const currency of ["eur", "XXQ", "", 5]) {
      const refused = await client.send(path, { ...asked, currency });
      expect([refused.status, refused.body.error]).toEqual([400, "validation_failed"]);
      expect((refused.body.issues as { path: string }[])[0]?.path).toBe("currency");
    }
  }
});

test("Answers sums in a currency that is asked for, with the rates, and nothing more without one", async () => {
  const path = `/api/v1/workspaces/${slug}/metrics?period=all`;
  const plain = await viewer.get(path);
  expect(plain.body.converted).toBeUndefined();
  const { status, body } = await viewer.get(`${path}&currency=EUR`);
  expect(status).toBe(200);
  const { converted, ...rest } = body as { converted: Record<string, unknown> } & Record<string, unknown>;
  expect(rest).toEqual(plain.body);
  const spent = lines.filter(({ environment, at }) => environment === "live" && at.slice(0, 10) <= today);
  const first = spent.map(({ at }) => at.slice(0, 10)).sort()[0] ?? today;
  const { date, source } = shippedRate("EUR", first);
  expect(converted).toMatchObject({ currency: "EUR" });
  expect((converted.rates as unknown[])[0]).toMatchObject({ from: null, rate_date: date, source });
  const { total } = converted.totals as { total: string };
  expect(shown(total)).toBe(sumOf(spent.map((line) => inCurrency(line, "EUR"))));
  expect((await viewer.get(`${path}&currency=USD`)).body).toEqual(plain.body);
});

test("Lists projects with this month's spend in a currency, each day converted at its rate", async () => {
  const days = [...new Set(lines.map(({ at }) => at.slice(0, 10)))].sort();
  const given = days.map((date, index) => ({ date, rate: `1.${index + 1}` }));
  const client = await harness.fixtures.sql.connect();
  try {
    const foldedUntil = await selectFoldedUntil(client, workspaceId);
    const range = { ...monthOf(now), today, foldedUntil };
    const projects = await selectProjects(client, workspaceId, range, null, displayOf(given));
    expect(projects.length).toBeGreaterThan(1);
    for (const { slug: name, range_usd: usd, range_converted: inEur } of projects) {
      const of = lines.filter(
        ({ project, environment, at }) =>
          project === name &&
          environment === "live" &&
          at.slice(0, 10) >= range.from &&
          at.slice(0, 10) < range.until,
      );
      expect(exact(usd)).toBe(sumOf(of.map(({ amount }) => amount)));
      expect(shown(inEur)).toBe(sumOf(of.map(({ amount, at }) => convert(amount, at.slice(0, 10), given))));
    }
    expect(
      (await selectProjects(client, workspaceId, range)).map(({ range_converted: none }) => none),
    ).toEqual(projects.map(() => null));
  } finally {
    client.release();
  }
});

test("Answers rows in a currency at the rate of their day", async () => {
  const path = `/api/v1/workspaces/${slug}/activity?period=all&limit=100`;
  const plain = (await viewer.get(path)).body.activity as Record<string, unknown>[];
  const rows = (await viewer.get(`${path}&currency=JPY`)).body.activity as Record<string, unknown>[];
  expect(rows.length).toBeGreaterThan(20);
  for (const [index, { converted, ...row }] of rows.entries()) {
    expect(row).toEqual(plain[index]);
    const { amount, message_amount: whole, ...rest } = converted as Record<string, unknown>;
    const day = String(row.occurred_at).slice(0, 10);
    const { rate, date } = shippedRate("JPY", [day, today].sort()[0] ?? day);
    const perUsd = dividedBy(exact("1"), exact(rate));
    expect(rest).toEqual({ currency: "JPY", rate_date: date });
    expect(shown(amount)).toBe(exact(String(row.amount_usd)) * perUsd);
    expect(shown(whole)).toBe(exact(String(row.message_amount_usd)) * perUsd);
  }
});

test.each(["eur", "EURO", "XXQ", "XAU", "", "E'R"])("Refuses %s as a currency of sums", async (currency) => {
  const query = new URLSearchParams({ currency });
  for (const endpoint of ["metrics", "activity"]) {
    const { status, body } = await viewer.get(`/api/v1/workspaces/${slug}/${endpoint}?${query}`);
    expect([status, body.error]).toEqual([400, "validation_failed"]);
    expect((body.issues as { path: string }[])[0]?.path).toBe("query.currency");
  }
});
