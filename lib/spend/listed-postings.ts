import { type Sql, sql } from "@/lib/db/sql";

/**
 * Lists show a batch, and a usage with lines, as one row: the first posting stands for all of the lines. So written, the
 * condition implies that of the indexes that lists are read by.
 */
export const isListed = sql`(m.part = 0 or (m.type <> 'batch' and m.type <> 'usage'))`;

/** Whether a listed row `m` stands for lines. The first line of a usage says how many there are. */
export const hasLines = sql`(m.type = 'batch' or (m.type = 'usage' and coalesce(m.details ? 'lines', false)))`;

/** How often a posting of a message counts: a void takes away what was counted. @param row an alias of `public.messages` */
export const countOf = (row: Sql) => sql`case when ${row}.voids is null then 1 else -1 end`;

/**
 * What a listed row `m` stands for: itself, or all lines of the message. Goes into a lateral join.
 * @param within a condition on when it occurred: from this, which is known beforehand, partitions are chosen
 */
export function postingsOf(workspaceId: string, within: (occurredAt: Sql) => Sql): Sql {
  const columns = (row: Sql) =>
    sql`${row}.part, ${row}.model, ${row}.feature, ${row}.end_user, ${row}.session, ${row}.amount_usd, ${row}.cost_status,
      ${row}.list_price_usd, ${row}.unit_type, ${row}.quantity`;
  return sql`
    select ${columns(sql`m`)} where not ${hasLines}
    union all
    select ${columns(sql`line`)}
    from public.messages as line
    where ${hasLines} and line.workspace_id = ${workspaceId} and line.id = m.id
      and line.occurred_at = m.occurred_at and ${within(sql`line.occurred_at`)}`;
}
