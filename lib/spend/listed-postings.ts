import { type Sql, sql } from "@/lib/db/sql";

/**
 * Lists show a batch as one row: its first posting stands for all of its lines. So written, the condition is that of the
 * indexes that lists are read by, which have no entry for the other lines.
 */
export const isListed = sql`(m.part = 0 or m.type <> 'batch')`;

/**
 * What a listed row `m` stands for: itself, or all lines of the batch. Goes into a lateral join.
 * @param within a condition on when it occurred: from this, which is known beforehand, partitions are chosen
 */
export function postingsOf(workspaceId: string, within: (occurredAt: Sql) => Sql): Sql {
  const columns = (row: Sql) =>
    sql`${row}.part, ${row}.model, ${row}.feature, ${row}.amount_usd, ${row}.cost_status`;
  return sql`
    select ${columns(sql`m`)} where m.type <> 'batch'
    union all
    select ${columns(sql`line`)}
    from public.messages as line
    where m.type = 'batch' and line.workspace_id = ${workspaceId} and line.id = m.id
      and line.occurred_at = m.occurred_at and ${within(sql`line.occurred_at`)}`;
}
