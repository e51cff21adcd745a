import { callAsService } from "@/lib/db/transaction";
import { compare, type Decimal, parseDecimal, subtract, zero } from "@/lib/decimal";

/** The workspace and environment that a series belongs to. */
export type Owner = { workspaceId: string; environment: "live" | "test" };

/** A total of a series at a time. Times are nanoseconds since 1970 as decimal text. */
export type RunningTotal = { series: string; startNs: string; timeNs: string; value: string };

/**
 * The usage of a series from one total, at `fromNs`, to the next, at `timeNs`. It is recorded once, under the series and the two times.
 */
export type Increment = RunningTotal & { used: Decimal; fromNs: string };

type StoredSeries = {
  series: string;
  start: string;
  settled: string;
  settled_ns: string;
  pending: { time: string; value: string }[];
};

/**
 * The usage of series since the totals that the ledger has recorded. A repeated total adds nothing. Increments that were returned before
 * and not settled are returned again with the same times, because the service may have stopped in between.
 * A total below the one before it counts as a whole, because the series was reset to 0.
 */
export async function advanceTotals(owner: Owner, totals: RunningTotal[]): Promise<Increment[]> {
  if (totals.length === 0) return [];
  const points = totals.map(({ series, startNs: start, timeNs: time, value }) => ({
    series,
    start,
    time,
    value,
  }));
  const stored = await callAsService<StoredSeries[]>(
    "private.advance_totals",
    owner.workspaceId,
    owner.environment,
    JSON.stringify(points),
  );
  return stored.flatMap(({ series, start, settled, settled_ns: settledNs, pending }) => {
    let before = parseDecimal(settled);
    let fromNs = settledNs === "0" ? start : settledNs;
    return pending.map(({ time, value }) => {
      const total = parseDecimal(value);
      const used = compare(total, before) < 0 ? total : subtract(total, before);
      const increment = { series, startNs: start, fromNs, timeNs: time, value, used };
      before = total;
      fromNs = time;
      return increment;
    });
  });
}

/** Marks increments as decided by the ledger, so that `advanceTotals` no longer returns them. */
export async function settleTotals(owner: Owner, increments: Increment[]): Promise<void> {
  const latest = new Map<string, Increment>();
  for (const increment of increments) {
    const of = `${increment.series} ${increment.startNs}`;
    const known = latest.get(of);
    if (!known || BigInt(increment.timeNs) > BigInt(known.timeNs)) latest.set(of, increment);
  }
  if (latest.size === 0) return;
  const totals = [...latest.values()].map(({ series, startNs: start, timeNs: time, value }) => ({
    series,
    start,
    time,
    value,
  }));
  await callAsService("private.settle_totals", owner.workspaceId, owner.environment, JSON.stringify(totals));
}

/** Whether an increment counts anything. */
export function isUsed({ used }: Increment): boolean {
  return compare(used, zero) > 0;
}
