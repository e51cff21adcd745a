import { z } from "zod";
import { maxNameLength, maxTagLength } from "@/lib/contract/ledger/attribution";
import { costMessage, source } from "@/lib/contract/ledger/message";
import { day, projectSlug, text, uuid } from "@/lib/contract/values/fields";

/**
 * Ranges of the calendar of the workspace's time zone: the current day, week, month, quarter or year, the year up to today, the month
 * or the quarter before, the latest 7, 30 or 90 days up to today, everything, or the days between `from` and `to`.
 */
export const periods = [
  "day",
  "week",
  "month",
  "quarter",
  "year",
  "year_to_date",
  "last_month",
  "last_quarter",
  "last_7_days",
  "last_30_days",
  "last_90_days",
  "all",
  "range",
] as const;
export const period = z.enum(periods);
export type Period = z.infer<typeof period>;

/**
 * What a period is compared with: the period before it, the same days a year earlier, the days between `compare_from` and
 * `compare_to`, or nothing.
 */
export const comparisons = ["previous", "last_year", "range", "none"] as const;
export const comparison = z.enum(comparisons);
export type Comparison = z.infer<typeof comparison>;

export const environment = z.enum(["live", "test"]).meta({ id: "Environment" });

export const messageType = z
  .enum([...costMessage.options.map((option) => option.shape.type.value), "bill_adjustment"])
  .meta({ id: "MessageType" });

/** A filter by a value that a row may lack. Parsed to the value, or to null to match rows without one. */
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
export const rangeDay = day.refine(
  (value) => value >= "1900-01-01" && value <= "2999-12-31",
  "must be from 1900-01-01 to 2999-12-31",
);

/** The parameters for the days of a query. */
const rangeFilters = {
  period: period.optional().meta({
    description:
      "The current day, week (from Monday), month, quarter or year in the time zone of the workspace, the month before, the latest 7, 30 or 90 days up to today, everything, or `range`: the days from `from` to `to`. Default: `range` where `from` or `to` is given, otherwise `month`.",
  }),
  from: rangeDay.optional().meta({ description: "The first day of a `range`." }),
  to: rangeDay.optional().meta({ description: "The last day of a `range`." }),
};

/** The filters of activity, metrics and exports. */
export const ledgerFilters = {
  ...rangeFilters,
  project: projectSlug.optional().meta({ description: "Project slug." }),
  type: messageType.optional().meta({ description: "Message type." }),
  key: orNone(uuid, 36, "The id of the API key that recorded it."),
  provider: orNone(
    text(64),
    64,
    "The provider, or the vendor of an expense or subscription, in any letter case.",
  ),
  model: orNone(text(128), 128, "The model as recorded. Of a batch, its lines of this model count."),
  feature: orNone(text(128), 128, "The feature as recorded. Of a batch, its lines of this feature count."),
  user: orNone(
    text(maxNameLength),
    maxNameLength,
    "The person the usage was for, as recorded. Of a batch, the lines of this person count.",
  ),
  tag: orNone(text(maxTagLength), maxTagLength, "A tag of the message, `name:value`."),
  source: source.optional().meta({ description: "The source of the message." }),
};

/** The parameters for what a query's period is compared with. */
export const comparisonFilters = {
  compare: comparison.optional().meta({
    description:
      "What the period is compared with: `previous`, the period of the same length before it (whole months with as many months); `last_year`, the same days a year earlier; `range`, the days from `compare_from` to `compare_to`; or `none`. Default: `range` where `compare_from` or `compare_to` is given, otherwise `previous`. Everything (`all`) is compared with nothing.",
  }),
  compare_from: rangeDay.optional().meta({ description: "The first day to compare with." }),
  compare_to: rangeDay.optional().meta({ description: "The last day to compare with." }),
};

type Days = { from?: string | undefined; to?: string | undefined };
type Range = Days & { period?: Period | undefined };
type Compared = Range & {
  compare?: Comparison | undefined;
  compare_from?: string | undefined;
  compare_to?: string | undefined;
};

/** The period of a query. Days without a period mean `range`. */
export function periodOf({ period, from, to }: Range): Period {
  return period ?? (from === undefined && to === undefined ? "month" : "range");
}

/** What a query is compared with. Days without `compare` mean `range`. The period `all` cannot be compared. */
export function comparisonOf(query: Compared): Comparison {
  if (periodOf(query) === "all") return "none";
  const hasDays = query.compare_from !== undefined || query.compare_to !== undefined;
  return query.compare ?? (hasDays ? "range" : "previous");
}

/** Refuses a range without days, days without a range, and days in the wrong order, also for what the query is compared with. */
export function checkRange(query: Compared, context: z.RefinementCtx): void {
  const { from, to, compare, compare_from, compare_to } = query;
  const period = periodOf(query);
  checkDays("period=range", period === "range", { from, to }, context);
  const isCompared = compare === undefined || compare === "range";
  const hasDays = compare_from !== undefined || compare_to !== undefined;
  checkDays(
    "compare=range",
    isCompared && (compare === "range" || hasDays),
    { compare_from, compare_to },
    context,
  );
  if (period !== "all") return;
  const message = "cannot be set with period=all, which has no period to compare with";
  if (compare !== undefined && compare !== "none")
    context.addIssue({ code: "custom", path: ["compare"], message });
  else if (hasDays && compare === undefined)
    context.addIssue({ code: "custom", path: ["compare_from"], message });
}

/** Refuses days if no range is requested, and a range without days. @param wanted how to request one @param days first, last */
function checkDays(
  wanted: string,
  isRange: boolean,
  days: Record<string, string | undefined>,
  context: z.RefinementCtx,
): void {
  const fail = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  const [first, last] = Object.entries(days);
  for (const [name, day] of [first, last].filter((each) => each !== undefined)) {
    if (isRange && day === undefined) fail(name, `is required with ${wanted}`);
    if (!isRange && day !== undefined) fail(name, `can only be set with ${wanted}`);
  }
  const [lastName, lastDay] = last ?? ["", undefined];
  if (first?.[1] !== undefined && lastDay !== undefined && first[1] > lastDay)
    fail(lastName, `must not be before ${first[0]}`);
}

/** A range and what it is compared with, in the address of a page. */
export const rangeQuery = z.strictObject({ ...rangeFilters, ...comparisonFilters }).superRefine(checkRange);
export type RangeQuery = z.output<typeof rangeQuery>;

/** The days an answer covers; both null when it covers everything. */
export const answeredPeriod = {
  period: period.meta({ description: "The period that was asked for." }),
  from: day.nullable().meta({ description: "The first day; null: everything." }),
  to: day.nullable().meta({ description: "The last day; null: everything." }),
};
