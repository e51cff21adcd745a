import { Poster } from "@/lib/ledger/import/poster";
import type { Row } from "@/lib/ledger/import/row";
import { importRows, type Summary } from "@/lib/ledger/import/service";
import type { Choices, ChosenFile } from "./chosen-file";

/** A row the service would not take, and why; `field` is empty where the whole row is meant. */
export type Refusal = {
  row: Partial<Row> & { line: number };
  reason: string;
  issues: { field: string; reason: string }[];
};

/** How far a run has come. `waiting` says why nothing moves. */
export type Progress = { rows: number; waiting?: string };

export type Outcome = { summary: Summary; refusals: Refusal[] };

/** Nobody looks at a page that stands still for longer; what was recorded is known when it is tried again. */
const patienceMs = 120_000;

/**
 * Posts the rows of a file a thousand at a time as the signed-in member. Each has the idempotency key that the command
 * `npm run import` gives it, so a run may be stopped and repeated anywhere: nothing is recorded twice.
 * @param stop ends it after the rows that are under way
 * @throws PostError where the service takes no messages at all
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
    patienceMs,
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
  return { summary, refusals };
}

function* until<Item>(stop: AbortSignal, items: readonly Item[]): Generator<Item> {
  for (const item of items) {
    if (stop.aborted) return;
    yield item;
  }
}

/** `quantity: must be greater than 0` has its field before the colon. */
function splitReason(reason: string): { field: string; reason: string } {
  const [, field, rest] = /^([a-z_.[\]\d]+): (.*)$/s.exec(reason) ?? [];
  return field !== undefined && rest !== undefined ? { field, reason: rest } : { field: "", reason };
}
