import { z } from "zod";
import type { Permission } from "./access/permissions";
import { inboxQuery } from "./alerts/alert-inbox";
import { resolveAlert, snoozeAlert, takeAlert, toolEntry, toolInbox } from "./alerts/alert-tools";
import { reconciliation, reconciliationQuery } from "./bills/reconciliation";
import { closedMonths } from "./ledger/closed-months";
import { ingestResult } from "./ledger/ingest-result";
import { expenseMessage, usageFields } from "./ledger/message";
import { budgetCheck, checkBudget } from "./spend/budget-check";
import { askForBudget, keyBudgetRequest } from "./spend/budget-requests";
import {
  budgetStatus,
  isSpendRange,
  monthSummary,
  notLater,
  projectSpend,
  rowOrder,
  spendRange,
} from "./spend/reads";
import { recommendationList } from "./spend/recommendations";
import { keySpendQuery, spendAnswer } from "./spend/spend-query";
import { projectSlug } from "./values/fields";

/** The parameters of log_usage: the project and the fields of a usage message. */
const logUsage = z.strictObject({
  project: projectSlug,
  ...usageFields.pick({
    provider: true,
    unit_type: true,
    quantity: true,
    model: true,
    estimated_cost: true,
    feature: true,
    batch_id: true,
  }).shape,
});

/** The parameters of add_expense: the project and the fields of an expense, without those that every message may have. */
const addExpense = z.strictObject({
  project: projectSlug,
  ...expenseMessage.omit({ type: true, occurred_at: true, label: true, metadata: true }).shape,
});

/** The parameters of get_project_spend. */
const getProjectSpend = z
  .strictObject({
    project: projectSlug.meta({ description: "The project's slug." }),
    ...spendRange,
    ...rowOrder,
  })
  .refine(isSpendRange, notLater);

const none = z.strictObject({});

/**
 * The description of a tool for assistants. `isIdempotent`: repeating a call changes nothing more. `isRemoteOnly`: served over HTTP
 * but not by the local program.
 */
export type ToolContract = {
  title: string;
  description: string;
  permission: Permission;
  input: z.ZodType;
  output: z.ZodType;
  isReadOnly: boolean;
  isIdempotent?: boolean;
  isRemoteOnly?: boolean;
};

