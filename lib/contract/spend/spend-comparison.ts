import type { SpendCell } from "./spend-query";

type Figure = SpendCell["measured"];

/** How the measure of a part of an answer differs from what it was in the days compared with. */
export type SpendChange = {
  /** The measure in the days compared with. This and the difference are null for a quotient by zero. */
  before: Figure;
  difference: Figure;
  /** Whether nothing was recorded of it in the days compared with. */
  isNew: boolean;
};

/** An answer compared with the same of other days. */
export type SpendComparison = {
  from: string;
  to: string;
  totals: SpendChange;
  /** Those of the answer's rows, in their order; none where the rows are parts of the calendar. */
  rows: SpendChange[];
  /**
   * The values that have no row, because they have nothing in the answer's days: with those of the rows, their difference sums to that of the totals.
   * Null where there are none, and of quotients.
   */
  gone: { count: number; difference: Exclude<Figure, null> } | null;
};
