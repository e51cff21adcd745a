import type { PlotKind, Series } from "./series";

/** A bar that is this many times larger than all others makes them too small to read. */
const manyTimes = 5;

/** The fewest bars from which outliers can be told. */
const fewestBars = 5;

/** How many of the latest bars are never cut: they matter most, and in spend that grows fast they are the largest. */
const spared = 2;

/**
 * Finds the size at which to cut a chart so that its usual bars are readable: that of the largest bar that is not an outlier. Outliers
 * are the largest bars, if each is more than five times as large as the largest other bar. On each side of zero, at most one in ten
 * bars can be an outlier, but always one. Merely high days, and patterns such as a weekly charge, are not outliers.
 * @param bars their sums above and below zero; bars of zero do not count
 * @param least a size that has to stay within the limit
 * @returns undefined if there are no outliers
 */
export function findLimit(bars: number[], least = 0): number | undefined {
  const sorted = bars.filter((bar) => bar !== 0).sort((a, b) => Math.abs(b) - Math.abs(a));
  if (sorted.length < fewestBars) return undefined;
  const most = Math.max(1, Math.floor(sorted.length / 10));
  for (let count = 2 * most; count > 0; count -= 1) {
    const outliers = sorted.slice(0, count);
    const above = outliers.filter((bar) => bar > 0).length;
    if (above > most || count - above > most) continue;
    const [outlier = 0, next = 0] = [sorted[count - 1], sorted[count]];
    const limit = Math.abs(next);
    if (limit > 0 && limit >= least && Math.abs(outlier) > manyTimes * limit) return limit;
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

/** Where a chart is cut, the places whose bars exceed the cut, and the places where the compared line does. */
export type Cut = { limit: number; beyond: number[]; beyondInLine: number[] };

/**
 * The cut of stacked bars and their compared line; undefined if there are no outliers.
 * @param isTime whether the places are days, weeks or months, so that the last bars are the latest
 */
export function findCut(
  series: Series[],
  kind: PlotKind,
  line: (number | null)[] = [],
  isTime = true,
): Cut | undefined {
  if (kind !== "stacked") return undefined;
  const bars = extents(series);
  const sizes = bars.map(({ up, down }) => Math.max(up, -down)).filter((size) => size > 0);
  const limit = findLimit(
    [...bars.flatMap(({ up, down }) => [up, down]), ...line.map((value) => value ?? 0)],
    isTime ? Math.max(0, ...sizes.slice(-spared)) : 0,
  );
  if (limit === undefined) return undefined;
  return {
    limit,
    beyond: bars.flatMap(({ up, down }, place) => (Math.max(up, -down) > limit ? [place] : [])),
    beyondInLine: line.flatMap((value, place) => (Math.abs(value ?? 0) > limit ? [place] : [])),
  };
}

/**
 * Fits the series of a cut chart into its axis: a bar that exceeds the axis is scaled down as a whole, so that each series keeps its
 * share of the bar, and a cut bar does not look as if it had one series.
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

/** The space above the largest bar that is not cut, so that cut bars are visibly higher. */
const headroom = 1.2;

/** The domain of a cut chart. It extends below zero only if there are negative values. */
export function cutDomain([min, max]: [number, number], { limit }: Cut): [number, number] {
  return [Math.max(min, -limit * headroom), Math.min(max, limit * headroom)];
}
