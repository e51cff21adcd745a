import { callAsService } from "@/lib/db/transaction";
import type { Delivery } from "./claimed";

/** The most deliveries to claim: in all, for failing channels, and for one channel or kind of mail. */
export type ClaimLimits = { all: number; failing: number; perQueue: number };

/** Claims deliveries that are due, for `leaseSeconds`. */
export function claimDeliveries(
  limits: ClaimLimits,
  leaseSeconds: number,
  canMail: boolean,
): Promise<Delivery[]> {
  const { all, failing, perQueue } = limits;
  return callAsService("private.claim_deliveries", all, failing, perQueue, leaseSeconds, canMail);
}

/** An attempt that ended; see `private.finish_delivery`. */
export type EndedAttempt = Pick<Delivery, "id" | "lease"> & {
  outcome: "delivered" | "failed" | "gone";
  status: number | null;
  error: string | null;
  retry_in_ms: number;
};

/** Records how an attempt ended. @returns the delivery's state, or null if another process has claimed it */
export function finishDelivery(
  ended: EndedAttempt,
): Promise<"pending" | "delivered" | "dead" | "cancelled" | null> {
  return callAsService("private.finish_delivery", JSON.stringify(ended));
}

/** The age of the oldest pending delivery of an enabled channel, in seconds; 0 if there is none. */
export function oldestDeliverySeconds(): Promise<number> {
  return callAsService("private.oldest_delivery_seconds");
}

/** Queues the digests and reports that are due. @returns how many were due, of at most `atMost` of each */
export function queueScheduled(atMost: number): Promise<number> {
  return callAsService("private.queue_scheduled", atMost);
}

/** Deletes old deliveries, and cancels those that will not be sent. @returns how many deliveries it changed */
export function sweepDeliveries(atMost: number): Promise<number> {
  return callAsService("private.sweep_deliveries", atMost);
}
