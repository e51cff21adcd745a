import { scaleLinear } from "@visx/scale";
import { area, line } from "@visx/shape";

/** The paths of a small line chart in a box of 100 by 100. A server component makes them, so that the browser loads no scale code. */
export type SparklineShape = { line: string; area: string };

const round = (value: number) => Math.round(value * 100) / 100;

/** The shape of some values, with negative values below the axis. */
export function toSparkline(values: number[]): SparklineShape {
  // A single value is a level line, so that the first day of a month is not empty.
  const points = values.length === 1 ? [...values, ...values] : values;
  const x = scaleLinear({ domain: [0, Math.max(points.length - 1, 1)], range: [0, 100] });
  const [min, max] = [Math.min(0, ...values), Math.max(0, ...values)];
  // The range leaves space for the width of the line.
  const y = scaleLinear({ domain: min === max ? [0, 1] : [min, max], range: [97, 3] });
  const left = (_: number, place: number) => round(x(place));
  const top = (value: number) => round(y(value));
  return {
    line: line<number>({ x: left, y: top })(points) ?? "",
    area: area<number>({ x: left, y0: round(y(0)), y1: top })(points) ?? "",
  };
}
