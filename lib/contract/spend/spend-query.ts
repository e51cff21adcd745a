import { z } from "zod";
import { maxNameLength, maxTagLength, tagName } from "@/lib/contract/ledger/attribution";
import { source } from "@/lib/contract/ledger/message";
import { conversion, currencyFilter } from "@/lib/contract/values/conversion";
import { day, decimalNumber, projectSlug, text, uuid } from "@/lib/contract/values/fields";
import { environment, messageType } from "./ledger-query";

/** The dimensions that every posting of the ledger has. */
const namedDimensions = [
  "project",
  "user",
  "key",
  "model",
  "provider",
  "feature",
  "type",
  "source",
  "unit",
] as const;
/** Dimensions of time, in the workspace's time zone. Weeks begin on Monday. */
const calendarDimensions = ["day", "week", "month"] as const;

export type NamedDimension = (typeof namedDimensions)[number];
export type CalendarDimension = (typeof calendarDimensions)[number];

const tagPrefix = "tag:";

/** A tag by its name. A message has at most one value of it, so cells by tag sum to the total like all others. */
const tagDimension = z
  .templateLiteral([z.literal(tagPrefix), z.string()])
  .refine((value) => tagName.safeParse(value.slice(tagPrefix.length)).success, {
    error: "must be `tag:` and the name of a tag, such as tag:team",
  })
  .meta({ jsonSchema: { type: "string", pattern: "^tag:[A-Za-z0-9][A-Za-z0-9_./-]{0,63}$", maxLength: 68 } });

const notDimension = `must be one of ${[...namedDimensions, "environment", ...calendarDimensions].join(", ")}, or a tag by its name, such as tag:team`;

/** What spend is grouped by. */
export const spendDimension = z.union(
  [z.enum([...namedDimensions, "environment", ...calendarDimensions]), tagDimension],
  { error: notDimension },
);
export type SpendDimension = z.output<typeof spendDimension>;

/** Whether a dimension is the day, week or month, whose values are first days. */
export const isCalendar = (dimension: SpendDimension | undefined): dimension is CalendarDimension =>
  calendarDimensions.some((each) => each === dimension);

/** The tag's name in a dimension by tag; undefined for other dimensions. */
export const tagNameOf = (dimension: string): string | undefined =>
  dimension.startsWith(tagPrefix) ? dimension.slice(tagPrefix.length) : undefined;

/** What is measured. The last two are quotients, which cannot be summed but are computed from sums. */
export const spendMeasures = [
  "cost",
  "messages",
  "tokens",
  "cost_per_message",
  "cost_per_million_tokens",
] as const;
export type SpendMeasure = (typeof spendMeasures)[number];

/** The most values of a filter, the most values that a group lists, and the most days of a query. */
const maxFilterValues = 50;
const maxTop = 50;
const defaultTop = 10;
export const maxSpendDays = 1_100;

/** The values of a filter, each as a schema of its own; null stands for rows without one. */
const filterValues = {
  project: projectSlug,
  user: text(maxNameLength),
  key: uuid,
  model: text(128),
  provider: text(64),
  feature: text(128),
  type: messageType,
  source,
  unit: text(64),
} satisfies Record<NamedDimension, z.ZodType>;

/** The fields that have a value in every row. */
const neverEmpty: string[] = ["project", "type", "source"];

const filterField = z.union([z.enum(namedDimensions), tagDimension, z.literal("tag")], {
  error: `must be one of ${namedDimensions.join(", ")}, tag, or a tag by its name, such as tag:team`,
});

/** The schema of a field's values. */
function valueSchema(field: z.output<typeof filterField>): z.ZodType {
  if (field === "tag") return text(maxTagLength);
  return tagNameOf(field) === undefined ? filterValues[field as NamedDimension] : text(maxTagLength);
}

export const spendFilter = z
  .strictObject({
    field: filterField.meta({
      description:
        "The dimension to filter by. `tag` takes whole tags (`team:growth`), `tag:team` the values of one tag (`growth`).",
    }),
    op: z
      .enum(["is", "is_not"])
      .default("is")
      .meta({ description: "Whether the rows have one of the values (`is`) or none of them (`is_not`)." }),
    values: z
      .array(z.string().max(maxNameLength).nullable())
      .min(1, "must not be empty")
      .max(maxFilterValues, `must have at most ${maxFilterValues} values`)
      .meta({ description: "Slugs of projects, ids of keys, otherwise names; null: rows without one." }),
  })
  .superRefine(({ field, values }, context) => {
    for (const [index, value] of values.entries()) {
      const fail = (message: string) =>
        context.addIssue({ code: "custom", path: ["values", index], message });
      if (value === null) {
        if (neverEmpty.includes(field)) fail(`must not be null: every row has a ${field}`);
        continue;
      }
      const issue = valueSchema(field).safeParse(value).error?.issues[0];
      if (issue) fail(issue.message);
    }
  })
  .meta({ id: "SpendFilter" });
export type SpendFilter = z.output<typeof spendFilter>;

/** A day of a query. */
const queryDay = day.refine(
  (value) => value >= "1900-01-01" && value <= "2999-12-31",
  "must be from 1900-01-01 to 2999-12-31",
);

