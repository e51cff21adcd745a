import type { Amount } from "@/components/amount";

/** A part of every bar, such as a project, with its total over all bars in USD. `href` leads to its rows. */
export type ChartGroup = { name: string; colour: string; total: Amount; href?: string };

/**
 * One bar of a chart: a day or a month. Amounts are USD. `title` is its full name and `short` the label below it; `amounts`
 * has one entry for each group, in their order; `previous` is the total of the same bar one period earlier, null when there
 * is none; `href` leads to its rows.
 */
export type Bar = {
  title: string;
  short: string;
  total: Amount;
  amounts: Amount[];
  previous: Amount | null;
  href: string;
  /** What happened in it, in words; marked above the bar. */
  notes?: string[];
};
