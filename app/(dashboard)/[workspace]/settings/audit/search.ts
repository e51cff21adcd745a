import { readPageRange } from "@/app/(dashboard)/[workspace]/page-range";
import type { SearchParams } from "@/components/filters/href";
import { auditQuery } from "@/lib/contract/access/audit";
import { explainIssue } from "@/lib/contract/values/parse-part";

const rowsPerPage = 50;

const filterNames = ["kind", "action", "actor", "key", "subject", "q", "order"] as const;
const rangeNames = ["period", "from", "to"] as const;

/**
 * Parses the query parameters of the audit log's page. Without a range it shows the whole log, not the range that was last
 * chosen elsewhere.
 * @returns `params` of the address without the cursor, `range` for its controls, and the `query` for the service; or a
 *   `problem` as text
 */
export function parseAuditSearch(address: SearchParams, clock: Parameters<typeof readPageRange>[2]) {
  const pick = (names: readonly string[]) =>
    Object.fromEntries(
      names.flatMap((name): [string, string | string[]][] => {
        const value = address[name];
        const isGiven = value !== undefined && !(name === "q" && String(value).trim() === "");
        return isGiven ? [[name, value]] : [];
      }),
    );
  const filters = pick(filterNames);
  const days = pick(rangeNames);
  const { range, problem } = readPageRange(days, { period: "all", compare: "none" }, clock);
  if (problem !== undefined) return { problem };
  const query = auditQuery.safeParse({
    ...filters,
    from: range.from ?? undefined,
    to: range.to ?? undefined,
    cursor: address.cursor,
    limit: rowsPerPage,
  });
  if (!query.success) {
    const [issue] = query.error.issues;
    return { problem: `${issue?.path.join(".")} ${issue && explainIssue(issue)}` };
  }
  return { params: { ...days, ...filters }, range, query: query.data };
}
