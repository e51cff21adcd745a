"use client";

import dynamic from "next/dynamic";
import { useRouter } from "next/navigation";
import { lazy, type ReactNode, Suspense, useRef, useState } from "react";
import { onDemand } from "@/components/connection/on-demand";
import { exactText, sumAmounts } from "@/components/figures/amount";
import { formatDays } from "@/components/figures/format-date";
import { formatChartAmount, shownNumber } from "@/components/figures/money";
import { Disclosure } from "@/components/ui/disclosure";
import { type Bar, type ChartGroup, toDrawn } from "./chart-data";
import type { Reading } from "./chart-pointer";
import { CutNote } from "./cut-note";
import type { FiguresProps } from "./figures";
import { frameClass, margin } from "./margin";
import { NoteMark, NoteMarks } from "./note-marks";
import { titleOf } from "./series";
import { SeriesLegend } from "./series-legend";

// Loaded after the page, because the chart is complete without it.
const ChartPointer = dynamic(
  onDemand(() => import("./chart-pointer").then((module) => module.ChartPointer)),
  { ssr: false },
);
const ChartDownloads = dynamic(
  onDemand(() => import("./chart-downloads").then((module) => module.ChartDownloads)),
  { ssr: false },
);

/** Loaded when the drawing changes in the browser. */
const SpendDrawing = lazy(
  onDemand(() => import("./spend-drawing").then((module) => ({ default: module.SpendDrawing }))),
);

/**
 * Spend over time: a bar for each day or month, stacked by group, and a thin line for the days compared with. It is complete without
 * a script; the browser adds the crosshair, toggles of the groups and the choice of days.
 * @param props.drawing the drawing of all groups, made by the server
 * @param props.comparison the name of the line, and its name with its days; undefined if there is no line
 * @param props.unfinished index of the current day or month; undefined when all bars are complete
 * @param props.hrefOfDays the address of the page for other days
 */
