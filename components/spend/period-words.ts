import type { Metrics } from "@/lib/contract/metrics";

const monthOf = (day: string) =>
  new Intl.DateTimeFormat("en-US", { month: "long", timeZone: "UTC" }).format(new Date(day));

/** A period in the words of a sentence. `pointBefore` and `before` are null where there is no period before. */
export type PeriodWords = {
  /** "so far in November" */
  soFar: string;
  /** "at this point of October" */
  pointBefore: string | null;
  /** "October" */
  before: string | null;
};

/** What to call the period of some figures, and the one before. */
export function periodWords({ period, from, previous }: Metrics): PeriodWords {
  if (!from || !previous) return { soFar: "in all", pointBefore: null, before: null };
  switch (period) {
    case "day":
      return { soFar: "so far today", pointBefore: "at this time yesterday", before: "Yesterday" };
    case "month":
      return {
        soFar: `so far in ${monthOf(from)}`,
        pointBefore: `at this point of ${monthOf(previous.from)}`,
        before: monthOf(previous.from),
      };
    case "year":
      return {
        soFar: `so far in ${from.slice(0, 4)}`,
        pointBefore: `at this point of ${previous.from.slice(0, 4)}`,
        before: previous.from.slice(0, 4),
      };
    case "range":
      return { soFar: "in these days", pointBefore: "in as many days before", before: "The days before" };
    default:
      return {
        soFar: `so far this ${period}`,
        pointBefore: `at this point of last ${period}`,
        before: `Last ${period}`,
      };
  }
}
