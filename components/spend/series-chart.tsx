"use client";

import type { ReactNode } from "react";
import { SpendChart } from "@/components/charts/spend-chart";
import { hrefOfPeriod } from "@/components/filters/range";
import { type ChartSeries, toBars } from "./bars";

/**
 * The chart of a series. Titles and links are built in the browser, so that the page only carries the figures.
 * @param props.drawing the drawing of the series, which only the server makes
 */
export function SeriesChart({
  label,
  series,
  drawing,
}: {
  label: string;
  series: ChartSeries;
  drawing: ReactNode;
}) {
  const { bucket, groups, points, comparison, page } = series;
  const days = [points[0]?.from, points.at(-1)?.from].filter((day) => day !== undefined);
  return (
    <SpendChart
      label={label}
      unit={bucket}
      fileName={["outlay", page.path.slice(1).replaceAll("/", "-"), ...days].join("-")}
      groups={groups}
      comparison={comparison}
      drawing={drawing}
      hrefOfDays={(from, to) => hrefOfPeriod(page.path, page.params, { period: "range", from, to })}
      {...toBars(series)}
    />
  );
}
