import type { PoolClient } from "pg";
import type { CostStatus } from "@/lib/contract/ledger/ingest-result";
import {
  boolean,
  integer,
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
import type { ServiceTier } from "@/lib/ledger/pricing/price-table";

const repricingRow = { workspace_id: uuid(), id: uuid(), includes_priced: boolean() };

/** A correction of stored amounts that is being carried out. */
export type Repricing = Row<typeof repricingRow>;

const usageRow = {
  id: uuid(),
  part: integer(),
  occurred_at: timestamp(),
  dated_at: neverNull(timestamp()),
  provider: neverNull(text()),
  model: nullable(text()),
  unit_type: neverNull(text()),
  quantity: neverNull(numeric()),
  amount_usd: numeric(),
  cost_status: text<CostStatus>(),
  list_price_usd: nullable(numeric()),
  details: nullable(
    json<{ cached_quantity?: string; request_input_tokens?: string; service_tier?: ServiceTier }>(),
  ),
};

/** A posting of usage. `dated_at`: when its cost occurred, which decides the price. Decimals are text. */
export type StoredUsage = Row<typeof usageRow>;

/** The new cost of a posting. */
export type Change = Pick<StoredUsage, "id" | "part" | "amount_usd" | "cost_status"> & {
  occurred_at: string;
  price: unknown;
  list_price_usd: string | null;
};

/** Locks the oldest correction that no other process has locked, until the transaction ends. */
export function lockNextRepricing(client: PoolClient): Promise<Repricing | undefined> {
  return selectFirst(
    client,
    repricingRow,
    sql`select workspace_id, id, includes_priced from private.lock_next_repricing()`,
  );
}

/**
 * Locks the next postings of a correction until the transaction ends, in the order of their messages.
 * @param atMost how many postings; more only to complete the last message, because a message is always corrected as a whole
 */
export function lockRepriceable(
  client: PoolClient,
  { workspace_id, id }: Repricing,
  atMost: number,
): Promise<StoredUsage[]> {
  return selectAll(
    client,
    usageRow,
    sql`select id, part, occurred_at, coalesce(adjusts, occurred_at) as dated_at, provider, model, unit_type, quantity, amount_usd, cost_status, list_price_usd, details
      from private.lock_repriceable(${workspace_id}, ${id}, ${atMost})`,
  );
}

/** Changes the amounts of postings and every sum that they are part of. @returns the change of the total, USD as text */
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

/** Stores the progress of a correction, in messages. When it is done, adds an entry to the audit log. */
export async function advanceRepricing(
  client: PoolClient,
  { workspace_id, id }: Repricing,
  progress: {
    examined: number;
    changed: number;
    change: string;
    last: Pick<StoredUsage, "id" | "occurred_at"> | undefined;
    isDone: boolean;
  },
): Promise<void> {
  await callFunction(
    client,
    "private.advance_repricing",
    workspace_id,
    id,
    progress.examined,
    progress.changed,
    progress.change,
    progress.last?.occurred_at ?? null,
    progress.last?.id ?? null,
    progress.isDone,
  );
}
