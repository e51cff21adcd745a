import { type Sql, sql } from "@/lib/db/sql";

/**
 * The condition for a listed row. Lists show a batch, and a usage with lines, as one row: the first posting stands for all lines.
 * Written like this, it implies the condition of the partial indexes that lists are read by.
 */
export const isListed = sql`(m.part = 0 or (m.type <> 'batch' and m.type <> 'usage'))`;

/** Whether a listed row `m` stands for lines. The first line of a usage says how many there are. */
export const hasLines = sql`(m.type = 'batch' or (m.type = 'usage' and coalesce(m.details ? 'lines', false)))`;

/** 1 for a posting that is counted, -1 for one of a void, which uncounts another. @param row an alias of `public.messages` */
export const countOf = (row: Sql) => sql`case when ${row}.voids is null then 1 else -1 end`;

/**
 * The postings that a listed row `m` stands for: itself, or all lines of the message. For a lateral join.
 * @param within a condition on the time of occurrence with constant bounds, by which Postgres chooses partitions
 */
export function postingsOf(workspaceId: string, within: (occurredAt: Sql) => Sql): Sql {
  const columns = (row: Sql) =>
    sql`${row}.part, ${row}.model, ${row}.feature, ${row}.end_user, ${row}.session, ${row}.amount_usd, ${row}.cost_status,
      ${row}.list_price_usd, ${row}.unit_type, ${row}.quantity, ${row}.details`;
  return sql`
    select ${columns(sql`m`)} where not ${hasLines}
    union all
    select ${columns(sql`line`)}
    from public.messages as line
    where ${hasLines} and line.workspace_id = ${workspaceId} and line.id = m.id
      and line.occurred_at = m.occurred_at and ${within(sql`line.occurred_at`)}`;
}
