/** Rates of one day. `rates`: currency → USD for one unit, as exact decimal text. `day`: `YYYY-MM-DD`. */
export type DayRates = { source: string; day: string; rates: Readonly<Record<string, string>> };

/**
 * The rates of a currency that one source published: `days` in order, `rateAt` the USD for one unit on the day at an index, as
 * exact text.
 */
export type RateSeries = { source: string; days: readonly string[]; rateAt(index: number): string };

/** A rate with its day and its source. `isOld`: its day is more than a week from the requested one. */
export type FoundRate = { rate: string; date: string; source: string; isOld: boolean };

/** The rates of several sources. */
export type RateTable = {
  /** The series of a currency: for each source, in order of preference, its parts in order of time. Empty for a currency without a rate. */
  seriesOf(currency: string): readonly (readonly RateSeries[])[];
};

/** How long a rate counts for the following days. No source pauses longer over holidays. */
export const maxRateAgeDays = 7;

const dayMs = 86_400_000;

/** The number of days between two days, in either order. */
function daysBetween(a: string, b: string): number {
  return Math.abs(Date.parse(a) - Date.parse(b)) / dayMs;
}

/**
 * The rate of a currency on a day: the rate of the day itself, or of the nearest earlier day that has one. Of several sources, the first
 * whose rate is at most a week old counts, otherwise the one with the latest rate. If all rates are later, the earliest of them counts.
 * @param day `YYYY-MM-DD`, UTC
 * @returns undefined for a currency without a rate
 */
export function findRate(table: RateTable, currency: string, day: string): FoundRate | undefined {
  let best: { date: string; series: RateSeries; index: number } | undefined;
  for (const parts of table.seriesOf(currency)) {
    const series = parts.findLast(({ days }) => (days[0] ?? "9") <= day) ?? parts[0];
    if (!series) continue;
    const index = Math.max(0, countUpTo(series.days, day) - 1);
    const date = series.days[index];
    if (date === undefined) continue;
    if (date <= day && daysBetween(date, day) <= maxRateAgeDays) {
      best = { date, series, index };
      break;
    }
    if (!best || isNearer(date, best.date, day)) best = { date, series, index };
  }
  if (!best) return undefined;
  const { date, series, index } = best;
  return {
    rate: series.rateAt(index),
    date,
    source: series.source,
    isOld: daysBetween(date, day) > maxRateAgeDays,
  };
}

function isNearer(candidate: string, best: string, day: string): boolean {
  if (best > day) return candidate < best;
  return candidate <= day && candidate > best;
}

/** The number of days, of a sorted list, that are not after a day. */
function countUpTo(days: readonly string[], day: string): number {
  let [low, high] = [0, days.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((days[middle] as string) <= day) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Makes a book from rates of single days, in any order. Sources are preferred in the order in which they first appear. */
export function rateTableOf(days: readonly DayRates[]): RateTable {
  const names = [...new Set(days.map(({ source }) => source))];
  const inOrder = days.toSorted((a, b) => (a.day < b.day ? -1 : 1));
  const known = new Map<string, RateSeries[][]>();
  return {
    seriesOf(currency) {
      const found =
        known.get(currency) ??
        names.flatMap((source) => {
          const having = inOrder.filter(
            (each) => each.source === source && Object.hasOwn(each.rates, currency),
          );
          const rateAt = (index: number) => having[index]?.rates[currency] ?? "";
          return having.length > 0 ? [[{ source, days: having.map(({ day }) => day), rateAt }]] : [];
        });
      known.set(currency, found);
      return found;
    },
  };
}
