import { formatMonth } from "@/components/format-date";
import type { Metrics } from "@/lib/contract/metrics";

/** Names of a period and the previous one, as parts of a sentence. Null when there is no previous period. */
export type PeriodLabels = {
  /** "so far in November" */
  soFar: string;
  /** "at this point of October" */
  previousPoint: string | null;
  /** "October" */
  previous: string | null;
};

/** The names of the period of some metrics and of the previous one. */
export function periodLabels({ period, from, previous }: Metrics): PeriodLabels {
  if (!from || !previous) return { soFar: "in total", previousPoint: null, previous: null };
  switch (period) {
    case "day":
      return { soFar: "so far today", previousPoint: "at this time yesterday", previous: "Yesterday" };
    case "month":
      return {
        soFar: `so far in ${formatMonth(from)}`,
        previousPoint: `at this point of ${formatMonth(previous.from)}`,
        previous: formatMonth(previous.from),
      };
    case "year":
      return {
        soFar: `so far in ${from.slice(0, 4)}`,
        previousPoint: `at this point of ${previous.from.slice(0, 4)}`,
        previous: previous.from.slice(0, 4),
      };
    case "range":
      return {
        soFar: "in these days",
        previousPoint: "in the same number of days before",
        previous: "The previous days",
      };
    default:
      return {
        soFar: `so far this ${period}`,
        previousPoint: `at this point of last ${period}`,
        previous: `Last ${period}`,
      };
  }
}
