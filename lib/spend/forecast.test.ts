import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type Decimal, parseDecimal, toText } from "@/lib/decimal";
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

const forecast = (
  today: string,
  recorded: string,
  usage: Map<string, Decimal>,
  { range = month, coming = [] }: { range?: typeof month; coming?: [day: string, usd: number][] } = {},
) => {
  const found = forecastSpend({
    range,
    today,
    recorded: parseDecimal(recorded),
    usage,
    coming: coming.map(([day, usd]) => ({ day, amount: parseDecimal(usd) })),
  });
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
    // From Monday 23: 6 for the rest of today, five working days at 10 and two weekend days, without the 30th's working day.
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
    // One day is far above the others of its weekday.
    const burst = usageOf("2026-11-21", (_, distance) => (distance === -3 ? 5000 : 10));
    expect(forecast("2026-11-21", "5200", burst)?.total).toBe("5290");
  });

  test("Counts recurring charges that are due, exactly and on their day", () => {
    const usage = usageOf("2026-11-21", () => 10);
    const found = forecast("2026-11-21", "210", usage, { coming: [["2026-11-28", 100]] });
    expect(found).toMatchObject({ total: "400", low: "400", high: "400" });
    expect([found?.coming, found?.added].map((amount) => toText(amount as Decimal))).toEqual(["100", "90"]);
    expect([found?.runsOut("289"), found?.runsOut("291")]).toEqual(["2026-11-28", "2026-11-28"]);
    // A charge that was due and is not booked yet counts today.
    expect(forecast("2026-11-21", "210", usage, { coming: [["2026-11-20", 100]] })?.runsOut("300")).toBe(
      "2026-11-21",
    );
  });

  test.each([35, 20, 12, 5, 3])(
    "Has a series that grows by a dollar a day in its own range, after %i days",
    (days) => {
      for (const passed of [0, 10, 20, 29]) {
        const today = dayAt(month.from, passed);
        const day = (distance: number) => Math.max(0, days + 1 + distance);
        const usage = usageOf(today, (_, distance) => (distance === 0 ? 0 : day(distance)));
        const recorded = Array.from({ length: passed }, (_, ago) => day(-ago - 1)).reduce(
          (all, usd) => all + usd,
          0,
        );
        const total = Array.from({ length: 30 - passed }, (_, distance) => day(distance)).reduce(
          (all, usd) => all + usd,
          recorded,
        );
        const found = forecast(today, String(recorded), usage);
        expect(Number(found?.low)).toBeLessThanOrEqual(total);
        expect(Number(found?.high)).toBeGreaterThanOrEqual(total);
        if (days === 35) expect(Number(found?.total) / total).toBeCloseTo(1, 1);
      }
    },
  );

  test("Takes a trend for one only where two thirds of the changes have its direction", () => {
    const swinging = usageOf(
      "2026-11-21",
      (_, distance) => 10 + (Math.floor(distance / 7) % 2 === 0 ? 1 : 0),
    );
    expect(Number(forecast("2026-11-21", "210", swinging)?.total)).toBeLessThan(320);
  });

  test("Is made of whole days before today, so that it waits for three of them", () => {
    const since = (days: number) => usageOf("2026-11-21", (_, distance) => (distance >= -days ? 10 : 0));
    expect(forecast("2026-11-21", "20", since(2))).toBeNull();
    expect(forecast("2026-11-21", "30", since(3))?.daysCompared).toBe(3);
    expect(forecast("2026-11-21", "100", new Map())).toBeNull();
  });

  test("Is made for a period that contains today only", () => {
    const usage = usageOf("2026-11-21", () => 10);
    expect(
      forecast("2026-11-21", "30", usage, { range: { from: "2026-10-01", until: "2026-11-01" } }),
    ).toBeNull();
    expect(
      forecast("2026-11-21", "30", usage, { range: { from: "2026-11-22", until: "2026-12-01" } }),
    ).toBeNull();
    expect(
      forecast("2026-11-21", "30", usage, { range: { from: "-infinity", until: "infinity" } }),
    ).toBeNull();
    const last = usageOf("2026-11-30", () => 10);
    expect(forecast("2026-11-30", "300", last)?.total).toBe("300");
  });

  test("Rounds to what it is worth", () => {
    const uneven = usageOf("2026-11-21", (day) => 50 + ((Number(day.slice(8)) * 37) % 80));
    const found = forecast("2026-11-21", "4457.64218", uneven);
    const spread = Number(found?.high) - Number(found?.low);
    expect(spread).toBeGreaterThan(100);
    expect(Number(found?.total) % 10).toBe(0);
    // Without usage to extrapolate, the total is what is recorded, unrounded.
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

/** The quantile of some amounts: share 0 is the least, 1 the most. Between two amounts, the one nearer to its end is taken. */
function placed(amounts: number[], share: number): number {
  const sorted = [...amounts].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  return sorted[share < 0.5 ? Math.floor(place + 1e-9) : Math.ceil(place - 1e-9)] as number;
}
const middle = (amounts: number[]) => {
  const sorted = [...amounts].sort((a, b) => a - b);
  const last = sorted.length - 1;
  return ((sorted[Math.floor(last / 2)] as number) + (sorted[Math.ceil(last / 2)] as number)) / 2;
};

/**
 * The forecast in floating-point numbers before it is rounded, written from the description, without the code under test. USD.
 * @returns null if too few days are known
 */
function modelOf(today: string, until: string, recorded: number, usdOf: (day: string) => number) {
  let history = Array.from({ length: 35 }, (_, index) => dayAt(today, index - 35));
  while (history.length > 0 && usdOf(history[0] as string) === 0) history = history.slice(1);
  const n = history.length;
  if (n < 3) return null;
  const left: string[] = [];
  for (let day = today; day < until; day = dayAt(day, 1)) left.push(day);
  const distanceOf = (day: string) => Math.round((Date.parse(day) - Date.parse(today)) / dayMs);
  const pairs = history.flatMap((late, at) => history.slice(0, at).map((early) => [early, late] as const));
  const changes = pairs
    .map(([early, late]) => ({ apart: distanceOf(late) - distanceOf(early), by: usdOf(late) - usdOf(early) }))
    .filter(({ apart }) => n < 14 || apart % 7 === 0)
    .map(({ apart, by }) => by / apart);
  const [falls, rises] = [placed(changes, 1 / 3), placed(changes, 2 / 3)];
  const slope = falls > 0 || rises < 0 ? middle(changes) : 0;
  const alike = (day: string) =>
    [
      history.filter((each) => new Date(each).getUTCDay() === new Date(day).getUTCDay()),
      history.filter((each) => isWeekend(each) === isWeekend(day)),
      history,
    ].find((each, at) => at === 2 || each.length >= 3) as string[];
  const levelOf = (day: string, by: number) =>
    middle(alike(day).map((each) => usdOf(each) - by * distanceOf(each)));
  const usage = (by: number, lasts: number) =>
    left.reduce((all, day) => {
      const level = levelOf(day, by) + by * Math.min(distanceOf(day), lasts);
      return all + Math.max(0, day === today ? level - usdOf(today) : level);
    }, 0);
  const apart = history.map((day) => usdOf(day) - slope * distanceOf(day) - levelOf(day, slope));
  const factor = Math.sqrt(left.length + left.length ** 2 / n);
  const total = usage(slope, n);
  const below = Math.max(0, -placed(apart, 0.1)) * factor;
  const above = Math.max(0, placed(apart, 0.9)) * factor;
  return {
    total: recorded + total,
    low: recorded + Math.max(0, Math.min(total, usage(falls, left.length)) - below),
    high: recorded + Math.max(total, usage(rises, left.length)) + above,
  };
}

test("Is what an independent model makes of any usage, but for its rounding", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 0, max: 29 }),
      fc.array(fc.integer({ min: 0, max: 500_000 }), {
        minLength: comparedDays + 1,
        maxLength: comparedDays + 1,
      }),
      fc.integer({ min: 0, max: comparedDays }),
      fc.integer({ min: -500, max: 500 }),
      fc.integer({ min: 0, max: 10_000_000 }),
      (passed, amounts, silent, growth, recorded) => {
        const today = dayAt(month.from, passed);
        const cents = amounts.map((amount, index) =>
          index < silent ? 0 : Math.max(0, amount + growth * index * 100),
        );
        const usage = usageOf(today, (_, distance) =>
          ((cents[distance + comparedDays] ?? 0) / 100).toFixed(2),
        );
        const found = forecast(today, (recorded / 100).toFixed(2), usage);
        const usdOf = (day: string) =>
          (cents[Math.round((Date.parse(day) - Date.parse(today)) / dayMs) + comparedDays] ?? 0) / 100;
        const model = modelOf(today, month.until, recorded / 100, usdOf);
        if (!model) {
          expect(found).toBeNull();
          return;
        }
        const step = Math.max((model.high - model.low) / 10, (model.total - recorded / 100) / 100) + 1e-6;
        // There is no forecast only if the total is zero or rounds to zero.
        if (!found) expect(model.total).toBeLessThan(step);
        for (const end of ["total", "low", "high"] as const)
          if (found) expect(Math.abs(Number(found[end]) - model[end])).toBeLessThanOrEqual(step);
      },
    ),
    { numRuns: 100 },
  );
});

