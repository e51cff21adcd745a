import { describe, expect, test } from "vitest";
import { findProblems, keepEarlier, listCodes, readRate } from "@/scripts/build-rates.mjs";
import {
  convert,
  currencyDecimalsIssue,
  isCurrency,
  listCurrencies,
  type RateSnapshot,
  shippedRates,
} from "./currency";
import { parseDecimal, toText } from "./decimal";

const d = parseDecimal;
const june = "2026-06-15";
const snapshot = (date: string, rates: Record<string, string>): RateSnapshot => ({
  date,
  source: "test",
  rates,
});

describe("Currency codes", () => {
  test.each(["USD", "EUR", "JPY", "KWD", "XCG", "ZWG"])("Accept %s", (code) => {
    expect(isCurrency(code)).toBe(true);
  });

  test.each(["usd", "EURO", "XXX", "XAU", "BTC", "", "toString"])("Refuse %s", (code) => {
    expect(isCurrency(code)).toBe(false);
    expect(() => currencyDecimalsIssue(d(1), code)).toThrow("is no ISO 4217 currency");
    expect(() => convert(d(1), code, june)).toThrow("is no ISO 4217 currency");
  });

  test("Have a shipped rate each, except USD, and there are no other rates", () => {
    const [shipped] = shippedRates;
    expect(Object.keys(shipped?.rates ?? {})).toEqual(listCurrencies().filter((code) => code !== "USD"));
    for (const rate of Object.values(shipped?.rates ?? {})) expect(rate).toMatch(/^\d+(\.\d+)?$/);
  });
});

describe("Decimals of an amount", () => {
  test.each([
    ["10.5", "JPY", "amounts in JPY have no decimals, and 10.5 has 1"],
    ["1.2345", "KWD", "amounts in KWD have at most 3 decimals, and 1.2345 has 4"],
    ["0.001", "EUR", "amounts in EUR have at most 2 decimals, and 0.001 has 3"],
    ["1e-12", "USD", "amounts in USD have at most 2 decimals, and 0.000000000001 has 12"],
  ])("%s %s", (amount, currency, message) => {
    expect(currencyDecimalsIssue(d(amount), currency)).toBe(message);
  });

  test.each([
    ["10", "JPY"],
    ["10.000", "JPY"],
    ["1.234", "KWD"],
    ["90071992547409.93", "EUR"],
  ])("Accept %s %s", (amount, currency) => {
    expect(currencyDecimalsIssue(d(amount), currency)).toBeUndefined();
  });
});

describe("Conversion", () => {
  test("Leaves USD unchanged", () => {
    expect(convert(d("12.34"), "USD", june)).toEqual({
      status: "unconverted",
      amountUsd: d("12.34"),
      rate: null,
      rateDate: null,
      rateSource: null,
    });
  });

  test("Multiplies exactly and keeps its rate", () => {
    const rates = [snapshot("2026-06-01", { JPY: "0.0063501218", KWD: "3.23926651" })];
    const yen = convert(d("123456789"), "JPY", june, rates);
    expect(toText(yen.amountUsd)).toBe("783965.6471869002");
    expect(yen).toMatchObject({
      status: "converted",
      rate: "0.0063501218",
      rateDate: "2026-06-01",
      rateSource: "test",
    });
    expect(toText(convert(d("1.234"), "KWD", june, rates).amountUsd)).toBe("3.99725487334");
  });

  test("Rounds once, half-even, to 18 decimals", () => {
    const rates = [snapshot("2026-06-01", { VND: "0.000000000000000025" })];
    expect(toText(convert(d("0.1"), "VND", june, rates).amountUsd)).toBe("0.000000000000000002");
  });

  test("Uses the latest rate not after the day, else the earliest", () => {
    const [january, june15, june16] = [
      snapshot("2026-01-01", { EUR: "1" }),
      snapshot("2026-06-15", { EUR: "2" }),
      snapshot("2026-06-16", { EUR: "3" }),
    ];
    // In whatever order they come.
    for (const rates of [
      [january, june15, june16],
      [january, june16, june15],
      [june15, january, june16],
      [june15, june16, january],
      [june16, january, june15],
      [june16, june15, january],
    ]) {
      const days = ["2020-01-01", "2026-01-01", "2026-06-14", "2026-06-15", "2026-06-16", "2027-01-01"];
      expect(days.map((day) => convert(d("1"), "EUR", day, rates).rate)).toEqual([
        "1",
        "1",
        "1",
        "2",
        "3",
        "3",
      ]);
    }
  });

  test("Throws for a currency without a rate", () => {
    const rates = [snapshot("2026-06-01", { JPY: "0.0063" })];
    expect(() => convert(d("1"), "EUR", june, rates)).toThrow("There is no exchange rate for EUR");
  });
});

describe("Refreshing rates", () => {
  const before = { date: "2026-06-01", source: "s", rates: { EUR: "1.1", ARS: "0.001" } };

  test.each([
    ["within 20%", { EUR: "1.32", ARS: "0.0008" }, [], []],
    ["a rise", { EUR: "1.3201", ARS: "0.001" }, [], ["EUR"]],
    ["a fall", { EUR: "1.1", ARS: "0.00079" }, [], ["ARS"]],
    ["an accepted fall", { EUR: "1.1", ARS: "0.00079" }, ["ARS"], []],
    ["another one accepted", { EUR: "1.1", ARS: "0.00079" }, ["EUR"], ["ARS"]],
    ["a lost currency", { ARS: "0.001" }, ["EUR"], ["EUR"]],
  ])("%s", (_, rates, accepted: string[], refused) => {
    const problems: string[] = findProblems(before, { ...before, rates }, accepted);
    expect(problems.map((problem) => problem.slice(0, 3))).toEqual(refused);
  });

  test("Refuses an older day", () => {
    expect(findProblems(before, { ...before, date: "2026-05-31" })).toHaveLength(1);
  });

  test("Refuses a figure that contradicts its inverse", () => {
    expect(readRate("IRR", 7.2727292e-7, 1374999.64464856)).toBe("0.00000072727292");
    expect(() => readRate("EUR", 1.13607202, 1.13607202)).toThrow("contradict");
    expect(() => readRate("EUR", 0, 1)).toThrow("contradict");
  });

  test("Reads the same currencies in the script as in the service", async () => {
    const { readFile } = await import("node:fs/promises");
    const source = await readFile(new URL("./iso-4217.ts", import.meta.url), "utf8");
    expect(listCodes(source)).toEqual(listCurrencies());
  });
});

test("Keeps the snapshot before a new one, one for each day", () => {
  const of = (date: string, rate: string) => snapshot(date, { EUR: rate });
  const [may, june, july] = [
    of("2026-05-01", "1.1"),
    of("2026-06-01", "1.2"),
    of("2026-07-01", "1.3"),
  ] as const;
  expect(keepEarlier([], undefined, may)).toEqual([]);
  expect(keepEarlier([may], june, july)).toEqual([june, may]);
  // The same day again replaces it.
  expect(keepEarlier([may], june, of("2026-06-01", "1.25"))).toEqual([may]);
});
