import { describe, expect, test } from "vitest";
import { nameRange } from "@/components/filters/range";
import { periodLabels } from "@/components/spend/period-labels";
import type { Period } from "@/lib/contract/spend/ledger-query";
import { comparedWith, rangeOf, toAnsweredRange, toAnsweredStretch } from "@/lib/spend/period";

const now = Date.parse("2026-11-24T14:05:00Z");

function labelsOf(period: Period) {
  const days = toAnsweredRange(rangeOf({ period }, now)) as { from: string; to: string };
  const before = comparedWith({ period }, now);
  const previous = before && {
    ...(toAnsweredRange(before.whole) as { from: string; to: string }),
    to_point: toAnsweredStretch(before, false, "UTC"),
  };
  const metrics = { period, ...days, compare: "previous", previous } as unknown as Parameters<
    typeof periodLabels
  >[0];
  const { soFar, previousPoint } = periodLabels(metrics, "2026-11-24");
  return [nameRange({ period, ...days }), soFar, previousPoint];
}

describe("The words of a period", () => {
  test.each<[Period, string, string, string]>([
    ["month", "November 2026", "so far in November", "on the same weekdays of October"],
    ["quarter", "This quarter", "so far this quarter", "at this point of last quarter"],
    ["last_quarter", "Last quarter", "in Jul 1 – Sep 30, 2026", "in Apr 1 – Jun 30, 2026"],
    ["year", "This year", "so far in 2026", "at this point of 2025"],
    ["year_to_date", "Year to date", "so far this year", "at this point of 2025"],
    ["last_30_days", "Last 30 days", "in the last 30 days", "at this point of the 30 days before"],
  ])("Of %s", (period, name, soFar, previousPoint) => {
    expect(labelsOf(period)).toEqual([name, soFar, previousPoint]);
  });
});
