import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { day, decimalNumber, instant, positiveDecimal, text, uuid } from "@/lib/contract/values/fields";

const words = (description: string) =>
  text(500)
    .refine((value) => value.trim() !== "", "must not be blank")
    .meta({ description });

/** A request for more of a budget, or of a key's monthly limit, until a day. */
export const askForBudget = z
  .strictObject({
    budget_id: uuid
      .toLowerCase()
      .optional()
      .meta({ description: "The budget, as a refusal (402) or `GET /api/v1/limits` names it." }),
    key_id: uuid.toLowerCase().optional().meta({
      description:
        "Instead of a budget: the key of whose monthly limit more is asked for, as a refusal names it. A key asks only for its own.",
    }),
    amount: positiveDecimal("How much more, in the budget's currency; of a key's limit, USD.").optional(),
    percent: positiveDecimal("How much more, as a share of the usual limit, in per cent.").optional(),
    reason: words("What it is for, for those who decide."),
    until: day.meta({
      description: "The last day on which it is needed, in the budget's time zone; of a key's limit, in UTC.",
    }),
  })
  .superRefine(({ budget_id: budget, key_id: key, amount, percent }, context) => {
    if (budget === undefined && key === undefined)
      context.addIssue({ code: "custom", path: ["budget_id"], message: "is required, or key_id" });
    if (budget !== undefined && key !== undefined)
      context.addIssue({
        code: "custom",
        path: ["key_id"],
        message: "must be left out where budget_id is given",
      });
    if (amount === undefined && percent === undefined)
      context.addIssue({ code: "custom", path: ["amount"], message: "is required, or percent" });
    if (amount !== undefined && percent !== undefined)
      context.addIssue({
        code: "custom",
        path: ["percent"],
        message: "must be left out where amount is given",
      });
    if (percent !== undefined && Number(percent) > 1000)
      context.addIssue({ code: "custom", path: ["percent"], message: "must be at most 1000 per cent" });
  })
  .meta({ id: "AskForBudget" });

/** Approves a request, in whole or in part, or denies it. */
export const decideBudgetRequest = z
  .strictObject({
    decision: z.enum(["approve", "deny"]),
    amount: positiveDecimal(
      "How much of it, in the request's currency. Default: what was asked for.",
    ).optional(),
    until: day.optional().meta({
      description:
        "The last day of the raise. Default: as asked for. While the limit is raised already, the raise's last day.",
    }),
    answer: words("A word for whoever asked.").optional(),
  })
  .superRefine(({ decision, amount, until }, context) => {
    if (decision === "approve") return;
    for (const [name, value] of Object.entries({ amount, until }))
      if (value !== undefined)
        context.addIssue({ code: "custom", path: [name], message: "must be left out of a denial" });
  })
  .meta({ id: "DecideBudgetRequest" });

const asked = z.object({
  id: uuid,
  budget: z
    .object({
      id: uuid,
      name: z.string().nullable().meta({ description: "Null once the budget is deleted." }),
      currency: z.string().nullable(),
    })
    .nullable()
    .meta({ description: "Null if it is about a key's limit." }),
  limited_key: z.object({ id: uuid, name: z.string() }).nullable().meta({
    description: "The key whose monthly limit it is about, in USD; null if it is about a budget.",
  }),
  state: z.enum(["pending", "approved", "denied", "withdrawn", "expired"]).meta({
    description:
      "`expired`: nobody decided in time, the budget was deleted, or the key is revoked or has no limit any more.",
  }),
  amount: decimalNumber("How much more was asked for, in the budget's currency or USD."),
  percent: decimalNumber("The same as a share of the usual limit, where it was asked for so.").nullable(),
  reason: z.string(),
  until: day,
  created_at: instant,
});

const decision = z.object({
  at: instant,
  amount: decimalNumber("What was granted, in the budget's currency or USD; null for a denial.").nullable(),
  until: day.nullable().meta({ description: "The last day of the raise." }),
  answer: z.string().nullable(),
});

const person = z.object({ id: uuid, name: z.string() });

/** A request as the workspace's members see it. */
export const budgetRequest = asked
  .extend({
    asked_by: person.nullable().meta({
      description: "The member who asked, or who made the key that did; null once they have left.",
    }),
    key: z.object({ id: uuid, name: z.string() }).nullable().meta({ description: "The key that asked." }),
    decision: decision
      .extend({
        by: person.nullable(),
        in_slack: z.boolean().meta({ description: "Whether it was decided by a click in Slack." }),
      })
      .nullable()
      .meta({ description: "Null while it is pending; also of one that was withdrawn." }),
    can_decide: z.boolean().meta({ description: "Whether you may approve or deny it now." }),
    can_withdraw: z.boolean(),
    most: decimalNumber("The most that you may grant.").nullable().meta({
      description:
        "The most that you may grant, in the budget's currency or USD; null where you may not decide.",
    }),
    ends_with_raise: day.nullable().meta({
      description:
        "While the limit is raised already: the last day of that raise, with which this one then ends.",
    }),
  })
  .meta({ id: "BudgetRequest" });

export const budgetRequestList = z
  .object({
    requests: z.array(budgetRequest).meta({
      description: "At most 200: the pending ones, then the others, each the newest first.",
    }),
    can_ask: z.boolean().meta({ description: "Whether you may ask for more." }),
  })
  .meta({ id: "BudgetRequestList" });

/** A request as the key that made it sees it. */
export const keyBudgetRequest = asked
  .extend({ decision: decision.nullable() })
  .meta({ id: "KeyBudgetRequest" });

export const keyBudgetRequestList = z
  .object({
    requests: z
      .array(keyBudgetRequest)
      .meta({ description: "The latest hundred that the key made, the newest first." }),
  })
  .meta({ id: "KeyBudgetRequestList" });

export const budgetRequestParams = z.strictObject({ slug: workspaceSlug, id: uuid });

export type AskForBudget = z.output<typeof askForBudget>;
export type DecideBudgetRequest = z.output<typeof decideBudgetRequest>;
export type BudgetRequest = z.output<typeof budgetRequest>;
export type KeyBudgetRequest = z.output<typeof keyBudgetRequest>;
