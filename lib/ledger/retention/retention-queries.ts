import type { ClientBase } from "pg";
import { bigint, text } from "@/lib/db/columns";
import { execute, selectAll, selectOne } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";

/** A month of messages: its first day (`YYYY-MM-DD`, UTC), the first day of the next month, and its size on disk in bytes. */
export type StoredMonth = { from: string; until: string; bytes: string };

/** The months before a day that have a partition, the earliest first. @param before `YYYY-MM-DD`, UTC */
export function selectMonthsBefore(client: ClientBase, before: string): Promise<StoredMonth[]> {
  return selectAll(
    client,
    { from: text(), until: text(), bytes: bigint() },
    sql`select first_day::text as from, (first_day + interval '1 month')::date::text as until,
        pg_catalog.pg_total_relation_size(id) as bytes
      from (
        -- A case, because Postgres may read the names of all relations before it finds the partitions among them.
        select c.oid as id,
          case when c.relname ~ '_[0-9]{4}_[0-9]{2}$' then to_date(right(c.relname, 7), 'YYYY_MM') end as first_day
        from pg_catalog.pg_inherits as i join pg_catalog.pg_class as c on c.oid = i.inhrelid
        where i.inhparent = 'public.messages'::regclass
      ) as months
      where first_day < ${before}::date
      order by first_day`,
  );
}

/** The number of messages and postings of a month. A message counts in the month of its first posting. */
export function countMonth(
  client: ClientBase,
  { from, until }: StoredMonth,
): Promise<{ messages: string; postings: string }> {
  return selectOne(
    client,
    { messages: bigint(), postings: bigint() },
    sql`select count(*) filter (where part = 0) as messages, count(*) as postings
      from public.messages
      where occurred_at >= ${`${from}T00:00:00Z`}::timestamptz and occurred_at < ${`${until}T00:00:00Z`}::timestamptz`,
  );
}

/** The first day of the current UTC month by the database's clock, `YYYY-MM-DD`. */
export async function selectThisMonth(client: ClientBase): Promise<string> {
  const { month } = await selectOne(
    client,
    { month: text() },
    sql`select date_trunc('month', now() at time zone 'UTC')::date::text as month`,
  );
  return month;
}

/** Removes the messages of a month and keeps their sums, in one transaction. */
export async function removeMonth(client: ClientBase, { from }: StoredMonth): Promise<void> {
  await execute(client, sql`select private.remove_messages_month(${from}::date)`);
}
