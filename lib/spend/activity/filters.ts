import type { ActivityFilters } from "@/lib/contract/activity";

/** What rows of the ledger and of its sums are filtered by alike. */
export type LedgerFilters = Pick<
  ActivityFilters,
  "project" | "type" | "environment" | "key" | "provider" | "model" | "feature" | "source"
>;

/** The filters as one JSON argument of a statement: what is not filtered by is not in it, and null means "has none". */
export function filterArgument(filters: LedgerFilters): string {
  const { project, type, environment, key, provider, model, feature, source } = filters;
  return JSON.stringify({ project, type, environment, key, provider, model, feature, source });
}

/**
 * The conditions on the columns that a row of the ledger and a row of its sums both have, as SQL. The planner knows the
 * argument when it plans, so a filter that is not there costs nothing.
 * @param row the alias of the table
 * @param filter the placeholder of `filterArgument`, cast to jsonb
 */
export function rowConditions(row: string, filter: string): string {
  return `
    and (not ${filter} ? 'project' or ${row}.project_id = (
      select id from public.projects where workspace_id = $1 and slug = ${filter} ->> 'project'
    ))
    and (not ${filter} ? 'key' or ${equals(`${row}.api_key_id`, `(${filter} ->> 'key')::uuid`)})
    ${["type", "environment", "provider", "source"].map((column) => columnCondition(row, column, filter)).join("")}`;
}

/** The conditions on what the lines of a batch have each for themselves. */
export function lineConditions(line: string, filter: string): string {
  return ["model", "feature"].map((column) => columnCondition(line, column, filter)).join("");
}

function columnCondition(row: string, column: string, filter: string): string {
  return ` and (not ${filter} ? '${column}' or ${equals(`${row}.${column}`, `${filter} ->> '${column}'`)})`;
}

/**
 * That a column has a value, which may be null. Not `is not distinct from`, for which no index is used: of what stands
 * here the planner, which knows the value, leaves one of the two comparisons.
 */
function equals(column: string, value: string): string {
  return `${column} = ${value} or (${value} is null and ${column} is null)`;
}
