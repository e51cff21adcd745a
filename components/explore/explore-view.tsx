"use client";

import dynamic from "next/dynamic";
import { useRef, useState } from "react";
import { ChartDownloads } from "@/components/charts/chart-downloads";
import { SeriesLegend } from "@/components/charts/series-legend";
import { onDemand } from "@/components/connection/on-demand";
import { formatNumber, plural } from "@/components/figures/format-count";
import { formatDays } from "@/components/figures/format-date";
import type { RememberedViews } from "@/components/table/view-cookie";
import { Skeleton } from "@/components/ui/skeleton";
import type { ExploreData } from "./data";
import { dimensionLabel, formatCharted, formatMeasured, measures } from "./dimensions";
import { TotalChange } from "./explore-change";
import { titleOf } from "./explore-figure";
import { ExploreSummary } from "./explore-summary";
import { type ExploreState, exploreHref } from "./state";

/** Loaded on demand: tables and other pages need no chart. */
const ExploreChart = dynamic(
  onDemand(() => import("./explore-chart").then((module) => module.ExploreChart)),
  {
    ssr: false,
    loading: () => <Skeleton className="h-80 w-full" />,
  },
);

/** Loaded when they are shown: Explore begins with the chart and the summary. */
const ExploreTable = dynamic(onDemand(() => import("./explore-table").then((module) => module.ExploreTable)));
const ExplorePivot = dynamic(onDemand(() => import("./explore-pivot").then((module) => module.ExplorePivot)));

/** The most rows of a summary. More rows are shown in a table, which renders only the visible ones. */
const maxSummed = 60;

/**
 * The total of an answer, and the answer as a chart with a summary of its series, a table of its cells or a pivot, with download
 * buttons.
 */
export function ExploreView({
  workspace,
  state: given,
  data,
  today,
  views,
}: {
  workspace: string;
  state: ExploreState;
  data: ExploreData;
  /** The current day of the workspace, `YYYY-MM-DD`. */
  today: string;
  views: RememberedViews;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [hidden, setHidden] = useState(given.hidden);
  const state = { ...given, hidden };
  const { label } = measures[state.measure];
  const hide = (names: string[]) => {
    setHidden(names);
    // Keeps the hidden series in the address without reading the page again.
    window.history.replaceState(null, "", exploreHref(workspace, { ...given, hidden: names }));
  };
  const fileName = `outlay-${workspace}-${data.from}-${data.to}`;
  const { measured: total } = data.totals;
  const hasTable = state.show === "table" || (state.show === "chart" && data.rows.length > maxSummed);
  return (
    <section aria-label="Answer" className="grid grid-cols-[minmax(0,1fr)] gap-4">
      <div className="flex flex-wrap items-baseline justify-between gap-x-6 gap-y-2">
        <div className="grid min-w-0 flex-[1_1_20rem] gap-1">
          <p>
            <span className="font-semibold text-xl tabular-nums" title={titleOf(state.measure, total)}>
              {formatMeasured(state.measure, total)}
            </span>{" "}
            <span className="text-muted-foreground text-sm">
              {label.toLowerCase()}, {formatNumber(data.totals.messages)}{" "}
              {plural(data.totals.messages, "message")}, {formatDays(data.from, data.to)}
            </span>
          </p>
          {data.comparison ? (
            <TotalChange
              by={state.by}
              measure={state.measure}
              total={total}
              to={data.to}
              comparison={data.comparison}
            />
          ) : null}
        </div>
        {state.show === "table" ? null : (
          <ChartDownloads
            fileName={fileName}
            // With many rows, the table below the chart has its own button.
            toCsv={
              hasTable
                ? undefined
                : async () => (await onDemand(() => import("./to-csv"))()).toCsv(state, data)
            }
            frame={state.show === "chart" ? frame : undefined}
            heading={() => pictureHeading(state, data)}
          />
        )}
      </div>
      {state.show === "chart" ? (
        <figure aria-label={`${label} as a chart`} className="grid grid-cols-[minmax(0,1fr)] gap-3">
          {state.over === null ? null : (
            <SeriesLegend
              series={data.rows.map(({ label: name, colour, measured }) => ({
                name,
                colour,
                note: formatCharted(state.measure, measured),
              }))}
              hidden={hidden}
              onChange={hide}
            />
          )}
          <div ref={frame} className="min-h-80">
            <ExploreChart workspace={workspace} state={state} data={data} today={today} />
          </div>
        </figure>
      ) : null}
      {state.show === "pivot" ? (
        <ExplorePivot workspace={workspace} state={state} data={data} />
      ) : hasTable ? (
        <ExploreTable workspace={workspace} state={state} data={data} views={views} />
      ) : (
        <ExploreSummary workspace={workspace} state={state} data={data} />
      )}
    </section>
  );
}

/** The heading of a picture of the chart. */
function pictureHeading(
  { by, over, measure, hidden }: ExploreState,
  { rows, totals, from, to }: ExploreData,
) {
  const dimensions = [by, ...(over === null ? [] : [over])].map((name) => dimensionLabel(name).toLowerCase());
  const shown = over === null ? [] : rows.filter(({ label }) => !hidden.includes(label));
  const without =
    hidden.length > 0 ? `, of which ${formatNumber(shown.length)} of ${rows.length} are drawn` : "";
  return {
    title: `${measures[measure].label} by ${dimensions.join(" and ")}`,
    detail: `${formatDays(from, to)} · ${formatCharted(measure, totals.measured)} in total${without}`,
    series: shown.map(({ label, colour, measured }) => ({
      name: label,
      colour,
      note: formatCharted(measure, measured),
    })),
  };
}
