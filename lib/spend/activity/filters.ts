import type { ActivityFilters } from "@/lib/contract/spend/activity-filters";
import { empty, type Sql, sql } from "@/lib/db/sql";
import { lowerAsPostgres } from "@/lib/keys/blocking-budgets";

/** The filters that apply to rows of the ledger and to rows of its sums. */
export type LedgerFilters = Pick<
  ActivityFilters,
  "project" | "type" | "environment" | "key" | "provider" | "model" | "feature" | "user" | "tag" | "source"
>;

/**
 * The conditions on the columns that the ledger and its sums share. An undefined filter adds no condition; null means "has
 * none".
 * @param row the alias of the table
 */
export function rowConditions(row: Sql, workspaceId: string, filters: LedgerFilters): Sql {
  const { project, key, type, environment, provider, source, tag } = filters;
  const ofProject = sql`
    and ${row}.project_id = (select id from public.projects where workspace_id = ${workspaceId} and slug = ${project})`;
  return sql`${project === undefined ? empty : ofProject}${condition(sql`${row}.api_key_id`, key)}
    ${condition(sql`${row}.type`, type)}${condition(sql`${row}.environment`, environment)}
    ${providerCondition(sql`${row}.provider`, provider)}${condition(sql`${row}.source`, source)}
    ${tag === undefined ? empty : tag === null ? sql`and ${row}.tags is null` : sql`and ${row}.tags @> ${[tag]}`}`;
}

/** The service tier of a posting of usage. */
export const tierOf = (posting: Sql): Sql => sql`coalesce(${posting}.details ->> 'service_tier', 'standard')`;

/** Condition: a posting is neither voided nor a void, nor an adjustment of a closed month. */
export const isStanding = (posting: Sql): Sql =>
  sql`(${posting}.voids is null and ${posting}.voided_by is null and ${posting}.adjusts is null)`;

/** The conditions on columns that can differ between the lines of a batch. */
export function lineConditions(line: Sql, { model, feature, user }: LedgerFilters): Sql {
  return sql`${condition(sql`${line}.model`, model)}${condition(sql`${line}.feature`, feature)}
    ${condition(sql`${line}.end_user`, user)}`;
}

/**
 * The form of a provider's or vendor's name that is compared and summed: names that differ only in letter case are one provider
 * in budgets, filters and sums. Rows keep the name as it was sent; `shownProvider` chooses the spelling of an answer.
 */
export const providerKey = (name: Sql): Sql => sql`lower(${name})`;

/** The spelling shown for the summed rows of one provider: the first in byte order, so capitals come first. */
export const shownProvider = (name: Sql): Sql => sql`min(${name} collate "C")`;

/** Whether two names mean the same provider. */
export const isSameProvider = (one: string, other: string): boolean =>
  lowerAsPostgres(one) === lowerAsPostgres(other);

/** Like `condition`, for a column of providers. */
export function providerCondition(column: Sql, value: string | null | undefined): Sql {
  if (value === undefined || value === null) return condition(column, value);
  return sql` and ${providerKey(column)} = ${providerKey(sql`${value}`)}`;
}

/** The condition that a column has a value, or is null; no condition if the value is undefined. */
export function condition(column: Sql, value: string | null | undefined): Sql {
  if (value === undefined) return empty;
  return value === null ? sql` and ${column} is null` : sql` and ${column} = ${value}`;
}
