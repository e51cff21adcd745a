import { ApiError, callApi } from "@/components/api";
import { ExactNumber } from "@/lib/contract/exact-number";
import type { bulkRequest, bulkResult } from "@/lib/contract/message";

export type ManualKind = "expense" | "usage";

/** The fields of each kind as its form has them, in its order. */
const fieldsOf: Record<ManualKind, readonly string[]> = {
  expense: ["vendor", "amount", "currency", "category", "notes"],
  usage: ["provider", "model", "unit_type", "quantity", "estimated_cost", "feature"],
};
const numbers = new Set(["amount", "quantity", "estimated_cost"]);

/**
 * The message that a form describes; what was left empty is left out. A number keeps every digit that was typed.
 * @param today `YYYY-MM-DD` in UTC: what occurred today occurred now
 */
export function toManualMessage(
  kind: ManualKind,
  form: Record<string, string>,
  today: string,
): Record<string, unknown> {
  const message: Record<string, unknown> = { type: kind };
  for (const name of fieldsOf[kind]) {
    const value = form[name]?.trim();
    if (value) message[name] = numbers.has(name) ? readNumber(value) : value;
  }
  if (form.day && form.day !== today) message.occurred_at = `${form.day}T00:00:00Z`;
  return message;
}

/** What is no number goes as the text it is: the API says what is wrong with it. */
function readNumber(text: string): ExactNumber | string {
  return /^(0|[1-9]\d*)(\.\d+)?$/.test(text) ? new ExactNumber(text) : text;
}

/**
 * Records one message as the signed-in member.
 * @param idempotencyKey the same for every try of the same form, so that a second click records nothing twice
 * @returns the amount in USD
 * @throws ApiError with the verdict on the message, where it was refused
 */
export async function recordByHand(
  call: { workspace: string; environment: string; project: string; idempotencyKey: string },
  message: Record<string, unknown>,
) {
  const { workspace, environment, project, idempotencyKey } = call;
  const answer = await callApi<typeof bulkResult, typeof bulkRequest>(
    "POST",
    `/api/v1/workspaces/${workspace}/messages/batch?environment=${environment}`,
    { messages: [{ project, source: "manual", idempotency_key: idempotencyKey, message }] },
  );
  const [verdict] = answer.results;
  if (verdict && "amount_usd" in verdict) return verdict.amount_usd as number | ExactNumber;
  const { status, error, error_description, issues } = verdict as unknown as Refusal;
  throw new ApiError(status, error, error_description, issues ?? [], {});
}

type Refusal = {
  status: number;
  error: string;
  error_description: string;
  issues?: { path: string; message: string }[];
};
