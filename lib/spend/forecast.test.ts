import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Decimal, parseDecimal, toText } from "@/lib/ledger/pricing/decimal";
import { comparedDays, forecastSpend } from "./forecast";

const month = { from: "2026-11-01", until: "2026-12-01" };
const dayMs = 86_400_000;
const dayAt = (day: string, later: number) =>
  new Date(Date.parse(day) + later * dayMs).toISOString().slice(0, 10);

/** Usage of each day by a function of its distance from today: -1 is yesterday. */
function usageOf(
  today: string,
  amountOf: (day: string, distance: number) => string | number,
): Map<string, Decimal> {
  return new Map(
    Array.from({ length: comparedDays + 1 }, (_, index) => {
      const day = dayAt(today, index - comparedDays);
      return [day, parseDecimal(amountOf(day, index - comparedDays))];
    }),
  );
}

const forecast = (today: string, recorded: string, usage: Map<string, Decimal>, range = month) => {
  const found = forecastSpend({ range, today, recorded: parseDecimal(recorded), usage });
  return (
    found && {
      ...found,
      total: toText(found.total),
      low: toText(found.low),
      high: toText(found.high),
      runsOut: (amount: string) => found.runsOutOn(parseDecimal(amount)),
    }
  );
};

const isWeekend = (day: string) => [0, 6].includes(new Date(day).getUTCDay());

describe("A forecast", () => {
  test("Adds the usage of comparable weekdays to what is recorded, and half a day's rest to today", () => {
    const usage = usageOf("2026-11-23", (day, distance) => (distance === 0 ? 4 : isWeekend(day) ? 1 : 10));
    // From Monday 23: 6 for the rest of today, five working days, two days of the weekend, and not the 30th's sixth of ten.
    const found = forecast("2026-11-23", "200", usage);
    expect(found?.total).toBe("258");
    expect(found).toMatchObject({ low: "258", high: "258", daysLeft: 8, daysCompared: 35 });
  });

  test("Does not extrapolate an expense, an allocation or a batch that was imported late", () => {
    const usage = usageOf("2026-11-21", () => 10);
    const steady = forecast("2026-11-21", "210", usage);
    const withExpense = forecast("2026-11-21", "1210", usage);
    const withAllocation = forecast("2026-11-21", "-790", usage);
    expect([steady?.total, withExpense?.total, withAllocation]).toEqual(["300", "1300", null]);
    // A day that is far above the others of its weekday.
    const burst = usageOf("2026-11-21", (_, distance) => (distance === -3 ? 5000 : 10));
    expect(forecast("2026-11-21", "5200", burst)?.total).toBe("5290");
  });

  test("Is made of whole days before today, so that it waits for three of them", () => {
    const since = (days: number) => usageOf("2026-11-21", (_, distance) => (distance >= -days ? 10 : 0));
    expect(forecast("2026-11-21", "20", since(2))).toBeNull();
    expect(forecast("2026-11-21", "30", since(3))?.daysCompared).toBe(3);
    expect(forecast("2026-11-21", "100", new Map())).toBeNull();
  });

  test("Is made for a period that contains today only", () => {
    const usage = usageOf("2026-11-21", () => 10);
    expect(forecast("2026-11-21", "30", usage, { from: "2026-10-01", until: "2026-11-01" })).toBeNull();
    expect(forecast("2026-11-21", "30", usage, { from: "2026-11-22", until: "2026-12-01" })).toBeNull();
    expect(forecast("2026-11-21", "30", usage, { from: "-infinity", until: "infinity" })).toBeNull();
    const last = usageOf("2026-11-30", () => 10);
    expect(forecast("2026-11-30", "300", last)?.total).toBe("300");
  });

  test("Rounds to what it is worth", () => {
    const uneven = usageOf("2026-11-21", (day) => 50 + ((Number(day.slice(8)) * 37) % 80));
    const found = forecast("2026-11-21", "4457.64218", uneven);
    const spread = Number(found?.high) - Number(found?.low);
    expect(spread).toBeGreaterThan(100);
    expect(Number(found?.total) % 10).toBe(0);
    // Nothing to extrapolate: what is recorded, to the last digit.
    const idle = usageOf("2026-11-21", (_, distance) => (distance === -35 ? 1 : 0));
    expect(forecast("2026-11-21", "12.345678901", idle)).toMatchObject({
      total: "12.345678901",
      high: "12.345678901",
    });
  });

  test("Dates when an amount is used up, unless it lasts or is used up already", () => {
    const found = forecast(
      "2026-11-21",
      "210",
      usageOf("2026-11-21", () => 10),
    );
    expect(found?.runsOut("211")).toBe("2026-11-22");
    expect(found?.runsOut("220.000000001")).toBe("2026-11-23");
    expect(found?.runsOut("300")).toBe("2026-11-30");
    expect(found?.runsOut("300.01")).toBeNull();
    expect(found?.runsOut("210")).toBeNull();
  });
});

