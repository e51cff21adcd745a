import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { instant, text, uuid } from "@/lib/contract/values/fields";

/** The rules that raise alerts. */
export const alertRules = [
  "budget_threshold",
  "budget_forecast",
  "budget_pace",
  "unusual_day",
  "key_limit",
  "key_expiry",
  "unpriced_usage",
  "silent_source",
  "bill_coverage",
  "bill_difference",
  "provider_limit",
  "refused_costs",
] as const;
export const alertRule = z.enum(alertRules).meta({
  id: "AlertRule",
  description: [
    "`budget_threshold`: the spend of a budget's period reached one of its thresholds;",
    "`budget_forecast`: a budget's period is forecast to end above its limit;",
    "`budget_pace`: a budget's spend is far above the same point of its last period;",
    "`unusual_day`: a day costs far more than the same weekdays of four weeks;",
    "`key_limit`: a key is near its monthly limit, or has used it up;",
    "`key_expiry`: a key expires soon, or has expired;",
    "`unpriced_usage`: a model is used that has no price;",
    "`silent_source`: a source that used to send has sent nothing;",
    "`bill_coverage`: less of what providers billed in a month is recorded than it should be;",
    "`bill_difference`: what providers billed in a month and what was recorded differ by more than it should;",
    "`provider_limit`: a provider holds another limit than the budget that sets it, or refuses it;",
    "`refused_costs`: a budget that blocks, or the monthly limit of a key, refused costs of some amount in its period.",
  ].join(" "),
});
export type AlertRule = z.output<typeof alertRule>;

/** The state that a subject changed to; `ok` if the problem is over. */
export const alertState = z.enum(["ok", "warning", "alert"]).meta({
  id: "AlertState",
  description: "The new state of the subject. `ok`: the problem that an earlier alert reported is over.",
});
export type AlertState = z.output<typeof alertState>;

export const alertSeverity = z
  .enum(["info", "warning", "critical"])
  .meta({ description: "How serious it is. Alerts that are over, and thresholds below 80%, are `info`." });
export type AlertSeverity = z.output<typeof alertSeverity>;

export const alertSubjectType = z.enum(["budget", "workspace", "key", "model", "source"]);
export type AlertSubjectType = z.output<typeof alertSubjectType>;

/** The unit and the bounds of each rule's parameter; null for a rule without one. */
export const ruleParameters = {
  budget_threshold: null,
  budget_forecast: { unit: "percent", least: 50, most: 1000 },
  budget_pace: { unit: "percent", least: 110, most: 10_000 },
  unusual_day: { unit: "usd", least: 1, most: 1_000_000 },
  key_limit: { unit: "percent", least: 1, most: 99 },
  key_expiry: { unit: "days", least: 1, most: 365 },
  unpriced_usage: null,
  silent_source: { unit: "hours", least: 1, most: 2160 },
  bill_coverage: { unit: "percent", least: 1, most: 100 },
  bill_difference: { unit: "usd", least: 1, most: 1_000_000 },
  provider_limit: null,
  refused_costs: { unit: "usd", least: 1, most: 1_000_000 },
} as const satisfies Record<AlertRule, { unit: string; least: number; most: number } | null>;

/** How long a rule can be snoozed at most. */
export const maxSnoozeDays = 366;

export const snoozed = z
  .object({ id: uuid, until: instant })
  .nullable()
  .meta({ description: "The time until which its alerts are not sent; null if it is not snoozed." });

const ruleSubject = z.object({
  type: alertSubjectType,
  id: z.string(),
  name: z.string(),
  state: z.enum(["warning", "alert"]),
  since: instant,
  title: z.string().meta({ description: "The problem, in words." }),
  snooze: snoozed,
});

export const alertRuleSetting = z
  .object({
    rule: alertRule,
    enabled: z.boolean(),
    parameter: z
      .object({
        value: z.number(),
        unit: z.enum(["percent", "usd", "days", "hours"]),
        default: z.number(),
        least: z.number(),
        most: z.number(),
      })
      .nullable()
      .meta({ description: "The value from which the rule fires; null for a rule without a parameter." }),
    state: z.enum(["ok", "warning", "alert", "no_data", "off"]).meta({
      description: "The worst state of its subjects; `no_data`: there is nothing to check yet.",
    }),
    subjects: z
      .array(ruleSubject)
      .meta({ description: "The subjects that are not OK, the latest first: at most 50." }),
    snooze: snoozed,
  })
  .meta({ id: "AlertRuleSetting" });
export type AlertRuleSetting = z.output<typeof alertRuleSetting>;

export const alertRuleList = z
  .object({
    rules: z.array(alertRuleSetting),
    can_edit: z.boolean().meta({ description: "Whether you may change and snooze them." }),
  })
  .meta({ id: "AlertRuleList" });

/** Fields that are left out stay unchanged. */
export const editAlertRuleRequest = z
  .strictObject({
    enabled: z.boolean().optional(),
    parameter: z
      .number("must be a number, or null for the default")
      .refine((value) => Number.isInteger(value * 100), "must have at most 2 decimals")
      .meta({ jsonSchema: { minimum: 1, maximum: 1_000_000 } })
      .nullable()
      .optional()
      .meta({
        description:
          "`budget_forecast`, `budget_pace`, `key_limit`, `bill_coverage`: percent; `unusual_day`, `bill_difference`, `refused_costs`: the least amount, USD; `key_expiry`: days; `silent_source`: hours. Null: the default.",
      }),
  })
  .meta({ id: "EditAlertRuleRequest" });
export type EditAlertRuleRequest = z.output<typeof editAlertRuleRequest>;

export const alertRuleParams = z.strictObject({ slug: workspaceSlug, rule: alertRule });

export const snoozeRequest = z
  .strictObject({
    rule: alertRule,
    subject_id: text(256).nullable().default(null).meta({
      description: "The id of an alert's subject; null: all subjects of the rule.",
    }),
    until: instant.meta({
      description: "Its alerts are not sent before this time. At most 366 days from now.",
    }),
  })
  .meta({ id: "SnoozeAlertsRequest" });
export type SnoozeRequest = z.output<typeof snoozeRequest>;

export const alertSnooze = z
  .object({
    id: uuid,
    rule: alertRule,
    subject_id: z.string().nullable(),
    until: instant,
  })
  .meta({ id: "AlertSnooze" });

export const snoozeParams = z.strictObject({ slug: workspaceSlug, id: uuid });
