import { z } from "zod";
import { day, instant } from "@/lib/contract/values/fields";
import type { SpendCell } from "./spend-query";

/** The days that the elapsed part of a period is compared with. */
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

/** How a measure differs from that of the days compared with. */
export type SpendChange = {
  /** The measure in the days compared with. It and the difference are null for a division by zero. */
  before: Figure;
  difference: Figure;
  /** Whether nothing was recorded in the days compared with. */
  isNew: boolean;
};

/** The comparison of an answer with other days. */
export type SpendComparison = {
  stretch: ComparedStretch;
  totals: SpendChange;
  /** The changes of the answer's rows, in order; empty if the rows are days, weeks or months. */
  rows: SpendChange[];
  /**
   * The values without a row, because they have no spend in the answer's days. Their difference and those of the rows sum to the
   * difference of the totals. Null if there are none, and for quotients.
   */
  gone: { count: number; difference: Exclude<Figure, null> } | null;
};
