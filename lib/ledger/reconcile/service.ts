import type { ClientBase } from "pg";
import { pauseAfterConflict } from "@/lib/db/job-steps";
import { withMaintenanceClient } from "@/lib/db/maintenance";
import { execute } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { isContention } from "@/lib/db/transaction";
import { parseDecimal, subtract, toText } from "@/lib/decimal";
import type { Difference, Kind } from "./difference";
import { repairPostings } from "./postings";
import {
  countWorkspaces,
  type DifferingRow,
  lockForRepair,
  removeStrayAnswers,
  repairBudgets,
  repairDays,
  repairKeys,
  repairLines,
  repairVoids,
  restartZoneChange,
  selectDiffering,
  selectDifferingDays,
  selectDifferingRemoved,
  selectDifferingTotals,
  selectMonths,
  selectWorkspaceId,
  unfold,
} from "./reconcile-queries";

export type ReconcileOptions = {
  /** The slug of the only workspace to compare; all workspaces by default. */
  workspace?: string;
  /** Whether to repair the differences. */
  repair: boolean;
  /** Called with what is being compared next. */
  onProgress?: (what: string) => void;
};

/** `found`: the differences. `left`: those that remain after a repair; all of them without a repair. */
export type Reconciliation = {
  workspaces: number;
  months: number;
  found: Difference[];
  left: Difference[];
  /** How many more rows differ that are not listed. */
  unlisted: number;
};

/** The workspace does not exist. */
export class UnknownWorkspaceError extends Error {
  override name = "UnknownWorkspaceError";
}

/** How many rounds of repairs are tried at most. */
const maxRounds = 20;
const maxAttempts = 5;

/**
 * Compares every derived figure with the sum of its messages. Each comparison is one statement, and so reads one snapshot: it is exact
 * even while the service records. The database computes the sums, a month at a time.
 *
 * A repair adds the difference to a figure instead of setting it: messages change their sums in the same transaction, so the difference
 * stays correct whatever is recorded meanwhile, and writers wait only for the rows that are being changed. Each workspace is repaired in
 * one transaction; two repairs of the same workspace wait for each other.
 * @throws UnknownWorkspaceError, or an error of the database
 */
export async function reconcile(options: ReconcileOptions): Promise<Reconciliation> {
  return withMaintenanceClient(async (client) => {
    for (const setting of [sql`timezone = 'UTC'`, sql`lock_timeout = 0`]) {
      await execute(client, sql`set ${setting}`);
    }
    const { workspace } = options;
    const only = workspace === undefined ? null : await selectWorkspaceId(client, workspace);
    if (only === undefined) throw new UnknownWorkspaceError(`There is no workspace ${workspace}.`);
    const months = await selectMonths(client, only);
    const found = await findDifferences(client, only, options);
    let left = found;
    for (let round = 0; options.repair && left.differences.length > 0 && round < maxRounds; round += 1) {
      options.onProgress?.("mending");
      for (const id of new Set(left.differences.map((difference) => difference.workspace_id))) {
        await repairWorkspace(client, id);
      }
      const before = size(left);
      left = await findDifferences(client, only, options);
      if (size(left) >= before) break;
    }
    return {
      workspaces: only === null ? await countWorkspaces(client) : 1,
      months: months.length,
      found: found.differences,
      left: left.differences,
      unlisted: left.unlisted,
    };
  });
}

type Found = { differences: Difference[]; unlisted: number };

const size = ({ differences, unlisted }: Found) => differences.length + unlisted;

async function findDifferences(
  client: ClientBase,
  workspaceId: string | null,
  { onProgress }: ReconcileOptions,
): Promise<Found> {
  const found: Found = { differences: [], unlisted: 0 };
  const add = (kind: Kind, { rows, unlisted }: { rows: DifferingRow[]; unlisted: number }) => {
    for (const row of rows) found.differences.push(...read(kind, row));
    found.unlisted += unlisted;
  };
  for (const month of await selectMonths(client, workspaceId)) {
    onProgress?.(`the days of ${month.from.slice(0, 7)}`);
    add("daily_spend", await selectDifferingDays(client, month, workspaceId));
    add("removed", await selectDifferingRemoved(client, month, workspaceId));
    add("daily_totals", await selectDifferingTotals(client, month, workspaceId));
  }
  for (const kind of [
    "monthly_spend",
    "monthly_totals",
    "key_spend",
    "budget",
    "posting",
    "lines",
    "void",
    "idempotency",
    "closed_month",
  ] as const) {
    onProgress?.(kind.replace("_", " "));
    add(kind, await selectDiffering(client, kind, workspaceId));
  }
  return found;
}

