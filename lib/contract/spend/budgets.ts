import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { maxNameLength } from "@/lib/contract/ledger/attribution";
import { currency } from "@/lib/contract/ledger/message";
import { day, decimalNumber, instant, positiveDecimal, text, uuid } from "@/lib/contract/values/fields";
import { timeZone } from "@/lib/contract/values/time-zone";
import { forecastDetails } from "./forecast";
import { budgetPeriod, budgetRow, scopeType } from "./reads";

const name = text(120).refine((value) => value.trim() !== "", "must not be blank");
const amount = positiveDecimal("The limit of each period, in `currency`.");

/** The most thresholds that a budget can have. */
const maxThresholds = 20;

/** When a budget raises an alert: once in each period for each of these. */
const alertAt = z
  .strictObject({
    percent: z
      .array(positiveDecimal("Per cent of the limit."))
      .max(maxThresholds)
      .default([])
      .meta({ description: "Shares of the limit, in per cent." }),
    usd: z
      .array(positiveDecimal("USD."))
      .max(maxThresholds)
      .default([])
      .meta({ description: "Amounts that are spent, USD." }),
  })
  .refine(({ percent, usd }) => percent.length + usd.length <= maxThresholds, {
    error: `must have at most ${maxThresholds} thresholds in all`,
  })
  .refine(({ percent }) => percent.every((value) => Number(value) <= 1000), {
    path: ["percent"],
    error: "must be at most 1000 per cent",
  });

const blocks = z.boolean().default(false).meta({
  description:
    "False: it only warns. True: it also refuses costs that would exceed its limit, with 402 `budget_exceeded`.",
});

/** A limit that replaces the usual one up to and including a day. */
const raise = z.strictObject({
  amount: positiveDecimal("The raised limit, in the budget's currency; higher than the usual one."),
  until: day.meta({ description: "Its last day, in the budget's time zone." }),
});

/** The most people, and the most channels, that a budget can name. */
const maxWarned = 20;
const warnedIds = z.array(uuid.toLowerCase()).max(maxWarned).default([]);

/** Whom a budget warns. */
const warns = z.strictObject({
  people: warnedIds.meta({ description: "Ids of members of the workspace, who get its alerts by mail." }),
  channels: warnedIds.meta({
    description: "Ids of alert channels, which get its alerts whatever their rules.",
  }),
});

/** A member who may approve requests for more of a budget. */
const owner = z.strictObject({
  id: uuid.toLowerCase().meta({ description: "The id of a member of the workspace." }),
  may_raise_percent: positiveDecimal("By how much they may raise it, in per cent of the usual limit, in all.")
    .refine((value) => Number(value) <= 1000, "must be at most 1000 per cent")
    .default("50"),
});

export const weekday = z.enum(["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"]);

/** The days of a week in the order of ISO 8601: the first is 1. */
export const weekdays = weekday.options;

export const createBudgetRequest = z
  .strictObject({
    name: name.optional().meta({ description: "Left out: named after its scope." }),
    scope_type: scopeType,
    scope_value: text(maxNameLength).nullable().default(null).meta({
      description:
        "The project's slug, the key's id, or the feature, provider, model, user or tag (`name:value`) as your messages name it; null for `global`.",
    }),
    amount,
    currency: currency.meta({
      description:
        "ISO 4217. What is spent is counted in USD; the limit is converted at the rate of each period's first day.",
    }),
    blocks,
    period: budgetPeriod.default("month"),
    week_starts_on: weekday.default("monday").meta({ description: "The first day of its weeks." }),
    time_zone: timeZone.optional().meta({
      description:
        "The time zone in which its days begin, by its name in the time zone database. Default: the workspace's.",
    }),
    starts_on: day.optional().meta({ description: "What occurs before this day does not count." }),
    ends_on: day.optional().meta({ description: "What occurs after this day does not count." }),
    raise: raise.nullable().default(null),
    alert_at: alertAt
      .default({ percent: ["50", "80", "100"], usd: [] })
      .meta({ description: "Default: 50, 80 and 100 per cent." }),
    warns: warns.default({ people: [], channels: [] }).meta({
      description:
        "Whom it warns. Default: nobody by name, so that its alerts go to every channel whose rules want them.",
    }),
    owner: owner.nullable().default(null).meta({
      description:
        "Who gets the requests for more of it, and may approve them besides the workspace's owners and admins.",
    }),
    allow_unknown_scope: z.boolean().default(false).meta({
      description:
        "True sets the budget although no cost names its feature, provider, model, user or tag yet. False refuses such a name, which may be a mistake.",
    }),
  })
  .superRefine((request, context) => {
    const refuse = (path: string[], message: string) => context.addIssue({ code: "custom", path, message });
    const { scope_type: type, scope_value: value, period, starts_on: from, ends_on: last } = request;
    if (type === "global" && value !== null)
      refuse(["scope_value"], "must be null: a global budget is of all spend");
    if (type !== "global" && value === null)
      refuse(["scope_value"], `is required: which ${type} the budget is of`);
    if (type === "tag" && value !== null && !/^[^:]+:./.test(value))
      refuse(["scope_value"], "must be a tag, like team:growth");
    if (period === "once" && from === undefined)
      refuse(["starts_on"], "is required for a budget of one period");
    if (period === "once" && last === undefined)
      refuse(["ends_on"], "is required for a budget of one period");
    if (from !== undefined && last !== undefined && last < from)
      refuse(["ends_on"], "must not be before starts_on");
  })
  .meta({ id: "CreateBudgetRequest" });

