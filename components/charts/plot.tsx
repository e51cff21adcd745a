"use client";

import { AxisBottom, AxisLeft } from "@visx/axis";
import { scaleBand, scaleLinear } from "@visx/scale";
import { LinePath, stack } from "@visx/shape";
import { useEffect, useId, useRef, useState } from "react";
import { PlotPointer } from "./plot-pointer";
import { extentOf, type Place, type PlotKind, type Series, toShares } from "./series";

const height = 320;
const margin = { top: 8, right: 8, bottom: 28, left: 60 };

/** The width of labels below the plot with the space between them. */
const labelWidth = 72;

/**
 * Series over places: stacked bars, lines or shares, with values below zero drawn below the axis. The pointer and the arrow
 * keys read it, Shift with an arrow key or dragging marks a range of places, Enter opens the rows or zooms into the range.
 * It is drawn in pixels of the space it has, so that it can be saved as a picture.
 */
export function Plot({
  label,
  series,
  places,
  kind,
  format,
  formatTick,
  onOpen,
  onZoom,
}: {
  label: string;
  series: Series[];
  places: Place[];
  kind: PlotKind;
  format: (value: number) => string;
  formatTick: (value: number) => string;
  /** Opens the rows of a place. */
  onOpen?: ((place: number) => void) | undefined;
  /** Shows only the places from the first to the last one. */
  onZoom?: ((first: number, last: number) => void) | undefined;
}) {
  const frame = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const pattern = useId();
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => setWidth(Math.floor(entry?.contentRect.width ?? 0)));
    if (frame.current) observer.observe(frame.current);
    return () => observer.disconnect();
  }, []);

  const drawn = kind === "share" ? toShares(series) : series;
  const inner = Math.max(width - margin.left - margin.right, 0);
  const x = scaleBand({ domain: places.map((_, place) => place), range: [0, inner], padding: 0.25 });
  const y = scaleLinear({
    domain: extentOf(drawn, kind),
    range: [height - margin.bottom, margin.top],
    nice: kind !== "share",
  });
  const every = Math.max(1, Math.ceil((places.length * labelWidth) / Math.max(inner, 1)));
  const tick = kind === "share" ? (value: number) => `${Math.round(value * 100)}%` : formatTick;
  const text = { fill: "var(--muted-foreground)", fontSize: 11, fontFamily: "var(--font-sans)" };
  return (
    <div ref={frame} className="relative" style={{ height }}>
      {width === 0 ? null : (
        <>
          <svg width={width} height={height} aria-hidden="true" className="absolute inset-0 block">
            <defs>
              <pattern
                id={pattern}
                width="5"
                height="5"
                patternUnits="userSpaceOnUse"
                patternTransform="rotate(45)"
              >
                <rect width="2" height="5" fill="var(--background)" fillOpacity="0.6" />
              </pattern>
            </defs>
            <g transform={`translate(${margin.left},0)`}>
              {y.ticks(5).map((value) => (
                <line
                  key={value}
                  x2={inner}
                  y1={y(value)}
                  y2={y(value)}
                  stroke={value === 0 ? "var(--input)" : "var(--border)"}
                />
              ))}
              {kind === "lines" ? (
                <Lines series={drawn} x={(place) => (x(place) ?? 0) + x.bandwidth() / 2} y={y} />
              ) : (
                <Stacks series={drawn} x={x} y={y} belowZero={`url(#${pattern})`} />
              )}
              <AxisLeft
                scale={y}
                numTicks={5}
                hideAxisLine
                hideTicks
                tickFormat={(value) => tick(Number(value))}
                tickLabelProps={{ ...text, textAnchor: "end", dx: -4, dy: 4 }}
              />
              <AxisBottom
                top={height - margin.bottom}
                scale={x}
                hideAxisLine
                hideTicks
                tickValues={places.map((_, place) => place).filter((place) => place % every === 0)}
                tickFormat={(place) => places[place]?.short ?? ""}
                tickLabelProps={{
                  ...text,
                  textAnchor: "middle",
                  width: labelWidth * 1.4,
                  verticalAnchor: "start",
                }}
                tickComponent={({ formattedValue, x: left, y: top }) => (
                  <text {...text} x={left} y={top + 4} textAnchor="middle">
                    {shorten(formattedValue ?? "", x.step() * every)}
                  </text>
                )}
              />
            </g>
          </svg>
          <PlotPointer
            label={label}
            series={series}
            places={places}
            format={format}
            inset={{ left: margin.left, right: margin.right, bottom: margin.bottom }}
            onOpen={onOpen}
            onZoom={onZoom}
          />
        </>
      )}
    </div>
  );
}

/** A label that fits into a width in pixels. */
function shorten(label: string, width: number): string {
  const fits = Math.max(4, Math.floor(width / 6.5));
  return label.length <= fits ? label : `${label.slice(0, fits - 1)}…`;
}

type Band = { (place: number): number | undefined; bandwidth: () => number };
type Linear = (value: number) => number;

function Stacks({ series, x, y, belowZero }: { series: Series[]; x: Band; y: Linear; belowZero: string }) {
  const count = series[0]?.values.length ?? 0;
  const keys = series.map((_, index) => index);
  const layers = stack<number, number>({
    keys,
    value: (place, key) => series[key]?.values[place] ?? 0,
    offset: "diverging",
  })(Array.from({ length: count }, (_, place) => place));
  return layers.map((layer) =>
    layer.map((piece) => {
      const [low, high] = piece;
      if (low === high) return null;
      const place = { x: x(piece.data) ?? 0, y: y(high), width: x.bandwidth(), height: y(low) - y(high) };
      const { name, colour } = series[layer.key] ?? {};
      return (
        <g key={`${name} ${piece.data}`}>
          <rect {...place} fill={colour} />
          {high <= 0 ? <rect {...place} fill={belowZero} /> : null}
        </g>
      );
    }),
  );
}

function Lines({ series, x, y }: { series: Series[]; x: Linear; y: Linear }) {
  return series.map(({ name, colour, values }) => (
    <g key={name}>
      <LinePath
        data={values.map((value, place) => ({ value, place }))}
        defined={({ value }) => value !== null}
        x={({ place }) => x(place)}
        y={({ value }) => y(value ?? 0)}
        stroke={colour}
        strokeWidth={1.75}
        strokeLinejoin="round"
      />
      {values.length > 60
        ? null
        : values.map((value, place) =>
            value === null ? null : (
              // biome-ignore lint/suspicious/noArrayIndexKey: a place has no other name.
              <circle key={place} cx={x(place)} cy={y(value)} r={2} fill={colour} />
            ),
          )}
    </g>
  ));
}
