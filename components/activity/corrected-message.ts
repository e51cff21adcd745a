import { exactText } from "@/components/figures/amount";
import { startOfDay } from "@/components/figures/utc-day";
import type { MessageDetail } from "@/lib/contract/spend/message-detail";
import { postedOn } from "@/lib/contract/values/clock";
import { exactMs } from "@/lib/contract/values/instant";
import { todayIn, toNumberOrText } from "./manual-message";

/** The kinds of message that the form corrects. Others are voided and recorded again. */
export type CorrectableKind = "expense" | "usage" | "subscription";

/** The fields of each kind that the form shows. */
const fieldsOf: Record<CorrectableKind, readonly string[]> = {
  expense: ["vendor", "amount", "currency", "category", "notes"],
  usage: ["provider", "model", "unit_type", "quantity", "estimated_cost", "feature"],
  subscription: ["vendor", "plan", "amount", "currency"],
};
const numbers = new Set(["amount", "quantity", "estimated_cost"]);

/** The form that corrects a message; undefined for messages without one: allocations, batches, and usage with lines. */
export function kindOf({ message_type: type, lines }: MessageDetail): CorrectableKind | undefined {
  return (type === "usage" && lines.length === 0) || type === "expense" || type === "subscription"
    ? type
    : undefined;
}

/** The initial values of the form: the message as it was recorded. */
export function valuesOf(message: MessageDetail): Record<string, string> {
  const { provider, model, unit_type, quantity, feature, currency, category, notes, details } = message;
  const paid = message.original_amount ?? message.amount_usd;
  const isGiven = message.cost_status === "client";
  const values: Record<string, string | null | undefined> =
    message.message_type === "usage"
      ? {
          ...{ provider, model, unit_type, feature },
          quantity: quantity === null ? null : exactText(quantity),
          estimated_cost: isGiven ? exactText(message.amount_usd) : null,
        }
      : { vendor: provider, currency, category, notes, amount: exactText(paid), plan: text(details?.plan) };
  return Object.fromEntries(
    Object.entries(values).flatMap(([name, value]) => (value ? [[name, value]] : [])),
  );
}

/** The first day of a message in a time zone, `YYYY-MM-DD`. */
export function dayOf({ entries: [first] }: MessageDetail, timeZone: string): string {
  return first ? postedOn(timeZone, exactMs(first.occurred_at)) : "";
}

/**
 * Builds the corrected message from a filled-in form. Fields that the form does not show keep their values. An unchanged day is left
 * out, so that the time of day is kept, too.
 * @param timeZone the time zone in which the form shows the day
 */
export function toCorrectedMessage(
  kind: CorrectableKind,
  original: MessageDetail,
  form: Record<string, string>,
  timeZone: string,
): Record<string, unknown> {
  const message: Record<string, unknown> = { type: kind, ...keptOf(original) };
  for (const name of fieldsOf[kind]) {
    const value = form[name]?.trim();
    if (value) message[name] = numbers.has(name) ? toNumberOrText(value) : value;
  }
  const day = dayOf(original, timeZone);
  const isMoved = form.day !== undefined && form.day !== "" && form.day !== day;
  if (kind === "subscription") message.starts_on = isMoved ? form.day : day;
  else if (isMoved) {
    // Midnight UTC of the workspace's today may be in the future.
    const isToday = form.day === todayIn(timeZone);
    message.occurred_at = isToday ? new Date().toISOString() : startOfDay(form.day ?? "");
  }
  return message;
}

/** The fields of a message that the form does not show. */
function keptOf(original: MessageDetail): Record<string, unknown> {
  const { label, metadata, tags, details, message_type: type } = original;
  const shared = { label, metadata, tags: Object.keys(tags).length > 0 ? tags : null };
  const usage = {
    user: original.end_user,
    session: original.session,
    batch_id: original.batch_id,
    included: original.cost_status === "included" ? true : null,
    cached_quantity: details?.cached_quantity,
    request_input_tokens: details?.request_input_tokens,
    service_tier: details?.service_tier,
  };
  const subscription = { interval: details?.interval, seats: details?.seats };
  const own = type === "usage" ? usage : type === "subscription" ? subscription : {};
  const kept = Object.entries({ ...shared, ...own }).filter(
    ([, value]) => value !== null && value !== undefined,
  );
  return Object.fromEntries(
    kept.map(([name, value]) => [name, numeric.has(name) ? toNumberOrText(String(value)) : value]),
  );
}

/** Numeric fields that are stored as text with all digits. */
const numeric = new Set(["cached_quantity", "request_input_tokens"]);

const text = (value: unknown) => (typeof value === "string" ? value : undefined);
