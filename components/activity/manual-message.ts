import { parseAmount } from "@/components/figures/parse-amount";
import { startOfDay, utcDay } from "@/components/figures/utc-day";
import { ApiError, callApi } from "@/components/requests/api";
import type { bulkResult } from "@/lib/contract/ledger/ingest-result";
import type { bulkRequest } from "@/lib/contract/ledger/message";
import { clockOf } from "@/lib/contract/values/clock";
import { ExactNumber } from "@/lib/contract/values/exact-number";

/** The kinds of message that the dialog can record. */
export type ManualKind = "expense" | "usage";

/** The message fields of each kind, in the order of the form. */
const fieldsOf: Record<ManualKind, readonly string[]> = {
  expense: ["vendor", "amount", "currency", "category", "notes"],
  usage: ["provider", "model", "unit_type", "quantity", "estimated_cost", "feature"],
};
const numbers = new Set(["amount", "quantity", "estimated_cost"]);

/** The current day of a time zone, `YYYY-MM-DD`. */
export const todayIn = (timeZone: string): string => utcDay(clockOf(timeZone, Date.now()).now);

/**
 * Builds the message of a filled-in form. Empty fields are left out. Numbers keep every digit that was typed; a text that
 * is not a number is sent as it is, so that the API explains what is wrong with it.
 * @param today the current day of the workspace, `YYYY-MM-DD`. A message of today gets the current time, one of another day
 *   midnight UTC, which belongs to that day in every time zone
 */
export function toManualMessage(
  kind: ManualKind,
  form: Record<string, string>,
  today: string,
): Record<string, unknown> {
  const message: Record<string, unknown> = { type: kind };
  for (const name of fieldsOf[kind]) {
    const value = form[name]?.trim();
    if (value) message[name] = numbers.has(name) ? toNumberOrText(value) : value;
  }
  if (form.day && form.day !== today) message.occurred_at = startOfDay(form.day);
  return message;
}

/** Converts text to a number with all digits. Other text is returned unchanged, so that the API explains what is wrong with it. */
export function toNumberOrText(text: string): ExactNumber | string {
  const digits = parseAmount(text);
  return digits ? new ExactNumber(digits) : text;
}

/**
 * Records one message as the signed-in member.
 * @param request.idempotencyKey the same for every attempt with one form, so that a second click does not record twice
 * @returns the amount in USD
 * @throws ApiError when the call or the message is refused
 */
export async function recordByHand(
  request: { workspace: string; environment: string; project: string; idempotencyKey: string },
  message: Record<string, unknown>,
) {
  const { workspace, environment, project, idempotencyKey } = request;
  const answer = await callApi<typeof bulkResult, typeof bulkRequest>(
    "POST",
    `/api/v1/workspaces/${workspace}/messages/batch?environment=${environment}`,
    { messages: [{ project, source: "manual", idempotency_key: idempotencyKey, message }] },
  );
  const [result] = answer.results;
  if (result && "amount_usd" in result) return result.amount_usd as number | ExactNumber;
  const { status, error, error_description, issues } = result as unknown as RefusedMessage;
  throw new ApiError(status, error, error_description, issues ?? []);
}

type RefusedMessage = {
  status: number;
  error: string;
  error_description: string;
  issues?: { path: string; message: string }[];
};
