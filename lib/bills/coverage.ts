import type { ClientBase } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { dayOf } from "@/lib/contract/values/instant";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { add, compare, type Decimal, multiply, parseDecimal, subtract, sum, zero } from "@/lib/decimal";
import { addMonthStart } from "@/lib/spend/period";
import { selectAdjusted } from "./adjustment-queries";
import { type Books, selectRecorded } from "./bill-queries";
import { loadCounted } from "./load-cells";
import { joinOverlapping } from "./match";
import { firstDayAfter, providerKeyOf } from "./read-row";

/**
 * How much of the billed amount of a month is recorded, in USD. Compared by provider and period, so that an excess in one does not hide
 * a gap in another. Adjustments count as recorded.
 */
export type Coverage = { month: string; billed: Decimal; missing: Decimal; providers: ProviderCoverage[] };
export type ProviderCoverage = { provider: string; billed: Decimal; missing: Decimal };

/** The coverage of this month, or of the last if this one has no bill, for members; null if neither has. @throws ServiceError not_found */
export function readCoverage(claims: UserClaims, slug: string): Promise<Coverage | null> {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    const since = addMonthStart(dayOf(now), -1);
    return (await loadCoverage(client, { id, timeZone }, since)).at(-1) ?? null;
  });
}

/** The coverage of each month with a bill, earliest first. @param since the first day of a month, `YYYY-MM-DD` */
export async function loadCoverage(client: ClientBase, books: Books, since: string): Promise<Coverage[]> {
  const counted = await loadCounted(client, books.id, since);
  const months = [...new Set(counted.map(({ from }) => from.slice(0, 7)))].sort();
  const [first, last] = [months[0], months.at(-1)];
  if (first === undefined || last === undefined) return [];
  const [from, until] = [`${first}-01`, firstDayAfter(last)];
  const recorded = (await selectRecorded(client, books, from, until, "provider")).map((row) => ({
    ...row,
    provider: providerKeyOf(row.provider),
  }));
  const rows = [...recorded, ...(await selectAdjusted(client, books.id, from, until))];
  return months.map((month) => {
    const own = counted.filter((statement) => statement.from.startsWith(month));
    const providers = [...new Set(own.map(({ provider }) => provider))].sort().map((provider) => {
      const statements = own.filter((statement) => statement.provider === provider);
      const periods = joinOverlapping(statements.map((statement) => ({ ...statement, facts: [] })));
      const within = <T extends { amount_usd: string }>(of: readonly T[], dayOfRow: (row: T) => string) =>
        periods.map((period) =>
          sum(
            of
              .filter((row) => dayOfRow(row) >= period.from && dayOfRow(row) < period.until)
              .map((row) => parseDecimal(row.amount_usd)),
          ),
        );
      const billed = within(statements, (statement) => statement.from);
      const here = within(
        rows.filter((row) => row.provider === provider),
        (row) => row.day,
      );
      const missing = billed.map((usd, index) => {
        const rest = subtract(usd, here[index] ?? zero);
        return compare(rest, zero) > 0 ? rest : zero;
      });
      return { provider, billed: sum(billed), missing: sum(missing) };
    });
    const total = (of: (one: ProviderCoverage) => Decimal) => providers.map(of).reduce(add, zero);
    return { month, billed: total((one) => one.billed), missing: total((one) => one.missing), providers };
  });
}

/** The percentage of the billed amount below which the overview and the weekly report warn. */
export const leastCoverage = 95;

/** Whether less than a percentage of the billed amount is recorded. @param percent such as 95 */
export const isBelow = (
  { billed, missing }: Pick<Coverage, "billed" | "missing">,
  percent: number,
): boolean =>
  compare(billed, zero) > 0 &&
  compare(multiply(subtract(billed, missing), parseDecimal(100)), multiply(billed, parseDecimal(percent))) <
    0;
