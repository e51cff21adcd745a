import { callAsService } from "@/lib/db/transaction";
import { compare, type Decimal, parseDecimal, subtract, zero } from "@/lib/decimal";

/** Whose telemetry it is. */
export type Owner = { workspaceId: string; environment: "live" | "test" };

/** A total of a series at a time. Times are nanoseconds since 1970 as decimal text. */
export type RunningTotal = { series: string; startNs: string; timeNs: string; value: string };

/**
 * What a series used from one total, at `fromNs`, to the next, which is to be recorded once under the series and its two
 * times.
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
 * What series used since what the ledger holds of them. A total that was told before adds nothing. Increments that were
 * answered before and not settled are answered again, with the same times: the service may have ended between the two.
 * A total that is lower than the one before it counts whole, because the series began again at 0.
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

/** Remembers that the ledger has decided these increments. */
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
