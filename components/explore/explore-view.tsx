"use client";

import dynamic from "next/dynamic";
import { useRef, useState } from "react";
import { ChartDownloads } from "@/components/charts/chart-downloads";
import { SeriesLegend } from "@/components/charts/series-legend";
import { onDemand } from "@/components/connection/on-demand";
import { formatNumber, plural } from "@/components/figures/format-count";
import { formatDate } from "@/components/figures/format-date";
import type { RememberedViews } from "@/components/table/view-cookie";
import { Skeleton } from "@/components/ui/skeleton";
import type { ExploreData } from "./data";
import { formatCharted, formatMeasured, measures } from "./dimensions";
import { TotalChange } from "./explore-change";
import { titleOf } from "./explore-figure";
import { ExplorePivot } from "./explore-pivot";
import { ExploreTable } from "./explore-table";
import { type ExploreState, exploreHref } from "./state";
import { toCsv } from "./to-csv";

/** Loaded on demand: tables and other pages need no chart. */
const ExploreChart = dynamic(
  onDemand(() => import("./explore-chart").then((module) => module.ExploreChart)),
  {
    ssr: false,
    loading: () => <Skeleton className="h-80 w-full" />,
  },
);

/**
 * The total of an answer, and the answer as a chart, a table or a pivot, with buttons that download it.
 */
export function ExploreView({
  workspace,
  state: given,
  data,
  views,
}: {
  workspace: string;
  state: ExploreState;
  data: ExploreData;
  views: RememberedViews;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [hidden, setHidden] = useState(given.hidden);
  const state = { ...given, hidden };
  const { label } = measures[state.measure];
  const hide = (names: string[]) => {
    setHidden(names);
    // The address keeps what is shown; the page needs no new figures for it.
    window.history.replaceState(null, "", exploreHref(workspace, { ...given, hidden: names }));
  };
  const fileName = `outlay-${workspace}-${data.from}-${data.to}`;
  const { measured: total } = data.totals;
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
              {plural(data.totals.messages, "message")}, {formatDate(data.from)} – {formatDate(data.to)}
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
            toCsv={() => toCsv(state, data)}
            frame={state.show === "chart" ? frame : undefined}
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
            <ExploreChart workspace={workspace} state={state} data={data} />
          </div>
        </figure>
      ) : null}
      {state.show === "pivot" ? (
        <ExplorePivot workspace={workspace} state={state} data={data} />
      ) : (
        <ExploreTable workspace={workspace} state={state} data={data} views={views} />
      )}
    </section>
  );
}