const fields = {
  group_by: z.array(spendDimension).max(2, "must name at most two dimensions").default([]).meta({
    description:
      "The rows, then the columns: at most two different dimensions. Without one, the answer is one cell. Calendar parts are of the time zone of the workspace; weeks begin on Monday.",
  }),
  measure: z.enum(spendMeasures).default("cost").meta({
    description:
      "What `measured` is, and what the largest are chosen by. `tokens` and `cost_per_million_tokens` count usage whose unit ends in `tokens`.",
  }),
  from: queryDay.optional().meta({ description: "The first day; default the first of the month of `to`." }),
  to: queryDay.optional().meta({ description: "The last day; default today." }),
  filters: z
    .array(spendFilter)
    .max(20, "must have at most 20 filters")
    .default([])
    .meta({ description: "All of them apply." }),
  top: z
    .int("must be a whole number")
    .min(1, "must be at least 1")
    .max(maxTop, `must be at most ${maxTop}`)
    .default(defaultTop)
    .meta({
      description:
        "The number of values listed of each dimension: the largest by absolute size, so that negative sums of allocations are not hidden. The others are summed as one more.",
    }),
  ...currencyFilter,
};

/** Refuses a repeated dimension, and days that are in the wrong order or too many. */
function checkQuery(
  {
    group_by: [first, second],
    from,
    to,
  }: { group_by: SpendDimension[]; from?: string | undefined; to?: string | undefined },
  context: z.RefinementCtx,
): void {
  const fail = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  if (first !== undefined && first === second) fail("group_by", "must name two different dimensions");
  if (isCalendar(first) && isCalendar(second)) fail("group_by", "must name one part of the calendar at most");
  if (from === undefined || to === undefined) return;
  if (from > to) {
    fail("to", "must not be before from");
    return;
  }
  const days = (Date.parse(to) - Date.parse(from)) / 86_400_000 + 1;
  if (days > maxSpendDays)
    fail("from", `must be at most ${maxSpendDays} days before to; choose a shorter range`);
}

/** A spend query of an API key, which reads the key's environment. */
export const keySpendQuery = z.strictObject(fields).superRefine(checkQuery).meta({ id: "KeySpendQuery" });

/** A spend query of a member. */
export const spendQuery = z
  .strictObject({
    ...fields,
    environment: z
      .enum([...environment.options, "all"])
      .default("live")
      .meta({ description: "`all`: both, for example to group by environment." }),
  })
  .superRefine(checkQuery)
  .meta({ id: "SpendQuery" });
export type SpendQuery = z.output<typeof spendQuery>;
export type SpendQueryInput = z.input<typeof spendQuery>;

/** The sums of a cell, row, column or total. Quotients are computed from them. */
const sums = {
  cost_usd: decimalNumber("USD."),
  message_count: z.int().meta({
    description: "Messages. A message of several lines counts with its first one.",
  }),
  tokens: decimalNumber("Units of usage whose unit ends in `tokens`.")
    .nullable()
    .meta({ description: "Null unless the measure needs them." }),
  token_cost_usd: decimalNumber("What these tokens cost, USD.")
    .nullable()
    .meta({ description: "Null unless the measure needs them." }),
  measured: decimalNumber("The measure.")
    .nullable()
    .meta({ description: "The measure; null if it would divide by zero." }),
};

/** One row or column. */
const group = z
  .object({
    value: z.string().nullable().meta({
      description:
        "A slug, an id, a name, or the first day of a calendar period; null for spend without a value, and for the rest.",
    }),
    name: z
      .string()
      .nullable()
      .meta({ description: "The display name of a project or key, otherwise the value." }),
    is_rest: z.boolean().meta({ description: "Whether it is the sum of all that are not listed." }),
    ...sums,
  })
  .meta({ id: "SpendGroupTotal" });
export type SpendGroupTotal = z.output<typeof group>;

const axis = z.object({
  dimension: z.string().nullable().meta({ description: "Null: not grouped; there is one group then." }),
  groups: z.array(group).meta({
    description: "The largest by absolute size first, then the rest; groups of the calendar in its order.",
  }),
  rest_count: z.int().meta({ description: "How many values the rest is the sum of." }),
});

/** The amounts of sums in another currency. */
const convertedSums = z
  .object({
    cost: decimalNumber("`cost_usd`, in the currency."),
    token_cost: decimalNumber("`token_cost_usd`, in the currency.").nullable(),
    measured: decimalNumber("`measured`, in the currency where it is an amount.").nullable(),
  })
  .meta({ id: "ConvertedSpendSums" });
const convertedList = (of: string) =>
  z.array(convertedSums).meta({ description: `Those of ${of}, in order.` });

/** The amounts of an answer in another currency, in the order of those in USD. */
const convertedAnswer = z
  .object({
    ...conversion,
    totals: convertedSums,
    rows: convertedList("`rows.groups`"),
    columns: convertedList("`columns.groups`"),
    cells: convertedList("`cells`"),
  })
  .meta({
    id: "ConvertedSpendAnswer",
    description:
      "Only with `currency`. The same sums in that currency: each day is converted at its rate, exactly, and then summed, so that the cells sum to the totals as in USD. The largest are those in USD.",
  });

/** The answer to a spend query. The cells sum to the rows, columns and totals exactly. */
export const spendAnswer = z
  .object({
    from: day,
    to: day,
    environment: z.enum([...environment.options, "all"]),
    measure: z.enum(spendMeasures),
    totals: z.object(sums).meta({ id: "SpendSums" }),
    rows: axis,
    columns: axis,
    cells: z.array(z.object({ row: z.int(), column: z.int(), ...sums }).meta({ id: "SpendCell" })).meta({
      description:
        "Those in which anything was recorded, by the places of their row and column. Their costs, messages and tokens sum exactly to those of their row, their column and the totals.",
    }),
    converted: convertedAnswer.optional(),
  })
  .meta({ id: "SpendAnswer" });
export type SpendAnswer = z.output<typeof spendAnswer>;
export type SpendCell = SpendAnswer["cells"][number];

/** Whether a measure is an amount of money. */
export const isAmount = (measure: SpendMeasure): boolean => measure.startsWith("cost");
