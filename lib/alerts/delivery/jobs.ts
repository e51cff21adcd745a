import { readGauge } from "@/lib/metrics";
import { makeDigests, oldestDeliverySeconds, sweepDeliveries } from "./delivery-queries";
import { DeliveryPump } from "./pump";

const pump = new DeliveryPump();

/** How often the age of the oldest delivery is read, for the gauge. */
const readAgeEveryMs = 15_000;
let oldest: { seconds: number; readAtMs: number } | undefined;
readGauge("outlay_alert_oldest_pending_seconds", () =>
  oldest ? [{ labels: {}, value: oldest.seconds }] : [],
);

/** Begins to deliver the alerts that are due. Returns before they are delivered. @returns how many it began */
export async function deliverAlerts(): Promise<number> {
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

/** Few, because the messages that raise alerts for these channels wait while their digests are made. */
const digestsAStep = 20;

/** Makes the digests that are due; `deliverAlerts` sends them. @returns how many it made */
export async function makeDueDigests(): Promise<number> {
  let all = 0;
  for (;;) {
    const made = await makeDigests(digestsAStep);
    all += made;
    if (made < digestsAStep) return all;
  }
}

const deliveriesAStep = 1_000;

/** Deletes the log of deliveries after 30 days, and ends what nobody will send. @returns how many it changed */
export async function sweepAlerts(): Promise<number> {
  let all = 0;
  for (;;) {
    const swept = await sweepDeliveries(deliveriesAStep);
    all += swept;
    if (swept < deliveriesAStep) return all;
  }
}
