import { callAsService } from "@/lib/db/transaction";
import { env } from "@/lib/env";

const recordsAStep = 1_000;

/** Spans of calls are kept for a day, so there are more of them to delete than of other records. */
const reportsAStep = 10_000;

/** How many steps one run takes at most. The next run of the job continues. */
const maxSteps = 50;

/**
 * Deletes old records in short transactions: idempotency keys, alerts, entries of the audit log and finished repricings by the age in the
 * settings; spans of calls and refused messages that are too old to be sent again; and reservations made more than a day ago.
 * @returns how many steps found something
 * @throws ServiceError unavailable
 */
export async function sweepOldRecords(): Promise<number> {
  const settings = env();
  const days = JSON.stringify({
    idempotency: settings.IDEMPOTENCY_KEY_DAYS,
    alerts: settings.ALERT_DAYS,
    audit: settings.AUDIT_LOG_DAYS,
    repricings: settings.REPRICING_DAYS,
  });
  for (let steps = 0; steps < maxSteps; steps += 1) {
    const swept = await callAsService<number>("private.sweep_old_records", days, recordsAStep);
    const reports = await callAsService<number>("private.sweep_tellings", reportsAStep);
    const refused = await callAsService<number>("private.forget_refused_calls", recordsAStep);
    const reservations = await callAsService<number>("private.forget_reservations", recordsAStep);
    if (Math.max(swept, refused, reservations) < recordsAStep && reports < reportsAStep)
      return steps + Number(swept + reports + refused + reservations > 0);
  }
  return maxSteps;
}
