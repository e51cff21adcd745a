import type { ClientBase } from "pg";
import { asServiceWithin } from "@/lib/db/transaction";
import { budgetExceeded, parseBudgets } from "@/lib/keys/blocking-budgets";
import { parseDecimal, subtract } from "@/lib/ledger/pricing/decimal";
import { holdBlockingBudgets, selectExceededBudget } from "./queries";

/**
 * Voids and corrects a message, and refuses both where they take a blocking budget past its limit that they raise the spend
 * of. What lowers it is never refused. No other transaction decides about these budgets meanwhile.
 * @param change records the void and what replaces the message, in the caller's transaction
 * @throws ServiceError budget_exceeded, as for a message that is recorded; the transaction has to end then
 */
export async function requireRoomInBudgets(
  client: ClientBase,
  workspaceId: string,
  messageId: string,
  change: () => Promise<void>,
): Promise<void> {
  await asServiceWithin(client, () => holdBlockingBudgets(client, workspaceId));
  await change();
  const exceeded = await asServiceWithin(client, () => selectExceededBudget(client, workspaceId, messageId));
  if (!exceeded) return;
  const [budget] = parseBudgets([exceeded.budget]);
  const [period] = budget?.periods ?? [];
  if (!budget || !period) throw new Error("The exceeded budget has no period.");
  // Members read every budget of their workspace.
  throw budgetExceeded(true, budget, period, subtract(period.spent, parseDecimal(exceeded.added_usd)));
}
