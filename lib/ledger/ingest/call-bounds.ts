import type { CostMessage } from "@/lib/contract/ledger/message";
import { type ServiceError, validationFailed } from "@/lib/errors";
import { countDue, type Subscription } from "@/lib/ledger/recurring/charges";
import { linesOf } from "./check";

/** How many lines one call may record: what one transaction writes stays bounded. A batch has 1,000 at most. */
const maxLines = 20_000;

/** How many past periods one call may charge: what one transaction writes stays bounded. One subscription has 24 at most. */
const maxDuePeriods = 1_000;

/** The refusal of a batch whose items no longer fit into its call; undefined where they do. @param lines of the messages before it */
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
 * The refusal of a subscription whose past periods no longer fit into its call; undefined where they do.
 * @param duePeriods of the messages before it
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
