import { z } from "zod";
import { costStatus } from "@/lib/contract/ledger/ingest-result";
import { day, decimalNumber, instant, projectSlug, text, uuid } from "@/lib/contract/values/fields";
import { exactMs } from "@/lib/contract/values/instant";

const totals = {
  total_usd: decimalNumber("Sum of the four below, USD."),
  usage_usd: decimalNumber("Usage, batches and allocations, USD."),
  subscription_usd: decimalNumber("USD."),
  expense_usd: decimalNumber("USD."),
  adjustment_usd: decimalNumber("Adjustments to bills, USD."),
};

/** The monthly summary, over the current month of the workspace. */
export const monthSummary = z
  .object({
    period: z.literal("month"),
    ...totals,
    by_project: z.record(z.string(), decimalNumber("USD.")).meta({ description: "Project slug → USD." }),
    top_project: z
      .object({ slug: z.string(), name: z.string(), total_usd: decimalNumber("USD.") })
      .nullable(),
    message_count: z.number().int(),
    unpriced_count: z
      .number()
      .int()
      .meta({ description: "Usage without a price, which counts as 0 until a price is set." }),
    included_usd: decimalNumber(
      "The cost that usage covered by subscriptions would have had, USD. Not part of the total.",
    ),
  })
  .meta({ id: "MonthSummary" });

/** The scope of a budget: all spend, or that of one project, feature, provider, model, key, person or tag. */
export const scopeType = z
  .enum(["global", "project", "feature", "provider", "model", "key", "user", "tag"])
  .meta({ id: "ScopeType" });

/** How often a budget resets; `once` has one period, from its first day to its last. */
export const budgetPeriod = z
  .enum(["day", "week", "month", "quarter", "year", "once"])
  .meta({ id: "BudgetPeriod" });

/** A row of the budget status, with its period beside it. */
export const budgetRow = z.object({
  id: uuid,
  name: z.string(),
  scope_type: scopeType,
  period: budgetPeriod,
  period_from: day.meta({ description: "The first day of the present period, in the budget's time zone." }),
  period_until: day.meta({ description: "The day after its last." }),
  time_zone: z.string().meta({ description: "The time zone in which its days begin." }),
  amount: decimalNumber("The limit of the present period, USD; during a raise, the raised one."),
  spent: decimalNumber("USD in the present period."),
  remaining: decimalNumber("`amount` minus `spent`; negative when overspent."),
  percent_used: decimalNumber("`spent` divided by `amount`, a fraction, to 18 decimals."),
  alert: z.boolean().meta({ description: "True from 80% used." }),
  reached: z
    .object({
      percent: z.array(decimalNumber("Per cent of the limit.")),
      usd: z.array(decimalNumber("USD.")),
    })
    .meta({ description: "Its thresholds that are reached in the present period." }),
  blocks: z.boolean().meta({
    description:
      "Whether it refuses costs that would exceed its limit (402 `budget_exceeded`). False: it only warns.",
  }),
  currency: z.string().meta({
    description:
      "The currency in which its limit was set, ISO 4217. `amount` is the limit in USD, at the rate of the period's first day.",
  }),
});

/** The number of people and channels that a budget warns, for keys, which may not read who the members are. */
const namedReceivers = z.object({ people: z.int(), channels: z.int() }).meta({
  description:
    "How many people and channels it names to be warned. None: its alerts go to every channel whose rules want them.",
});

export const budgetStatus = z
  .object({
    budgets: z
      .array(budgetRow.extend({ warns: namedReceivers }))
      .meta({ description: "Budgets whose whole spend the key may read, by name." }),
    hidden_count: z.int().meta({
      description:
        "How many other budgets the workspace has. They include spend that the key may not read; 0 for a key that may read every project.",
    }),
  })
  .meta({ id: "BudgetStatus" });

export const projectSpendParams = z.strictObject({
  slug: projectSlug.meta({ description: "The project's slug." }),
});

/** The range of instants of a project's spend. */
export const spendRange = {
  from: instant.optional().meta({
    description:
      "From this instant on, ISO 8601 with an offset; default the start of this month of the workspace, or of the month that `to` ends where that is earlier.",
  }),
  to: instant.optional().meta({
    description:
      "Until before this instant; default the end of this month of the workspace, or of the month of `from` where that is later.",
  }),
};

/** Whether a range ends after it begins. A missing end is chosen so that it does. */
export const isSpendRange = ({ from, to }: { from?: string | undefined; to?: string | undefined }) =>
  !from || !to || exactMs(from) < exactMs(to);
export const notLater = { path: ["to"], error: "must be later than from" };

/** Which rows of a project are listed, and in which order. */
export const rowOrders = ["-time", "-amount"] as const;
export const rowOrder = {
  sort: z.enum(rowOrders).default("-time").meta({
    description: "Which rows are listed first: the latest (`-time`), or those that cost most (`-amount`).",
  }),
};

export const projectSpendQuery = z
  .strictObject({ ...spendRange, ...rowOrder })
  .refine(isSpendRange, notLater);

const slice = (name: string) => z.object({ [name]: z.string().nullable(), total_usd: decimalNumber("USD.") });

/** What one project spent in a range. */
export const projectSpend = z
  .object({
    project: z.object({ id: uuid, slug: z.string(), name: z.string() }),
    from: instant,
    to: instant,
    ...totals,
    message_count: z.number().int(),
    unpriced_count: z.number().int(),
    by_model: z.array(slice("model")),
    by_feature: z.array(slice("feature")),
    daily: z.array(z.object({ day: z.string(), total_usd: decimalNumber("USD.") })),
    rows: z
      .array(
        z.object({
          id: uuid,
          occurred_at: instant,
          created_at: instant,
          message_type: z.string(),
          amount_usd: decimalNumber("USD."),
          cost_status: costStatus,
          provider: z.string().nullable(),
          model: z.string().nullable(),
          feature: z.string().nullable(),
          unit_type: z.string().nullable(),
          quantity: decimalNumber("Units.").nullable(),
          source: z.string(),
          label: text(200).nullable(),
        }),
      )
      .meta({ description: "The first rows of the range in the order of `sort`, at most 200." }),
  })
  .meta({ id: "ProjectSpend" });

export const health = z
  .object({
    status: z.enum(["ok", "failing"]).meta({ description: "`failing` comes with a 503." }),
    version: z.string(),
    checks: z.object({
      database_readable: z.enum(["ok", "failing"]).meta({ description: "Whether the database answers." }),
      database_writable: z.enum(["ok", "failing"]).meta({
        description: "Whether the database can store changes: not when its disk is full or it is read-only.",
      }),
      replica: z.enum(["ok", "behind", "failing"]).optional().meta({
        description:
          "The replica that answers reads, where there is one. While it is behind or failing, the database answers them, and the service is healthy.",
      }),
    }),
  })
  .meta({ id: "Health" });

export const errorBody = z
  .looseObject({
    error: z.string().meta({ description: "A stable code." }),
    error_description: z.string().meta({ description: "What happened and what to do, for people." }),
    issues: z.array(z.object({ path: z.string(), message: z.string() })).optional(),
    request_id: z.string(),
  })
  .meta({ id: "Error" });
