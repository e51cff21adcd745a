import { z } from "zod";
import { maxNameLength } from "./attribution";
import { day, decimalNumber, instant, positiveDecimal, text, uuid } from "./fields";
import { budgetRow, scopeType } from "./reads";
import { workspaceSlug } from "./workspace";

const name = text(120).refine((value) => value.trim() !== "", "must not be blank");
const amount = positiveDecimal("The limit, USD a UTC month.");

export const createBudgetRequest = z
  .strictObject({
    name: name.optional().meta({ description: "Left out: named after its scope." }),
    scope_type: scopeType,
    scope_value: text(maxNameLength).nullable().default(null).meta({
      description:
        "The project's slug, the key's id, or the feature, provider, user or tag (`name:value`) as your messages name it; null for `global`.",
    }),
    amount,
  })
  .superRefine(({ scope_type: type, scope_value: value }, context) => {
    if (type === "tag" && value !== null && !/^[^:]+:./.test(value)) {
      context.addIssue({ code: "custom", path: ["scope_value"], message: "must be a tag, like team:growth" });
    }
    if ((type === "global") === (value === null)) return;
    const message =
      value === null
        ? `is required: which ${type} the budget is of`
        : "must be null: a global budget is of all spend";
    context.addIssue({ code: "custom", path: ["scope_value"], message });
  })
  .meta({ id: "CreateBudgetRequest" });

/** Fields that are left out stay. The scope cannot be changed; another scope is another budget. */
export const editBudgetRequest = z
  .strictObject({ name: name.optional(), amount: amount.optional() })
  .meta({ id: "EditBudgetRequest" });

/** A budget as the workspace's members see it: the row of specification 2.4, over live spend, with its forecast. */
export const budget = budgetRow
  .extend({
    scope: z.object({
      type: scopeType,
      value: z.string().nullable().meta({ description: "The value as in a request: slug, id or name." }),
      label: z.string().meta({ description: "The display name: the project's or the key's name." }),
    }),
    forecast: decimalNumber("The month's total at its pace so far, USD.")
      .nullable()
      .meta({ description: "Null in the first three days of a month, and while nothing is spent." }),
    runs_out_on: day.nullable().meta({
      description:
        "The day on which the budget is used up at this pace; null if it lasts, or is used up already.",
    }),
    created_at: instant,
  })
  .meta({ id: "Budget" });

export const budgetList = z
  .object({
    budgets: z.array(budget).meta({ description: "By name." }),
    can_edit: z.boolean().meta({ description: "Whether you may set and change them." }),
  })
  .meta({ id: "BudgetList" });

export const budgetParams = z.strictObject({ slug: workspaceSlug, id: uuid });

export type CreateBudgetRequest = z.output<typeof createBudgetRequest>;
export type EditBudgetRequest = z.output<typeof editBudgetRequest>;
