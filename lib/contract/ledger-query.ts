import { z } from "zod";
import { maxNameLength, maxTagLength } from "./attribution";
import { day, projectSlug, text, uuid } from "./fields";
import { costMessage, source } from "./message";

/**
 * Ranges of the UTC calendar: the current day, week, month, quarter or year, everything, or the days between `from`
 * and `to`.
 */
export const periods = ["day", "week", "month", "quarter", "year", "all", "range"] as const;
export const period = z.enum(periods);
export type Period = z.infer<typeof period>;

export const environment = z.enum(["live", "test"]).meta({ id: "Environment" });

export const messageType = z
  .enum(costMessage.options.map((option) => option.shape.type.value))
  .meta({ id: "MessageType" });

/** A filter by a value that a row may lack. @returns the value, or null for rows without one */
export const orNone = (filter: z.ZodType<string>, maxLength: number, description: string) =>
  z
    .union([z.literal("").transform(() => null), filter])
    .optional()
    .meta({
      description: `${description} Empty: rows without a value.`,
      jsonSchema: { type: "string", maxLength },
    });

/**
 * A day at either end of a range. The previous range of the same length is computed too and must consist of valid
 * days.
 */
const rangeDay = day.refine(
  (value) => value >= "1900-01-01" && value <= "2999-12-31",
  "must be from 1900-01-01 to 2999-12-31",
);

/** The part of the ledger that a query of activity, metrics or export is about. */
export const ledgerFilters = {
  period: period.default("month").meta({
    description:
      "The current day, week (from Monday), month, quarter or year in UTC, everything, or `range`: the days from `from` to `to`.",
  }),
  from: rangeDay.optional().meta({ description: "The first UTC day of a `range`." }),
  to: rangeDay.optional().meta({ description: "The last UTC day of a `range`." }),
  project: projectSlug.optional().meta({ description: "Project slug." }),
  type: messageType.optional().meta({ description: "Message type." }),
  key: orNone(uuid, 36, "The id of the API key that recorded it."),
  provider: orNone(text(64), 64, "The provider, or the vendor of an expense or subscription, as recorded."),
  model: orNone(text(128), 128, "The model as recorded. Of a batch, its lines of this model count."),
  feature: orNone(text(128), 128, "The feature as recorded. Of a batch, its lines of this feature count."),
  user: orNone(
    text(maxNameLength),
    maxNameLength,
    "The person whom the usage was for, as recorded. Of a batch, its lines of this person count.",
  ),
  tag: orNone(text(maxTagLength), maxTagLength, "A tag of the message, `name:value`."),
  source: source.optional().meta({ description: "The source of the message." }),
};

/** Refuses a range without days, days without a range, and days in the wrong order. */
export function checkRange(
  { period, from, to }: { period: Period; from?: string | undefined; to?: string | undefined },
  context: z.RefinementCtx,
): void {
  const fail = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  if (period !== "range") {
    if (from !== undefined) fail("from", "goes with period=range");
    if (to !== undefined) fail("to", "goes with period=range");
    return;
  }
  if (from === undefined) fail("from", "is required with period=range");
  if (to === undefined) fail("to", "is required with period=range");
  if (from !== undefined && to !== undefined && from > to) fail("to", "must not be before from");
}

/** The days an answer covers; both null when it covers everything. */
export const answeredPeriod = {
  period: period.meta({ description: "As in the request." }),
  from: day.nullable().meta({ description: "The first UTC day; null: everything." }),
  to: day.nullable().meta({ description: "The last UTC day; null: everything." }),
};
