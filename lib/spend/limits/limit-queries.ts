import type { ClientBase } from "pg";
import { callFunction } from "@/lib/db/query";
import type { BlockingBudgetRow } from "@/lib/keys/blocking-budgets";
import type { HeldRow } from "@/lib/keys/holds";

/** What a key spent this UTC month, its limit refused and its reservations hold, USD as exact text. */
export type KeyUse = { spent_usd: string; refused_usd: string; held_usd: string };

/**
 * What a key used of its limit, what reservations hold of the budgets of its workspace, and the blocking budgets that its settings
 * name. As the service.
 */
export function selectKeyLimits(
  client: ClientBase,
  keyId: string,
): Promise<KeyUse & { held: HeldRow["budgets"]; budgets: BlockingBudgetRow[] }> {
  return callFunction(client, "private.read_key_limits", keyId);
}
