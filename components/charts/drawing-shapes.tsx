import { LinePath, stack } from "@visx/shape";
import { type Cut, extents } from "./outliers";
import type { Series } from "./series";

/** Rounds to a hundredth of a pixel, to keep the drawing short. */
export const round = (value: number) => Math.round(value * 100) / 100;

type Band = { (place: number): number | undefined; bandwidth: () => number };
type Linear = (value: number) => number;
type Percent = (at: number) => string;
type Stretched = { viewBox: string; preserveAspectRatio: string; width: string; height: number };

/** Bars. The complete bars of a series are one shape. The bar of the current place is paler, with a dashed edge. */
export function Stacks({
  series,
  stretched,
  x,
  y,
  percent,
  hatch,
  unfinished,
}: {
  series: Series[];
  stretched: Stretched;
  x: Band;
  y: Linear;
  percent: Percent;
  hatch: string;
  unfinished: number | undefined;
}) {
  const places = Array.from({ length: series[0]?.values.length ?? 0 }, (_, place) => place);
  const width = round(x.bandwidth());
  const layers = stack<number, number>({
    keys: series.map((_, index) => index),
    value: (place, key) => series[key]?.values[place] ?? 0,
    offset: "diverging",
  })(places).map((layer) => ({
    series: series[layer.key],
    pieces: layer.flatMap((piece) => {
      const [low, high] = piece;
      const top = round(y(high));
      const height = round(y(low)) - top;
      if (low === high || height <= 0) return [];
      return [
        {
          place: piece.data,
          left: round(x(piece.data) ?? 0),
          top,
          height: round(height),
          isBelow: high <= 0,
        },
      ];
    }),
  }));
  return (
    <>
      <svg {...stretched} aria-hidden="true">
        {layers.map(({ series: of, pieces }) => (
          <path
            key={of?.name}
            fill={of?.colour}
            d={pieces
              .filter(({ place }) => place !== unfinished)
              .map(({ left, top, height }) => `M${left} ${top}h${width}v${height}h-${width}z`)
              .join("")}
          />
        ))}
        {layers.map(({ series: of, pieces }) =>
          pieces.map(({ place, left, top, height }) =>
            place === unfinished ? (
              <rect
                key={`${of?.name} ${place}`}
                x={left}
                width={width}
                y={top}
                height={height}
                fill={of?.colour}
                fillOpacity={0.35}
                stroke={of?.colour}
                strokeDasharray="3 2"
                vectorEffect="non-scaling-stroke"
              />
            ) : null,
          ),
        )}
      </svg>
      {layers.map(({ series: of, pieces }) =>
        pieces.map(({ place, left, top, height, isBelow }) =>
          isBelow ? (
            <rect
              key={`${of?.name} ${place}`}
              x={percent(left)}
              width={percent(width)}
              y={top}
              height={height}
              fill={hatch}
            />
          ) : null,
        ),
      )}
    </>
  );
}

/** A zigzag break across each cut bar, near the end that is not drawn. */
export function Breaks({
  series,
  cut: { limit },
  x,
  percent,
  top,
  bottom,
}: {
  series: Series[];
  cut: Cut;
  x: Band;
  percent: Percent;
  top: number;
  bottom: number;
}) {
  const breaks = extents(series).flatMap(({ up, down }, place) => [
    ...(up > limit ? [{ place, at: top + 8 }] : []),
    ...(down < -limit ? [{ place, at: bottom - 14 }] : []),
  ]);
  return breaks.map(({ place, at }) => (
    <svg
      key={`${place} ${at}`}
      x={percent((x(place) ?? 0) - 0.06)}
      width={percent(x.bandwidth() + 0.12)}
      y={at}
      height={8}
      viewBox="0 0 8 8"
      preserveAspectRatio="none"
      data-break=""
      aria-hidden="true"
    >
      <path
        d="M0 6L2 2L4 6L6 2L8 6"
        fill="none"
        stroke="var(--background)"
        strokeWidth={3}
        vectorEffect="non-scaling-stroke"
      />
    </svg>
  ));
}

/** A line for each series, with a point where a value has no neighbour, and breaks where values are missing. */
export function Lines({
  series,
  stretched,
  x,
  y,
  percent,
}: {
  series: Series[];
  stretched: Stretched;
  x: Linear;
  y: Linear;
  percent: Percent;
}) {
  return series.map(({ name, colour, values }) => (
    <g key={name}>
      <svg {...stretched} aria-hidden="true">
        <LinePath
          data={values.map((value, place) => ({ value, place }))}
          defined={({ value }) => value !== null}
          x={({ place }) => x(place)}
          y={({ value }) => round(y(value ?? 0))}
          stroke={colour}
          strokeWidth={1.75}
          strokeLinejoin="round"
          vectorEffect="non-scaling-stroke"
        />
      </svg>
      {values.length > 60
        ? null
        : values.map((value, place) =>
            value === null ? null : (
              // biome-ignore lint/suspicious/noArrayIndexKey: a place has no other name.
              <circle key={place} cx={percent(x(place))} cy={round(y(value))} r={2} fill={colour} />
            ),
          )}
    </g>
  ));
}
