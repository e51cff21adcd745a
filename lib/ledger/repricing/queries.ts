import type { PoolClient } from "pg";
import type { CostStatus } from "@/lib/contract/message";
import {
  boolean,
  json,
  neverNull,
  nullable,
  numeric,
  type Row,
  text,
  timestamp,
  uuid,
} from "@/lib/db/columns";
import { callFunction, selectAll, selectFirst } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";

const repricingRow = { workspace_id: uuid(), id: uuid(), includes_priced: boolean() };

/** A correction of what messages cost, under way. */
export type Repricing = Row<typeof repricingRow>;

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

const usageRow = {
  id: uuid(),
  occurred_at: timestamp(),
  provider: neverNull(text()),
  model: nullable(text()),
  unit_type: nullable(text()),
  quantity: nullable(numeric()),
  amount_usd: numeric(),
  cost_status: text<CostStatus>(),
  details: nullable(json<{ cached_quantity?: string; request_input_tokens?: string }>()),
  items: nullable(json<StoredItem[]>()),
};

/** A stored message of usage, as a correction reads it. Decimals are text. */
export type StoredUsage = Row<typeof usageRow>;

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
export function lockNextRepricing(client: PoolClient): Promise<Repricing | undefined> {
  return selectFirst(
    client,
    repricingRow,
    sql`select workspace_id, id, includes_priced from private.lock_next_repricing()`,
  );
}

/** How often the workspace's prices were changed by now. */
export async function selectPricesVersion(client: PoolClient, workspaceId: string): Promise<number> {
  const loaded = await callFunction<{ version: number } | null>(client, "private.load_prices", workspaceId);
  return loaded?.version ?? 0;
}

/** The next messages of a correction, in order; locked until the transaction ends. */
export function lockRepriceable(
  client: PoolClient,
  { workspace_id, id }: Repricing,
  atMost: number,
): Promise<StoredUsage[]> {
  return selectAll(
    client,
    usageRow,
    sql`select id, occurred_at, provider, model, unit_type, quantity, amount_usd, cost_status, details, items
      from private.lock_repriceable(${workspace_id}, ${id}, ${atMost})`,
  );
}

/** Changes what messages cost with every sum they are part of. @returns the change of the total, USD as text */
export async function applyRepricing(
  client: PoolClient,
  workspaceId: string,
  changes: Change[],
): Promise<string> {
  if (changes.length === 0) return "0";
  const change = await callFunction<string | null>(
    client,
    "private.apply_repricing",
    workspaceId,
    JSON.stringify(changes),
  );
  return change ?? "0";
}

/** Notes how far a correction has come; when it is done, leaves a line in the audit log. */
export async function advanceRepricing(
  client: PoolClient,
  { workspace_id, id }: Repricing,
  progress: { examined: StoredUsage[]; changed: number; change: string; isDone: boolean },
): Promise<void> {
  const last = progress.examined.at(-1);
  await callFunction(
    client,
    "private.advance_repricing",
    workspace_id,
    id,
    progress.examined.length,
    progress.changed,
    progress.change,
    last?.occurred_at ?? null,
    last?.id ?? null,
    progress.isDone,
  );
}
