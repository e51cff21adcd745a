import { expect, test } from "vitest";
import { parseDecimal, toText } from "@/lib/decimal";
import { findRate, rateTableOf } from "@/lib/ledger/pricing/rates/rate-table";
import { displayIn, displayRates, latestDisplayRate } from "./display-currency";
import { shippedRates } from "./rates/history";

const on = (day: string, rates: Record<string, string>) => ({ day, source: "of", rates });
const table = rateTableOf([
  on("2026-03-01", { EUR: "1.25", JPY: "0.008" }),
  on("2026-01-01", { EUR: "2" }),
  on("2026-02-01", { EUR: "1.6", JPY: "0.005" }),
]);
const year = { from: "2026-01-01", until: "2027-01-01" };

test("Orders the rates of a currency by day, each until the next begins, and the first for the days before", () => {
  const source = "of";
  expect(displayRates("EUR", year, table)).toEqual([
    { from: null, perUsd: "0.5", rateDate: "2026-01-01", source },
    { from: "2026-02-01", perUsd: "0.625", rateDate: "2026-02-01", source },
    { from: "2026-03-01", perUsd: "0.8", rateDate: "2026-03-01", source },
  ]);
  expect(displayRates("JPY", year, table).map(({ from, perUsd }) => [from, perUsd])).toEqual([
    [null, "200"],
    ["2026-03-01", "125"],
  ]);
  // Only the rates of the requested days.
  expect(displayRates("EUR", { from: "2026-02-10", until: "2026-02-12" }, table)).toEqual([
    { from: null, perUsd: "0.625", rateDate: "2026-02-01", source },
  ]);
});

test.each([
  ["2025-12-31", "2026-01-01"],
  ["2026-01-01", "2026-01-01"],
  ["2026-01-31", "2026-01-01"],
  ["2026-02-01", "2026-02-01"],
  ["2026-02-28", "2026-02-01"],
  ["2026-03-01", "2026-03-01"],
  // A future day has the latest rate.
  ["2030-01-01", "2026-03-01"],
])("Converts an amount of %s at the rate of %s", (day, rateDate) => {
  expect(displayIn("EUR", { from: day, until: day }, table)?.rates[0]?.rateDate).toBe(rateDate);
});

test("Knows no rate of USD, of an unknown currency, or of a name of JavaScript", () => {
  for (const currency of ["USD", "XXX", "toString", "__proto__"]) {
    expect(displayIn(currency, year)).toBeUndefined();
    expect(latestDisplayRate(currency, "2026-06-01")).toBeUndefined();
  }
});

test("Has the inverse of each shipped rate to 18 decimals", () => {
  for (const currency of ["EUR", "JPY", "IRR", "KWD", "VND"]) {
    const day = "2026-09-29";
    const perUsd = latestDisplayRate(currency, day)?.perUsd ?? "";
    expect(toText(parseDecimal(perUsd)), currency).toBe(perUsd);
    expect(Number(perUsd) * Number(findRate(shippedRates, currency, day)?.rate), currency).toBeCloseTo(1, 9);
  }
});

test("Says that the latest rate is more than a week old", () => {
  expect(latestDisplayRate("EUR", "2026-11-06")).toMatchObject({ rateDate: "2026-10-30", isOld: false });
  expect(latestDisplayRate("EUR", "2026-11-07")).toMatchObject({ rateDate: "2026-10-30", isOld: true });
});
