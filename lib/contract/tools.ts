import { z } from "zod";
import { projectSlug, text } from "./fields";
import { expenseMessage, ingestResult, usageMessage } from "./message";
import type { Permission } from "./permissions";
import { budgetStatus, isSpendRange, monthSummary, notLater, projectSpend, spendRange } from "./reads";

/** The parameters of log_usage (specification 4.4): a usage message's fields beside its project. */
const logUsage = z.strictObject({
  project: projectSlug,
  ...usageMessage.pick({
    provider: true,
    unit_type: true,
    quantity: true,
    model: true,
    estimated_cost: true,
    feature: true,
    batch_id: true,
  }).shape,
});

/** The parameters of add_expense. */
const addExpense = z.strictObject({
  project: projectSlug,
  ...expenseMessage.pick({ vendor: true, amount: true, currency: true }).shape,
  category: text(64, "What kind of expense, for example `hosting`.").optional(),
  notes: text(2000, "Anything a person should know about it.").optional(),
});

/** The parameters of get_project_spend. */
const getProjectSpend = z
  .strictObject({
    project: projectSlug.meta({ description: "The project's slug." }),
    ...spendRange,
  })
  .refine(isSpendRange, notLater);

const none = z.strictObject({});

/** A tool as an assistant sees it. `isRemoteOnly`: offered over HTTP, and not by the local program. */
export type ToolContract = {
  title: string;
  description: string;
  permission: Permission;
  input: z.ZodType;
  output: z.ZodType;
  isReadOnly: boolean;
  isRemoteOnly?: boolean;
};

/** The agent tools of specification 4.4 by name, in the order in which they are listed. */
export const toolContracts = {
  log_usage: {
    title: "Log AI usage",
    description:
      "Record what one use of an AI or software service consumed, in a project. Without `estimated_cost` the service prices it; a model without a known price is kept as unpriced. Call it once for each use: every call records.",
    permission: "log_usage",
    input: logUsage,
    output: ingestResult,
    isReadOnly: false,
  },
  add_expense: {
    title: "Add an expense",
    description:
      "Record money paid to a vendor, in a project: an invoice, a one-time fee, a licence. Another currency than USD is converted at the day's rate. Call it once for each expense: every call records.",
    permission: "add_expenses",
    input: addExpense,
    output: ingestResult,
    isReadOnly: false,
  },
  get_project_spend: {
    title: "Read a project's spend",
    description:
      "What a project spent in a range (this UTC month by default), in USD: totals, by model, by feature, by day, and its latest records, at most 200.",
    permission: "read_summaries",
    input: getProjectSpend,
    output: projectSpend,
    isReadOnly: true,
  },
  get_budget_status: {
    title: "Check the budgets",
    description:
      "Each budget with its limit, what is spent of it in this UTC month, what remains, and whether it calls for attention (from 80 % on). `hidden_count` says how many more the workspace has that the key may not see.",
    permission: "read_summaries",
    input: none,
    output: budgetStatus,
    isReadOnly: true,
  },
  get_monthly_summary: {
    title: "Summarise the month",
    description: "The cost of this UTC month so far, in USD: in total, by kind, and by project.",
    permission: "read_summaries",
    input: none,
    output: monthSummary,
    isReadOnly: true,
    isRemoteOnly: true,
  },
} as const satisfies Record<string, ToolContract>;

export type ToolName = keyof typeof toolContracts;

/** Names of the tools, in the order in which they are listed. */
export const toolNames = Object.keys(toolContracts) as ToolName[];
