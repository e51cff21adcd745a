import type { PoolClient } from "pg";
import type { SpendRange } from "./allocation";

/**
 * What projects have spent in ranges of days, USD as text. Until the transaction ends nobody else is told of the same
 * project, environment and month: two allocations at once cannot both move the same spend.
 */
export async function loadProjectSpend(
  client: PoolClient,
  wanted: SpendRange[],
): Promise<{ project_id: string; environment: string; from: string; until: string; amount_usd: string }[]> {
  if (wanted.length === 0) return [];
  const { rows } = await client.query("select private.load_project_spend($1) as spend", [
    JSON.stringify(wanted),
  ]);
  return rows[0]?.spend ?? [];
}

/** The key under which the signed-in member records by hand; null where they may not. The claims are still a user's. */
export async function selectMemberKey(
  client: PoolClient,
  workspaceId: string,
  environment: "live" | "test",
): Promise<string | null> {
  const { rows } = await client.query("select private.member_key($1, $2) as id", [workspaceId, environment]);
  return rows[0].id;
}
