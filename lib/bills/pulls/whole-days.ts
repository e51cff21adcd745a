import { toStatements } from "@/lib/bills/statements";
import { zero } from "@/lib/decimal";
import { addDays } from "@/lib/spend/period";
import type { PulledDay } from "./choose-days";
import { type DayRange, ProviderFailure, type PulledPage, type PulledRow } from "./provider";

/**
 * Makes whole days of the pages of a provider: every day of the range in its order, each once, also where its rows are in several
 * pages or where it has none. A day is whole when a later one has begun.
 * @throws ProviderFailure where a page goes back to a day before
 */
export async function* wholeDays(
  pages: AsyncIterable<PulledPage>,
  { from, until }: DayRange,
): AsyncGenerator<PulledDay[]> {
  let next = from;
  const rowsOf = new Map<string, PulledRow[]>();
  const takeBefore = (end: string) => {
    const days: PulledDay[] = [];
    for (; next < end; next = addDays(next, 1)) days.push(toDay(next, rowsOf.get(next) ?? []));
    return days;
  };
  for await (const page of pages) {
    let last = next;
    for (const { day, rows } of page) {
      if (day < next) throw new ProviderFailure(`It goes back to ${day}, which had ended.`);
      if (day >= until) continue;
      rowsOf.set(day, [...(rowsOf.get(day) ?? []), ...rows]);
      if (day > last) last = day;
    }
    const whole = takeBefore(last);
    for (const { day } of whole) rowsOf.delete(day);
    if (whole.length > 0) yield whole;
  }
  yield takeBefore(until);
}

/** Rows with the same coordinates become one fact, as those of a file do. */
function toDay(day: string, rows: PulledRow[]): PulledDay {
  const period = { provider: "", account: "", from: day, until: addDays(day, 1) };
  const [statement] = toStatements(rows.map((row) => ({ ...period, ...row })));
  return { day, amount: statement?.amount ?? zero, facts: statement?.facts ?? [] };
}
