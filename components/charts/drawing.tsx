import { AxisBottom, AxisLeft } from "@visx/axis";
import { scaleBand, scaleLinear } from "@visx/scale";
import { LinePath } from "@visx/shape";
import { useId } from "react";
import { Breaks, Lines, round, Stacks } from "./drawing-shapes";
import { margin } from "./margin";
import { type Cut, cutDomain, fitWithin } from "./outliers";
import { extentOf, type Place, type PlotKind, type Series } from "./series";

/** The number of labels below a chart whose width is unknown. A phone shows every second of them. */
const usualLabels = 10;

/** The data of a drawing. */
export type Drawn = {
  series: Series[];
  places: Place[];
  kind: PlotKind;
  /** The line that it is compared with: a value for each place, null for none. */
  line?: (number | null)[] | undefined;
  /** The current place, which is not complete yet. */
  unfinished?: number | undefined;
  /** The cut of bars that are far larger than the others. */
  cut?: Cut | undefined;
};

/**
 * Draws series over places: stacked bars, lines or shares, with negative values below the axis. It needs no script and fits any width:
 * vertical positions are in pixels, horizontal ones relative to the width. The frame adds the margin at the left, right and bottom.
 * @param props.labels the number of places from label to label, and the maximum width of a label in pixels, if the width is known
 */
export function Drawing({
  series,
  places,
  kind,
  line,
  unfinished,
  cut,
  height,
  formatTick,
  labels,
}: Drawn & {
  height: number;
  formatTick: (value: number) => string;
  labels?: { every: number; width: number } | undefined;
}) {
  const pattern = useId();
  const count = Math.max(places.length, 1);
  const values = (line ?? []).map((value) => value ?? 0);
  const [low, high] = extentOf(series, kind);
  const whole: [number, number] = [Math.min(low, ...values), Math.max(high, ...values)];
  const y = scaleLinear({
    domain: cut ? cutDomain(whole, cut) : whole,
    range: [height - margin.bottom, margin.top],
    nice: kind === "share" ? false : 5,
    clamp: true,
  });
  const [bottom = 0, top = 0] = y.domain();
  const drawn = cut ? fitWithin(series, [bottom, top]) : series;
  const x = scaleBand({
    domain: places.map((_, place) => place),
    range: [0, count],
    paddingInner: 0.28,
    paddingOuter: 0.14,
  });
  const percent = (at: number) => `${round((at / count) * 100)}%`;
  const every = labels?.every ?? Math.ceil(count / usualLabels);
  const text = { fill: "var(--muted-foreground)", fontSize: 11, fontFamily: "var(--font-sans)" };
  const stretched = {
    viewBox: `0 0 ${count} ${height}`,
    preserveAspectRatio: "none",
    width: "100%",
    height,
  };
  return (
    <svg
      width="100%"
      height={height}
      aria-hidden="true"
      data-chart=""
      className="absolute inset-0 block overflow-visible"
    >
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
      {y.ticks(5).map((value) => (
        <line
          key={value}
          x1="0"
          x2="100%"
          y1={round(y(value))}
          y2={round(y(value))}
          stroke={value === 0 ? "var(--input)" : "var(--border)"}
        />
      ))}
      {kind === "lines" ? (
        <Lines
          series={series}
          stretched={stretched}
          x={(place) => (x(place) ?? 0) + x.bandwidth() / 2}
          y={y}
          percent={percent}
        />
      ) : (
        <Stacks
          series={drawn}
          stretched={stretched}
          x={x}
          y={y}
          percent={percent}
          hatch={`url(#${pattern})`}
          unfinished={unfinished}
        />
      )}
      {line && line.filter((value) => value !== null).length > 1 ? (
        <svg {...stretched} aria-hidden="true">
          <LinePath
            data={line.map((value, place) => ({ value, place }))}
            defined={({ value }) => value !== null}
            x={({ place }) => place + 0.5}
            y={({ value }) => round(y(value ?? 0))}
            stroke="var(--foreground)"
            strokeOpacity={0.6}
            strokeWidth={1.25}
            strokeLinejoin="round"
            vectorEffect="non-scaling-stroke"
          />
        </svg>
      ) : null}
      {cut ? (
        <Breaks
          series={series}
          cut={cut}
          x={x}
          percent={percent}
          top={margin.top}
          bottom={height - margin.bottom}
        />
      ) : null}
      <AxisLeft
        scale={y}
        numTicks={5}
        hideAxisLine
        hideTicks
        tickFormat={(value) => formatTick(Number(value))}
        tickComponent={({ formattedValue, x: left, y: top }) => (
          <text {...text} x={left} y={round(Number(top))} dy="0.33em" textAnchor="end">
            {formattedValue}
          </text>
        )}
      />
      <AxisBottom
        top={height - margin.bottom}
        scale={x}
        hideAxisLine
        hideTicks
        tickValues={places.map((_, place) => place).filter((place) => place % every === 0)}
        tickFormat={(place) => places[Number(place)]?.short ?? ""}
        tickComponent={({ formattedValue, x: left }) => (
          <text
            {...text}
            x={percent(left)}
            y={18}
            textAnchor="middle"
            className={!labels && (Math.floor(left) / every) % 2 === 1 ? "max-sm:hidden" : undefined}
          >
            {fitLabel(formattedValue ?? "", labels?.width)}
          </text>
        )}
      />
    </svg>
  );
}

const wideLetter =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\u{1f000}-\u{3ffff}]/u;
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/u;

/** Estimates the width of a label in pixels. Chinese, Japanese and Korean letters are as wide as they are high. */
export function labelWidth(label: string): number {
  const widthOf = (letter: string) => {
    if (/\p{M}/u.test(letter)) return 0;
    if (wideLetter.test(letter)) return 11.5;
    return /\p{Lu}/u.test(letter) ? 8 : 6.5;
  };
  return [...label].reduce((width, letter) => width + widthOf(letter), 0);
}

/** Cuts a label that is too wide at its end. Right-to-left text is isolated (U+2068), so that its end is at its left. */
export function fitLabel(label: string, width = 156): string {
  let text = label;
  if (labelWidth(label) > width) {
    const letters = [...label];
    while (letters.length > 1 && labelWidth(`${letters.join("")}…`) > width) letters.pop();
    text = `${letters.join("")}…`;
  }
  return rightToLeft.test(text) ? `\u2068${text}\u2069` : text;
}
