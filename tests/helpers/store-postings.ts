import { randomUUID } from "node:crypto";
import type { ClientBase } from "pg";

/** A posting: its workspace and project, and columns of `public.messages` in place of those of live usage. */
type NewPosting = {
  workspace_id: string;
  occurred_at: string;
  amount_usd: string;
  [column: string]: unknown;
};

/** Records postings as a call does: with the sums of their days, and what they count in budgets. The months must exist. */
export async function storePostings(service: ClientBase, postings: NewPosting[]): Promise<void> {
  const rows = postings.map((posting) => ({
    ...{ id: randomUUID(), type: "usage", source: "api", environment: "live", cost_status: "client" },
    ...{ created_at: posting.occurred_at, ...posting },
  }));
  await service.query("select private.store_messages('[]', $1, '[]')", [JSON.stringify(rows)]);
}
