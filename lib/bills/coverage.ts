import type { ClientBase } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import { dayOf } from "@/lib/contract/values/instant";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import {
  absolute,
  add,
  compare,
  type Decimal,
  divideMoney,
  isZero,
  multiply,
  parseDecimal,
  roundTo,
  subtract,
  sum,
  toText,
  zero,
} from "@/lib/decimal";
import { groupBy } from "@/lib/group-by";
import { addMonthStart } from "@/lib/spend/period";
import { selectAdjusted } from "./adjustment-queries";
import { type Books, type StatementRow, selectRecorded } from "./bill-queries";
import { loadCounted } from "./load-cells";
import { joinOverlapping } from "./match";
import { firstDayAfter, providerKeyOf } from "./read-row";

/** What was billed, and how much of it is recorded, USD. */
export type Covered = {
  billed: Decimal;
  /** Recorded in the billed periods. Adjustments count as recorded. */
  recorded: Decimal;
  /** Billed and not recorded: by provider and period, so that an excess in one does not hide a gap in another. */
  missing: Decimal;
  /** What billed and recorded of a provider differ by, in either direction; of several providers the sum. */
  difference: Decimal;
};
export type ProviderCoverage = Covered & { provider: string };

/** The coverage of a month, `YYYY-MM`, as a whole and by provider. */
export type Coverage = Covered & { month: string; providers: ProviderCoverage[] };

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
  const months = counted.map(({ from }) => from.slice(0, 7)).sort();
  const [first, last] = [months[0], months.at(-1)];
  if (first === undefined || last === undefined) return [];
  const [from, until] = [`${first}-01`, firstDayAfter(last)];
  return coverMonths(counted, [
    ...(await selectRecorded(client, books, from, until, "provider")),
    ...(await selectAdjusted(client, books.id, from, until)),
  ]);
}

/** What was recorded or adjusted on a day at a provider, USD. */
type RecordedDay = { provider: string; day: string; amount_usd: string };

/**
 * The coverage of each month that has a statement, earliest first.
 * @param counted the statements that count
 * @param rows what was recorded and adjusted on their days
 */
export function coverMonths(
  counted: readonly Pick<StatementRow, "provider" | "from" | "until" | "amount_usd">[],
  rows: readonly RecordedDay[],
): Coverage[] {
  const recorded = groupBy(rows, ({ provider }) => providerKeyOf(provider));
  const byMonth = groupBy(counted, ({ from }) => from.slice(0, 7));
  return [...byMonth].sort().map(([month, own]) => {
    const providers = [...groupBy(own, ({ provider }) => provider)].sort().map(([provider, statements]) => ({
      provider,
      ...coverProvider(statements, recorded.get(provider) ?? []),
    }));
    const total = (of: keyof Covered) => sum(providers.map((one) => one[of]));
    return {
      month,
      ...{ billed: total("billed"), recorded: total("recorded") },
      ...{ missing: total("missing"), difference: total("difference") },
      providers,
    };
  });
}

function coverProvider(
  statements: readonly Pick<StatementRow, "from" | "until" | "amount_usd">[],
  rows: readonly RecordedDay[],
): Covered {
  const usdOf = (of: readonly { amount_usd: string }[]) =>
    sum(of.map(({ amount_usd: usd }) => parseDecimal(usd)));
  let [billed, recorded, missing] = [zero, zero, zero];
  for (const { from, until } of joinOverlapping(statements.map((one) => ({ ...one, facts: [] })))) {
    const usd = usdOf(statements.filter((one) => one.from >= from && one.from < until));
    const here = usdOf(rows.filter(({ day }) => day >= from && day < until));
    const rest = subtract(usd, here);
    [billed, recorded] = [add(billed, usd), add(recorded, here)];
    if (compare(rest, zero) > 0) missing = add(missing, rest);
  }
  return { billed, recorded, missing, difference: absolute(subtract(billed, recorded)) };
}

/** The percentage of the billed amount below which the overview and the weekly report warn. */
export const leastCoverage = 95;

/** Whether less than a percentage of the billed amount is recorded. @param percent such as 95 */
export const isBelow = ({ billed, missing }: Pick<Covered, "billed" | "missing">, percent: number): boolean =>
  compare(billed, zero) > 0 &&
  compare(multiply(subtract(billed, missing), parseDecimal(100)), multiply(billed, parseDecimal(percent))) <
    0;

/**
 * How much of the billed amount is recorded, in percent, as text. Rounded down to one decimal: "100" only if all of it is recorded, "0" only
 * if nothing is. Null if nothing was billed.
 */
export function coveragePercent({ billed, missing }: Pick<Covered, "billed" | "missing">): string | null {
  if (compare(billed, zero) <= 0) return null;
  if (isZero(missing)) return "100";
  const covered = subtract(billed, missing);
  // Credits may leave less billed than is missing on the other days.
  if (compare(covered, zero) <= 0) return "0";
  const percent = roundTo(divideMoney(multiply(covered, parseDecimal(100)), billed), 1, "down");
  const [least, most] = [parseDecimal("0.1"), parseDecimal("99.9")];
  return toText(compare(percent, least) < 0 ? least : compare(percent, most) > 0 ? most : percent);
}
