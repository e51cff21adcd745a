import { callAsService } from "@/lib/db/transaction";
import { env } from "@/lib/env";

const recordsAStep = 1_000;

/** The most steps of one run; the next run of the job goes on. */
const maxSteps = 50;

/**
 * Deletes idempotency keys, alerts, entries of the audit log and finished repricings that are older than the settings say, in
 * short transactions. @returns how many steps found something. @throws ServiceError unavailable
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
    if (swept < recordsAStep) return steps + Number(swept > 0);
  }
  return maxSteps;
}
