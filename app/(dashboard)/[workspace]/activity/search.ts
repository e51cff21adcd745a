import type { SearchParams } from "@/components/filters/href";
import { activityQuery } from "@/lib/contract/activity";
import { metricsQuery } from "@/lib/contract/metrics";

const rowsAPage = 50;

/** The parameters of the page's address that are filters of the API's, by the same names. */
const filterNames = Object.keys(activityQuery.shape).filter((name) => name !== "limit" && name !== "cursor");

/**
 * What the page's address asks for. Unlike the API, the page shows live messages unless it is asked for test ones.
 * @returns `params` as the address has them, `rows` and `sums` as services take them, or a `problem` in words.
 *   `sums` is undefined where nobody keeps the sum: for texts, and for how a cost came about.
 */
export function readSearch(search: SearchParams) {
  const params = Object.fromEntries(
    filterNames.flatMap((name): [string, string][] => {
      const value = search[name];
      const isGiven = typeof value === "string" && !(name === "q" && value.trim() === "");
      return isGiven ? [[name, value]] : [];
    }),
  );
  const filters: Record<string, string> = { environment: "live", ...params };
  const rows = activityQuery.safeParse({ ...filters, limit: rowsAPage });
  if (!rows.success) {
    const [issue] = rows.error.issues;
    return { params, problem: `${issue?.path.join(".")} ${issue?.message}` };
  }
  const { q, cost_status, ...ofSums } = filters;
  const isSummed = q === undefined && cost_status === undefined;
  const { period, from, to, environment = "live" } = filters;
  const days = { environment, ...(period && { period }), ...(from && { from }), ...(to && { to }) };
  return {
    params,
    filters,
    rows: rows.data,
    sums: isSummed ? metricsQuery.parse(ofSums) : undefined,
    /** The same days without any other filter. */
    days,
    isFiltered: Object.keys(params).some((name) => !(name in days)),
  };
}
