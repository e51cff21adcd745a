import { withMaintenanceClient } from "@/lib/db/maintenance";
import { execute } from "@/lib/db/query";
import { sql } from "@/lib/db/sql";
import { divideMoney, isZero, multiply, parseDecimal, toText } from "@/lib/decimal";
import { selectBilledWorkspaces } from "./bill-queries";
import { type Coverage, isBelow, leastCoverage, loadCoverage } from "./coverage";

/** The billed amount of a provider in a month, and the part that is not recorded; USD as exact text. */
type ComparedProvider = { provider: string; billed_usd: string; missing_usd: string };

/** A month of a workspace. `is_below`: whether less than 95 % of what was billed is recorded. */
export type ComparedMonth = {
  workspace: string;
  month: string;
  billed_usd: string;
  missing_usd: string;
  is_below: boolean;
  providers: ComparedProvider[];
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
      for (const coverage of await loadCoverage(client, { id, timeZone }, "0001-01-01"))
        months.push(toCompared(workspace, coverage));
    return months;
  });
}

const toCompared = (workspace: string, coverage: Coverage): ComparedMonth => ({
  workspace,
  month: coverage.month,
  billed_usd: toText(coverage.billed),
  missing_usd: toText(coverage.missing),
  is_below: isBelow(coverage, leastCoverage),
  providers: coverage.providers.map(({ provider, billed, missing }) => ({
    provider,
    billed_usd: toText(billed),
    missing_usd: toText(missing),
  })),
});

/** The comparison as text: a line for each provider of a month. */
export function describeBills(months: readonly ComparedMonth[]): string {
  if (months.length === 0) return "There is no bill to compare with.\n";
  const lines = months.flatMap(({ workspace, month, providers }) =>
    providers.map(
      ({ provider, billed_usd: billed, missing_usd: missing }) =>
        `${workspace}: ${month} ${provider}: $${billed} billed, $${missing} of it not recorded (${missingShare(billed, missing)}).`,
    ),
  );
  const below = months.filter((month) => month.is_below).length;
  const verdict =
    below === 0
      ? `At least ${leastCoverage}% of every month is recorded.`
      : `${below} of ${months.length} months are recorded to less than ${leastCoverage}%.`;
  return `${[...lines, verdict].join("\n")}\n`;
}

/** A share in percent, with one decimal. */
function missingShare(billed: string, missing: string): string {
  if (isZero(parseDecimal(billed))) return "0%";
  const share = divideMoney(multiply(parseDecimal(missing), parseDecimal(100)), parseDecimal(billed));
  return `${Math.round(Number(toText(share)) * 10) / 10}%`;
}
