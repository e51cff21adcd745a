"use client";

import { useEffect, useRef, useState } from "react";
import { type Amount, sumAmounts, toNumber } from "@/components/figures/amount";
import { formatShareTick } from "@/components/figures/format-percent";
import { ChartPointer } from "./chart-pointer";
import { CutNote } from "./cut-note";
import { Drawing, labelWidth } from "./drawing";
import { frameClass, margin } from "./margin";
import { extents, findCut } from "./outliers";
import { type ExactSeries, type Place, type PlotKind, titleOf, toShares } from "./series";

const height = 320;

/** In pixels: the minimum width of a label below the plot, the maximum one, beyond which labels are cut, and the space between two. */
const leastLabel = 62;
const mostLabel = 90;
const labelGap = 10;

/** A chart of any series over any places, with a crosshair and range selection. It is drawn in the browser. */
export function Plot({
  label,
  series,
  totals,
  places,
  kind,
  unfinished,
  unit,
  isSummed,
  format,
  formatTick,
  onOpen,
  onZoom,
}: {
  label: string;
  series: ExactSeries[];
  /** The total of each place; undefined if the series are only a part of it, or one of the series is the total. */
  totals: (Amount | null)[] | undefined;
  places: Place[];
  kind: PlotKind;
  /** The current day, week or month, which is not over; undefined if there is none. */
  unfinished: number | undefined;
  /** The name of a place: "day". */
  unit: string;
  /** Whether figures of several places can be summed. */
  isSummed: boolean;
  format: (figure: Amount) => string;
  formatTick: (value: number) => string;
  /** Opens the rows of a place. */
  onOpen?: ((place: number) => void) | undefined;
  /** Shows only the places from the first to the last one. */
  onZoom?: ((first: number, last: number) => void) | undefined;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [isWhole, setWhole] = useState(false);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    if (frame.current) observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);
  const drawn = kind === "share" ? toShares(series) : series;
  const cut = findCut(drawn, kind, [], unit !== "bar");
  // Dates are shown in full. Long names are cut, so that no label is left out for them.
  const longest = Math.max(0, ...places.map(({ short }) => labelWidth(short)));
  const labelSpace = longest <= mostLabel ? Math.max(leastLabel, longest) : leastLabel;
  const every = Math.max(1, Math.ceil((places.length * (labelSpace + labelGap)) / Math.max(width, 1)));
  const step = (width / Math.max(places.length, 1)) * every;
  const beyond = (cut?.beyond ?? []).map((place) => {
    const { up = 0, down = 0 } = extents(drawn)[place] ?? {};
    const figure = sumAmounts(series.flatMap(({ exact }) => exact[place] ?? []));
    return { title: places[place]?.title ?? "", size: Math.max(up, -down), text: format(figure) };
  });
  return (
    <div className="grid grid-cols-[minmax(0,1fr)] gap-3">
      <div className={frameClass} style={{ height }} ref={frame}>
        {width === 0 ? null : (
          <>
            <Drawing
              series={drawn}
              places={places}
              kind={kind}
              unfinished={unfinished}
              cut={isWhole ? undefined : cut}
              height={height}
              formatTick={kind === "share" ? formatShareTick : formatTick}
              labels={{ every, width: Math.max(28, step - labelGap) }}
            />
            <ChartPointer
              label={label}
              count={places.length}
              read={(first, last) => {
                const title = titleOf(places, first, last);
                if (first !== last && !isSummed) return { title, says: "", figures: [] };
                const figures = listBetween(series, first, last).map(({ figure, ...of }) => ({
                  ...of,
                  text: format(figure),
                }));
                const parts = figures.map(({ name, text }) => `${name} ${text}`).join(", ");
                const whole = totals?.slice(first, last + 1).flatMap((figure) => figure ?? []);
                if (!whole || whole.length === 0) return { title, says: parts || "nothing", figures };
                const total = format(sumAmounts(whole));
                return { title, says: parts ? `${total}. ${parts}` : total, figures, total };
              }}
              inset={{ left: 0, right: 0, bottom: margin.bottom }}
              onOpen={onOpen}
              onZoom={onZoom}
            />
          </>
        )}
      </div>
      {cut ? (
        <CutNote
          beyond={beyond.sort((a, b) => b.size - a.size)}
          unit={unit}
          isWhole={isWhole}
          onChange={setWhole}
        />
      ) : null}
    </div>
  );
}

/** The sums of the places from the first to the last one that are not zero, the largest first. */
function listBetween(series: ExactSeries[], first: number, last: number) {
  return series
    .map(({ name, colour, exact }) => ({
      name,
      colour,
      figure: sumAmounts(exact.slice(first, last + 1).flatMap((figure) => figure ?? [])),
    }))
    .filter(({ figure }) => toNumber(figure) !== 0)
    .sort((a, b) => Math.abs(toNumber(b.figure)) - Math.abs(toNumber(a.figure)));
}
