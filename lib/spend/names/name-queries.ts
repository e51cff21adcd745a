import type { ClientBase } from "pg";
import { neverNull, type Row, text } from "@/lib/db/columns";
import { selectAll } from "@/lib/db/query";
import { containing, join, literalPattern, sql } from "@/lib/db/sql";

/** The dimensions of spend whose names can be searched. */
export const namedDimensions = ["feature", "user", "model", "provider", "tag"] as const;

const foundName = { dimension: text<(typeof namedDimensions)[number]>(), value: neverNull(text()) };

/** A name with spend, and its dimension. */
export type FoundName = Row<typeof foundName>;

/** What is searched for names. Days are UTC days, `YYYY-MM-DD`. */
export type NamesScope = {
  workspaceId: string;
  environment: "live" | "test";
  from: string;
  /** The day before which days are folded by month; null if none are. */
  foldedUntil: string | null;
  /** The most sums of months, and of days, that are searched for each dimension, the latest first. */
  mostSums: number;
};

/** The names that contain all words, those that begin with the text first. @param atMost names of each dimension */
export function selectNames(
  client: ClientBase,
  { workspaceId, environment, from, foldedUntil, mostSums }: NamesScope,
  wanted: string,
  atMost: number,
): Promise<FoundName[]> {
  const words = wanted.split(/\s+/).map(containing);
  const firstDay = foldedUntil !== null && foldedUntil > from ? foldedUntil : from;
  const named = namedDimensions.map((dimension) => {
    const of = sql`workspace_id = ${workspaceId} and environment = ${environment} and dimension = ${dimension}`;
    return sql`(
      select ${dimension}::text as dimension, value
      from (
        (select value from public.daily_totals where ${of} and day >= ${firstDay}::date order by day desc limit ${mostSums})
        union all
        (select value from public.monthly_totals where ${of} and first_day >= ${from}::date order by first_day desc limit ${mostSums})
      ) as sums
      where value ilike all (${words}::text[])
      group by value
      order by value ilike ${`${literalPattern(wanted)}%`} desc, value
      limit ${atMost}
    )`;
  });
  return selectAll(client, foundName, join(named, " union all "));
}
