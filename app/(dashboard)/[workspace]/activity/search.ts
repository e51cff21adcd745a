import type { z } from "zod";
import type { SearchParams } from "@/components/filters/href";
import { rangeNames } from "@/components/filters/range";
import { activityQuery } from "@/lib/contract/spend/activity";
import type { RangeQuery } from "@/lib/contract/spend/ledger-query";
import { metricsQuery } from "@/lib/contract/spend/metrics";
import { sessionsQuery } from "@/lib/contract/spend/sessions";
import { explainIssue } from "@/lib/contract/values/parse-part";
import { readPageRange } from "../page-range";

const rowsPerPage = 50;

/** The parameters of the page's address that are also filters of the API. */
const filterNames = [
  ...Object.keys(activityQuery.shape).filter((name) => !["limit", "cursor", "currency"].includes(name)),
  "group",
];

/** The parameters that decide how rows are shown, and not which. */
const viewNames: readonly string[] = ["environment", "sort", "group", ...rangeNames];

/**
 * Parses the query parameters of the activity page. By default the page shows live messages, while the API shows all.
 * @param remembered the range that was last chosen in this browser, for an address without one
 * @param currency a second currency for amounts
 * @param clock that of the workspace
 * @returns `params` of the address with the shown range, `range` for its controls, and the queries `rows` and `sums` for the services;
 *   or a `problem` as text. `sums` is undefined for filters by text, cost status, session, emitter, amount and adjustments, for which
 *   the service keeps no sums. If sessions are requested, the query `sessions` replaces both
 */
export function parseSearch(
  address: SearchParams,
  remembered: Parameters<typeof readPageRange>[1],
  currency: string | undefined,
  clock: Parameters<typeof readPageRange>[2],
) {
  const { query: shownRange, range, params: search, problem } = readPageRange(address, remembered, clock);
  const params = Object.fromEntries(
    filterNames.flatMap((name): [string, string][] => {
      const value = search[name];
      const isGiven = typeof value === "string" && !(name === "q" && value.trim() === "");
      return isGiven ? [[name, value]] : [];
    }),
  );
  if (problem !== undefined) return { params, problem };
  const { group, ...given } = params;
  if (group !== undefined && group !== "session") return { params, problem: "group must be session" };
  const { sort, ...filters }: Record<string, string> = { environment: "live", ...given };
  if (group !== undefined) {
    const sessions = sessionsQuery.safeParse({ ...filters, ...(sort && { sort }), limit: rowsPerPage });
    if (!sessions.success) return { params, problem: explainFirst(sessions.error) };
    return {
      params,
      range,
      filters,
      sessions: sessions.data,
      days: daysOf(shownRange, filters),
      isFiltered: isFilteredBy(params),
    };
  }
  const rows = activityQuery.safeParse({
    ...filters,
    ...(sort && { sort }),
    ...(currency && { currency }),
    limit: rowsPerPage,
  });
  if (!rows.success) return { params, problem: explainFirst(rows.error) };
  const { q, cost_status, session, emitter, min_amount, max_amount, adjusts, tier, standing, ...sumFilters } =
    filters;
  const isSummed = [q, cost_status, session, emitter, min_amount, max_amount, adjusts, tier, standing].every(
    (filter) => filter === undefined,
  );
  const isOfSession =
    session && [q, cost_status, min_amount, max_amount].every((filter) => filter === undefined);
  return {
    params,
    range,
    filters,
    sort,
    rows: rows.data,
    /** The query of the session of all rows, if its sum is that of the shown rows. */
    session: isOfSession ? sessionsQuery.parse({ ...sumFilters, emitter, session }) : undefined,
    sums: isSummed ? metricsQuery.parse({ ...sumFilters, ...(currency && { currency }) }) : undefined,
    /** The period and the environment, without the other filters. */
    days: daysOf(shownRange, filters),
    isFiltered: isFilteredBy(params),
  };
}

const isFilteredBy = (params: Record<string, string>) =>
  Object.keys(params).some((name) => !viewNames.includes(name));

function daysOf({ period, from, to }: RangeQuery, { environment = "live" }: Record<string, string>) {
  return { environment, ...(period && { period }), ...(from && { from }), ...(to && { to }) };
}

function explainFirst({ issues: [issue] }: z.ZodError): string {
  return `${issue?.path.join(".")} ${issue && explainIssue(issue)}`;
}
