import type { SearchParams } from "@/components/filters/href";
import { activityQuery } from "@/lib/contract/activity";
import { metricsQuery } from "@/lib/contract/metrics";

const rowsPerPage = 50;

/** The parameters of the page's address that are filters of the API too. */
const filterNames = Object.keys(activityQuery.shape).filter((name) => name !== "limit" && name !== "cursor");

/**
 * Parses the query parameters of the activity page. By default the page shows live messages, while the API shows all.
 * @returns `params` as in the address, and the queries `rows` and `sums` for the services; or a `problem` as text. `sums` is
 *   undefined for filters by text, cost status, session and emitter, for which the service keeps no sums.
 */
export function parseSearch(search: SearchParams) {
  const params = Object.fromEntries(
    filterNames.flatMap((name): [string, string][] => {
      const value = search[name];
      const isGiven = typeof value === "string" && !(name === "q" && value.trim() === "");
      return isGiven ? [[name, value]] : [];
    }),
  );
  const filters: Record<string, string> = { environment: "live", ...params };
  const rows = activityQuery.safeParse({ ...filters, limit: rowsPerPage });
  if (!rows.success) {
    const [issue] = rows.error.issues;
    return { params, problem: `${issue?.path.join(".")} ${issue?.message}` };
  }
  const { q, cost_status, session, emitter, ...sumFilters } = filters;
  const isSummed = [q, cost_status, session, emitter].every((filter) => filter === undefined);
  const { period, from, to, environment = "live" } = filters;
  const days = { environment, ...(period && { period }), ...(from && { from }), ...(to && { to }) };
  return {
    params,
    filters,
    rows: rows.data,
    sums: isSummed ? metricsQuery.parse(sumFilters) : undefined,
    /** The period and the environment, without the other filters. */
    days,
    isFiltered: Object.keys(params).some((name) => !(name in days)),
  };
}
