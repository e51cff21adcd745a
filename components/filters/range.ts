import { formatDate, formatDays, formatMonthAndYear } from "@/components/figures/format-date";
import { addDays } from "@/components/figures/utc-day";
import type { Comparison, Period } from "@/lib/contract/spend/ledger-query";
import { hrefWith, type SearchParams } from "./href";

/** The parameters of an address for the days that a page shows and what they are compared with. */
export const rangeNames = ["period", "from", "to", "compare", "compare_from", "compare_to"] as const;

/** A period as parameters of an address. */
export type PeriodChoice = { period: Period; from?: string; to?: string };

/** What a period is compared with, as parameters of an address. */
export type CompareChoice = { compare: Comparison; compare_from?: string; compare_to?: string };

/** The range of a page. Days are of the time zone, `YYYY-MM-DD`; both are null for everything. */
export type PageRange = {
  period: Period;
  from: string | null;
  to: string | null;
  compare: Comparison;
  /** The days compared with; null for nothing. */
  previous: { from: string; to: string } | null;
  /** The previous and the next range of the same length; null if there is none, or it has not begun. */
  earlier: PeriodChoice | null;
  later: PeriodChoice | null;
  today: string;
  timeZone: string;
};

/** The periods to choose from, in their order. */
export const presets: { period: Exclude<Period, "range">; label: string }[] = [
  { period: "day", label: "Today" },
  { period: "week", label: "This week" },
  { period: "month", label: "This month" },
  { period: "quarter", label: "This quarter" },
  { period: "year", label: "This year" },
  { period: "year_to_date", label: "Year to date" },
  { period: "last_month", label: "Last month" },
  { period: "last_quarter", label: "Last quarter" },
  { period: "last_7_days", label: "Last 7 days" },
  { period: "last_30_days", label: "Last 30 days" },
  { period: "last_90_days", label: "Last 90 days" },
  { period: "all", label: "All time" },
];

/** What a period can be compared with, besides chosen days. */
export const compareOptions: { compare: Exclude<Comparison, "range">; label: string }[] = [
  { compare: "previous", label: "The previous period" },
  { compare: "last_year", label: "The same period last year" },
  { compare: "none", label: "Nothing" },
];

/** The address of a page with another period. All time has no comparison. */
export function hrefOfPeriod(path: string, params: SearchParams, choice: PeriodChoice): string {
  const { period, from, to } = choice;
  const compared =
    period === "all" ? { compare: undefined, compare_from: undefined, compare_to: undefined } : {};
  return hrefWith(path, params, { period, from, to, ...compared });
}

/** The address of a page with another comparison. */
export function hrefOfComparison(path: string, params: SearchParams, choice: CompareChoice): string {
  const { compare, compare_from, compare_to } = choice;
  return hrefWith(path, params, { compare, compare_from, compare_to });
}

/** The name of some days: "October 2026" for a month, "2025" for a year, "Oct 3 – 9, 2026" for any others. */
export function nameDays(from: string, to: string): string {
  const isFromStart = from.endsWith("-01");
  const next = addDays(to, 1);
  if (isFromStart && next.endsWith("-01")) {
    const months =
      (Number(next.slice(0, 4)) - Number(from.slice(0, 4))) * 12 +
      Number(next.slice(5, 7)) -
      Number(from.slice(5, 7));
    if (months === 1) return formatMonthAndYear(from);
    if (months === 12 && from.slice(5, 7) === "01") return from.slice(0, 4);
  }
  return from === to ? formatDate(from) : formatDays(from, to);
}

/** The name of a page's range: its preset, its month, or its days. */
export function nameRange({ period, from, to }: Pick<PageRange, "period" | "from" | "to">): string {
  if (from === null || to === null) return "All time";
  if (period === "range" || period === "month" || period === "last_month") return nameDays(from, to);
  return presets.find((preset) => preset.period === period)?.label ?? nameDays(from, to);
}

/** The parameters of an address that choose days and the environment, without any filter. */
export function keepRange(params: SearchParams): SearchParams {
  const kept: readonly string[] = [...rangeNames, "environment"];
  return Object.fromEntries(Object.entries(params).filter(([name]) => kept.includes(name)));
}
