import { cookies } from "next/headers";
import type { SearchParams } from "@/components/filters/href";
import { type PageRange, rangeNames } from "@/components/filters/range";
import { rangeCookie, readRangeCookie } from "@/components/filters/range-memory";
import type { Membership } from "@/lib/contract/access/me";
import {
  comparisonOf,
  type Period,
  periodOf,
  type RangeQuery,
  rangeQuery,
} from "@/lib/contract/spend/ledger-query";
import { type Clock, clockOf } from "@/lib/contract/values/clock";
import { dayOf } from "@/lib/contract/values/instant";
import type { DayRange } from "@/lib/contract/values/month";
import { explainIssue } from "@/lib/contract/values/parse-part";
import { comparedWith, rangeAfter, rangeBefore, rangeOf, toAnsweredRange } from "@/lib/spend/period";

/** The range that was last chosen in the browser of the request; null for none. */
export async function readRememberedRange(): Promise<ReturnType<typeof readRangeCookie>> {
  return readRangeCookie((await cookies()).get(rangeCookie)?.value);
}

/** The clock of a workspace, by this machine's time. */
export const clockNow = ({ time_zone: timeZone }: Membership): Clock => clockOf(timeZone, Date.now());

/**
 * The range of a page: that of its address, otherwise the one that was last chosen in this browser, otherwise this month.
 * @param remembered the range remembered by the browser; ignored if it is invalid
 * @param clock that of the workspace
 * @returns the range, in the form of queries and of controls; `params`, the address's parameters with the shown range; and
 *   `problem`, if the address's range is invalid and this month is shown instead
 */
export function readPageRange(
  search: SearchParams,
  remembered: ReturnType<typeof readRangeCookie>,
  clock: Pick<Clock, "now" | "timeZone">,
): { query: RangeQuery; range: PageRange; params: SearchParams; problem: string | undefined } {
  const given = Object.fromEntries(
    rangeNames.flatMap((name) => (search[name] === undefined ? [] : [[name, search[name]]])),
  );
  const isGiven = Object.keys(given).length > 0;
  const parsed = rangeQuery.safeParse(isGiven ? given : (remembered ?? {}));
  const query = parsed.data ?? {};
  const [issue] = (isGiven && parsed.error?.issues) || [];
  const others = Object.fromEntries(
    Object.entries(search).filter(([name]) => !(rangeNames as readonly string[]).includes(name)),
  );
  return {
    query,
    range: toPageRange(query, clock),
    params: { ...others, ...query },
    problem: issue && `${issue.path.join(".")} ${explainIssue(issue)}`,
  };
}

function toPageRange(query: RangeQuery, { now, timeZone }: Pick<Clock, "now" | "timeZone">): PageRange {
  const period = periodOf(query);
  const range = rangeOf(query, now);
  const previous = comparedWith(query, now)?.whole;
  const earlier = rangeBefore(period, range);
  const later = rangeAfter(period, range);
  const hasBegun = later && Date.parse(later.from) <= now;
  return {
    period,
    ...toAnsweredRange(range),
    compare: comparisonOf(query),
    previous: previous ? (toAnsweredRange(previous) as { from: string; to: string }) : null,
    earlier: earlier ? nameRange(earlier, now) : null,
    later: later && hasBegun ? nameRange(later, now) : null,
    today: dayOf(now),
    timeZone,
  };
}

/** The named periods that a range of days may equal. */
const named: Period[] = [
  "month",
  "last_month",
  "week",
  "quarter",
  "last_quarter",
  "year",
  "year_to_date",
  "day",
];

/** A range as a query: a named period if the range equals one today, otherwise its days. */
function nameRange(range: DayRange, now: number): { period: Period; from?: string; to?: string } {
  const period = named.find((each) => {
    const { from, until } = rangeOf({ period: each }, now);
    return from === range.from && until === range.until;
  });
  if (period) return { period };
  return { period: "range", ...(toAnsweredRange(range) as { from: string; to: string }) };
}
