import type { ActivityFilters } from "@/lib/contract/spend/activity";
import { empty, type Sql, sql } from "@/lib/db/sql";

/** What rows of the ledger and of its sums are filtered by alike. */
export type LedgerFilters = Pick<
  ActivityFilters,
  "project" | "type" | "environment" | "key" | "provider" | "model" | "feature" | "user" | "tag" | "source"
>;

/**
 * The conditions on the columns that a row of the ledger and a row of its sums both have. A filter that is undefined is
 * no condition; null means "has none".
 * @param row the alias of the table
 */
export function rowConditions(row: Sql, workspaceId: string, filters: LedgerFilters): Sql {
  const { project, key, type, environment, provider, source, tag } = filters;
  const ofProject = sql`
    and ${row}.project_id = (select id from public.projects where workspace_id = ${workspaceId} and slug = ${project})`;
  return sql`${project === undefined ? empty : ofProject}${condition(sql`${row}.api_key_id`, key)}
    ${condition(sql`${row}.type`, type)}${condition(sql`${row}.environment`, environment)}
    ${condition(sql`${row}.provider`, provider)}${condition(sql`${row}.source`, source)}
    ${tag === undefined ? empty : tag === null ? sql`and ${row}.tags is null` : sql`and ${row}.tags @> ${[tag]}`}`;
}

/** The conditions on what the lines of a batch have each for themselves. */
export function lineConditions(line: Sql, { model, feature, user }: LedgerFilters): Sql {
  return sql`${condition(sql`${line}.model`, model)}${condition(sql`${line}.feature`, feature)}
    ${condition(sql`${line}.end_user`, user)}`;
}

/** That a column has a value, which may be null; nothing where it is undefined. */
export function condition(column: Sql, value: string | null | undefined): Sql {
  if (value === undefined) return empty;
  return value === null ? sql` and ${column} is null` : sql` and ${column} = ${value}`;
}
