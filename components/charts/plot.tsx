"use client";

import { useEffect, useRef, useState } from "react";
import { formatShareTick } from "@/components/figures/format-percent";
import { ChartPointer } from "./chart-pointer";
import { CutNote } from "./cut-note";
import { Drawing } from "./drawing";
import { frameClass, margin } from "./margin";
import { extents, findCut } from "./outliers";
import { type Place, type PlotKind, type Series, toShares } from "./series";

const height = 320;

/** The width of labels below the plot with the space between them, and of a letter, in pixels. */
const labelWidth = 72;
const letterWidth = 6.5;

/** A chart of any series over any places, with the crosshair and the brush. It is drawn in the browser. */
export function Plot({
  label,
  series,
  places,
  kind,
  unit,
  format,
  formatTick,
  onOpen,
  onZoom,
}: {
  label: string;
  series: Series[];
  places: Place[];
  kind: PlotKind;
  /** What a place is: "day". */
  unit: string;
  format: (value: number) => string;
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
  const cut = findCut(drawn, kind);
  const every = Math.max(1, Math.ceil((places.length * labelWidth) / Math.max(width, 1)));
  const step = (width / Math.max(places.length, 1)) * every;
  const beyond = (cut?.beyond ?? []).map((place) => {
    const { up = 0, down = 0 } = extents(drawn)[place] ?? {};
    return { title: places[place]?.title ?? "", size: Math.max(up, -down), text: format(up + down) };
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
              cut={isWhole ? undefined : cut}
              height={height}
              formatTick={kind === "share" ? formatShareTick : formatTick}
              labels={{ every, length: Math.max(4, Math.floor(step / letterWidth)) }}
            />
            <ChartPointer
              label={label}
              count={places.length}
              read={(place) => {
                const listed = listAt(series, place);
                const figures = listed.map(({ value, ...of }) => ({ ...of, text: format(value) }));
                const says = figures.map(({ name, text }) => `${name} ${text}`).join(", ");
                return { title: places[place]?.title ?? "", says: says || "nothing", figures };
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

/** The values of a place that are not zero, the largest first. */
function listAt(series: Series[], place: number) {
  return series
    .flatMap(({ name, colour, values }) => {
      const value = values[place] ?? null;
      return value === null || value === 0 ? [] : [{ name, colour, value }];
    })
    .sort((a, b) => Math.abs(b.value) - Math.abs(a.value));
}
