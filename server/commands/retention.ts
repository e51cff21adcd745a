import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { env } from "@/lib/env";
import { type RemovedMonth, type Retention, removeMessages } from "@/lib/ledger/retention/service";
import { attachDatabase } from "@/server/attach";

const help = `npm run retention -- --before YYYY-MM [--dry-run] [--json]

Removes the messages of all months (UTC) before this one, of every workspace, and frees their disk space. Every sum stays:
daily spend, totals, what keys spent, budgets. What was removed cannot be listed, exported or corrected any more. The
service may run meanwhile. A run that was interrupted has removed whole months; run it again.

  --before YYYY-MM  the first month to keep; at most the current month
  --dry-run         removes nothing and says what would be removed
  --json            writes one JSON document instead of text

Exits with 0 when everything was removed, 1 when it was interrupted, 2 when it could not run.
`;

/** The folder of the repository: this file's bundle is in `dist/`. */
const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs the command. @returns its exit status */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      before: { type: "string" },
      "dry-run": { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  if (values.before === undefined) throw new Error(`Name the first month to keep.\n\n${help}`);
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
  const close = await attachDatabase(env(), root);
  const dryRun = values["dry-run"];
  const sinceMs = performance.now();
  try {
    const done = await removeMessages({
      before: values.before,
      dryRun,
      signal: interrupted.signal,
      onMonth: (month) => {
        if (!values.json) process.stdout.write(`${describeMonth(month)}\n`);
      },
    });
    const seconds = (performance.now() - sinceMs) / 1000;
    process.stdout.write(
      values.json
        ? `${JSON.stringify({ ...done, dry_run: dryRun, seconds }, null, 2)}\n`
        : `${describeRun(done, dryRun, seconds)}\n`,
    );
    return done.isWhole ? 0 : 1;
  } finally {
    await close();
  }
}

const describeMonth = ({ month, ...counts }: RemovedMonth) => `${month}: ${describeCounts(counts)}`;

function describeCounts({ messages, postings, bytes }: Omit<RemovedMonth, "month">): string {
  const megabytes = (bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0);
  return `${messages.toLocaleString("en")} messages, ${postings.toLocaleString("en")} postings, ${megabytes} MB`;
}

function describeRun({ months, isWhole }: Retention, dryRun: boolean, seconds: number): string {
  if (months.length === 0 && isWhole) return "No earlier month has messages.";
  const sum = (pick: (month: RemovedMonth) => number) =>
    months.reduce((total, month) => total + pick(month), 0);
  const all = describeCounts({
    messages: sum((month) => month.messages),
    postings: sum((month) => month.postings),
    bytes: sum((month) => month.bytes),
  });
  const counted = `${months.length} month${months.length === 1 ? "" : "s"}: ${all}`;
  if (dryRun) return `Would remove ${counted}. Nothing was removed.`;
  const ending = isWhole ? "" : " Interrupted; run the command again for the rest.";
  return `Removed ${counted} (${seconds.toFixed(1)} s). Every sum was kept.${ending}`;
}
