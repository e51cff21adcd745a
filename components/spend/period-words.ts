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
  const first = from ?? "";
  const earlier = previous?.from ?? "";
  const words: Record<Metrics["period"], PeriodWords> = {
    day: { soFar: "so far today", pointBefore: "at this time yesterday", before: "Yesterday" },
    week: { soFar: "so far this week", pointBefore: "at this point of last week", before: "Last week" },
    month: {
      soFar: `so far in ${monthOf(first)}`,
      pointBefore: `at this point of ${monthOf(earlier)}`,
      before: monthOf(earlier),
    },
    quarter: {
      soFar: "so far this quarter",
      pointBefore: "at this point of last quarter",
      before: "Last quarter",
    },
    year: {
      soFar: `so far in ${first.slice(0, 4)}`,
      pointBefore: `at this point of ${earlier.slice(0, 4)}`,
      before: earlier.slice(0, 4),
    },
    all: { soFar: "in all", pointBefore: null, before: null },
    range: { soFar: "in these days", pointBefore: "in as many days before", before: "The days before" },
  };
  return words[period];
}
