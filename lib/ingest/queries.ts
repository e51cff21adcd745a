import type { PoolClient } from "pg";
import { database } from "@/lib/db/pool";
import type { LedgerRow } from "./ledger";

/** A project to be made by the message that first names it. */
export type NewProject = { workspace_id: string; id: string; slug: string; name: string };

/** What was answered to an idempotency key. */
export type Replay = {
  workspace_id: string;
  key: string;
  message_id: string;
  request: Record<string, unknown>;
  response: Record<string, unknown>;
  created_at: string;
};

/**
 * Writes messages with everything that must be true at the same moment.
 * @throws a serialization failure (40001) where another process was first with a project or an idempotency key
 */
export async function storeMessages(
  client: PoolClient,
  batch: { projects: NewProject[]; messages: LedgerRow[]; replays: Replay[] },
): Promise<void> {
  await client.query("select private.store_messages($1, $2, $3)", [
    JSON.stringify(batch.projects),
    JSON.stringify(batch.messages),
    JSON.stringify(batch.replays),
  ]);
}

const knownMonths = new Set<string>();

/** Makes the partitions of these instants (ISO 8601, UTC), once a process and month. */
export async function ensureMonths(instants: Iterable<string>): Promise<void> {
  for (const month of new Set([...instants].map((instant) => instant.slice(0, 7)))) {
    if (knownMonths.has(month)) continue;
    await database().query("select private.ensure_messages_month($1)", [`${month}-01T00:00:00Z`]);
    knownMonths.add(month);
  }
}