export function SpendChart({
  label,
  unit,
  fileName,
  groups,
  bars,
  comparison,
  unfinished,
  drawing,
  hrefOfDays,
}: {
  label: string;
  unit: "day" | "month";
  fileName: string;
  groups: ChartGroup[];
  bars: Bar[];
  comparison: { name: string; full: string } | undefined;
  unfinished: number | undefined;
  drawing: ReactNode;
  hrefOfDays: (from: string, to: string) => string;
}) {
  const router = useRouter();
  const frame = useRef<HTMLDivElement>(null);
  const [hidden, setHidden] = useState<string[]>([]);
  const [isWhole, setWhole] = useState(false);
  const data = { groups, bars, unfinished };
  const drawn = toDrawn(data, hidden, isWhole);
  const cut = isWhole ? toDrawn(data, hidden).cut : drawn.cut;
  const shown = groups.filter(({ name }) => !hidden.includes(name));
  const isWholeBar = shown.length === groups.length;
  const read = (first: number, last: number): Reading => {
    const read = bars.slice(first, last + 1);
    const total = sumAmounts(read.map((bar) => bar.total));
    const before = read.flatMap(({ previous }) => (previous === null ? [] : [previous]));
    const notes = read.flatMap((bar) => bar.notes ?? []);
    const listed = groups.flatMap(({ name, colour }, group) => {
      const amount = sumAmounts(read.map((bar) => bar.amounts[group] ?? 0));
      return hidden.includes(name) || Number(exactText(amount)) === 0 ? [] : [{ name, colour, amount }];
    });
    const amounts = listed.map(({ amount }) => amount);
    const figures = listed.map(({ amount, ...of }) => ({ ...of, text: formatChartAmount(amount) }));
    const parts = figures.map(({ name, text }) => `${name} ${text}`);
    return {
      title: titleOf(bars, first, last),
      figures,
      says: (isWholeBar ? [formatChartAmount(total), ...notes] : parts).join(". ") || "nothing",
      total: formatChartAmount(isWholeBar ? total : sumAmounts(amounts)),
      ...(isWholeBar && {
        ...(before.length === read.length &&
          comparison && {
            compared: { label: comparison.name, text: formatChartAmount(sumAmounts(before)) },
          }),
        notes,
      }),
    };
  };
  return (
    <figure className="grid grid-cols-[minmax(0,1fr)] gap-3" aria-label={label}>
      <SeriesLegend
        series={groups.map(({ total, ...group }) => ({ ...group, note: formatChartAmount(total) }))}
        hidden={hidden}
        onChange={setHidden}
      >
        {comparison && drawn.line ? (
          <li className="flex items-center gap-2 px-1.5 py-1 text-muted-foreground">
            <span aria-hidden="true" className="h-px w-4 shrink-0 bg-foreground/60" />
            {comparison.full}
          </li>
        ) : null}
        {bars.some(({ notes }) => notes) ? (
          <li className="flex items-center gap-2 px-1.5 py-1 text-muted-foreground">
            <NoteMark />
            Budget threshold reached
          </li>
        ) : null}
      </SeriesLegend>
      <div ref={frame} className={`${frameClass} h-72`}>
        {isWholeBar && !isWhole ? (
          drawing
        ) : (
          <Suspense fallback={drawing}>
            <SpendDrawing {...drawn} />
          </Suspense>
        )}
        <NoteMarks bars={bars} />
        <ChartPointer
          label={label}
          count={bars.length}
          read={read}
          inset={{ left: 0, right: 0, bottom: margin.bottom }}
          onOpen={(place) => {
            const href = bars[place]?.href;
            if (href) router.push(href);
          }}
          onZoom={(first, last) => {
            const [from, to] = [bars[first]?.from, bars[last]?.to];
            if (from && to) router.push(hrefOfDays(from, to));
          }}
        />
      </div>
      {cut ? (
        <CutNote
          beyond={beyondOf(bars, cut, comparison?.name ?? "")}
          unit={unit}
          isWhole={isWhole}
          onChange={setWhole}
        />
      ) : null}
      <div className="flex flex-wrap-reverse items-start justify-between gap-x-4 gap-y-2">
        <div className="min-w-0 max-w-full flex-1 basis-60">
          <FigureTable label={label} groups={groups} bars={bars} comparison={comparison?.full} />
        </div>
        <div className="h-8">
          <ChartDownloads
            fileName={fileName}
            toCsv={async () => {
              const { spendCsv } = await onDemand(() => import("./spend-csv"))();
              return spendCsv(unit, groups, bars, comparison?.full);
            }}
            frame={frame}
            heading={() => ({
              title: label,
              detail: `${formatDays(bars[0]?.from ?? "", bars.at(-1)?.to ?? "")} · ${formatChartAmount(sumAmounts(shown.map(({ total }) => total)))} in total`,
              series: shown.map(({ name, colour, total }) => ({
                name,
                colour,
                note: formatChartAmount(total),
              })),
            })}
          />
        </div>
      </div>
    </figure>
  );
}

/** The bars and values that exceed a cut axis, the largest first. */
function beyondOf(
  bars: Bar[],
  { beyond, beyondInLine }: { beyond: number[]; beyondInLine: number[] },
  comparison: string,
): { title: string; text: string }[] {
  const found = [
    ...beyond.map((place) => ({ title: bars[place]?.title ?? "", amount: bars[place]?.total ?? 0 })),
    ...beyondInLine.map((place) => ({
      title: `the line at ${bars[place]?.title} (${comparison.toLowerCase()})`,
      amount: bars[place]?.previous ?? 0,
    })),
  ];
  return found
    .sort((a, b) => Math.abs(shownNumber(b.amount)) - Math.abs(shownNumber(a.amount)))
    .map(({ title, amount }) => ({ title, text: formatChartAmount(amount) }));
}

/** Loaded when the table is unfolded. */
const Figures = dynamic(
  onDemand(() => import("./figures").then((module) => module.Figures)),
  { ssr: false },
);

/** The figures of a chart as a table, folded away. */
function FigureTable(props: FiguresProps) {
  return (
    <Disclosure
      summary="Show the figures"
      className="text-sm"
      summaryClassName="w-fit rounded-sm text-muted-foreground text-xs hover:text-foreground"
    >
      {() => <Figures {...props} />}
    </Disclosure>
  );
}
