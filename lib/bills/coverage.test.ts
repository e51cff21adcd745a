import fc from "fast-check";
import { expect, test } from "vitest";
import { add, compare, multiply, parseDecimal, subtract, sum, toText, zero } from "@/lib/decimal";
import { coveragePercent, coverMonths, isBelow } from "./coverage";

const cents = (value: number) => parseDecimal(`${value}e-2`);
const percentOf = (billed: string, missing: string) =>
  coveragePercent({ billed: parseDecimal(billed), missing: parseDecimal(missing) });

test("says 100% only if all is recorded, and 0% only if nothing is", () => {
  expect(percentOf("3537.49", "403.28")).toBe("88.5");
  expect(percentOf("1000000000", "0.000000000000000001")).toBe("99.9");
  expect(percentOf("1000000000", "999999999.99")).toBe("0.1");
  expect([percentOf("10", "0"), percentOf("10", "10"), percentOf("10", "12")]).toEqual(["100", "0", "0"]);
  expect([percentOf("0", "0"), percentOf("-1", "0")]).toEqual([null, null]);
});

test("is never above the exact share, and less than 0.1 below it where it is no bound", () => {
  const amounts = fc.record({ billed: fc.integer({ min: 1, max: 1e9 }), covered: fc.nat(1e9) });
  fc.assert(
    fc.property(amounts, ({ billed, covered: most }) => {
      const covered = Math.min(most, billed);
      const of = { billed: cents(billed), missing: cents(billed - covered) };
      const percent = coveragePercent(of) ?? "";
      expect(percent === "100").toBe(covered === billed);
      expect(percent === "0").toBe(covered === 0);
      if (["100", "0.1", "0"].includes(percent)) return;
      expect(isBelow(of, Number(percent))).toBe(false);
      if (percent !== "99.9") expect(isBelow(of, Number(percent) + 0.1001)).toBe(true);
    }),
  );
});

test("covers a day with what is recorded on it alone, and sums providers", () => {
  const day = fc.record({
    provider: fc.constantFrom("anthropic", "openai"),
    date: fc.integer({ min: 10, max: 28 }),
    billed: fc.option(fc.integer({ min: -500, max: 5000 }), { nil: undefined }),
    recorded: fc.integer({ min: -500, max: 5000 }),
  });
  fc.assert(
    fc.property(fc.uniqueArray(day, { selector: (one) => `${one.provider} ${one.date}` }), (days) => {
      const billedDays = days.filter(({ billed }) => billed !== undefined);
      const months = coverMonths(
        billedDays.map(({ provider, date, billed = 0 }) => ({
          ...{ provider, from: `2026-10-${date}`, until: `2026-10-${date + 1}` },
          amount_usd: toText(cents(billed)),
        })),
        days.map(({ provider, date, recorded }) => ({
          ...{ provider: provider.toUpperCase(), day: `2026-10-${date}` },
          amount_usd: toText(cents(recorded)),
        })),
      );
      if (billedDays.length === 0) {
        expect(months).toEqual([]);
        return;
      }
      const missing = billedDays.map(({ billed = 0, recorded }) => Math.max(0, billed - recorded));
      const [month] = months;
      expect(String(month?.missing)).toBe(String(cents(missing.reduce((a, b) => a + b, 0))));
      expect(String(month?.billed)).toBe(String(sum(billedDays.map(({ billed = 0 }) => cents(billed)))));
      const differences = month?.providers.map(({ billed, recorded }) => subtract(billed, recorded)) ?? [];
      const total = differences
        .map((one) => (compare(one, zero) < 0 ? multiply(one, parseDecimal(-1)) : one))
        .reduce(add, zero);
      expect(String(month?.difference)).toBe(String(total));
    }),
  );
});
