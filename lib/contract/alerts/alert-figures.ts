import { z } from "zod";
import { onLimit } from "@/lib/contract/access/api-keys";
import { day, decimalNumber, instant } from "@/lib/contract/values/fields";

/**
 * The figures of an alert by its rule.
 * @param decimal the type of money and percentages: numbers in responses, exact text in the database and in webhooks
 */
function figuresWith<D extends z.ZodType>(decimal: (description: string) => D) {
  const scope = {
    scope_type: z.string().meta({ description: "What the budget is of." }),
    scope_value: z
      .string()
      .nullable()
      .default(null)
      .meta({ description: "A project's slug, a key's id, or a name; null for all spend." }),
  };
  const budget = {
    ...scope,
    amount_usd: decimal("The budget's limit at that time, USD."),
    spent_usd: decimal("Spend in its period, USD."),
  };
  return z.discriminatedUnion("rule", [
    z.object({
      rule: z.literal("budget_threshold"),
      ...budget,
      percent: decimal("The threshold as a share of the limit, in percent."),
      threshold_usd: decimal("The threshold, where it was set as an amount: USD.").optional(),
    }),
    z.object({
      rule: z.literal("budget_forecast"),
      ...budget,
      forecast_usd: decimal("The forecast of the period's total, USD."),
      percent: decimal("The forecast as a share of the limit, in percent."),
      method: z.string().meta({ description: "How the forecast was worked out, in words." }),
      data_days: z.int().meta({ description: "The number of days of spend that it is based on." }),
    }),
    z.object({
      rule: z.literal("budget_pace"),
      ...budget,
      before_usd: decimal("Spend at the same point of the previous period, USD."),
      percent: decimal("Spend as a percentage of it."),
    }),
    z.object({
      rule: z.literal("unusual_day"),
      day,
      time_zone: z.string().default("UTC").meta({ description: "That of the workspace, whose day it is." }),
      spent_usd: decimal("What was spent on it, USD."),
      median_usd: decimal("The median of the same weekdays of the four weeks before, USD."),
      mad_usd: decimal("The median of their distances from it, USD."),
      above_usd: decimal("The amount from which the day is unusual, USD."),
      compared: z
        .array(z.object({ day, spent_usd: decimal("USD.") }))
        .meta({ description: "The weekdays that it was compared with." }),
    }),
    z.object({
      rule: z.literal("key_limit"),
      amount_usd: decimal("The key's monthly limit, USD.")
        .nullable()
        .meta({ description: "Null where it was removed." }),
      spent_usd: decimal("The spend recorded with the key in the month, USD."),
      percent: decimal("The share of the limit that is spent, in percent.").nullable(),
      refused_usd: decimal(
        "What the limit refused to record in the month, USD. It may have been spent.",
      ).optional(),
      on_limit: onLimit.optional().meta({
        description: "What the limit does with costs past it.",
      }),
    }),
    z.object({
      rule: z.literal("key_expiry"),
      expires_at: instant.nullable().meta({ description: "Null if it no longer expires." }),
    }),
    z.object({
      rule: z.literal("unpriced_usage"),
      provider: z.string().nullable().default(null),
      model: z.string().nullable().default(null).meta({ description: "Null: usage without a name." }),
      line_count: z.int().meta({ description: "How many usage lines have no price." }),
    }),
    z.object({
      rule: z.literal("silent_source"),
      last_at: instant.meta({ description: "When it sent something the last time." }),
      hours: z.int().meta({ description: "After how many hours without anything it counts as silent." }),
    }),
    z.object({
      rule: z.literal("bill_coverage"),
      billed_usd: decimal("What providers billed in the month, USD."),
      missing_usd: decimal("Of it, what is not recorded, USD."),
      percent: decimal("How much of it is recorded, in percent."),
    }),
    z.object({
      rule: z.literal("bill_difference"),
      billed_usd: decimal("What providers billed in the month, USD."),
      recorded_usd: decimal("What was recorded on the billed days, USD, adjustments to bills among it."),
      difference_usd: decimal(
        "What billed and recorded of each provider differ by, in either direction, as a sum over providers, USD.",
      ),
    }),
    z.object({
      rule: z.literal("provider_limit"),
      provider: z.string(),
      target: z
        .string()
        .nullable()
        .default(null)
        .meta({ description: "The name of what is limited there; null until it was read." }),
      limit_state: z
        .string()
        .meta({ description: "`drift`, `refused` or `gone`; `equal` where it is over." }),
      problem: z.string().nullable().default(null).meta({ description: "What the provider says." }),
      written_usd: decimal("The limit that was written last, USD.").nullable().default(null),
      held_usd: decimal("The limit that the provider holds, USD; null for none.").nullable().default(null),
    }),
    z.object({
      rule: z.literal("refused_costs"),
      refused_usd: decimal("What the limit refused to record in the period, USD. It may have been spent."),
      message_count: z.int().meta({ description: "How many messages it refused." }),
    }),
  ]);
}

/** The figures of an alert in responses. */
export const alertFigures = figuresWith(decimalNumber).meta({ id: "AlertFigures" });

/** The figures of an alert as they are stored and sent: money and percentages are exact decimal text. */
export const storedFigures = figuresWith(() => z.string());
export type StoredFigures = z.output<typeof storedFigures>;
