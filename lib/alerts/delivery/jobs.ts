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

/** Begins to send what is due in the queue. Returns before it is sent. @returns how many deliveries it began */
export async function sendDeliveries(): Promise<number> {
  const began = await pump.look();
  if (!oldest || performance.now() - oldest.readAtMs > readAgeEveryMs) {
    oldest = { seconds: await oldestDeliverySeconds(), readAtMs: performance.now() };
  }
  return began;
}

/** Waits until what was begun is delivered or has failed. @param isLast true where the process ends: nothing more is begun */
export function drainDeliveries(isLast: boolean): Promise<void> {
  return isLast ? pump.close() : pump.drain();
}

/** Queues the digests and weekly reports that are due, and begins to send them. @returns how many were due */
export async function queueDue(): Promise<number> {
  // Few at a time, because the messages that raise alerts for these channels wait while their digests are made.
  const due = await inSteps(20, queueScheduled);
  if (due > 0) await pump.look();
  return due;
}

/** Deletes the log of deliveries after 30 days, and ends what nobody will send. @returns how many it changed */
export function sweepQueue(): Promise<number> {
  return inSteps(1_000, sweepDeliveries);
}

/** Repeats a step until it finds less than it may do. @returns how much it did in all */
async function inSteps(atMost: number, step: (atMost: number) => Promise<number>): Promise<number> {
  let all = 0;
  for (;;) {
    const done = await step(atMost);
    all += done;
    if (done < atMost) return all;
  }
}
