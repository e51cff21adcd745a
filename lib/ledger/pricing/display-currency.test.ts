import { expect, test } from "vitest";
import { rateOn } from "@/lib/spend/conversion";
import { shippedRates } from "./currency";
import { parseDecimal, toText } from "./decimal";
import { displayIn, displayRates, latestDisplayRate } from "./display-currency";

const snapshot = (date: string, rates: Record<string, string>) => ({ date, source: `of ${date}`, rates });
const snapshots = [
  snapshot("2026-03-01", { EUR: "1.25", JPY: "0.008" }),
  snapshot("2026-01-01", { EUR: "2" }),
  snapshot("2026-02-01", { EUR: "1.6", JPY: "0.005" }),
];

test("Orders the rates of a currency by day, each until the next begins, and the first for the days before", () => {
  expect(displayRates("EUR", snapshots)).toEqual([
    { from: null, perUsd: "0.5", rateDate: "2026-01-01", source: "of 2026-01-01" },
    { from: "2026-02-01", perUsd: "0.625", rateDate: "2026-02-01", source: "of 2026-02-01" },
    { from: "2026-03-01", perUsd: "0.8", rateDate: "2026-03-01", source: "of 2026-03-01" },
  ]);
  expect(displayRates("JPY", snapshots).map(({ from, perUsd }) => [from, perUsd])).toEqual([
    [null, "200"],
    ["2026-03-01", "125"],
  ]);
});

test.each([
  ["2025-12-31", "2026-01-01"],
  ["2026-01-01", "2026-01-01"],
  ["2026-01-31", "2026-01-01"],
  ["2026-02-01", "2026-02-01"],
  ["2026-02-28", "2026-02-01"],
  ["2026-03-01", "2026-03-01"],
  // A day to come has the latest rate.
  ["2030-01-01", "2026-03-01"],
])("Converts an amount of %s at the rate of %s", (day, rateDate) => {
  const display = displayIn("EUR", snapshots);
  expect(display && rateOn(display, day)?.rateDate).toBe(rateDate);
});

test("Knows no rate of USD, of an unknown currency, or of a name of JavaScript", () => {
  for (const currency of ["USD", "XXX", "toString", "__proto__"]) {
    expect(displayIn(currency)).toBeUndefined();
    expect(latestDisplayRate(currency)).toBeUndefined();
  }
});

test("Has the inverse of each shipped rate to 18 decimals", () => {
  const [shipped] = shippedRates;
  for (const [currency, rate] of Object.entries(shipped?.rates ?? {})) {
    const perUsd = latestDisplayRate(currency)?.perUsd ?? "";
    expect(toText(parseDecimal(perUsd)), currency).toBe(perUsd);
    expect(Number(perUsd) * Number(rate), currency).toBeCloseTo(1, 9);
  }
});
