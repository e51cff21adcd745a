import type { ClientBase } from "pg";
import type { Metrics, MetricsQuery } from "@/lib/contract/spend/metrics";
import type { Clock } from "@/lib/contract/values/clock";
import { dayOf } from "@/lib/contract/values/instant";
import { parseDecimal, sum } from "@/lib/decimal";
import type { Display } from "@/lib/ledger/pricing/display-currency";
import { toExact } from "@/lib/ledger/pricing/exact";
import { displayOf, pairAmounts } from "@/lib/spend/conversion";
import { loadAllDays } from "@/lib/spend/explore/service";
import { type Compared, comparedWith, everything, rangeOf, spentWithin } from "@/lib/spend/period";
import { type ReadDays, selectTypeTotals, type TypeTotals } from "./metrics-queries";
import type { SpendScope } from "./rows-sql";

/** The totals of `loadMetrics` alone, and what is booked ahead. */
export async function loadTotals(
  client: ClientBase,
  workspaceId: string,
  { currency, ...query }: MetricsQuery,
  clock: Clock,
): Promise<Pick<Metrics, "totals" | "booked_ahead">> {
  const days = { ...daysOf(query, clock.now), before: undefined };
  const load = async (scope: SpendScope) => {
    const types = await selectTypeTotals(client, scope, days);
    return { totals: toTotals(types, ""), booked_ahead: toBookedAhead(types, days) };
  };
  const scope = { workspaceId, filters: query };
  const recorded = await load(scope);
  const display = await loadDisplay(client, workspaceId, { currency, ...query }, clock);
  return display ? pairAmounts(recorded, await load({ ...scope, display })) : recorded;
}

/** The currency of a query with the rates of the days of its figures; undefined if it names none. */
export async function loadDisplay(
  client: ClientBase,
  workspaceId: string,
  { currency, ...query }: Omit<MetricsQuery, "group_by">,
  { now }: Clock,
): Promise<Display | undefined> {
  if (currency === undefined) return undefined;
  const { range, before } = daysOf(query, now);
  const to = dayOf(now);
  const { environment } = query;
  const first =
    range.from === everything.from
      ? (await loadAllDays(client, { workspaceId, environment, to })).first
      : undefined;
  return displayOf(currency, {
    ranges: [range, before?.whole, before?.aligned],
    today: to,
    first: first ?? to,
  });
}

/** The days from which the figures of a query are read. @param now what the clock shows; see `Clock.now` */
export function daysOf(query: Omit<MetricsQuery, "group_by" | "currency">, now: number): ReadDays {
  const range = rangeOf(query, now);
  const before = comparedWith(query, now);
  return { range, spent: spentWithin(range, now), before: before && upTo(before, now) };
}

/** The days compared with, without those after today. */
const upTo = (before: Compared, now: number): NonNullable<ReadDays["before"]> => ({
  ...before,
  spent: spentWithin(before.whole, now),
});

/** The kind under which summaries count a type: allocations and batches count as usage. */
const kindOf = (type: string | null) =>
  type === "subscription" || type === "expense" || type === "bill_adjustment" ? type : "usage";

/**
 * The totals of rows of `selectTypeTotals`, of all types together.
 * @param when `before_` for the totals of the days compared with
 */
export function toTotals(types: TypeTotals[], when: "" | "before_"): Metrics["totals"] {
  const total = (kind?: string) =>
    toExact(
      sum(
        types
          .filter(({ type }) => kind === undefined || kindOf(type) === kind)
          .map((row) => parseDecimal(row[`${when}amount`])),
      ),
    );
  const count = (what: "messages" | "unpriced") =>
    types.reduce((all, row) => all + Number(row[`${when}${what}`]), 0);
  return {
    total_usd: total(),
    usage_usd: total("usage"),
    subscription_usd: total("subscription"),
    expense_usd: total("expense"),
    adjustment_usd: total("bill_adjustment"),
    message_count: count("messages"),
    unpriced_count: count("unpriced"),
    included_usd: toExact(sum(types.map((row) => parseDecimal(row[`${when}included`])))),
  };
}

/** What is booked on the days of a period after today, with the first and the last of these days; null if nothing is. */
export function toBookedAhead(types: TypeTotals[], { range, spent }: ReadDays): Metrics["booked_ahead"] {
  const until = types.flatMap((row) => row.ahead_until ?? []).sort();
  const to = until.at(-1);
  if (to === undefined) return null;
  return {
    total_usd: toExact(sum(types.map((row) => parseDecimal(row.ahead_amount)))),
    from: [spent.until, range.from].sort().at(-1) ?? to,
    to,
  };
}
