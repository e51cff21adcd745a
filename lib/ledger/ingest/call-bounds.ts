import type { CostMessage } from "@/lib/contract/ledger/message";
import { type ServiceError, validationFailed } from "@/lib/errors";
import { countDue, type Subscription } from "@/lib/ledger/recurring/charges";
import { linesOf } from "./check";

/** How many lines one call may record, which bounds the size of a transaction. A batch has at most 1,000. */
const maxLines = 20_000;

/** How many past periods one call may charge, which bounds the size of a transaction. A subscription has at most 24. */
const maxDuePeriods = 1_000;

/** Refuses a message with which its call exceeds `maxLines`. @param lines of the call's earlier messages */
export function checkLines(message: CostMessage, lines: number): ServiceError | undefined {
  const own = linesOf(message);
  if (lines + own <= maxLines) return undefined;
  return validationFailed([
    {
      path: "message.items",
      message: `has ${own} items, after ${lines} of the messages before it; one call may record ${maxLines}. Send this message in another call`,
    },
  ]);
}

/**
 * Refuses a subscription with which its call exceeds `maxDuePeriods`.
 * @param duePeriods of the call's earlier messages
 * @param now milliseconds since 1970
 */
export function checkDuePeriods(
  message: CostMessage,
  duePeriods: number,
  now: number,
): ServiceError | undefined {
  if (!isRecurring(message)) return undefined;
  const due = countDue(message, now);
  if (due === 0 || duePeriods + due <= maxDuePeriods) return undefined;
  return validationFailed([
    {
      path: `message.${message.starts_on === undefined ? "occurred_at" : "starts_on"}`,
      message: `has ${due} past periods to charge, after ${duePeriods} of the messages before it; one call may charge ${maxDuePeriods}. Send this message in another call`,
    },
  ]);
}

/** Whether a message is a subscription that is charged again for each of its periods. */
export function isRecurring(message: CostMessage): message is Subscription {
  return message.type === "subscription" && message.recurring;
}
