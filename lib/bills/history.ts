import type { ClientBase } from "pg";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { BilledHistory } from "@/lib/contract/bills/billed-history";
import { clockOf } from "@/lib/contract/values/clock";
import { dayOf } from "@/lib/contract/values/instant";
import type { DayRange } from "@/lib/contract/values/month";
import { asUserReading, type UserClaims } from "@/lib/db/transaction";
import { add, compare, type Decimal, multiply, parseDecimal, sum, zero } from "@/lib/decimal";
import type { Display } from "@/lib/ledger/pricing/display-currency";
import { toExact } from "@/lib/ledger/pricing/exact";
import { displayOf } from "@/lib/spend/conversion";
import { addDays } from "@/lib/spend/period";
import type { StatementRow } from "./bill-queries";
import { type RecordedDay, selectFirstDays, selectRecordedDays } from "./history-queries";
import { loadCounted } from "./load-cells";
import { providerKeyOf } from "./read-row";

/**
 * What a provider billed of a day of which nothing was recorded, USD. `converted`: in the currency that was asked for. `isBefore`: nothing
 * had been recorded of the provider yet.
 */
export type HistoryDay = {
  provider: string;
  day: string;
  amount: Decimal;
  converted: Decimal | undefined;
  isBefore: boolean;
};

/**
 * The billed history of some days, for members: each day that a bill states of a provider and of which nothing was recorded. It is read from
 * bills: no sum of spend, no budget and no limit has it.
 * @param range up to before `until`
 * @param currency in which amounts are wanted besides USD
 * @throws ServiceError not_found; validation_failed for a currency without a rate
 */
export function readHistory(
  claims: UserClaims,
  slug: string,
  range: DayRange,
  currency?: string,
): Promise<HistoryDay[]> {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    const days = await loadHistory(client, { id, timeZone }, range);
    const [first] = days;
    if (!first) return [];
    const today = dayOf(clockOf(timeZone, now).now);
    const display = await displayOf(currency, { ranges: [{ ...range, from: first.day }], today });
    return display ? days.map((one) => ({ ...one, converted: convert(display, one) })) : days;
  });
}

/** Like `readHistory`, for the API. @param days the first and the last day; a year up to today by default */
export function readHistoryAnswer(
  claims: UserClaims,
  slug: string,
  days: { from?: string | undefined; to?: string | undefined },
): Promise<BilledHistory> {
  return asUserReading(claims, async (client, now) => {
    const { id, time_zone: timeZone } = await requireMembership(client, claims, slug);
    const to = days.to ?? dayOf(clockOf(timeZone, now).now);
    const from = days.from ?? addDays(to, -365);
    const history = await loadHistory(client, { id, timeZone }, { from, until: addDays(to, 1) });
    return {
      ...{ from, to },
      total_usd: toExact(sum(history.map(({ amount }) => amount))),
      days: history.map(({ day, provider, amount, isBefore }) => ({
        ...{ day, provider, billed_usd: toExact(amount), is_before_recording: isBefore },
      })),
    };
  });
}

async function loadHistory(
  client: ClientBase,
  { id, timeZone }: { id: string; timeZone: string },
  { from, until }: DayRange,
): Promise<HistoryDay[]> {
  const since = from < "0001" || from === "-infinity" ? undefined : `${from.slice(0, 7)}-01`;
  const counted = await loadCounted(client, id, since);
  const daily = counted.filter((one) => isDay(one) && isWithin(one.from, { from, until }));
  const days = daily.map((one) => one.from).sort();
  const [first, last] = [days[0], days.at(-1)];
  if (first === undefined || last === undefined) return [];
  // Whole months, because an expense may be for its month, and a day more on each side, because a UTC day is of two days of a zone.
  const [start, end] = [`${addDays(first, -1).slice(0, 7)}-01`, addDays(last, 32)];
  const unrecorded = withoutRecorded(daily, await selectRecordedDays(client, id, start, end), timeZone);
  if (unrecorded.length === 0) return [];
  const begun = new Map<string, string>();
  for (const { provider, day } of await selectFirstDays(client, id)) {
    const key = providerKeyOf(provider);
    const known = begun.get(key);
    if (known === undefined || day < known) begun.set(key, day);
  }
  return unrecorded.map((one) => ({
    ...one,
    converted: undefined,
    isBefore: one.day < (begun.get(one.provider) ?? "9999"),
  }));
}

/** Whether history counts: as was chosen, and by default where nothing was recorded of a provider yet. @param choice `on` or `off` */
export const isCounted = (days: readonly HistoryDay[], choice: unknown): boolean =>
  choice === undefined ? days.some(({ isBefore }) => isBefore) : choice === "on";

const isDay = ({ from, until }: Pick<StatementRow, "from" | "until">) => addDays(from, 1) === until;

/** Whether a range has a day. Days are compared as text, and `-infinity` and `infinity` are before and after all of them. */
export const isWithin = (day: string, { from, until }: DayRange) => day >= from && day < until;

/**
 * What was billed on days of which nothing was recorded, by provider and day.
 * @param statements of single days, those that count
 * @param recorded in days of the workspace's zone. A billed UTC day is left out where something was recorded on a day that it has a part of:
 *   no cost is counted twice, and at the edge of what was recorded one day may be missing
 */
export function withoutRecorded(
  statements: readonly Pick<StatementRow, "provider" | "from" | "amount_usd">[],
  recorded: readonly RecordedDay[],
  timeZone: string,
): Pick<HistoryDay, "provider" | "day" | "amount">[] {
  const keyOf = (provider: string, day: string) => `${provider} ${day}`;
  const known = new Set<string>();
  for (const { provider, day, is_of_month: isOfMonth } of recorded) {
    const key = providerKeyOf(provider);
    known.add(keyOf(key, day));
    if (isOfMonth) known.add(keyOf(key, day.slice(0, 7)));
  }
  const sums = new Map<string, Pick<HistoryDay, "provider" | "day" | "amount">>();
  for (const { provider, from: day, amount_usd: usd } of statements) {
    const local = [Date.parse(day), Date.parse(addDays(day, 1)) - 1].map((at) =>
      dayOf(clockOf(timeZone, at).now),
    );
    if ([...local, day.slice(0, 7)].some((one) => known.has(keyOf(provider, one)))) continue;
    const key = keyOf(provider, day);
    sums.set(key, { provider, day, amount: add(sums.get(key)?.amount ?? zero, parseDecimal(usd)) });
  }
  return [...sums.values()]
    .filter(({ amount }) => compare(amount, zero) !== 0)
    .sort((a, b) => (keyOf(a.day, a.provider) < keyOf(b.day, b.provider) ? -1 : 1));
}

/** A USD amount at the rate of its day. */
function convert({ rates }: Display, { day, amount }: HistoryDay): Decimal {
  const rate = rates.findLast(({ from }) => from === null || from <= day) ?? rates[0];
  return multiply(amount, parseDecimal(rate?.perUsd ?? "0"));
}