/** What a forecast must say, in integers of a hundred-thousandth of a dollar. */
type Expected = { total: number; low: number; high: number };

/** The multiple of a step that is nearest to a whole number; the even one of two that are equally near. */
function nearestMultiple(amount: number, step: number): number {
  const below = Math.floor(amount / step);
  const twice = 2 * (amount - below * step);
  const isUp = twice > step || (twice === step && below % 2 === 1);
  return (isUp ? below + 1 : below) * step;
}

/**
 * The forecast in plain integers, written from the description, without the code under test.
 * @param centsOf the usage of a day, and `recorded`: cents
 * @returns null where there is no forecast: too few days are known, or the total rounds to nothing
 */
function modelOf(
  today: string,
  until: string,
  recorded: number,
  centsOf: (day: string) => number,
): Expected | null {
  let history: string[] = [];
  for (let ago = 1; ago <= 35; ago += 1) history.push(dayAt(today, -ago));
  let oldest = history.length - 1;
  while (oldest >= 0 && centsOf(history[oldest] as string) === 0) oldest -= 1;
  history = history.slice(0, oldest + 1);
  if (history.length < 3) return null;
  const quantiles = (days: string[]) => {
    const sorted = days.map(centsOf).sort((a, b) => a - b);
    const n = sorted.length - 1;
    const value = (index: number) => sorted[index] as number;
    return [
      value(Math.floor(n * 0.25)),
      (value(Math.floor(n / 2)) + value(Math.ceil(n / 2))) / 2,
      value(Math.ceil(n * 0.75)),
    ];
  };
  const sums = [recorded, recorded, recorded];
  for (let day = today; day < until; day = dayAt(day, 1)) {
    const weekday = new Date(day).getUTCDay();
    let alike = history.filter((each) => new Date(each).getUTCDay() === weekday);
    if (alike.length < 3) alike = history.filter((each) => isWeekend(each) === isWeekend(day));
    if (alike.length < 3) alike = history;
    for (const [index, cents] of quantiles(alike).entries()) {
      const left = day === today ? Math.max(0, cents - centsOf(today)) : cents;
      sums[index] = (sums[index] as number) + left;
    }
  }
  // Half a cent is the smallest part of a median: 500 units.
  const [low, median, high] = sums.map((each) => each * 1000) as [number, number, number];
  const known = recorded * 1000;
  const uncertain = Math.max((high - low) / 10, (median - known) / 100);
  let step = 1;
  while (step * 10 <= uncertain) step *= 10;
  const total = Math.max(nearestMultiple(median, step), known);
  if (total === 0) return null;
  return {
    total,
    low: Math.max(Math.floor(low / step) * step, known),
    high: Math.ceil(high / step) * step,
  };
}

/** On the first of a month, before anything is recorded: the range is so wide that the median rounds to nothing. */
const roundsToNothing: [number, number[], number, number] = [
  0,
  [...Array<number>(comparedDays - 3).fill(0), 34_500, 0, 1, 0],
  0,
  0,
];

test("Is what an independent model makes of any usage", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 29 }),
      fc.array(fc.integer({ min: 0, max: 500_000 }), {
        minLength: comparedDays + 1,
        maxLength: comparedDays + 1,
      }),
      fc.integer({ min: 0, max: comparedDays }),
      fc.integer({ min: 0, max: 10_000_000 }),
      (passed, amounts, silent, recorded) => {
        const today = dayAt(month.from, passed);
        const cents = amounts.map((amount, index) => (index < silent ? 0 : amount));
        const usage = usageOf(today, (_, distance) =>
          ((cents[distance + comparedDays] ?? 0) / 100).toFixed(2),
        );
        const found = forecast(today, (recorded / 100).toFixed(2), usage);
        const centsOf = (day: string) =>
          cents[Math.round((Date.parse(day) - Date.parse(today)) / dayMs) + comparedDays] ?? 0;
        const units = (amount: string) => Math.round(Number(amount) * 100_000);
        expect(
          found && { total: units(found.total), low: units(found.low), high: units(found.high) },
        ).toEqual(modelOf(today, month.until, recorded, centsOf));
      },
    ),
    { numRuns: 400, examples: [roundsToNothing] },
  );
});
