import type { z } from "zod";
import type { BudgetCheck, CheckBudget } from "@/lib/contract/spend/budget-check";
import type { keyLimits, LimitsQuery } from "@/lib/contract/spend/limits";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { type ErrorCode, ServiceError } from "@/lib/errors";
import type { Recorded } from "@/lib/ledger/ingest/call";
import type { Recording } from "./backend";

/** The part of a backend that the check needs. `tryRecording` is a dry run, which throws if the recording would be refused. */
type Sources = {
  readLimits(of: LimitsQuery): Promise<z.output<typeof keyLimits>>;
  tryRecording(recording: Omit<Recording, "idempotency_key">): Promise<Recorded>;
};

/** The refusals that are an answer of the check. Other errors mean that the request is invalid or cannot be answered. */
const answering: readonly ErrorCode[] = [
  "monthly_limit_exceeded",
  "budget_exceeded",
  "project_not_allowed",
  "feature_not_allowed",
  "user_not_allowed",
  "source_not_allowed",
];

/** The provider in the dry run if the request names none. */
const anyProvider = "unknown";

/**
 * Checks with a dry run whether usage would be admitted now, and reads what is left of the limits that count it.
 * @throws ServiceError if the key may not record at all or the usage is invalid; unavailable
 */
export async function checkBudgetWith(asked: CheckBudget, sources: Sources): Promise<BudgetCheck> {
  const { project, provider, model, feature, user } = asked;
  const { key, budgets } = await sources.readLimits({ project, provider, model, feature, user });
  const isPartial =
    !key.permissions.includes("read_summaries") ||
    key.projects !== null ||
    key.is_limited_to_users ||
    budgets.some(({ limit_usd: limit }) => limit === null);
  const limits = { is_partial: isPartial, monthly_limit: key.monthly_limit, budgets };
  try {
    const { result } = await sources.tryRecording({ project, message: toUsage(asked) });
    const isEstimated = hasEstimate(asked) && result.cost_status !== "unpriced";
    return {
      admitted: true,
      estimated_usd: isEstimated ? result.amount_usd : null,
      refusal: null,
      ...limits,
    };
  } catch (error) {
    if (!(error instanceof ServiceError) || !answering.includes(error.code)) throw error;
    const { budget, remaining_usd, resets_at, how_to_ask } = error.fields as BudgetCheck["refusal"] & object;
    const details = { budget, remaining_usd, resets_at, how_to_ask };
    const cost = asked.estimated_cost;
    return {
      admitted: false,
      estimated_usd: cost === undefined ? null : new ExactNumber(cost),
      refusal: { error: error.code, error_description: error.message, ...details },
      ...limits,
    };
  }
}

const hasEstimate = (asked: CheckBudget) =>
  asked.estimated_cost !== undefined || asked.input_tokens !== undefined || asked.output_tokens !== undefined;

/** The smallest possible cost in USD, which is refused only if nothing is left. */
const least = "0.000000000000000001";

/** The usage as a message. Without an estimate, it has the smallest possible cost. */
function toUsage(asked: CheckBudget): Recording["message"] {
  const { provider = anyProvider, model, feature, user, estimated_cost: cost } = asked;
  const { input_tokens: input, output_tokens: output } = asked;
  const common = { type: "usage" as const, provider, model, feature, user };
  if (input === undefined && output === undefined)
    return {
      ...common,
      unit_type: "requests",
      quantity: new ExactNumber("1"),
      estimated_cost: new ExactNumber(cost ?? least),
    };
  const lines = [
    { unit_type: "input_tokens", quantity: input ?? 0 },
    { unit_type: "output_tokens", quantity: output ?? 0 },
  ];
  const exact = lines.map((line) => ({ ...line, quantity: new ExactNumber(String(line.quantity)) }));
  return { ...common, ...(input && { request_input_tokens: new ExactNumber(String(input)) }), lines: exact };
}
