import { z } from "zod";
import { onLimit } from "@/lib/contract/access/api-keys";
import { keyPermission } from "@/lib/contract/access/permissions";
import { source, usageFields } from "@/lib/contract/ledger/message";
import { day, decimalNumber, instant, projectSlug, uuid } from "@/lib/contract/values/fields";
import { budgetPeriod, scopeType } from "./reads";

const only = (what: string) =>
  z
    .array(z.string())
    .nullable()
    .meta({ description: `The only ${what}; null: all.` });

const { provider, model, feature, user } = usageFields.shape;

/** Leaves out budgets that do not count usage of this project, provider, model, feature or user. */
export const limitsQuery = z.strictObject({
  project: projectSlug.optional().meta({ description: "Leaves out budgets of other projects, by its slug." }),
  provider: provider.optional().meta({ description: "Leaves out budgets of other providers." }),
  model: model.meta({ description: "Leaves out budgets of other models." }),
  feature: feature.meta({ description: "Leaves out budgets of other features." }),
  user: user.meta({ description: "Leaves out budgets of other users." }),
});
export type LimitsQuery = z.output<typeof limitsQuery>;

/** What limits the calling key: its own limits, and the budgets that cover what it records. */
export const keyLimits = z
  .object({
    key: z.object({
      id: uuid,
      environment: z.enum(["live", "test"]),
      permissions: z.array(keyPermission),
      projects: only("projects that it may use, by slug"),
      features: only("features that it may record usage under"),
      sources: z.array(source).nullable().meta({ description: "The only sources; null: all." }),
      is_limited_to_users: z.boolean().meta({
        description: "Whether it records for certain users only. Members of the workspace see which.",
      }),
      expires_at: instant.nullable(),
      rate_limit_rpm: z.int().nullable().meta({
        description: "Requests in any 60 seconds. What remains is in the headers of every answer.",
      }),
      monthly_limit: z
        .object({
          limit_usd: decimalNumber("USD in a UTC month; during a raise, the raised limit."),
          spent_usd: decimalNumber("Recorded with the key this month, USD."),
          held_usd: decimalNumber("What the key's reservations hold of it, USD."),
          remaining_usd: decimalNumber("What is neither spent nor held, USD; not below 0."),
          on_limit: onLimit.meta({
            description: "What the limit does with costs past it.",
          }),
          refused_usd: decimalNumber(
            "What the limit refused to record this month, USD. It may have been spent, and is not part of `spent_usd`.",
          ),
          resets_at: instant,
        })
        .nullable()
        .meta({ description: "Null without a limit." }),
    }),
    budgets: z
      .array(
        z.object({
          id: uuid,
          name: z.string(),
          scope_type: scopeType,
          blocks: z.boolean().meta({
            description: "Whether it refuses costs that would exceed its limit. False: it only warns.",
          }),
          is_used_up: z.boolean().meta({
            description: "Whether nothing is left. One that blocks then refuses all that costs anything.",
          }),
          period: budgetPeriod.nullable().meta({ description: "Null if the key may not read its figures." }),
          period_from: day.meta({ description: "The first day of its present period, in `time_zone`." }),
          period_until: day.meta({ description: "The day after its last." }),
          time_zone: z.string(),
          resets_at: instant.meta({ description: "When the period, or the budget, ends." }),
          limit_usd: decimalNumber("USD.").nullable(),
          spent_usd: decimalNumber("USD.").nullable(),
          held_usd: decimalNumber("What reservations hold of it, USD.").nullable(),
          remaining_usd: decimalNumber("What is neither spent nor held, USD; not below 0.").nullable(),
          refused_usd: decimalNumber(
            "What limits refused to record of what it counts in the period, USD. It may have been spent.",
          ).nullable(),
        }),
      )
      .meta({
        description:
          "By name. A key with `read_summaries` sees each budget that it may read and that can cover what it records. Every key sees the blocking budgets of all spend, and of the key, projects and features that its settings name; figures are null where it may not read them. Other blocking budgets are named by the refusal (402 `budget_exceeded`).",
      }),
  })
  .meta({ id: "KeyLimits" });
