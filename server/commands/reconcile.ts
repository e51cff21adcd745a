import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { compareBills, describeBills } from "@/lib/bills/compare-bills";
import { env } from "@/lib/env";
import { describeDifference } from "@/lib/ledger/reconcile/difference";
import { type Reconciliation, reconcile } from "@/lib/ledger/reconcile/service";
import { attachDatabase } from "@/server/attach";

const help = `npm run reconcile -- [--repair | --bills] [--workspace SLUG] [--json]

Compares every derived figure with its messages: daily sums, the spend of keys, batches, the parts of allocations and
subscriptions, responses of idempotency keys, budgets. The service may run meanwhile.

  --bills           compares what was recorded with what providers billed instead, by workspace, month and provider, and
                    exits with 1 where less than 95% of a month is recorded
  --repair          repairs differences, one transaction per workspace, and compares again
  --workspace SLUG  compares this workspace only
  --json            writes one JSON document instead of text

Exits with 0 when nothing differs (or all was repaired), 1 when something differs, 2 when it could not run.
`;

/** The folder of the repository: this file's bundle is in `dist/`. */
const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs the command. @returns its exit status */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      repair: { type: "boolean", default: false },
      bills: { type: "boolean", default: false },
      workspace: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  if (values.bills && values.repair) throw new Error("--repair repairs no bills: leave it out, or --bills.");
  const close = await attachDatabase(env(), root);
  const sinceMs = performance.now();
  try {
    if (values.bills) {
      const months = await compareBills(values.workspace);
      process.stdout.write(values.json ? `${JSON.stringify({ months }, null, 2)}\n` : describeBills(months));
      return months.some(({ is_below: isBelow }) => isBelow) ? 1 : 0;
    }
    const report = await reconcile({
      repair: values.repair,
      ...(values.workspace !== undefined && { workspace: values.workspace }),
      ...(process.stderr.isTTY && { onProgress: showProgress }),
    });
    if (process.stderr.isTTY) showProgress("");
    const seconds = (performance.now() - sinceMs) / 1000;
    process.stdout.write(
      values.json
        ? `${JSON.stringify({ ...report, seconds }, null, 2)}\n`
        : describeReport(report, values.repair, seconds),
    );
    return report.left.length + report.unlisted === 0 ? 0 : 1;
  } finally {
    await close();
  }
}

/** Shows a progress line, which replaces the previous one. */
function showProgress(what: string): void {
  process.stderr.write(`\r\u001b[K${what && `  comparing ${what} …`}`);
}

function describeReport(report: Reconciliation, repair: boolean, seconds: number): string {
  const { found, left, unlisted, workspaces, months } = report;
  const lines = found.map(describeDifference);
  if (unlisted > 0) lines.push(`… and ${unlisted} more rows that differ.`);
  if (repair && left.length > 0) lines.push("", "Could not be repaired:", ...left.map(describeDifference));
  const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? "" : "s"}`;
  const scope = `${counted(workspaces, "workspace")}, ${counted(months, "month")}, ${seconds.toFixed(1)} s`;
  const verdict =
    found.length === 0
      ? "Every figure is the sum of its messages"
      : repair && left.length === 0
        ? `${counted(found.length, "difference")}, all repaired`
        : `${counted(found.length, "difference")}${repair ? `, ${left.length} left` : "; --repair fixes them"}`;
  return `${[...lines, `${verdict} (${scope}).`].join("\n")}\n`;
}
