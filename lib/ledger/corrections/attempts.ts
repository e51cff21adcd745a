import { createHash } from "node:crypto";
import type { ClientBase } from "pg";
import { asServiceWithin, isContention, violatedConstraint } from "@/lib/db/transaction";
import { parseDecimal, subtract } from "@/lib/decimal";
import { budgetExceeded, parseBudgets } from "@/lib/keys/blocking-budgets";
import { withMonths } from "@/lib/ledger/ingest/months";
import { selectExceededBudget } from "./correction-queries";

/** How often a transaction is tried that conflicts with others. */
const maxAttempts = 8;

/** Constraints that are violated if another request was first. The next attempt finds what that request recorded. */
const conflictConstraints = ["message_voids_pkey", "bulk_actions_once"];

/**
 * Runs a transaction that voids messages, and retries it after a conflict with another request.
 * @throws the error of the last attempt
 */
export async function retryOnConflict<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await withMonths(attempt);
    } catch (error) {
      const isConflict = conflictConstraints.includes(violatedConstraint(error));
      if (tries === maxAttempts || !(isConflict || isContention(error))) throw error;
    }
  }
}

/** The SHA-256 of a request, in hex, to compare requests with the same idempotency key. The order of members does not matter. */
export const hashOf = (meaning: object): string =>
  createHash("sha256").update(JSON.stringify(meaning, inOrder)).digest("hex");

/** A replacer for `JSON.stringify` that sorts the members of objects by name. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Refuses voids and corrections that raise the spend of a blocking budget past its limit. Lowering the spend is never refused. The
 * caller's transaction must lock the blocking budgets (`lockBlockingBudgets`), so that no other transaction spends from them meanwhile.
 * @param added ids of the voids and corrections that the transaction recorded
 * @throws ServiceError budget_exceeded, as when a message is recorded; the caller must roll back
 */
export async function requireWithinBudgets(
  client: ClientBase,
  workspaceId: string,
  added: string[],
): Promise<void> {
  const exceeded = await asServiceWithin(client, () => selectExceededBudget(client, workspaceId, added));
  if (!exceeded) return;
  const [budget] = parseBudgets([exceeded.budget]);
  const [period] = budget?.periods ?? [];
  if (!budget || !period) throw new Error("The exceeded budget has no period.");
  // Members read every budget of their workspace.
  throw budgetExceeded(true, budget, period, subtract(period.spent, parseDecimal(exceeded.added_usd)));
}
