import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { afterEach, describe, expect, test } from "vitest";
import { ReaderContext } from "#reader";
import type { ExploreData } from "@/components/explore/data";
import { formatCharted, formatMeasured } from "@/components/explore/dimensions";
import { seriesOf } from "@/components/explore/explore-chart";
import { titleOf } from "@/components/explore/explore-figure";
import { readState } from "@/components/explore/state";
import { toCsv } from "@/components/explore/to-csv";
import { type DisplayCurrency, defaultReader } from "@/components/reader/reader";
import { ConvertedNumber } from "@/lib/contract/values/exact-number";
import { asProp, sumAmounts } from "./amount";
import {
  formatChartAmount,
  formatMoney,
  formatSignedMoney,
  formatTick,
  formatUsd,
  Money,
  shownNumber,
} from "./money";

const inEur: DisplayCurrency = {
  currency: "EUR",
  besideUsd: false,
  perUsd: "0.8",
  rateDate: "2026-09-29",
  isOld: false,
  source: "test",
};

function readWith(display: DisplayCurrency | null): void {
  const props = { value: { ...defaultReader, display }, isFallback: false, children: null };
  renderToStaticMarkup(createElement(ReaderContext, props));
}

afterEach(() => readWith(null));

const htmlOf = (props: Parameters<typeof Money>[0]) => renderToStaticMarkup(createElement(Money, props));
/** Converted day by day, at other rates than the latest. */
const sum = new ConvertedNumber("100", "91.234567890123456789");

describe("A reader of the base currency", () => {
  test("Sees sums as they were converted day by day, marked, with what was recorded on hover", () => {
    readWith(inEur);
    const html = htmlOf({ usd: sum, figure: "total" });
    expect(html).toContain(">≈ €91.23<");
    expect(html).toContain("Converted at each day&#x27;s rate; recorded as $100");
    expect(html).toContain('data-exact="100"');
    expect(html).toContain('data-converted="91.234567890123456789"');
    expect(formatMoney(asProp(sum))).toBe("≈ €91.23");
    expect(shownNumber(sum)).toBeCloseTo(91.2345, 3);
    expect(formatChartAmount(asProp(sum))).toBe("≈ €91.23");
    expect(formatTick(1234)).toBe("€1.2K");
    expect(formatSignedMoney(new ConvertedNumber("-100", "-91.2"))).toBe("≈ −€91.20");
  });

  test("Sees other amounts at the latest rate, and is told which", () => {
    readWith(inEur);
    const html = htmlOf({ usd: "50" });
    expect(html).toContain(">≈ €40.00<");
    expect(html).toContain("Converted at the rate of Sep 29, 2026; recorded as $50");
  });

  test("Sees prices in USD", () => {
    readWith(inEur);
    expect(formatUsd(sum)).toBe("$100.00");
    expect(htmlOf({ usd: sum, inUsd: true })).toContain(">$100.00<");
  });

  test.each([
    ["JPY", "157.5", "9", "≈ ¥1,418"],
    ["JPY", "157.5", "0.000000001", "≈ ¥0.00000016"],
    ["JPY", "157.5", "900000000000", "≈ ¥141,750,000,000,000"],
    ["KWD", "0.3087", "1234.5", "≈ KWD 381.090"],
    ["EUR", "0.8", "-0.001", "≈ −€0.0008"],
  ])("Sees %s with the decimals of its currency", (currency, perUsd, usd, shown) => {
    readWith({ ...inEur, currency, perUsd });
    expect(formatMoney(usd).replaceAll("\u00a0", " ")).toBe(shown);
  });
});

describe("A reader of both currencies", () => {
  test("Sees USD with the other beside it, and charts in USD", () => {
    readWith({ ...inEur, besideUsd: true });
    expect(htmlOf({ usd: sum }).replaceAll(/<[^>]*>/g, "")).toBe("$100.00 ≈ €91.23");
    expect(formatMoney(sum)).toBe("$100.00 (≈ €91.23)");
    expect(formatChartAmount(sum)).toBe("$100.00");
    expect(shownNumber(sum)).toBe(100);
  });
});

describe("Explored spend", () => {
  const sums = (usd: string, converted: string) => ({
    cost: { usd, converted },
    messages: 2,
    measured: { usd, converted },
  });
  const group = { value: "a", label: "a", isRest: false, colour: "red", ...sums("100", "91.25") };
  const data: ExploreData = {
    from: "2026-01-01",
    to: "2026-02-10",
    totals: sums("100", "91.25"),
    rows: [group],
    columns: [{ ...group, value: "2026-01-01", label: "Jan 1" }],
    cells: [{ row: 0, column: 0, ...sums("100", "91.25") }],
    comparison: null,
  };
  const state = { ...readState({}), by: "model", over: "day" };

  test("Is shown, drawn and read aloud in the reader's currency, with USD on hover", () => {
    readWith(inEur);
    expect(formatMeasured("cost", data.totals.measured)).toBe("≈ €91.25");
    expect(formatMeasured("cost_per_message", null)).toBe("–");
    expect(titleOf("cost", data.totals.measured)).toBe("Converted at each day's rate; recorded as $100");
    expect(seriesOf(state, data)[0]?.values).toEqual([91.25]);
    expect(formatCharted("cost", data.totals.measured)).toBe("≈ €91.25");
    expect(formatMeasured("messages", "1234")).toBe("1,234");
    expect(titleOf("messages", "1234")).toBe("1234");
  });

  test("Is drawn in USD where both are shown", () => {
    readWith({ ...inEur, besideUsd: true });
    expect(formatMeasured("cost", data.totals.measured)).toBe("$100.00 (≈ €91.25)");
    expect(formatCharted("cost", data.totals.measured)).toBe("$100.00");
    expect(seriesOf(state, data)[0]?.values).toEqual([100]);
  });

  test("Is summed exactly in both currencies, unless one amount that is not zero has no conversion", () => {
    const amount = (usd: string, converted: string) => ({ usd, converted });
    const [tenth, fifth] = [amount("0.1", "0.09"), amount("0.2", "0.17")];
    expect(sumAmounts([tenth, fifth, 0])).toEqual(amount("0.3", "0.26"));
    expect(sumAmounts([tenth, "-0.35"])).toBe("-0.25");
    expect(sumAmounts([])).toBe("0");
  });

  test("Is saved in USD", () => {
    readWith(inEur);
    expect(toCsv({ ...state, show: "pivot" }, data)).toBe(
      "Model,2026-01-01,Total\r\na,100,100\r\nTotal,100,100\r\n",
    );
  });

  test("Is shown as before to a reader of USD", () => {
    expect(formatMeasured("cost", "100")).toBe("$100.00");
    expect(titleOf("cost", "100")).toBe("100");
  });
});

test("A reader of USD sees nothing of a conversion", () => {
  expect(htmlOf({ usd: sum })).toBe('<span class="tabular-nums" title="$100">$100.00</span>');
  expect(formatMoney(sum)).toBe("$100.00");
});
