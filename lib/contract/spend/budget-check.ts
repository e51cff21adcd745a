import { z } from "zod";
import { usageFields } from "@/lib/contract/ledger/message";
import { decimalNumber, instant, projectSlug, uuid } from "@/lib/contract/values/fields";
import { keyLimits } from "./limits";

const { provider, model, feature, user, estimated_cost } = usageFields.shape;
const tokens = (description: string) =>
  z
    .int()
    .min(0, "must not be negative")
    .max(1e12, "must be at most 1000000000000")
    .optional()
    .meta({ description });

/** The usage that an assistant is about to cause, as far as it is known. */
export const checkBudget = z
  .strictObject({
    project: projectSlug,
    provider: provider.optional(),
    model,
    feature,
    user,
    estimated_cost: estimated_cost.meta({ description: "The most that it may cost, USD." }),
    input_tokens: tokens("The input tokens that it may use, which are priced, instead of `estimated_cost`."),
    output_tokens: tokens("The most output tokens that it may use."),
  })
  .superRefine(({ estimated_cost: cost, input_tokens: input, output_tokens: output, ...usage }, context) => {
    if (input === undefined && output === undefined) return;
    const need = (path: string, message: string) =>
      context.addIssue({ code: "custom", path: [path], message });
    if (cost !== undefined) need("estimated_cost", "must be left out where tokens are given");
    if (usage.provider === undefined) need("provider", "is required where tokens are given");
    if (usage.model === undefined) need("model", "is required where tokens are given");
  });
export type CheckBudget = z.output<typeof checkBudget>;

/** Whether usage would be admitted now, and what is left of its limits. */
export const budgetCheck = z.object({
  admitted: z.boolean().meta({
    description:
      "Whether recording it now would be admitted; without an estimate, whether anything that costs something would. Nothing is reserved: others may spend what is left.",
  }),
  estimated_usd: decimalNumber("What it was judged by, USD.").nullable().meta({
    description: "Null without an estimate, or where no price is known for all of the tokens.",
  }),
  refusal: z
    .object({
      error: z.string(),
      error_description: z.string(),
      budget: z.object({ id: uuid, name: z.string() }).optional(),
      remaining_usd: decimalNumber("USD.").optional(),
      resets_at: instant.optional(),
      how_to_ask: z
        .object({
          page: z.string(),
          api: z.string().optional(),
          tool: z.string().optional(),
          budget_id: uuid.optional(),
          key_id: uuid.optional(),
        })
        .optional(),
    })
    .nullable()
    .meta({
      description:
        "What refuses, and how to ask for more. Figures only where the key may read them. Null where it is admitted.",
    }),
  is_partial: z.boolean().meta({
    description:
      "Whether budgets that the key may not read can refuse although `admitted` is true: only those that are used up are considered.",
  }),
  monthly_limit: keyLimits.shape.key.shape.monthly_limit,
  budgets: keyLimits.shape.budgets,
});
export type BudgetCheck = z.output<typeof budgetCheck>;
