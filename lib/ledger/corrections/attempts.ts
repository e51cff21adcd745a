import { createHash } from "node:crypto";
import type { ClientBase } from "pg";
import { asServiceWithin, isContention, violatedConstraint } from "@/lib/db/transaction";
import { parseDecimal, subtract } from "@/lib/decimal";
import { budgetExceeded, parseBudgets } from "@/lib/keys/blocking-budgets";
import { withMonths } from "@/lib/ledger/ingest/months";
import { selectExceededBudget } from "./correction-queries";

/** Attempts of a request that others got in the way of. */
const maxAttempts = 8;

/** What fails where another request was first: the next attempt finds what that one did. */
const lostRaces = ["message_voids_pkey", "bulk_actions_once"];

/**
 * Runs a transaction that voids messages, again where another request got in its way.
 * @throws what the last attempt throws
 */
export async function untilFirst<T>(attempt: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await withMonths(attempt);
    } catch (error) {
      const isBeaten = lostRaces.includes(violatedConstraint(error));
      if (tries === maxAttempts || !(isBeaten || isContention(error))) throw error;
    }
  }
}

/** What an idempotency key stands for: the SHA-256 of a request, in hex, whatever the order of its members. */
export const hashOf = (meaning: object): string =>
  createHash("sha256").update(JSON.stringify(meaning, inOrder)).digest("hex");

/** Writes the members of objects in one order, whatever order they were sent in. For `JSON.stringify`. */
function inOrder(_: string, value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

/**
 * Refuses what takes a blocking budget past its limit that it raises the spend of. What lowers it is never refused. The
 * transaction holds the blocking budgets, so that no other one decides about them meanwhile.
 * @param added the voids and corrections that the transaction recorded
 * @throws ServiceError budget_exceeded, as for a message that is recorded; the transaction has to end then
 */
export async function demandRoomInBudgets(
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
