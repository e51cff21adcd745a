import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { env } from "@/lib/env";
import { type CorrectedWorkspace, correctRates } from "@/lib/ledger/rate-corrections/service";
import { attachDatabase } from "@/server/attach";

const help = `npm run rates:correct -- [--apply] [--workspace SLUG] [--json]

Lists what was converted at the rate of another day than the one that counts for it, and with --apply converts it again: with
every sum, budgets (which may raise alerts), and what keys spent, so that a key's monthly limit counts the corrected amounts.
Voided messages stay as they are. The service may run meanwhile. A run that was interrupted is simply run again.

  --apply           corrects; without it nothing changes
  --workspace SLUG  looks at this workspace only
  --json            writes one JSON document instead of text

Exits with 0, with 1 when it was interrupted, 2 when it could not run.
`;

/** The folder of the repository: this file's bundle is in `dist/`. */
const root = fileURLToPath(new URL("..", import.meta.url));

/** Runs the command. @returns its exit status */
export async function main(args: string[]): Promise<number> {
  const { values } = parseArgs({
    args,
    options: {
      apply: { type: "boolean", default: false },
      workspace: { type: "string" },
      json: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (values.help) {
    process.stdout.write(help);
    return 0;
  }
  const interrupted = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interrupted.abort());
  const close = await attachDatabase(env(), root);
  try {
    const { workspace, apply } = values;
    const corrected = await correctRates({ dryRun: !apply, workspace, signal: interrupted.signal });
    process.stdout.write(
      values.json
        ? `${JSON.stringify({ dry_run: !apply, workspaces: corrected }, null, 2)}\n`
        : describeCorrected(corrected, apply),
    );
    return interrupted.signal.aborted ? 1 : 0;
  } finally {
    await close();
  }
}

const signed = (usd: string) => `${usd.startsWith("-") ? "" : "+"}${usd} USD`;

function describeCorrected(corrected: CorrectedWorkspace[], applied: boolean): string {
  if (corrected.length === 0) return "Everything was converted at the rate of its day.\n";
  const lines = corrected.flatMap(({ workspace, messages, change_usd, months, budgets, keys }) => [
    `${workspace}: ${messages} message${messages === 1 ? "" : "s"}, ${signed(change_usd)}`,
    ...Object.entries(months).map(([month, change]) => `  ${month}: ${signed(change)}`),
    ...budgets.map(
      ({ name, environment, period_from, before_usd, after_usd }) =>
        `  budget "${name}" (${environment}, from ${period_from}): ${before_usd} → ${after_usd} USD`,
    ),
    ...(keys.length > 0 ? [`  spend of keys: ${keys.join(", ")}`] : []),
  ]);
  const ending = applied ? "Corrected." : "Nothing was changed; --apply corrects it.";
  return `${[...lines, ending].join("\n")}\n`;
}
