import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, describe, expect, test } from "vitest";
import { ReaderContext } from "#reader";
import { describeRule } from "@/components/alerts/rule-view";
import { defaultReader } from "@/components/reader/reader";
import type { AlertRuleSetting } from "@/lib/contract/alerts/alert-rules";
import { acceptedLocale, type Locale, localeNames, locales } from "@/lib/contract/values/locales";
import { formatDigits, formatNumber, formatSize } from "./format-count";
import {
  formatDate,
  formatDateTime,
  formatDay,
  formatDays,
  formatMonthAndYear,
  formatMonthsOf,
  formatWeekday,
} from "./format-date";
import { formatList } from "./format-list";
import { formatExactUsd } from "./format-money";
import { formatExactPercent, formatPercent, formatShareTick } from "./format-percent";
import { formatSignedMoney, formatTick, formatUsd } from "./money";
import { parseAmount } from "./parse-amount";
import { Time } from "./time";

/** Formats for readers of a locale, as a page in their browser does. */
function readAs(locale: Locale): void {
  const props = { value: { ...defaultReader, locale }, isFallback: false, children: null };
  renderToStaticMarkup(createElement(ReaderContext, props));
}

/** Replaces the no-break spaces of locales with plain ones. */
const plain = (text: string) => text.replaceAll(/[\u00a0\u202f]/gu, " ");

afterEach(() => readAs("en-US"));

describe("A reader's locale", () => {
  test.each([
    [null, "en-US"],
    ["", "en-US"],
    ["de", "de-DE"],
    ["de-AT,de;q=0.9,en;q=0.8", "de-AT"],
    ["de-LI", "de-DE"],
    ["en-GB,en-US;q=0.9", "en-GB"],
    ["en;q=0.2, fr-CH;q=0.9", "fr-CH"],
    ["no", "nb-NO"],
    ["zh-Hant-HK", "zh-TW"],
    ["xx, it;q=0.1", "it-IT"],
    // Right-to-left languages are not supported.
    ["ar-EG,ar;q=0.9", "en-US"],
    ["he", "en-US"],
    ["*", "en-US"],
    ["de;q=0", "en-US"],
    [`${"x".repeat(100_000)},de`, "en-US"],
    ["'; drop table --", "en-US"],
  ])("Of a browser that asks for %s is %s", (header, locale) => {
    expect(acceptedLocale(header?.slice(0, 200_000) ?? null)).toBe(locale);
  });

  test("Is one that the formats know, with a name of its own", () => {
    expect(Intl.NumberFormat.supportedLocalesOf(locales)).toEqual(locales);
    expect(new Set(Object.values(localeNames)).size).toBe(locales.length);
  });

  test.each([
    ["en-US", "$1,234.56", "−$0.000000001", "$900,000,000,000.00", "Nov 2, 2026", "1,234,567", "41×"],
    ["en-GB", "US$1,234.56", "−US$0.000000001", "US$900,000,000,000.00", "2 Nov 2026", "1,234,567", "41×"],
    ["de-DE", "1.234,56 $", "−0,000000001 $", "900.000.000.000,00 $", "02.11.2026", "1.234.567", "41×"],
    ["fr-FR", "1 234,56 $US", "−0,000000001 $US", "900 000 000 000,00 $US", "02/11/2026", "1 234 567", "41×"],
    ["de-CH", "$ 1'234.56", "$−0.000000001", "$ 900'000'000'000.00", "02.11.2026", "1'234'567", "41×"],
    ["en-IN", "$1,234.56", "−$0.000000001", "$9,00,00,00,00,000.00", "2 Nov 2026", "12,34,567", "41×"],
    ["ja-JP", "$1,234.56", "−$0.000000001", "$900,000,000,000.00", "2026/11/02", "1,234,567", "41×"],
    // In the Gregorian calendar, like the days in the addresses of pages.
    ["th-TH", "US$1,234.56", "−US$0.000000001", "US$900,000,000,000.00", "02/11/2026", "1,234,567", "41×"],
  ] as const)("%s decides how figures are written", (locale, amount, tiny, huge, date, count, percent) => {
    readAs(locale);
    const shown = [
      formatUsd("1234.56"),
      formatUsd("-0.000000001"),
      formatUsd("900000000000"),
      formatDate("2026-11-02"),
      formatNumber(1_234_567),
      formatPercent("41.2"),
    ];
    expect(shown.map(plain)).toEqual([amount, tiny, huge, date, count, percent]);
  });

  test("Changes no word of the pages, which are in English", () => {
    readAs("de-DE");
    expect(formatMonthAndYear("2026-12-01")).toBe("December 2026");
    expect(formatMonthsOf(["2026-11-01", "2026-12-01"])("2026-12-01")).toBe("Dec");
    expect(formatMonthsOf(["2025-12-01", "2026-12-01"])("2026-12-01")).toBe("Dec 2026");
    expect(formatWeekday("2026-12-05")).toBe("Sat, 5.12.");
    expect(formatDay("2026-12-05")).toBe("5.12.");
    expect(formatDays("2026-12-05", "2026-12-09")).toBe("05.12.2026 – 09.12.2026");
    expect(formatDateTime("2026-12-05T18:00:00Z")).toBe("05.12.2026, 18:00");
    for (const locale of locales.filter((each) => !each.startsWith("en-"))) {
      readAs(locale);
      const texts = [formatDate, formatDay, formatDateTime].map((format) => format("2026-05-03T06:00:00Z"));
      // Removes the calendar units that Japanese and Chinese write, which are not names.
      expect(texts.join(" ").replaceAll(/[月日年]|г\.|\bh\b/gu, ""), locale).not.toMatch(/\p{L}/u);
    }
  });

  test("Keeps the sign, the axis and every digit", () => {
    readAs("de-DE");
    expect(plain(formatSignedMoney("-5"))).toBe("−5,00 $");
    expect(plain(formatSignedMoney("36.12"))).toBe("+36,12 $");
    expect(plain(formatTick(9.5))).toBe("9,50 $");
    expect(formatDigits("-1234567.0001")).toBe("−1.234.567,0001");
    expect(plain(formatExactUsd("-1234567.000100000000000001"))).toBe("−1234567,000100000000000001 $");
    expect(plain(formatExactUsd("12345"))).toBe("12345 $");
    expect(plain(formatExactUsd("1234.5", true))).toBe("1.234,5 $");
  });
});

