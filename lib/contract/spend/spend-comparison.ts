import { z } from "zod";
import { day, instant } from "@/lib/contract/values/fields";
import type { SpendCell } from "./spend-query";

/** What the part of a period that has passed is compared with. */
export const comparedStretch = z
  .object({
    from: day,
    to: day,
    until: instant.nullable().meta({
      description:
        "Of `to`, only what was before this instant counts: as much of the day as of today has passed. Null: all of that day.",
    }),
    aligned_by: z.enum(["weekday", "day"]).meta({
      description:
        "`weekday`: each day is compared with the same weekday, whole weeks before. `day`: with the day at its place in the other period.",
    }),
    is_estimate: z.boolean().meta({
      description:
        "True where that part of the day has too many messages to be read: then it is the same share of the day's sum.",
    }),
  })
  .meta({ id: "ComparedStretch" });
export type ComparedStretch = z.output<typeof comparedStretch>;

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
  stretch: ComparedStretch;
  totals: SpendChange;
  /** Those of the answer's rows, in their order; none where the rows are parts of the calendar. */
  rows: SpendChange[];
  /**
   * The values that have no row, because they have nothing in the answer's days: with those of the rows, their difference sums to that of the totals.
   * Null where there are none, and of quotients.
   */
  gone: { count: number; difference: Exclude<Figure, null> } | null;
};
