import type { ClientBase } from "pg";
import { callFunction, execute } from "@/lib/db/query";
import { type Sql, sql } from "@/lib/db/sql";
import type { RememberedRequest } from "./idempotency";
import type { LedgerRow } from "./ledger";
import { extractShared } from "./shared-columns";

/** A project to be made by the message that first names it. */
export type NewProject = { workspace_id: string; id: string; slug: string; name: string };

/** What was answered to idempotency keys that stand for the same message. */
export type Replay = {
  workspace_id: string;
  keys: readonly string[];
  message_id: string;
  request: RememberedRequest;
  response: Record<string, unknown>;
  created_at: string;
};

/** What is written together with messages. */
type Batch = { projects: NewProject[]; messages: LedgerRow[]; replays: Replay[] };

/**
 * Writes messages with everything that must be true at the same moment.
 * @throws a serialization failure (40001) where another process was first with a project or an idempotency key
 */
export function storeMessagesStatement({ projects, messages, replays }: Batch): Sql {
  const { shared, rows } = extractShared(messages);
  return sql`select private.store_messages(
    ${JSON.stringify(projects)}, ${rows}, ${JSON.stringify(replays)}, ${shared})`;
}

/** Writes messages without admission. Budgets that are made meanwhile wait, as they do for admitted calls. */
export async function storeMessages(client: ClientBase, batch: Batch): Promise<void> {
  const workspaceIds = [...new Set(batch.messages.map((row) => row.workspace_id))];
  await callFunction(client, "private.hold_budgets", workspaceIds);
  await execute(client, storeMessagesStatement(batch));
}