describe("What is written besides amounts and dates", () => {
  const ago = (at: number) =>
    plain(
      renderToStaticMarkup(createElement(Time, { at: new Date(at).toISOString() })).replace(/<[^>]*>/g, ""),
    );

  test.each([
    ["en-US", "12.3 kB", "1,234.5 MB", "1,234.5%", "50%", "$1,000"],
    ["en-IN", "12.3 kB", "1,234.5 MB", "1,234.5%", "50%", "$1,000"],
    ["de-DE", "12,3 kB", "1.234,5 MB", "1.234,5 %", "50 %", "1.000 $"],
    ["de-CH", "12.3 kB", "1'234.5 MB", "1'234.5%", "50%", "$ 1'000"],
    ["fr-FR", "12,3 kB", "1 234,5 MB", "1 234,5 %", "50 %", "1 000 $US"],
    ["ja-JP", "12.3 kB", "1,234.5 MB", "1,234.5%", "50%", "$1,000"],
  ] as const)("%s decides about sizes, thresholds and axes", (locale, small, large, percent, tick, usd) => {
    readAs(locale);
    const rule = describeRule({ rule: "unusual_day", parameter: { value: 1000 } } as AlertRuleSetting);
    expect([
      plain(formatSize(12_345)),
      plain(formatSize(1_234_500_000)),
      plain(formatExactPercent("1234.5")),
      plain(formatShareTick(0.5)),
    ]).toEqual([small, large, percent, tick]);
    expect(plain(rule)).toContain(`at least ${usd} more`);
    expect(plain(formatShareTick(-0))).toMatch(/^0/);
    expect(formatSize(0)).toBe("0 kB");
  });

  test.each([
    ["en-US", "a, b, and c", "3m ago"],
    ["en-GB", "a, b and c", "3 min ago"],
    // Words stay in English.
    ["de-DE", "a, b, and c", "3m ago"],
    ["ja-JP", "a, b, and c", "3m ago"],
  ] as const)("%s decides in which English lists and times ago are written", (locale, list, time) => {
    readAs(locale);
    expect(formatList(["a", "b", "c"])).toBe(list);
    expect(ago(Date.now() - 200_000)).toBe(time);
  });
});

describe("An amount that a reader types", () => {
  test.each([
    ["en-US", "1,250.50", "1250.50"],
    ["en-US", "1.250", "1.250"],
    ["en-US", "1,5", undefined],
    ["en-US", "1.250,50", undefined],
    ["de-DE", "12,5", "12.5"],
    ["de-DE", "1.250,50 $", "1250.50"],
    ["de-DE", "1 250,50", "1250.50"],
    ["de-DE", "1.250.000", "1250000"],
    ["de-DE", "1250", "1250"],
    ["de-DE", "12.5", "12.5"],
    ["de-DE", "0,125", "0.125"],
    ["de-DE", "0.125", "0.125"],
    ["de-DE", "1250.125", "1250.125"],
    ["de-DE", "1,250.50", "1250.50"],
    // Ambiguous.
    ["de-DE", "1.250", undefined],
    ["de-DE", "1,250", undefined],
    ["de-DE", "1.25.000", undefined],
    ["de-DE", "1,2,3", undefined],
    ["de-DE", "-1", undefined],
    ["de-DE", "", ""],
    ["de-CH", "1'250.50", "1250.50"],
    ["fr-FR", "1 250,5", "1250.5"],
  ] as const)("By %s, %s is %s", (locale, typed, digits) => {
    readAs(locale);
    expect(parseAmount(typed)).toBe(digits);
  });
});
