import type { ClientBase } from "pg";
import { neverNull, text } from "@/lib/db/columns";
import { selectAll } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";

/** The sums that the ledger keeps for an environment, including months whose messages were removed. */
export type LedgerSum = { environment: string; amount_usd: string; message_count: string };

/** The sums of a workspace's ledger by environment. */
export function selectLedgerSums(client: ClientBase, workspaceId: string): Promise<LedgerSum[]> {
  return selectAll(
    client,
    { environment: text(), amount_usd: neverNull(text()), message_count: neverNull(text()) },
    sql`select environment, trim_scale(sum(amount_usd))::text as amount_usd, sum(message_count)::text as message_count
      from public.daily_spend where workspace_id = ${workspaceId} group by environment order by environment`,
  );
}