/** The figures that rows of differences can have, in the order of a report. */
const figures = [
  "parts",
  "amount_usd",
  "message_count",
  "item_count",
  "unpriced_count",
  "included_usd",
  "spent_usd",
  "booked_usd",
];

/** The differing figures of a row, as one difference each. */
function read(kind: Kind, row: DifferingRow): Difference[] {
  const { workspace_id } = row;
  const shared = { workspace_id, workspace: row.workspace ?? workspace_id, kind, where: placeOf(kind, row) };
  const given = (value: string | number | null | undefined) => String(value ?? 0);
  if (kind === "idempotency") {
    return [{ ...shared, figure: "message", stored: given(row.message_id), actual: "none", difference: "1" }];
  }
  return figures
    .filter((figure) => `stored_${figure}` in row)
    .flatMap((figure): Difference[] => {
      const [stored, actual] = [given(row[`stored_${figure}`]), given(row[`actual_${figure}`])];
      const difference = subtract(parseDecimal(stored), parseDecimal(actual));
      // The postings of the message are right in sum and number, but the shares are wrong.
      const isEqual = toText(difference) === "0";
      const isUneven =
        kind === "posting" && figure === "amount_usd" && isEqual && row.stored_parts === row.actual_parts;
      if (isEqual && !isUneven) return [];
      return [{ ...shared, figure, stored, actual, difference: isUneven ? "shares" : toText(difference) }];
    });
}

/** The coordinates of a difference, by the names that users know. */
function placeOf(kind: Kind, row: DifferingRow): Record<string, string | null> {
  const pick = (...names: string[]) => Object.fromEntries(names.map((name) => [name, row[name] ?? null]));
  const named = (name: string, value: string | null | undefined) => (value == null ? {} : { [name]: value });
  const project = row.project ?? row.project_id ?? null;
  const key = row.key ?? row.api_key_id ?? null;
  switch (kind) {
    case "daily_spend":
    case "monthly_spend":
      return {
        ...pick(kind === "daily_spend" ? "day" : "month"),
        project,
        key,
        ...pick("type", "provider", "model", "feature", "source", "environment"),
        ...named("user", row.end_user),
        ...named("tags", row.tags),
      };
    case "daily_totals":
    case "monthly_totals":
      return {
        ...pick(kind === "daily_totals" ? "day" : "first_day"),
        [row.dimension ?? "dimension"]: row.name ?? "none",
        ...pick("type", "environment"),
      };
    case "closed_month":
      return pick("month");
    case "removed":
      return pick("month", "environment");
    case "key_spend":
      return { ...pick("month"), key };
    case "budget":
      return { period: row.period_from ?? null, ...pick("budget", "environment") };
    case "posting":
    case "lines":
    case "void":
      return { message: row.id ?? null, ...pick("type") };
    case "idempotency":
      return pick("key");
    default:
      return { message: row.id ?? null };
  }
}

/** Repairs a workspace in one transaction, and retries it after a conflict with a writer. */
async function repairWorkspace(client: ClientBase, workspaceId: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await execute(client, sql`begin`);
      await lockForRepair(client, workspaceId);
      await restartZoneChange(client, workspaceId);
      // Messages first, because the sums must equal the repaired messages.
      const postings = await selectDiffering(client, "posting", workspaceId);
      for (const id of idsOf(postings.rows)) await repairPostings(client, workspaceId, id);
      await repairVoids(client, workspaceId);
      await repairLines(client, workspaceId);
      for (const month of await selectMonths(client, workspaceId)) {
        await repairDays(client, month, workspaceId);
      }
      await repairKeys(client, workspaceId);
      await repairBudgets(client, workspaceId);
      await removeStrayAnswers(client, workspaceId);
      // The sums of days have changed, so the days must be folded again.
      await unfold(client, workspaceId);
      await execute(client, sql`commit`);
      return;
    } catch (error) {
      await execute(client, sql`rollback`).catch(() => {});
      if (!isContention(error) || attempt >= maxAttempts) throw error;
      await pauseAfterConflict();
    }
  }
}

const idsOf = (rows: DifferingRow[]) => rows.flatMap(({ id }) => id ?? []);