/** Fields that are left out stay unchanged. The scope and the periods of a budget cannot be changed. */
export const editBudgetRequest = z
  .strictObject({
    name: name.optional(),
    amount: amount.optional(),
    raise: raise.nullable().optional().meta({ description: "Null ends a raise." }),
    alert_at: alertAt.optional(),
    warns: warns.optional().meta({
      description:
        "Whom it warns, in place of those before; `{}` for every channel whose rules want its alerts.",
    }),
    owner: owner.nullable().optional().meta({ description: "Null for no owner." }),
    blocks: z
      .boolean()
      .optional()
      .meta({ description: "Whether it refuses costs that would exceed its limit." }),
  })
  .meta({ id: "EditBudgetRequest" });

/** A budget as the workspace's members see it: the row of the budget status for live spend, with its forecast. */
export const budget = budgetRow
  .extend({
    scope: z.object({
      type: scopeType,
      value: z.string().nullable().meta({ description: "The value as in a request: slug, id or name." }),
      label: z.string().meta({ description: "The display name: the project's or the key's name." }),
    }),
    warns: z
      .object({
        people: z.array(z.object({ id: uuid, name: z.string() })),
        channels: z.array(z.object({ id: uuid, name: z.string(), is_off: z.boolean() })),
        falls_back: z.boolean().meta({
          description:
            "True where everyone it names has left or is turned off: until someone is chosen, its alerts go to every channel whose rules want them.",
        }),
      })
      .meta({ description: "Whom it warns of those that it names; nobody: channels by their rules." }),
    owner: z
      .object({
        id: uuid,
        name: z.string(),
        may_raise_percent: decimalNumber("In per cent of the usual limit, in all."),
      })
      .nullable()
      .meta({ description: "Who may approve requests for more of it; null also where they have left." }),
    week_starts_on: weekday,
    starts_on: day.nullable(),
    ends_on: day.nullable(),
    usual_amount: decimalNumber("The limit without a raise, in `currency`."),
    raise: z
      .object({ amount: decimalNumber("In `currency`."), until: day })
      .nullable()
      .meta({
        description: "A raise that has not ended.",
      }),
    alert_at: z.object({
      percent: z.array(decimalNumber("Per cent of the limit.")),
      usd: z.array(decimalNumber("USD.")),
    }),
    held_usd: decimalNumber(
      "What reservations hold of its present period at this moment, USD. It is not part of `spent`, and a budget that blocks does not let others spend it.",
    ),
    refused_usd: decimalNumber(
      "What limits refused to record of what it counts in the present period, USD: this budget, and others as far as its scope is a project, key, provider, model or all spend. It may have been spent all the same, and is not part of `spent`.",
    ),
    forecast: decimalNumber("The forecast spend at the end of the period, rounded to its accuracy, USD.")
      .nullable()
      .meta({
        description: "Null with usage of fewer than three days, and while nothing is spent.",
      }),
    forecast_details: forecastDetails,
    runs_out_on: day.nullable().meta({
      description:
        "The day, in the budget's time zone, on which it is expected to be used up; null if it lasts, or is used up already.",
    }),
    created_at: instant,
  })
  .meta({ id: "Budget" });

/** A threshold that a budget would have reached. */
const wouldWarn = z.object({
  level: z.string().meta({ description: "`80` for a share in percent, `$500` for an amount in USD." }),
  usd: decimalNumber("The spend at which it is reached, USD."),
  on: day.meta({
    description:
      "The day, in the budget's time zone, by whose end it was reached. What is booked ahead counts today.",
  }),
});

/** What a budget would show if it were created now, and what it would have done. */
export const budgetPreview = budget
  .omit({ id: true, held_usd: true, created_at: true })
  .extend({
    would_warn: z
      .array(wouldWarn)
      .meta({ description: "Its thresholds that are reached in the present period, the lowest first." }),
    would_refuse: z
      .object({
        now: z.boolean().meta({ description: "Whether it is used up, so that it would refuse every cost." }),
        yesterday: z
          .object({
            day,
            cost_count: z.int().meta({ description: "Costs in its scope that keys recorded for that day." }),
            refused_count: z.int().meta({ description: "How many of them it would have refused." }),
          })
          .nullable()
          .meta({
            description:
              "Had it been set when yesterday began. Voided costs are not counted. Null where it did not count that day.",
          }),
      })
      .nullable()
      .meta({ description: "Null for a budget that only warns." }),
    is_known_scope: z.boolean().meta({
      description: "False where no cost names its scope yet: setting it then needs `allow_unknown_scope`.",
    }),
  })
  .meta({ id: "BudgetPreview" });
export type BudgetPreview = z.output<typeof budgetPreview>;

export const budgetList = z
  .object({
    budgets: z.array(budget).meta({ description: "By name." }),
    can_edit: z.boolean().meta({ description: "Whether you may set and change them." }),
  })
  .meta({ id: "BudgetList" });

export const budgetParams = z.strictObject({ slug: workspaceSlug, id: uuid });

export type CreateBudgetRequest = z.output<typeof createBudgetRequest>;
export type EditBudgetRequest = z.output<typeof editBudgetRequest>;
