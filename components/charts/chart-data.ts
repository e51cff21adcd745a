import type { Amount } from "@/components/amount";

/** A named part of every bar, with its total over all bars. `href` leads to its messages. */
export type ChartGroup = { name: string; colour: string; total: Amount; href?: string };

/**
 * One bar: a day or a month. `amounts` has one entry a group, in the order of the groups; `short` is the label under the
 * bar, `title` the full one beside its figures; `previous` is the total of the same bar one period earlier.
 */
export type Bar = {
  title: string;
  short: string;
  total: Amount;
  amounts: Amount[];
  previous: Amount | null;
  href: string;
};
