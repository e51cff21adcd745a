import type { z } from "zod";
import { type ToolContract, type ToolName, toolContracts, toolNames } from "@/lib/contract/tools";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import type { Recorded } from "@/lib/ledger/ingest/call";
import { describeEntry, describeInbox } from "./alert-wording";
import type { AlertsBackend, Backend, Recording } from "./backend";
import { describeBudgetCheck } from "./budget-check-wording";
import type { Attribution } from "./call-meta";
import { describeRecommendations } from "./recommendation-wording";
import { describeReconciliation } from "./reconciliation-wording";
import { describeSpendAnswer } from "./spend-wording";
import {
  describeBudgetRequest,
  describeBudgets,
  describeClosedMonths,
  describeProjectSpend,
  describeRecorded,
  describeSummary,
} from "./wording";

/** A tool's answer: `data` matches its output schema, `text` is for users and models. */
export type ToolAnswer = { data: object; text: string };

/**
 * What a tool receives besides its arguments. `recordingKey`: the idempotency key of the record. `attribution`: the person that the
 * call records for, from its `_meta`.
 */
type Context = { backend: Backend; recordingKey: string; attribution: Attribution };

type Input<Name extends ToolName> = z.output<(typeof toolContracts)[Name]["input"]>;

/** A tool. `run` gets the arguments as its input schema parsed them, and throws a ServiceError to refuse. */
export type Tool = ToolContract & {
  name: ToolName;
  run: (args: never, context: Context) => Promise<ToolAnswer>;
};

const runs: { [Name in ToolName]: (args: Input<Name>, context: Context) => Promise<ToolAnswer> } = {
  log_usage: ({ project, ...usage }, context) => {
    const { quantity, estimated_cost: cost, ...rest } = usage;
    const estimate = cost === undefined ? {} : { estimated_cost: new ExactNumber(cost) };
    const { attribution } = context;
    const message = {
      type: "usage" as const,
      ...rest,
      ...attribution,
      quantity: new ExactNumber(quantity),
      ...estimate,
    };
    return record({ project, message }, context);
  },
  add_expense: ({ project, amount, ...expense }, context) => {
    const { tags } = context.attribution;
    const message = { type: "expense" as const, ...expense, tags, amount: new ExactNumber(amount) };
    return record({ project, message }, context);
  },
  get_project_spend: async ({ project, ...query }, { backend }) => {
    const data = await backend.readProjectSpend(project, query);
    return { data, text: describeProjectSpend(data) };
  },
  get_budget_status: async (_, { backend }) => {
    const data = await backend.readBudgetStatus();
    return { data, text: describeBudgets(data) };
  },
  check_budget: async (asked, { backend }) => {
    const data = await backend.checkBudget(asked);
    return { data, text: describeBudgetCheck(asked, data) };
  },
  request_budget: async (request, { backend }) => {
    const data = await backend.requestBudget(request);
    return { data, text: describeBudgetRequest(data) };
  },
  query_spend: async (query, { backend }) => {
    const data = await backend.querySpend(query);
    return { data, text: describeSpendAnswer(data) };
  },
  get_monthly_summary: async (_, { backend }) => {
    const data = await backend.readMonthSummary();
    return { data, text: describeSummary(data) };
  },
  get_closed_months: async (_, { backend }) => {
    const data = await backend.readClosedMonths();
    return { data, text: describeClosedMonths(data) };
  },
  get_reconciliation: async ({ month }, { backend }) => {
    const data = await backend.readReconciliation(month);
    return { data, text: describeReconciliation(data, month) };
  },
  list_recommendations: async (_, { backend }) => {
    const data = await backend.listRecommendations();
    return { data, text: describeRecommendations(data) };
  },
  list_alerts: async (query, { backend }) => {
    const data = await alertsOf(backend).list(query);
    return { data, text: describeInbox(data) };
  },
  take_alert: async ({ id, assignee }, { backend }) => {
    const data = await alertsOf(backend).assign(id, assignee);
    return { data, text: describeEntry(data) };
  },
  snooze_alert: async ({ id, until }, { backend }) => {
    const data = await alertsOf(backend).snooze(id, until);
    return { data, text: describeEntry(data) };
  },
  resolve_alert: async ({ id, resolved }, { backend }) => {
    const data = await alertsOf(backend).resolve(id, resolved);
    return { data, text: describeEntry(data) };
  },
};

function alertsOf({ alerts }: Backend): AlertsBackend {
  if (alerts) return alerts;
  throw new Error("The local program lists no tool for alerts.");
}

async function record(
  recording: Omit<Recording, "idempotency_key">,
  { backend, recordingKey }: Context,
): Promise<ToolAnswer> {
  const recorded: Recorded = await backend.record({ ...recording, idempotency_key: recordingKey });
  return { data: recorded.result, text: describeRecorded(recording.project, recorded) };
}

/** The tools in the order of `tools/list`. The local program omits those that are `isRemoteOnly`. */
export function toolsOf(where: "remote" | "local"): Tool[] {
  return toolNames
    .map((name): Tool => ({ ...(toolContracts[name] as ToolContract), name, run: runs[name] }))
    .filter(({ isRemoteOnly }) => where === "remote" || !isRemoteOnly);
}
