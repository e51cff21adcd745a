import { readGauge } from "@/lib/metrics";
import { oldestDeliverySeconds, queueScheduled, sweepDeliveries } from "./delivery-queries";
import { DeliveryPump } from "./pump";

const pump = new DeliveryPump();

/** How often the age of the oldest delivery is read, for the gauge. */
const readAgeEveryMs = 15_000;
let oldest: { seconds: number; readAtMs: number } | undefined;
readGauge("outlay_alert_oldest_pending_seconds", () =>
  oldest ? [{ labels: {}, value: oldest.seconds }] : [],
);

/** Starts to send the deliveries that are due, and returns without waiting for them. @returns how many it started */
export async function sendDeliveries(): Promise<number> {
  const began = await pump.look();
  if (!oldest || performance.now() - oldest.readAtMs > readAgeEveryMs) {
    oldest = { seconds: await oldestDeliverySeconds(), readAtMs: performance.now() };
  }
  return began;
}

/** Waits until the started deliveries have ended. @param isLast true when the process ends: no more are started */
export function drainDeliveries(isLast: boolean): Promise<void> {
  return isLast ? pump.close() : pump.drain();
}

/** Queues the digests and weekly reports that are due, and starts to send them. @returns how many were due */
export async function queueDue(): Promise<number> {
  // Few at a time, because messages that raise alerts for a channel wait while its digest is made.
  const due = await inSteps(20, queueScheduled);
  if (due > 0) await pump.look();
  return due;
}

/** Deletes the log of deliveries after 30 days, and cancels those that will not be sent. @returns how many it changed */
export function sweepQueue(): Promise<number> {
  return inSteps(1_000, sweepDeliveries);
}

/** Repeats a step until it handles fewer than `atMost` items. @returns how many items all steps handled */
async function inSteps(atMost: number, step: (atMost: number) => Promise<number>): Promise<number> {
  let all = 0;
  for (;;) {
    const done = await step(atMost);
    all += done;
    if (done < atMost) return all;
  }
}
