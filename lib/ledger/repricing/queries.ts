import type { PoolClient } from "pg";
import type { CostStatus } from "@/lib/contract/message";

/** A correction of what messages cost, under way. */
export type Repricing = { workspace_id: string; id: string; includes_priced: boolean };

/** A line of a stored batch. */
export type StoredItem = {
  model?: string;
  unit_type: string;
  quantity: string;
  cached_quantity?: string;
  request_input_tokens?: string;
  feature?: string;
  amount_usd: string;
  cost_status: CostStatus;
  price?: unknown;
};

/** A stored message of usage, as a correction reads it. Decimals are text. */
export type StoredUsage = {
  id: string;
  occurred_at: Date;
  provider: string;
  model: string | null;
  unit_type: string | null;
  quantity: string | null;
  amount_usd: string;
  cost_status: CostStatus;
  details: { cached_quantity?: string; request_input_tokens?: string } | null;
  items: StoredItem[] | null;
};

/** What a message costs from now on. */
export type Change = {
  id: string;
  occurred_at: string;
  amount_usd: string;
  cost_status: CostStatus;
  price: unknown;
  items: StoredItem[] | null;
};

/** The oldest correction that nobody works at; locked until the transaction ends. */
export async function lockNextRepricing(client: PoolClient): Promise<Repricing | undefined> {
  const { rows } = await client.query<Repricing>("select * from private.lock_next_repricing()");
  return rows[0];
}

/** How often the workspace's prices were changed by now. */
export async function selectPricesVersion(client: PoolClient, workspaceId: string): Promise<number> {
  const { rows } = await client.query("select (private.load_prices($1) ->> 'version')::int as version", [
    workspaceId,
  ]);
  return rows[0]?.version ?? 0;
}

/** The next messages of a correction, in order; locked until the transaction ends. */
export async function lockRepriceable(
  client: PoolClient,
  { workspace_id, id }: Repricing,
  atMost: number,
): Promise<StoredUsage[]> {
  const { rows } = await client.query<StoredUsage>(
    `select id, occurred_at, provider, model, unit_type, quantity, amount_usd, cost_status, details, items
     from private.lock_repriceable($1, $2, $3)`,
    [workspace_id, id, atMost],
  );
  return rows;
}

/** Changes what messages cost with every sum they are part of. @returns the change of the total, USD as text */
export async function applyRepricing(
  client: PoolClient,
  workspaceId: string,
  changes: Change[],
): Promise<string> {
  if (changes.length === 0) return "0";
  const { rows } = await client.query("select private.apply_repricing($1, $2) as change", [
    workspaceId,
    JSON.stringify(changes),
  ]);
  return rows[0]?.change ?? "0";
}

/** Notes how far a correction has come; when it is done, leaves a line in the audit log. */
export async function advanceRepricing(
  client: PoolClient,
  { workspace_id, id }: Repricing,
  progress: { examined: StoredUsage[]; changed: number; change: string; isDone: boolean },
): Promise<void> {
  const last = progress.examined.at(-1);
  await client.query("select private.advance_repricing($1, $2, $3, $4, $5, $6, $7, $8)", [
    workspace_id,
    id,
    progress.examined.length,
    progress.changed,
    progress.change,
    last?.occurred_at ?? null,
    last?.id ?? null,
    progress.isDone,
  ]);
}
