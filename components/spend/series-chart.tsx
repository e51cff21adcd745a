"use client";

import type { Bar, ChartGroup } from "@/components/charts/chart-data";
import { SpendChart } from "@/components/charts/spend-chart";
import { type ActivityFilter, activityHref } from "@/components/filters/href";

/** A series as it passes into the browser: amounts as exact text, and by what one gets to the rows behind it. */
export type ChartedSeries = {
  bucket: "day" | "month";
  groups: ChartGroup[];
  /** `from` is the UTC day that a bucket begins on, `YYYY-MM-DD`; `amounts` are one for each group. */
  points: { from: string; total: string; amounts: string[]; previous: string | null }[];
  workspace: string;
  filter: ActivityFilter;
  /** The UTC day that is not over, `YYYY-MM-DD`. */
  today: string;
};

const writers = {
  day: {
    title: new Intl.DateTimeFormat("en-US", {
      weekday: "short",
      day: "numeric",
      month: "short",
      timeZone: "UTC",
    }),
    short: new Intl.DateTimeFormat("en-US", { day: "numeric", month: "short", timeZone: "UTC" }),
    end: (day: string) => day,
  },
  month: {
    title: new Intl.DateTimeFormat("en-US", { month: "long", year: "numeric", timeZone: "UTC" }),
    short: new Intl.DateTimeFormat("en-US", { month: "short", timeZone: "UTC" }),
    end: lastDayOfMonth,
  },
};

/** The chart of a series. What its bars are called and lead to is written here: figures are all that must travel. */
export function SeriesChart({
  label,
  series: { bucket, groups, points, workspace, filter, today },
}: {
  label: string;
  series: ChartedSeries;
}) {
  const { title, short, end } = writers[bucket];
  const unfinished = points.findIndex(({ from }) => from <= today && today <= end(from));
  const bars = points.map(({ from, ...amounts }): Bar => {
    const date = new Date(from);
    return {
      ...amounts,
      title: title.format(date),
      short: short.format(date),
      href: activityHref(workspace, { ...filter, period: "range", from, to: end(from) }),
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
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).toISOString().slice(0, 10);
}
