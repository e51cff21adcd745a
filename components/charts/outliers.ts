import type { PlotKind, Series } from "./series";

/** A bar beyond this many times the highest of the others makes them too small to read. */
const manyTimes = 5;

/** With fewer bars than this there is no telling what is usual. */
const fewestBars = 5;

/**
 * The size that a chart can end at so that its usual bars can be read: that of the largest bar that is not an outlier. The outliers
 * are the largest bars, if each of them is more than five times the largest of all others; on each side of zero at most one in ten of
 * all bars, and always one. Days that are merely high, and patterns such as a charge every week, are none.
 * @param bars their sums above and below zero; those of zero do not count
 * @returns undefined where there are no outliers
 */
export function findLimit(bars: number[]): number | undefined {
  const sorted = bars.filter((bar) => bar !== 0).sort((a, b) => Math.abs(b) - Math.abs(a));
  if (sorted.length < fewestBars) return undefined;
  const most = Math.max(1, Math.floor(sorted.length / 10));
  for (let count = 2 * most; count > 0; count -= 1) {
    const outliers = sorted.slice(0, count);
    const above = outliers.filter((bar) => bar > 0).length;
    if (above > most || count - above > most) continue;
    const [least = 0, next] = [sorted[count - 1], sorted[count]];
    if (next !== undefined && Math.abs(least) > manyTimes * Math.abs(next)) return Math.abs(next);
  }
  return undefined;
}

/** The sums above and below zero of each place. */
export function extents(series: Series[]): { up: number; down: number }[] {
  const count = series[0]?.values.length ?? 0;
  return Array.from({ length: count }, (_, place) => {
    let [up, down] = [0, 0];
    for (const { values } of series) {
      const value = values[place] ?? 0;
      if (value > 0) up += value;
      else down += value;
    }
    return { up, down };
  });
}

/** Where a chart is cut, and what goes beyond: places, and those of the line of what it is compared with. */
export type Cut = { limit: number; beyond: number[]; beyondInLine: number[] };

/** The cut of stacked bars and the line beside them; undefined where nothing is far beyond the rest. */
export function findCut(series: Series[], kind: PlotKind, line: (number | null)[] = []): Cut | undefined {
  if (kind !== "stacked") return undefined;
  const bars = extents(series);
  const limit = findLimit([
    ...bars.flatMap(({ up, down }) => [up, down]),
    ...line.map((value) => value ?? 0),
  ]);
  if (limit === undefined) return undefined;
  return {
    limit,
    beyond: bars.flatMap(({ up, down }, place) => (Math.max(up, -down) > limit ? [place] : [])),
    beyondInLine: line.flatMap((value, place) => (Math.abs(value ?? 0) > limit ? [place] : [])),
  };
}

/**
 * The series of a cut chart as they are drawn: bars beyond the ends of the axis are made smaller as a whole, so that each series keeps
 * its part of its bar, and a cut bar does not look like that of one series alone.
 */
export function fitWithin(series: Series[], [min, max]: [number, number]): Series[] {
  const bars = extents(series);
  return series.map(({ values, ...of }) => ({
    ...of,
    values: values.map((value, place) => {
      if (value === null) return null;
      const { up = 0, down = 0 } = bars[place] ?? {};
      if (value > 0) return up > max ? value * (max / up) : value;
      return down < min ? value * (min / down) : value;
    }),
  }));
}

/** The space above the largest bar that is not cut, so that those that are can be told from it. */
const headroom = 1.2;

/** The domain of a cut chart: below zero only where something is. */
export function cutDomain([min, max]: [number, number], { limit }: Cut): [number, number] {
  return [Math.max(min, -limit * headroom), Math.min(max, limit * headroom)];
}
