import type { PoolClient } from "pg";
import type { RememberedRequest } from "./idempotency";
import type { LedgerRow } from "./ledger";

/** A project to be made by the message that first names it. */
export type NewProject = { workspace_id: string; id: string; slug: string; name: string };

/** What was answered to an idempotency key. */
export type Replay = {
  workspace_id: string;
  key: string;
  message_id: string;
  request: RememberedRequest;
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
