import { z } from "zod";
import { day, projectSlug, text, uuid } from "./fields";
import { costMessage, source } from "./message";

/** Stretches of UTC calendar: the current one of each, all there is, or the days between `from` and `to`. */
export const periods = ["day", "week", "month", "quarter", "year", "all", "range"] as const;
export const period = z.enum(periods);
export type Period = z.infer<typeof period>;

export const environment = z.enum(["live", "test"]).meta({ id: "Environment" });

export const messageType = z
  .enum(costMessage.options.map((option) => option.shape.type.value))
  .meta({ id: "MessageType" });

/** A filter by a value that a row may lack. @returns the value, or null for what has none */
const orNone = (filter: z.ZodType<string>, maxLength: number, description: string) =>
  z
    .union([z.literal("").transform(() => null), filter])
    .optional()
    .meta({ description: `${description} Empty: what has none.`, jsonSchema: { type: "string", maxLength } });

/** A day that a range begins or ends with. The range as long before it is reckoned with, too, and must be days as well. */
const rangeDay = day.refine(
  (value) => value >= "1900-01-01" && value <= "2999-12-31",
  "must be from 1900-01-01 to 2999-12-31",
);

/** The part of the ledger that is asked about, as the query of activity, metrics and export names it. */
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
  source: source.optional().meta({ description: "Where it came from." }),
};

/** Refuses a range without its days, days without a range, and days in the wrong order. */
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

/** The days an answer is about; both null where it is about everything. */
export const answeredPeriod = {
  period: period.meta({ description: "As asked for." }),
  from: day.nullable().meta({ description: "The first UTC day; null: everything." }),
  to: day.nullable().meta({ description: "The last UTC day; null: everything." }),
};
