import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { isCurrency, listCurrencies } from "@/lib/currencies";
import { divideMoney, parseDecimal, toText } from "@/lib/decimal";
import { findRate, rateTableOf } from "@/lib/ledger/pricing/rates/rate-table";
import { listCodes, oneAWeek, pack, readRate, readTable } from "@/scripts/build-rates.mjs";
import { exact } from "@/tests/helpers/ledger/exact";
import { convert, currencyDecimalsIssue } from "./currency";
import { displayRates } from "./display-currency";
import { shippedRates, shippedSources, unpackSource } from "./rates/history";

const d = parseDecimal;
const june = "2026-06-15";
const on = (day: string, rates: Record<string, string>, source = "test") => ({ day, source, rates });

describe("Currency codes", () => {
  test.each(["USD", "EUR", "JPY", "KWD", "XCG", "ZWG"])("Accept %s", (code) => {
    expect(isCurrency(code)).toBe(true);
  });

  test.each(["usd", "EURO", "XXX", "XAU", "BTC", "", "toString"])("Refuse %s", (code) => {
    expect(isCurrency(code)).toBe(false);
    expect(() => currencyDecimalsIssue(d(1), code)).toThrow("is not an ISO 4217 currency");
    expect(() => convert(d(1), code, june)).toThrow("is not an ISO 4217 currency");
  });

  test("Have a shipped rate each, except USD", () => {
    for (const code of listCurrencies().filter((each) => each !== "USD"))
      expect(findRate(shippedRates, code, "2026-10-30")?.rate, code).toMatch(/^\d+(\.\d{1,18})?$/);
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
      isOld: null,
    });
  });

  test("Multiplies exactly and keeps its rate", () => {
    const rates = rateTableOf([on("2026-06-01", { JPY: "0.0063501218", KWD: "3.23926651" })]);
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
    const rates = rateTableOf([on("2026-06-01", { VND: "0.000000000000000025" })]);
    expect(toText(convert(d("0.1"), "VND", june, rates).amountUsd)).toBe("0.000000000000000002");
  });

  test("Uses the latest rate not after the day, else the earliest", () => {
    const days = [
      on("2026-01-01", { EUR: "1" }),
      on("2026-06-15", { EUR: "2" }),
      on("2026-06-16", { EUR: "3" }),
    ];
    // In whatever order they come.
    for (const table of [rateTableOf(days), rateTableOf(days.toReversed())]) {
      const asked = ["2020-01-01", "2026-01-01", "2026-06-14", "2026-06-15", "2026-06-16", "2027-01-01"];
      expect(asked.map((day) => convert(d("1"), "EUR", day, table).rate)).toEqual([
        "1",
        "1",
        "1",
        "2",
        "3",
        "3",
      ]);
    }
  });

  test("Says that a rate is more than a week away from its day", () => {
    const table = rateTableOf([on("2026-06-10", { EUR: "1" })]);
    const isOld = (day: string) => convert(d("1"), "EUR", day, table).isOld;
    expect(["2026-06-02", "2026-06-03", "2026-06-10", "2026-06-17", "2026-06-18"].map(isOld)).toEqual([
      true,
      false,
      false,
      false,
      true,
    ]);
  });

  test("Prefers the first source for a week, then the one with the latest rate", () => {
    const table = rateTableOf([
      on("2026-06-10", { EUR: "1" }, "first"),
      on("2026-06-13", { EUR: "2" }, "second"),
      on("2026-06-20", { EUR: "3" }, "second"),
    ]);
    const days = ["2026-06-01", "2026-06-10", "2026-06-13", "2026-06-17", "2026-06-18", "2026-06-20"];
    expect(days.map((day) => convert(d("1"), "EUR", day, table).rate)).toEqual([
      "1",
      "1",
      "1",
      "1",
      "2",
      "3",
    ]);
  });

  test("Throws for a currency without a rate", () => {
    const rates = rateTableOf([on("2026-06-01", { JPY: "0.0063" })]);
    expect(() => convert(d("1"), "EUR", june, rates)).toThrow("There is no exchange rate for EUR");
  });
});

describe("Refreshing rates", () => {
  test("Reads the bank's days in order, from the last one before 2000, without what is no currency or has no rate", () => {
    const csv =
      "Date,USD,JPY,ROL,\n2000-01-04,1.03,105.1,18000,\n1999-12-30,1.0046,N/A,18200,\n1999-12-29,1,1,1,\n";
    expect(readTable(csv, ["USD", "JPY"])).toEqual([
      { date: "1999-12-30", rates: { USD: "1.0046" } },
      { date: "2000-01-04", rates: { USD: "1.03", JPY: "105.1" } },
    ]);
  });

  test("Takes one day a week, and the last", () => {
    const days = ["2026-01-01", "2026-01-07", "2026-01-08", "2026-01-09", "2026-02-20", "2026-02-21"];
    expect(oneAWeek(days)).toEqual(["2026-01-01", "2026-01-08", "2026-02-20", "2026-02-21"]);
  });

  test("Refuses a figure that contradicts its inverse", () => {
    expect(readRate("IRR", 7.2727292e-7, 1374999.64464856)).toBe("1374999.6");
    expect(() => readRate("EUR", 1.13607202, 1.13607202)).toThrow("contradict");
    expect(() => readRate("EUR", 0, 1)).toThrow("contradict");
  });

  test("Reads the same currencies in the script as in the service", async () => {
    const { readFile } = await import("node:fs/promises");
    const source = await readFile(new URL("../../currencies.ts", import.meta.url), "utf8");
    expect(listCodes(source)).toEqual(listCurrencies());
  });
});

