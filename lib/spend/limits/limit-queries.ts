import type { ClientBase } from "pg";
import { callFunction } from "@/lib/db/query";
import type { BlockingBudgetRow } from "@/lib/keys/blocking-budgets";

/** What a key spent this UTC month and its limit refused (USD, exact text), and the blocking budgets that its settings name. As the service. */
export function selectKeyLimits(
  client: ClientBase,
  keyId: string,
): Promise<{ spent_usd: string; refused_usd: string; budgets: BlockingBudgetRow[] }> {
  return callFunction(client, "private.read_key_limits", keyId);
}
