import { Poster } from "@/lib/ledger/import/poster";
import type { FileRow } from "@/lib/ledger/import/row";
import { importRows, type Summary } from "@/lib/ledger/import/service";
import type { Choices, ChosenFile } from "./chosen-file";

/** A row that was refused, and why. The `field` of an issue is empty when it is about the whole row. */
export type Refusal = {
  row: Partial<FileRow> & { line: number };
  reason: string;
  issues: { field: string; reason: string }[];
};

/** The number of processed rows. `waiting` says why the run is paused. */
export type Progress = { rows: number; waiting?: string };

/** The counts of a run, and its refused rows. */
export type Outcome = { summary: Summary; refusals: Refusal[] };

/** How long a run waits for the service before it gives up. It can be started again without recording rows twice. */
const retryLimitMs = 120_000;

/**
 * Sends the rows of a file as the signed-in member, a thousand at a time. Each row has the same idempotency key as with the
 * command `npm run import`, so that a run can be stopped and repeated without recording rows twice.
 * @param stop ends the run after the rows that are being sent
 * @throws PostError when the service accepts no messages at all
 */
export async function runImport(
  workspace: string,
  file: ChosenFile,
  { mapping, idColumn }: Choices,
  {
    dryRun,
    stop,
    onProgress,
  }: { dryRun: boolean; stop: AbortSignal; onProgress: (progress: Progress) => void },
): Promise<Outcome> {
  const refusals: Refusal[] = [];
  let done = 0;
  const poster = new Poster({
    endpoint: `/api/v1/workspaces/${workspace}/messages/batch`,
    retryLimitMs,
    onWait: (reason, ms) =>
      onProgress({ rows: done, waiting: `${reason} Trying again in ${Math.ceil(ms / 1000)} s.` }),
  });
  const summary = await importRows({
    rows: until(stop, file.rows),
    fileHash: file.hash,
    mapping,
    ...(idColumn && { idColumn }),
    poster,
    dryRun,
    onProgress: ({ rows }) => {
      done = rows;
      onProgress({ rows });
    },
    onRefused: (row, reason) => {
      refusals.push({ row, reason, issues: reason.split("; ").map(splitReason) });
    },
  });
  // Sorts by line, because refusals of rows that could not be converted come after the others.
  refusals.sort((a, b) => a.row.line - b.row.line);
  return { summary, refusals };
}

/** The items, until the signal is aborted. */
function* until<Item>(stop: AbortSignal, items: readonly Item[]): Generator<Item> {
  for (const item of items) {
    if (stop.aborted) return;
    yield item;
  }
}

/** Splits `quantity: must be greater than 0` into its field and its reason. */
function splitReason(reason: string): { field: string; reason: string } {
  const [, field, rest] = /^([a-z_.[\]\d]+): (.*)$/s.exec(reason) ?? [];
  return field !== undefined && rest !== undefined ? { field, reason: rest } : { field: "", reason };
}