describe("Shipped rates", () => {
  // Units for one EUR, as the European Central Bank published them.
  test.each([
    ["2000-01-03", "2000-01-03", "JPY", "1.009", "102.75"],
    // Good Friday and the weekend after it have the rate of Thursday.
    ["2020-04-12", "2020-04-09", "GBP", "1.0867", "0.87565"],
    ["2008-07-15", "2008-07-15", "CHF", "1.599", "1.6065"],
    ["2026-10-30", "2026-10-30", "KRW", "1.1172", "1491.76"],
    // A day that no source has yet gets the last rate.
    ["2026-11-05", "2026-10-30", "IDR", "1.1172", "20275.17"],
  ])("Of %s are those of %s: a cross rate of %s, rounded once", (day, date, currency, usd, units) => {
    expect(findRate(shippedRates, currency, day)).toEqual({
      rate: toText(divideMoney(d(usd), d(units))),
      date,
      source: "European Central Bank",
      isOld: false,
    });
    expect(findRate(shippedRates, "EUR", day)?.rate).toBe(usd);
  });

  test("Of currencies that the bank does not publish are of another source, and old where it had no day", () => {
    expect(findRate(shippedRates, "AED", "2026-09-29")).toMatchObject({
      date: "2026-09-29",
      source: "@fawazahmed0/currency-api",
      isOld: false,
    });
    expect(findRate(shippedRates, "AED", "2010-05-05")).toMatchObject({ date: "2024-03-02", isOld: true });
    // The bank stopped publishing the rouble in March 2022.
    expect(findRate(shippedRates, "RUB", "2022-03-05")).toMatchObject({ date: "2022-03-01", isOld: false });
    expect(findRate(shippedRates, "RUB", "2026-09-30")?.source).toBe("@fawazahmed0/currency-api");
  });

  test("Have cross rates within half a unit of the 18th decimal of the quotient, of any day and currency", () => {
    const [bank] = shippedSources;
    const published = unpackSource(0);
    const codes = [...published.keys()].filter((code) => code !== "USD");
    const daysOf = new Map([...published].map(([code, days]) => [code, [...days]]));
    fc.assert(
      fc.property(fc.constantFrom(...codes), fc.nat(), (code, pick) => {
        const days = daysOf.get(code) ?? [];
        const [day, units] = days[pick % days.length] as [string, string];
        const usd = published.get("USD")?.get(day) ?? "";
        const rate = exact(findRate(shippedRates, code, day)?.rate ?? "");
        // |rate × units − usd| ≤ units / 2 of the last decimal; `exact` counts in 1e-18.
        const error = rate * exact(units) - exact(usd) * 10n ** 18n;
        expect((error < 0n ? -error : error) * 2n <= exact(units), `${code} ${day} of ${bank?.source}`).toBe(
          true,
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test("Are shown on each day at the inverse of the rate that a cost of this day is converted at", () => {
    const day = fc.integer({
      min: Date.UTC(2000, 0, 1) / 86_400_000,
      max: Date.UTC(2026, 11, 31) / 86_400_000,
    });
    const text = (number: number) => new Date(number * 86_400_000).toISOString().slice(0, 10);
    fc.assert(
      fc.property(
        fc.constantFrom("EUR", "JPY", "RUB", "ISK", "AED", "BGN"),
        day,
        fc.nat(500),
        (code, from, days) => {
          const rates = displayRates(code, { from: text(from), until: text(from + days) });
          for (let at = from; at < from + days; at += 1) {
            const used = rates.findLast((rate) => rate.from === null || rate.from <= text(at));
            const found = findRate(shippedRates, code, text(at));
            expect([used?.rateDate, used?.source], text(at)).toEqual([found?.date, found?.source]);
            expect(used?.perUsd).toBe(toText(divideMoney(d("1"), d(found?.rate ?? ""))));
          }
        },
      ),
      { numRuns: 40 },
    );
  });

  test("Are read as they were packed", () => {
    const rate = fc.tuple(fc.nat(2_000_000), fc.nat(99_999)).map(([whole, part]) => `${whole}.${part + 1}`);
    const days = fc.uniqueArray(fc.integer({ min: 10_000, max: 20_000 }), { minLength: 1, maxLength: 30 });
    fc.assert(
      fc.property(days, fc.infiniteStream(fc.option(rate)), (numbers, stream) => {
        const given = numbers
          .sort((a, b) => a - b)
          .map((number) => {
            const [usd, jpy] = [stream.next().value, stream.next().value];
            const rates = { ...(usd && { USD: usd }), ...(jpy && { JPY: jpy }) };
            return { date: new Date(number * 86_400_000).toISOString().slice(0, 10), rates };
          });
        const read = unpackSource({ packed: pack(given) });
        for (const { date, rates } of given)
          for (const code of ["USD", "JPY"] as const) {
            const found = read.get(code)?.get(date);
            const wanted = rates[code];
            expect(found && toText(d(found))).toBe(wanted && toText(d(wanted)));
          }
      }),
    );
  });
});
