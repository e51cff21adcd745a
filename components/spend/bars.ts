import type { Bar, ChartGroup } from "@/components/charts/chart-data";
import type { AmountProp } from "@/components/figures/amount";
import {
  formatDay,
  formatMonthAndYear,
  formatMonthsOf,
  formatWeekdaysOf,
} from "@/components/figures/format-date";
import { utcDay } from "@/components/figures/utc-day";
import { type ActivityFilter, activityHref, type SearchParams } from "@/components/filters/href";

/** A series for the chart. Amounts are exact USD as text (or with a conversion), so that a server component can pass them on. */
export type ChartSeries = {
  bucket: "day" | "month";
  groups: ChartGroup[];
  /** `from` is the first day of the bucket, `YYYY-MM-DD`; `amounts` has one entry for each group. */
  points: { from: string; total: AmountProp; amounts: AmountProp[]; previous: AmountProp | null }[];
  /** The name of what the points are compared with, and its name with its days (`full`). */
  comparison: { name: string; full: string } | undefined;
  workspace: string;
  filter: ActivityFilter;
  /** The address of the page, which the choice of days changes. */
  page: { path: string; params: SearchParams };
  /** The current day of the workspace, `YYYY-MM-DD`. */
  today: string;
  /** Events in words with their days, which are marked above the bars. */
  notes: { day: string; text: string }[];
};

/** How the bars of each size are named, and their last day. */
const buckets = {
  day: { formatTitlesOf: formatWeekdaysOf, formatLabelsOf: () => formatDay, lastDay: (day: string) => day },
  month: {
    formatTitlesOf: () => formatMonthAndYear,
    formatLabelsOf: formatMonthsOf,
    lastDay: lastDayOfMonth,
  },
};

/** The bars of a series, and the index of the one that is not over yet. */
export function toBars({
  bucket,
  points,
  workspace,
  filter,
  today,
  notes,
}: Pick<ChartSeries, "bucket" | "points" | "workspace" | "filter" | "today" | "notes">): {
  bars: Bar[];
  unfinished: number | undefined;
} {
  const { formatTitlesOf, formatLabelsOf, lastDay } = buckets[bucket];
  const days = points.map(({ from }) => from);
  const [formatTitle, formatLabel] = [formatTitlesOf(days), formatLabelsOf(days)];
  const unfinished = points.findIndex(({ from }) => from <= today && today <= lastDay(from));
  const bars = points.map(({ from, ...amounts }): Bar => {
    const to = lastDay(from);
    const within = notes.filter(({ day }) => from <= day && day <= to);
    return {
      ...amounts,
      ...(within.length > 0 && { notes: within.map(({ text }) => text) }),
      from,
      to,
      title: formatTitle(from),
      short: formatLabel(from),
      href: activityHref(workspace, { ...filter, period: "range", from, to }),
    };
  });
  return { bars, unfinished: unfinished < 0 ? undefined : unfinished };
}

function lastDayOfMonth(day: string): string {
  const date = new Date(day);
  return utcDay(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0));
}
