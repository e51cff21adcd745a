import type { Amount } from "@/components/figures/amount";

/** One series of a drawing, such as a project: a value for each place on the axis, null for none. */
export type Series = { name: string; colour: string; values: (number | null)[] };

/** A series with the exact figures of its values, which are shown. */
export type ExactSeries = Series & { exact: (Amount | null)[] };

/** A place on the axis of a plot: a day, a week or a name. `title` is its full name, `short` the label below it. */
export type Place = { title: string; short: string };

/** The title of the places from the first to the last one. */
export function titleOf(places: { title: string }[], first: number, last: number): string {
  const [from = "", to = ""] = [places[first]?.title, places[last]?.title];
  return first === last ? from : `${from} – ${to}`;
}

/** How series are drawn: stacked, as lines, or as shares of each place's total. */
export type PlotKind = "stacked" | "lines" | "share";

/**
 * Converts values to shares of the sum of the absolute values of their place, so that negative values have negative shares.
 * Places without values have no shares.
 */
export function toShares(series: Series[]): Series[] {
  const count = series[0]?.values.length ?? 0;
  const whole = Array.from({ length: count }, (_, place) =>
    series.reduce((sum, { values }) => sum + Math.abs(values[place] ?? 0), 0),
  );
  return series.map(({ values, ...rest }) => ({
    ...rest,
    values: values.map((value, place) => {
      const all = whole[place] ?? 0;
      return all === 0 ? null : (value ?? 0) / all;
    }),
  }));
}

/** The least and the greatest value of a plot; for stacks, the sums below and above zero. The range always includes zero. */
export function extentOf(series: Series[], kind: PlotKind): [min: number, max: number] {
  const count = series[0]?.values.length ?? 0;
  let [min, max] = [0, 0];
  for (let place = 0; place < count; place += 1) {
    let [down, up] = [0, 0];
    for (const { values } of series) {
      const value = values[place] ?? 0;
      if (kind === "lines") {
        down = Math.min(down, value);
        up = Math.max(up, value);
      } else if (value < 0) down += value;
      else up += value;
    }
    min = Math.min(min, down);
    max = Math.max(max, up);
  }
  return min === max ? [0, 1] : [min, max];
}
