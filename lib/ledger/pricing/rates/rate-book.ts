/** Rates of one day. `rates`: currency → USD for one unit, as exact decimal text. `day`: `YYYY-MM-DD`. */
export type DayRates = { source: string; day: string; rates: Readonly<Record<string, string>> };

/**
 * The rates of a currency that one source published: `days` in order, `rateAt` the USD for one unit on the day at an index, as
 * exact text.
 */
export type RateSeries = { source: string; days: readonly string[]; rateAt(index: number): string };

/** A rate with the day and the source that published it. `isOld`: more than a week lies between its day and the wanted one. */
export type FoundRate = { rate: string; date: string; source: string; isOld: boolean };

/** Rates of the sources, the one that is preferred first. Of a source, the later parts follow the earlier ones. */
export type RateBook = {
  /** The series of a currency by source; none for one without a rate. */
  seriesOf(currency: string): readonly (readonly RateSeries[])[];
};

/** A rate counts as the rate of a day for this long: no source pauses longer over holidays. */
export const maxRateAgeDays = 7;

const dayMs = 86_400_000;

/** How many days lie between two days, whichever is first. */
function daysBetween(a: string, b: string): number {
  return Math.abs(Date.parse(a) - Date.parse(b)) / dayMs;
}

/**
 * The rate of a currency on a day: of the day itself, or the nearest earlier day with one. Of several sources, the preferred
 * one counts as long as its rate is at most a week old, otherwise the one with the latest rate. Where all rates are of later
 * days, the earliest of them.
 * @param day `YYYY-MM-DD`, UTC
 * @returns undefined for a currency without a rate
 */
export function findRate(book: RateBook, currency: string, day: string): FoundRate | undefined {
  let best: { date: string; series: RateSeries; index: number } | undefined;
  for (const parts of book.seriesOf(currency)) {
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

/** How many of some days in order are not after a day. */
function countUpTo(days: readonly string[], day: string): number {
  let [low, high] = [0, days.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((days[middle] as string) <= day) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A book of single days, in any order; sources are preferred in the order in which they first appear. */
export function bookOf(days: readonly DayRates[]): RateBook {
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
