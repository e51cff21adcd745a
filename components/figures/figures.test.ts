import { createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";
import { describe, expect, test } from "vitest";
import { BudgetSentence } from "@/components/overview/budget-sentence";
import { Headline } from "@/components/overview/headline";
import { Meter } from "@/components/ui/meter";
import { Progress } from "@/components/ui/progress";
import type { Metrics } from "@/lib/contract/spend/metrics";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { exactText } from "./amount";
import { Count } from "./count";
import { Delta, formatGrowth } from "./delta";
import { formatPercent } from "./format-percent";
import { formatSignedUsd, formatTick, formatUsd, Money } from "./money";

const textOf = (html: string) => html.replace(/<[^>]*>/g, "");

describe("An amount", () => {
  test.each([
    ["0", "$0.00"],
    ["0.1", "$0.10"],
    ["12.345", "$12.35"],
    ["12.344999999999999999", "$12.34"],
    ["1234567.891", "$1,234,567.89"],
    ["-1234.5", "−$1,234.50"],
    // Two decimals would show zero, so two significant digits are shown.
    ["0.005", "$0.01"],
    ["0.0049", "$0.0049"],
    ["0.00123", "$0.0012"],
    ["0.00000012345", "$0.00000012"],
    ["-0.00123", "−$0.0012"],
    // A double would make $999,999,999,999,999.90 and $1,000,000,000,000,000.00 of these.
    ["999999999999999.94", "$999,999,999,999,999.94"],
    ["999999999999999.994", "$999,999,999,999,999.99"],
    ["123456789012345.678901234567890123", "$123,456,789,012,345.68"],
  ])("Shows %s as %s", (exact, shown) => {
    expect(formatUsd(exact)).toBe(shown);
    expect(formatUsd(new ExactNumber(exact))).toBe(shown);
  });

  test.each([
    ["0", 3, "$0.000"],
    ["36.1", undefined, "+$36.10"],
    ["-1.357", undefined, "−$1.36"],
    ["-1.357", 3, "−$1.357"],
    ["0.0004", 3, "+$0.0004"],
  ])("Shows %s with its sign and %s decimal places as %s", (exact, places, shown) => {
    expect(formatSignedUsd(exact, places)).toBe(shown);
  });

  test.each([
    [0, "$0"],
    [0.00123, "$0.0012"],
    [9.5, "$9.50"],
    [10, "$10"],
    [1234, "$1.2K"],
    [2_500_000, "$2.5M"],
  ])("Shows %d as %s on an axis", (usd, shown) => {
    expect(formatTick(usd)).toBe(shown);
  });

  test("Keeps every digit beside the rounded figure", () => {
    const exact = "123456789012345.678901234567890123";
    const html = renderToStaticMarkup(createElement(Money, { usd: new ExactNumber(exact), figure: "spent" }));
    expect(html).toContain(`title="$${exact}"`);
    expect(html).toContain(`data-exact="${exact}"`);
    expect(textOf(html)).toBe("$123,456,789,012,345.68");
  });

  test.each([
    ["1e-7", "0.0000001"],
    ["1.25e-9", "0.00000000125"],
    ["-1.5e3", "-1500"],
    ["12e0", "12"],
  ])("Reads %s as %s", (text, plain) => {
    expect(exactText(new ExactNumber(text))).toBe(plain);
  });
});

describe("A percentage", () => {
  test.each([
    ["0", "0%"],
    ["0.004", "< 1%"],
    ["-0.0001", "> −1%"],
    ["-0.7", "−70%"],
    ["9.99", "999%"],
    ["75.16", "75×"],
    ["0.5", "50%"],
    ["0.994", "99%"],
    ["0.997", "99%"],
    ["0.999999999999999999", "99%"],
    ["1", "100%"],
    ["1.004", "100%"],
    ["1.234", "123%"],
  ])("Shows %s as %s: 100% is reached, never rounded to", (fraction, shown) => {
    expect(formatPercent(fraction)).toBe(shown);
    expect(formatPercent(new ExactNumber(fraction))).toBe(shown);
  });

  test("Reads the same to a screen reader as on the screen", () => {
    const meter = (fraction: number) =>
      renderToStaticMarkup(createElement(Meter, { fraction, label: "Used" }));
    expect(meter(0.997)).toContain('aria-valuenow="99"');
    expect(meter(0.997)).toContain('aria-valuetext="99%"');
    expect(meter(1)).toContain('aria-valuetext="100%"');
    expect(renderToStaticMarkup(createElement(Progress, { fraction: 0.997, label: "Sent" }))).toContain(
      'aria-valuenow="99"',
    );
  });

  test("Calls a budget used up only when it is, to the last digit", () => {
    const sentence = (percent_used: string) => {
      const budgets = [{ id: "1", name: "All", percent_used: new ExactNumber(percent_used), alert: true }];
      return textOf(renderToStaticMarkup(createElement(BudgetSentence, { budgets })));
    };
    expect(sentence("0.999999999999999999")).toBe("Close to the limit: All (99%). ");
    expect(sentence("1")).toBe("1 budget is used up: All (100%). ");
  });
});

test.each<[number, boolean, string]>([
  [1234, false, "1,234"],
  [99_999, true, "99,999"],
  [1_234_567, true, "1.2M"],
  [1_234_567, false, "1,234,567"],
])("a count of %d is shown as %s", (value, compact, shown) => {
  const html = renderToStaticMarkup(createElement(Count, { value, compact }));
  expect(textOf(html)).toBe(shown);
  if (shown.endsWith("M")) expect(html).toContain('title="1,234,567"');
});

describe("The sentence about budgets", () => {
  const budgetsOf = (...used: string[]) =>
    used.map((percent, index) => ({
      id: `b${index}`,
      name: `Budget ${index + 1}`,
      percent_used: new ExactNumber(percent),
      alert: Number(percent) >= 0.8,
    }));
  const sentence = (...used: string[]) =>
    textOf(
      renderToStaticMarkup(
        createElement(BudgetSentence, { budgets: budgetsOf(...used), href: "/acme/budgets" }),
      ),
    );

  test("Names the three worst, counts the others and links to all", () => {
    expect(sentence("1.01", "1.2", "41.2", "1.1", "2", "0.9", "0.1")).toBe(
      "5 budgets are used up: Budget 3 (41×), Budget 5 (200%), Budget 2 (120%), and 2 others. " +
        "Close to the limit: 1 budget. 1 other is on track.See all 7 budgets",
    );
  });

  test("Says that all are on track", () => {
    expect(sentence("0.1", "0.5")).toBe("All 2 budgets are on track: Budget 2 (50%) and Budget 1 (10%).");
  });

  test("Shortens a long name", () => {
    const [budget] = budgetsOf("1.5");
    const html = renderToStaticMarkup(
      createElement(BudgetSentence, { budgets: [{ ...budget, name: "x".repeat(80) } as never] }),
    );
    expect(textOf(html)).toBe(`1 budget is used up: ${"x".repeat(39)}… (150%). `);
  });
});

describe("The headline", () => {
  const kinds = { usage_usd: 0, subscription_usd: 0, expense_usd: 0, adjustment_usd: 0 };
  const zero = { ...kinds, message_count: 1, unpriced_count: 0 };
  const totalsOf = (total: string) => ({ ...zero, total_usd: new ExactNumber(total) });
  const metricsOf = (total: string, toPoint: string, forecast: string | null) =>
    ({
      period: "month",
      compare: "previous",
      from: "2026-11-01",
      to: "2026-11-30",
      totals: totalsOf(total),
      previous: {
        from: "2026-10-01",
        to: "2026-10-31",
        totals: totalsOf("500"),
        to_point_usd: new ExactNumber(toPoint),
        to_point: {
          from: "2026-10-04",
          to: "2026-10-25",
          until: "2026-10-25T14:05:00.000+00:00",
          aligned_by: "weekday",
          is_estimate: false,
        },
      },
      forecast: null,
      forecast_usd: forecast === null ? null : new ExactNumber(forecast),
    }) as Metrics;

  const viewOf = (...figures: Parameters<typeof metricsOf>) => ({
    metrics: metricsOf(...figures),
    today: "2026-11-22",
  });

  test.each<[string, string, string]>([
    ["112", "100", ", 12% more than on the same weekdays of October."],
    ["88", "100", ", 12% less than on the same weekdays of October."],
    ["100.1", "100", ", as much as on the same weekdays of October."],
    ["350", "100", ", 250% more than on the same weekdays of October."],
    ["0.3", "100", ", 99% less than on the same weekdays of October."],
    ["0", "100", ", 100% less than on the same weekdays of October."],
    ["5", "0", "."],
  ])("of %s after %s ends with %j", (total, toPoint, ending) => {
    const html = renderToStaticMarkup(createElement(Headline, { view: viewOf(total, toPoint, null) }));
    expect(textOf(html)).toBe(`${formatUsd(total)} so far in November${ending}`);
  });

  test("Says what part of the budget the forecast is, and 100% only when it is exactly that", () => {
    const ending = (forecast: string) => {
      const view = viewOf("10", "0", forecast);
      return textOf(renderToStaticMarkup(createElement(Headline, { view, budget: "100" })));
    };
    expect(ending("99.7")).toBe(
      "$10.00 so far in November; expected to reach $99.70 by November 30, 99% of the budget.",
    );
    expect(ending("250")).toContain("250% of the budget");
  });
});

describe("a change", () => {
  test("is below 1% in words where it would round to zero", () => {
    expect([0.12, 0.004, -0.004, 0].map(formatGrowth)).toEqual(["12%", "< 1%", "< 1%", "0%"]);
  });
  const shown = (fraction: number | null) => {
    const html = renderToStaticMarkup(createElement(Delta, { fraction }));
    const arrow = /lucide-arrow-(up|down)/.exec(html)?.[1] ?? "none";
    return [arrow, textOf(html)];
  };
  test.each<[number | null, string, string]>([
    [0.12, "up", "up 12%"],
    [-0.12, "down", "down 12%"],
    [8.994, "up", "up 899%"],
    [9.996, "up", "up 11×"],
    [-1, "down", "down 100%"],
    // Not 100%, because something was spent.
    [-0.997, "down", "down 99%"],
    [0.004, "none", "unchanged"],
    [-0.004, "none", "unchanged"],
    [null, "none", "new"],
  ])("by %d points %s and says %j", (fraction, arrow, words) => {
    expect(shown(fraction)).toEqual([arrow, words]);
  });
});
