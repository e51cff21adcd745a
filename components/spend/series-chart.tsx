"use client";

import type { AmountProp } from "@/components/amount";
import type { Bar, ChartGroup } from "@/components/charts/chart-data";
import { SpendChart } from "@/components/charts/spend-chart";
import { type ActivityFilter, activityHref } from "@/components/filters/href";
import { formatDay, formatMonthAndYear, formatShortMonth, formatWeekday } from "@/components/format-date";
import { utcDay } from "@/components/utc-day";

/** A series for the chart. Amounts are exact USD as text, with their conversion if there is one, so that a server component can pass them on. */
export type ChartSeries = {
  bucket: "day" | "month";
  groups: ChartGroup[];
  /** `from` is the first UTC day of the bucket, `YYYY-MM-DD`; `amounts` has one entry for each group. */
  points: { from: string; total: AmountProp; amounts: AmountProp[]; previous: AmountProp | null }[];
  workspace: string;
  filter: ActivityFilter;
  /** The current UTC day, `YYYY-MM-DD`. */
  today: string;
  /** What happened, in words, and when: marked above the bar of its UTC day. `at` is an instant, ISO 8601. */
  notes: { at: string; text: string }[];
};

/** How the bars of each size are named, and their last day. */
const buckets = {
  day: { formatTitle: formatWeekday, formatLabel: formatDay, lastDay: (day: string) => day },
  month: { formatTitle: formatMonthAndYear, formatLabel: formatShortMonth, lastDay: lastDayOfMonth },
};

/** The chart of a series. Titles and links are built in the browser, so that the page only carries the figures. */
export function SeriesChart({
  label,
  series: { bucket, groups, points, workspace, filter, today, notes },
}: {
  label: string;
  series: ChartSeries;
}) {
  const { formatTitle, formatLabel, lastDay } = buckets[bucket];
  const unfinished = points.findIndex(({ from }) => from <= today && today <= lastDay(from));
  const bars = points.map(({ from, ...amounts }): Bar => {
    const within = notes.filter(({ at }) => {
      const day = utcDay(Date.parse(at));
      return from <= day && day <= lastDay(from);
    });
    return {
      ...amounts,
      ...(within.length > 0 && { notes: within.map(({ text }) => text) }),
      title: formatTitle(from),
      short: formatLabel(from),
      href: activityHref(workspace, { ...filter, period: "range", from, to: lastDay(from) }),
    };
  });
  return (
    <SpendChart
      label={label}
      groups={groups}
      bars={bars}
      unfinished={unfinished < 0 ? undefined : unfinished}
    />
  );
}

function lastDayOfMonth(day: string): string {
  const date = new Date(day);
  return utcDay(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0));
}
