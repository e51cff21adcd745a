import { eraseAccounts } from "@/lib/access/account/service";
import { sweepTokens } from "@/lib/access/oauth/tokens";
import { eraseWorkspaces } from "@/lib/access/workspaces/deletion";
import { runTimeZoneChanges } from "@/lib/access/workspaces/time-zone";
import { drainDeliveries, queueDue, sendDeliveries, sweepQueue } from "@/lib/alerts/delivery/jobs";
import { settleEntries } from "@/lib/alerts/inbox/service";
import { judgeKeyRules, judgeUsageRules } from "@/lib/alerts/rules/service";
import { judgeBills } from "@/lib/bills/judge-bills";
import { drainLimits, startLimits } from "@/lib/bills/limits/jobs";
import { drainPulling, startPulling } from "@/lib/bills/pulls/jobs";
import { fileClosedMonths } from "@/lib/ledger/closing/filed-export";
import { runErasures } from "@/lib/ledger/erasure/service";
import { runFolding } from "@/lib/ledger/folding/service";
import { drainFetching, startFetching } from "@/lib/ledger/published/feeds";
import { priceUnpriced } from "@/lib/ledger/published/price-unpriced";
import { bookDueSubscriptions } from "@/lib/ledger/recurring/book-due-subscriptions";
import { runRepricings } from "@/lib/ledger/repricing/service";
import { sweepOldRecords } from "@/lib/ledger/retention/old-records";
import { log, reportFailure } from "@/lib/log";
import { metrics, readGauge } from "@/lib/metrics";
import { judgeBudgets } from "@/lib/spend/budgets/judge-budgets";
import { watchBudgets } from "@/lib/spend/budgets/watch";
import { computeRecommendations } from "@/lib/spend/recommendations/compute";

/** Background work that any process may run at any time. Each job ensures that nothing is done twice. */
export type Job = {
  name: string;
  everyMs: number;
  run: () => Promise<number>;
  /** Waits for work that `run` has started in the background. @param isLast true when the process ends: no more is started */
  drain?: (isLast: boolean) => Promise<void>;
};

export const jobs: Job[] = [
  { name: "book_subscriptions", everyMs: 60_000, run: () => bookDueSubscriptions() },
  { name: "reprice_messages", everyMs: 2_000, run: runRepricings },
  { name: "fetch_published", everyMs: 60_000, run: startFetching, drain: drainFetching },
  { name: "price_unpriced", everyMs: 60_000, run: priceUnpriced },
  { name: "queue_due", everyMs: 2_000, run: queueDue },
  { name: "deliver", everyMs: 1_000, run: sendDeliveries, drain: drainDeliveries },
  { name: "sweep_deliveries", everyMs: 600_000, run: sweepQueue },
  { name: "pull_bills", everyMs: 2_000, run: startPulling, drain: drainPulling },
  { name: "write_limits", everyMs: 1_000, run: startLimits, drain: drainLimits },
  { name: "erase_workspaces", everyMs: 60_000, run: eraseWorkspaces },
  { name: "erase_accounts", everyMs: 60_000, run: eraseAccounts },
  { name: "erase_people", everyMs: 2_000, run: runErasures },
  { name: "change_time_zones", everyMs: 2_000, run: () => runTimeZoneChanges() },
  { name: "fold_past_days", everyMs: 600_000, run: runFolding },
  { name: "file_closed_months", everyMs: 30_000, run: () => fileClosedMonths() },
  { name: "watch_budgets", everyMs: 30_000, run: watchBudgets },
  { name: "judge_key_rules", everyMs: 30_000, run: judgeKeyRules },
  { name: "judge_usage_rules", everyMs: 120_000, run: judgeUsageRules },
  { name: "judge_budgets", everyMs: 30_000, run: () => judgeBudgets() },
  { name: "judge_bills", everyMs: 600_000, run: () => judgeBills() },
  { name: "compute_recommendations", everyMs: 60_000, run: () => computeRecommendations() },
  { name: "settle_alert_entries", everyMs: 30_000, run: settleEntries },
  { name: "sweep_tokens", everyMs: 600_000, run: sweepTokens },
  { name: "sweep_old_records", everyMs: 600_000, run: sweepOldRecords },
];

/** When each job last succeeded in this process, by `performance.now()`. */
const succeededMs = new Map<string, number>();
readGauge("outlay_job_seconds_since_success", () =>
  [...succeededMs].map(([job, at]) => ({ labels: { job }, value: (performance.now() - at) / 1000 })),
);

/** Runs a job. Never throws: a failed job is logged, and its next run tries again. */
export async function runJob({ name, run }: Job): Promise<{ name: string; done: number; failed: boolean }> {
  try {
    const done = await run();
    metrics.jobRuns.inc({ job: name, outcome: "success" });
    succeededMs.set(name, performance.now());
    if (done > 0) log.info({ job: name, done }, "A job did its work.");
    return { name, done, failed: false };
  } catch (error) {
    metrics.jobRuns.inc({ job: name, outcome: "failure" });
    reportFailure(error, `The job ${name} failed; it will be tried again.`);
    return { name, done: 0, failed: true };
  }
}
