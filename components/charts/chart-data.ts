import type { Amount } from "@/components/figures/amount";
import { shownNumber } from "@/components/figures/money";
import type { Drawn } from "./drawing";
import { findCut } from "./outliers";

/** A part of every bar, such as a project, with its total over all bars in USD. `href` leads to its rows. */
export type ChartGroup = { name: string; colour: string; total: Amount; href?: string };

/**
 * One bar of a chart: a day or a month. Amounts are USD. `title` is its full name and `short` the label below it; `amounts`
 * has one entry for each group, in their order; `previous` is the total of the same bar one period earlier, null when there
 * is none; `href` leads to its rows; `from` and `to` are its days, `YYYY-MM-DD`.
 */
export type Bar = {
  from: string;
  to: string;
  title: string;
  short: string;
  total: Amount;
  amounts: Amount[];
  previous: Amount | null;
  href: string;
  /** Events in its time, in words, which are marked above the bar. */
  notes?: string[];
};

/** Converts the data of the chart of spend for drawing. @param hidden the names of groups that are not shown */
export function toDrawn(
  { groups, bars, unfinished }: { groups: ChartGroup[]; bars: Bar[]; unfinished: number | undefined },
  hidden: string[] = [],
  isWhole = false,
): Drawn {
  const series = groups.flatMap(({ name, colour }, group) =>
    hidden.includes(name)
      ? []
      : [{ name, colour, values: bars.map(({ amounts }) => shownNumber(amounts[group] ?? 0)) }],
  );
  // The line is the sum of all groups, so it is not comparable if some are hidden.
  const line =
    hidden.length > 0
      ? undefined
      : bars.map(({ previous }) => (previous === null ? null : shownNumber(previous)));
  return {
    series,
    places: bars,
    kind: "stacked",
    line,
    unfinished,
    cut: isWhole ? undefined : findCut(series, "stacked", line),
  };
}
