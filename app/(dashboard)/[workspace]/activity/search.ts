import type { SearchParams } from "@/components/filters/href";
import { rangeNames } from "@/components/filters/range";
import type { CurrentUser } from "@/lib/contract/access/me";
import { activityQuery } from "@/lib/contract/spend/activity";
import { metricsQuery } from "@/lib/contract/spend/metrics";
import { explainIssue } from "@/lib/contract/values/parse-part";
import { readPageRange } from "../page-range";

const rowsPerPage = 50;

/** The parameters of the page's address that are filters of the API too. */
const filterNames = Object.keys(activityQuery.shape).filter(
  (name) => !["limit", "cursor", "currency"].includes(name),
);

/**
 * Parses the query parameters of the activity page. By default the page shows live messages, while the API shows all.
 * @param remembered the range that the person last chose, for an address without one
 * @param currency the currency in which amounts are wanted besides USD
 * @returns `params` of the address, with the shown range, `range` for its controls, and the queries `rows` and `sums` for the services; or a `problem` as text. `sums` is
 *   undefined for filters by text, cost status, session and emitter, for which the service keeps no sums.
 */
export function parseSearch(
  address: SearchParams,
  remembered: CurrentUser["profile"]["shown_range"],
  currency: string | undefined,
) {
  const { query: shownRange, range, params: search, problem } = readPageRange(address, remembered);
  const params = Object.fromEntries(
    filterNames.flatMap((name): [string, string][] => {
      const value = search[name];
      const isGiven = typeof value === "string" && !(name === "q" && value.trim() === "");
      return isGiven ? [[name, value]] : [];
    }),
  );
  if (problem !== undefined) return { params, problem };
  const filters: Record<string, string> = { environment: "live", ...params };
  const rows = activityQuery.safeParse({ ...filters, ...(currency && { currency }), limit: rowsPerPage });
  if (!rows.success) {
    const [issue] = rows.error.issues;
    return { params, problem: `${issue?.path.join(".")} ${issue && explainIssue(issue)}` };
  }
  const { q, cost_status, session, emitter, ...sumFilters } = filters;
  const isSummed = [q, cost_status, session, emitter].every((filter) => filter === undefined);
  const { environment = "live" } = filters;
  const { period, from, to } = shownRange;
  const days = { environment, ...(period && { period }), ...(from && { from }), ...(to && { to }) };
  return {
    params,
    range,
    filters,
    rows: rows.data,
    sums: isSummed ? metricsQuery.parse({ ...sumFilters, ...(currency && { currency }) }) : undefined,
    /** The period and the environment, without the other filters. */
    days,
    isFiltered: Object.keys(params).some(
      (name) => name !== "environment" && !(rangeNames as readonly string[]).includes(name),
    ),
  };
}
