import { formatDays, formatInZone, formatMonth, formatMonthAndYear } from "@/components/figures/format-date";
import { formatList } from "@/components/figures/format-list";
import { nameDays } from "@/components/filters/range";
import type { Metrics } from "@/lib/contract/spend/metrics";
import type { ComparedStretch } from "@/lib/contract/spend/spend-comparison";

/** Names of a period and of the days it is compared with, as parts of a sentence. Null when it is compared with nothing. */
export type PeriodLabels = {
  /** "so far in November", "in October 2026" */
  soFar: string;
  /** "on the same weekdays of October", "at this point of last week", "in September 2026" */
  previousPoint: string | null;
  /** "October", "last week" */
  previous: string | null;
};

type Labelled = Pick<Metrics, "period" | "from" | "to" | "compare" | "previous">;

/**
 * The names of the period of some metrics and of the days it is compared with.
 * @param today the workspace's current day, `YYYY-MM-DD`
 */
export function periodLabels(metrics: Labelled, today: string): PeriodLabels {
  const { from, to, previous } = metrics;
  if (from === null || to === null) return { soFar: "in all", previousPoint: null, previous: null };
  const isOver = to < today;
  const name = previous && namePrevious(metrics, previous, today);
  return {
    soFar: `${isOver || metrics.period.startsWith("last_") ? "" : "so far "}${nameSpan(metrics, from, to, today)}`,
    previousPoint:
      name &&
      (previous?.to_point?.aligned_by === "weekday"
        ? `on ${nameWeekdays(previous.to_point, today)}`
        : namePoint(name, isOver)),
    previous: name,
  };
}

/** "the same weekdays of October" */
function nameWeekdays({ from, to }: ComparedStretch, today: string): string {
  const months = from.slice(0, 7) === to.slice(0, 7) ? [from] : [from, to];
  return `the same weekdays of ${formatList(months.map((day) => nameMonth(day, today)))}`;
}

/**
 * Describes a stretch by its days, and says if they are the same weekdays: "the same weekdays of October (Oct 4 – 26, 2026, 2:05 PM)".
 * @param today the current day, or one near it
 */
export function describeStretch(stretch: ComparedStretch, today: string): string {
  const days = formatStretch(stretch);
  return stretch.aligned_by === "day" ? days : `${nameWeekdays(stretch, today)} (${days})`;
}

/** Days whose last one may be cut: "Oct 4 – 26, 2026, 2:05 PM". @param until the instant at which it is cut, or null */
export const formatStretch = ({ from, to, until }: Pick<ComparedStretch, "from" | "to" | "until">): string =>
  `${formatDays(from, to)}${until === null ? "" : `, ${formatInZone(new Date(until), "time")}`}`;

/** The name of each comparison in a chart, by day and by weekday. */
const comparisonNames: Record<Exclude<Metrics["compare"], "none">, Record<"day" | "weekday", string>> = {
  previous: { day: "Previous period", weekday: "Same weekdays four weeks before" },
  last_year: { day: "Same days last year", weekday: "Same weekdays last year" },
  range: { day: "Chosen days", weekday: "Chosen days" },
};

/**
 * The name of a chart's comparison ("Same days last year"), and the name with its days ("Same days last year: Nov 1 – 30, 2025").
 * Undefined if nothing is compared.
 */
export function comparisonLabel({
  compare,
  previous,
  series,
}: Pick<Metrics, "compare" | "previous" | "series">): { name: string; full: string } | undefined {
  if (!previous || compare === "none") return undefined;
  const by = previous.to_point?.aligned_by ?? "day";
  const name = comparisonNames[compare][by];
  const [first, last] = [series.previous[0]?.from, series.previous.at(-1)?.from];
  const days = by === "weekday" && first && last ? { from: first, to: last } : previous;
  return { name, full: `${name}: ${nameDays(days.from, days.to)}` };
}

/** The point of the days compared with that corresponds to now; their end if the period is over. */
function namePoint(name: string, isOver: boolean): string {
  if (isOver) return `in ${name}`;
  return name === "yesterday" ? "at this time yesterday" : `at this point of ${name}`;
}

/** The period with its preposition: "in November", "this week", "in the last 7 days". */
function nameSpan({ period }: Labelled, from: string, to: string, today: string): string {
  switch (period) {
    case "day":
      return "today";
    case "week":
    case "quarter":
      return `this ${period}`;
    case "year_to_date":
      return "this year";
    case "month":
    case "last_month":
      return `in ${nameMonth(from, today)}`;
    case "last_7_days":
    case "last_30_days":
    case "last_90_days":
      return `in the ${period.replaceAll("_", " ")}`;
    default:
      return from === to ? `on ${nameDays(from, to)}` : `in ${nameDays(from, to)}`;
  }
}

/** The days compared with: "October", "last week", "the 7 days before", "Oct 3 – 9, 2026". */
function namePrevious(
  { period, compare }: Labelled,
  { from, to }: { from: string; to: string },
  today: string,
): string {
  if (compare !== "previous") return nameDays(from, to);
  if (period === "day") return "yesterday";
  if (period === "week" || period === "quarter") return `last ${period}`;
  if (period === "month" || period === "last_month") return nameMonth(from, today);
  if (period === "year_to_date") return from.slice(0, 4);
  if (period.startsWith("last_") && period !== "last_quarter")
    return `the ${period.split("_")[1]} days before`;
  return nameDays(from, to);
}

/** A month: "October", or "November 2025" if another November has begun since. */
function nameMonth(day: string, today: string): string {
  const [year = 0, month = 0] = day.split("-").map(Number);
  const [thisYear = 0, thisMonth = 0] = today.split("-").map(Number);
  return (thisYear - year) * 12 + thisMonth - month < 12 ? formatMonth(day) : formatMonthAndYear(day);
}
