import { withMaintenanceClient } from "@/lib/db/maintenance";
import { execute } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { isZero, toText } from "@/lib/decimal";
import { selectBilledWorkspaces } from "./bill-queries";
import {
  type Coverage,
  type Covered,
  coveragePercent,
  isBelow,
  leastCoverage,
  loadCoverage,
} from "./coverage";

/** What was billed, the part of it that is not recorded, USD as exact text, and the recorded share in percent. */
type ComparedSums = { billed_usd: string; missing_usd: string; coverage_percent: string | null };

/** A month of a workspace. `is_below`: whether less than 95 % of what was billed is recorded, once anything has been recorded. */
export type ComparedMonth = ComparedSums & {
  workspace: string;
  month: string;
  is_below: boolean;
  providers: (ComparedSums & { provider: string })[];
};

/**
 * Compares what was recorded with what providers billed, for the operator: every month with a bill, the earliest first.
 * @param slug of the one workspace to look at; all of them without it. @throws an error of the database
 */
export function compareBills(slug: string | undefined): Promise<ComparedMonth[]> {
  return withMaintenanceClient(async (client) => {
    await execute(client, sql`set timezone = 'UTC'`);
    const months: ComparedMonth[] = [];
    for (const { id, slug: workspace, time_zone: timeZone } of await selectBilledWorkspaces(
      client,
      slug ?? null,
    ))
      months.push(...compareMonths(workspace, await loadCoverage(client, { id, timeZone }, "0001-01-01")));
    return months;
  });
}

const toSums = (covered: Covered): ComparedSums => ({
  billed_usd: toText(covered.billed),
  missing_usd: toText(covered.missing),
  coverage_percent: coveragePercent(covered),
});

/** @param covered the months of a workspace. Those before the first one with anything recorded are its history, and no gap. */
function compareMonths(workspace: string, covered: readonly Coverage[]): ComparedMonth[] {
  const first = covered.find(({ recorded }) => !isZero(recorded))?.month ?? "";
  return covered.map((coverage) => ({
    ...toCompared(workspace, coverage),
    is_below: coverage.month >= first && isBelow(coverage, leastCoverage),
  }));
}

const toCompared = (workspace: string, coverage: Coverage): Omit<ComparedMonth, "is_below"> => ({
  workspace,
  month: coverage.month,
  ...toSums(coverage),
  providers: coverage.providers.map((one) => ({ provider: one.provider, ...toSums(one) })),
});

/** The comparison as text: a line for each provider of a month. */
export function describeBills(months: readonly ComparedMonth[]): string {
  if (months.length === 0) return "There is no bill to compare with.\n";
  const lines = months.flatMap(({ workspace, month, providers }) =>
    providers.map(
      ({ provider, billed_usd: billed, missing_usd: missing, coverage_percent: percent }) =>
        `${workspace}: ${month} ${provider}: $${billed} billed, ${percent === null ? "" : `${percent}% recorded, `}$${missing} not recorded.`,
    ),
  );
  const below = months.filter((month) => month.is_below).length;
  const verdict =
    below === 0
      ? `At least ${leastCoverage}% of every month is recorded, from the first with anything recorded on.`
      : `${below} of ${months.length} months are recorded to less than ${leastCoverage}%.`;
  return `${[...lines, verdict].join("\n")}\n`;
}
