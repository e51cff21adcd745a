import { callAsService } from "@/lib/db/transaction";
import { env } from "@/lib/env";

const recordsAStep = 1_000;

/** Spans of calls come and go in a day: there are more of them than of the others. */
const tellingsAStep = 10_000;

/** The most steps of one run; the next run of the job goes on. */
const maxSteps = 50;

/**
 * Deletes idempotency keys, alerts, entries of the audit log and finished repricings that are older than the settings say, and
 * what emitters told too long ago to be told again or limits refused too long ago to be sent again, and reservations of the day before, in short transactions. @returns how many steps found something. @throws ServiceError unavailable
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
    const tellings = await callAsService<number>("private.sweep_tellings", tellingsAStep);
    const refused = await callAsService<number>("private.forget_refused_calls", recordsAStep);
    const reservations = await callAsService<number>("private.forget_reservations", recordsAStep);
    if (Math.max(swept, refused, reservations) < recordsAStep && tellings < tellingsAStep)
      return steps + Number(swept + tellings + refused + reservations > 0);
  }
  return maxSteps;
}
