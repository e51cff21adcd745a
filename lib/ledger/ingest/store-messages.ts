import type { ClientBase } from "pg";
import { callFunction, execute } from "@/lib/db/query";
import { type Sql, sql } from "@/lib/db/sql";
import type { RememberedRequest } from "./idempotency";
import type { LedgerRow } from "./ledger";
import { extractShared } from "./shared-columns";

/** A project that is created because a message names it for the first time. */
export type NewProject = { workspace_id: string; id: string; slug: string; name: string };

/** The answer to store under the idempotency keys of one message. */
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
 * A statement that writes messages, and in the same transaction their sums, projects and replays.
 * It fails with a serialization failure (40001) if another process has stored a project or an idempotency key first.
 */
export function storeMessagesStatement({ projects, messages, replays }: Batch): Sql {
  const { shared, rows } = extractShared(messages);
  return sql`select private.store_messages(
    ${JSON.stringify(projects)}, ${rows}, ${JSON.stringify(replays)}, ${shared})`;
}

/** Writes messages without admission. Holds the budgets of their workspaces, as an admitted group does. */
export async function storeMessages(client: ClientBase, batch: Batch): Promise<void> {
  const workspaceIds = [...new Set(batch.messages.map((row) => row.workspace_id))];
  await callFunction(client, "private.hold_budgets", workspaceIds);
  await execute(client, storeMessagesStatement(batch));
}