/** A number in [0, 1) from a seed, the same in every run (mulberry32, public domain). */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** Patterns of usage of a team: USD by the index of the day, from a random source. */
const teams: Record<string, (random: () => number) => (index: number, weekday: number) => number> = {
  "is steady": (random) => {
    const spread = 0.1 + 0.5 * random();
    return () => 100 * (1 + spread * (2 * random() - 1));
  },
  "rests at weekends": (random) => {
    const spread = 0.1 + 0.5 * random();
    return (_, weekday) => (weekday % 6 === 0 ? 10 : 100) * (1 + spread * (2 * random() - 1));
  },
  "varies by factors": (random) => () => 100 * Math.exp((random() + random() + random() - 1.5) * 1.2),
  "grows day by day": (random) => {
    const growth = 0.5 + 2 * random();
    return (index) => (50 + growth * index) * (0.8 + 0.4 * random());
  },
  "grows by per cents": (random) => {
    const growth = 0.002 + 0.015 * random();
    return (index) => 50 * Math.exp(growth * index) * (0.8 + 0.4 * random());
  },
  shrinks: (random) => {
    const loss = 0.2 + 0.8 * random();
    return (index) => Math.max(5, 100 - loss * index) * (0.8 + 0.4 * random());
  },
  "uses it every other day": (random) => () => (random() < 0.5 ? 0 : 200 * random()),
};

test.each(Object.keys(teams))(
  "Gives a range in which the total lies in at least four of five cases: usage that %s",
  (name) => {
    const random = randomFrom(7);
    const runs = 200;
    let within = 0;
    for (let run = 0; run < runs; run += 1) {
      const passed = Math.floor(random() * 29);
      const known = run % 4 === 0 ? 5 + Math.floor(random() * 30) : comparedDays;
      const today = dayAt(month.from, passed);
      const usdOf = teams[name]?.(random) ?? (() => 0);
      const days = Array.from({ length: known + 30 - passed }, (_, index) =>
        usdOf(index, new Date(dayAt(today, index - known)).getUTCDay()),
      );
      const usage = usageOf(today, (_, distance) => (distance < 0 ? (days[known + distance] ?? 0) : 0));
      const happened = days.slice(known).reduce((all, usd) => all + usd, 0);
      const found = forecast(today, "0", usage);
      if (found && Number(found.low) <= happened && happened <= Number(found.high)) within += 1;
    }
    expect(within / runs).toBeGreaterThanOrEqual(0.8);
    // A range that contains every outcome would be of no use.
    expect(within / runs).toBeLessThan(1);
  },
);
