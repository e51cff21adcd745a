import type { ClientBase } from "pg";
import { uuid } from "@/lib/db/columns";
import { callFunction, selectFirst } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import type { BlockingBudgetRow } from "@/lib/keys/blocking-budgets";
import type { HeldRow } from "@/lib/keys/holds";

/** What a key spent in the current UTC month, what its limit refused, and what its reservations hold; USD as exact text. */
export type KeyUse = { spent_usd: string; refused_usd: string; held_usd: string };

/**
 * Reads what a key used of its limit, what reservations hold of the budgets of its workspace, and the blocking budgets that its
 * settings name. Runs as the service.
 */
export function selectKeyLimits(
  client: ClientBase,
  keyId: string,
): Promise<KeyUse & { held: HeldRow["budgets"]; budgets: BlockingBudgetRow[] }> {
  return callFunction(client, "private.read_key_limits", keyId);
}

/** The id of a project that the caller may see; undefined if there is none. */
export async function selectProjectId(
  client: ClientBase,
  workspaceId: string,
  slug: string,
): Promise<string | undefined> {
  const row = await selectFirst(
    client,
    { id: uuid() },
    sql`select id from public.projects where workspace_id = ${workspaceId} and slug = ${slug}`,
  );
  return row?.id;
}