/** The agent tools by name, in the order in which they are listed. */
export const toolContracts = {
  log_usage: {
    title: "Log AI usage",
    description:
      "Records one use of an AI or software service in a project. If `estimated_cost` is missing, Outlay computes the cost; a model without a known price is recorded as unpriced. Call it once for each use: every call adds a record.",
    permission: "log_usage",
    input: logUsage,
    output: ingestResult,
    isReadOnly: false,
  },
  add_expense: {
    title: "Add an expense",
    description:
      "Records money paid to a vendor in a project, for example an invoice, a one-time fee or a licence. Currencies other than USD are converted at the day's rate. Call it once for each expense: every call adds a record.",
    permission: "add_expenses",
    input: addExpense,
    output: ingestResult,
    isReadOnly: false,
  },
  get_project_spend: {
    title: "Read a project's spend",
    description:
      "Returns what a project spent in a date range (default: this month of the workspace) in USD: the totals, the spend by model, by feature and by day, and at most 200 records: the latest, or with `sort` set to `-amount` those that cost most.",
    permission: "read_summaries",
    input: getProjectSpend,
    output: projectSpend,
    isReadOnly: true,
  },
  get_budget_status: {
    title: "Check the budgets",
    description:
      "Returns each budget with its limit, what is spent in its present period, what remains, whether it needs attention (80% or more is spent), which thresholds are reached, how many people and channels it names to be warned, and whether it blocks: a budget that blocks refuses costs that would exceed its limit. `hidden_count` is the number of budgets that this key may not see.",
    permission: "read_summaries",
    input: none,
    output: budgetStatus,
    isReadOnly: true,
  },
  check_budget: {
    title: "Check what is left before work begins",
    description:
      "Says whether usage in a project would be admitted now, and what is left of each limit that counts it: the key's own, and the budgets of the project, provider, model, feature or user that you name. Call it before costly work, with the most that it may cost (`estimated_cost`, or provider, model and tokens). It records and reserves nothing. A refusal says what refuses, when it resets and how to ask for more.",
    permission: "log_usage",
    input: checkBudget,
    output: budgetCheck,
    isReadOnly: true,
  },
  request_budget: {
    title: "Ask for more budget",
    description:
      "Asks people for more of a budget, or of this key's own monthly limit, until a day: an amount in the budget's currency (of a key's limit, USD), or a percentage of the usual limit, with a reason for those who decide. A refusal names what to give: `budget_id` (budget_exceeded) or `key_id` (monthly_limit_exceeded). Ask only when the user wants it. Nothing is raised by asking: people decide in Outlay, and `get_budget_status` or `check_budget` then shows the raised limit. One request per limit can wait at a time.",
    permission: "log_usage",
    input: askForBudget,
    output: keyBudgetRequest,
    isReadOnly: false,
  },
  query_spend: {
    title: "Query spend",
    description:
      "Answers a question about spend: grouped by up to two dimensions (project, user, key, model, provider, feature, type, source, unit, a tag such as `tag:team`, day, week, month), with filters, in a range of days of the workspace (default: this month so far). Returns rows, columns, their cells and totals in USD, and in `currency`, too, where that is given; the cells sum to the totals. What is not among the largest (`top`, whatever their sign) is summed as the rest.",
    permission: "read_summaries",
    input: keySpendQuery,
    output: spendAnswer,
    isReadOnly: true,
  },
  get_monthly_summary: {
    title: "Summarise the month",
    description: "The cost of this month of the workspace so far, in USD: in total, by kind, and by project.",
    permission: "read_summaries",
    input: none,
    output: monthSummary,
    isReadOnly: true,
    isRemoteOnly: true,
  },
  get_closed_months: {
    title: "Read the closed months",
    description:
      "Returns the closed months with what was filed of each: live costs in USD, which do not change any more. What is recorded of them later is booked in an open month, as an adjustment. A key of some projects or users sees none.",
    permission: "read_summaries",
    input: none,
    output: closedMonths,
    isReadOnly: true,
    isRemoteOnly: true,
  },
  get_reconciliation: {
    title: "Compare records with bills",
    description:
      "Whether what was recorded equals what providers billed: each month with a bill, and with `month` (YYYY-MM) why that month differs, in parts that sum to the difference exactly, by provider, day and model, and by person where the bill names people. A key of some projects or users sees no bills.",
    permission: "read_summaries",
    input: reconciliationQuery,
    output: reconciliation,
    isReadOnly: true,
    isRemoteOnly: true,
  },
  list_recommendations: {
    title: "List what would save money",
    description:
      "Returns changes that would have saved money in the last 30 days, computed from what was recorded: usage that may wait in a batch tier, a smaller model of the same family, the standard tier, prompts read from the provider's cache; and prices about which two catalogues differ, which are no saving. Each with what was recorded, what it would have cost, how that was computed and what it assumes, and what people decided about it in Outlay. It changes nothing. A key of some projects or users sees none.",
    permission: "read_summaries",
    input: none,
    output: recommendationList,
    isReadOnly: true,
    isRemoteOnly: true,
  },
  list_alerts: {
    title: "List the alerts",
    description:
      "Returns the inbox of alerts, what happened last first: an entry for each thing that needs somebody, such as a budget that passed 50, 80 and 100%, a key near its limit or an unusual day. Each says what happened in figures, what to do about it, who has it, and the pages of the dashboard behind it. `status` is `open` unless given; `assignee` `me` lists those of the user.",
    permission: "read_summaries",
    input: inboxQuery,
    output: toolInbox,
    isReadOnly: true,
    isRemoteOnly: true,
  },
  take_alert: {
    title: "Take an alert",
    description:
      "Assigns an entry of the inbox to the user who connected this program, or to nobody, so that others see who takes care of it. Call list_alerts first for its id.",
    permission: "manage_alerts",
    input: takeAlert,
    output: toolEntry,
    isReadOnly: false,
    isIdempotent: true,
    isRemoteOnly: true,
  },
  snooze_alert: {
    title: "Snooze an alert",
    description:
      "Sends no notification about an entry's subject until a time; what fires meanwhile is recorded. For admins of the workspace. Ask the user for the time if they did not say it.",
    permission: "manage_alerts",
    input: snoozeAlert,
    output: toolEntry,
    isReadOnly: false,
    isIdempotent: true,
    isRemoteOnly: true,
  },
  resolve_alert: {
    title: "Resolve an alert",
    description:
      "Marks an entry of the inbox as done, in the name of the user, or opens it again. It opens by itself when something new fires. Entries that no longer hold are resolved without this tool.",
    permission: "manage_alerts",
    input: resolveAlert,
    output: toolEntry,
    isReadOnly: false,
    isIdempotent: true,
    isRemoteOnly: true,
  },
} as const satisfies Record<string, ToolContract>;

export type ToolName = keyof typeof toolContracts;

/** Names of the tools, in the order in which they are listed. */
export const toolNames = Object.keys(toolContracts) as ToolName[];
