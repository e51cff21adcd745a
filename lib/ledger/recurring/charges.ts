import type { CostMessage, MessageSource } from "@/lib/contract/ledger/message";
import { dayOf } from "@/lib/contract/values/instant";
import { type Composed, composeMessage, occurredAt } from "@/lib/ledger/ingest/compose";
import { type Interval, periodStart } from "./periods";

export type Subscription = Extract<CostMessage, { type: "subscription" }>;

/** The columns that all messages of a subscription share. */
type Owner = {
  workspace_id: string;
  id: string;
  project_id: string;
  /** The key that posted the subscription; null for later charges, which count against no key. */
  api_key_id: string | null;
  source: MessageSource;
  environment: "live" | "test";
  created_at: string;
};

/** A recurring subscription to store with its first charges, as `private.start_subscriptions` reads it. */
export type NewSubscription = Owner & {
  message: Subscription;
  period: Interval;
  anchor_on: string;
  ends_on: string | null;
  booked_periods: number;
  next_on: string | null;
};

/** The charge of one period: the period's first day, and the composed message. */
export type PeriodCharge = { startsOn: string; composed: Composed };

/** The periods of a subscription. `anchor` is the first day of period 0. */
type Periods = { anchor: string; interval: Interval; endsOn: string | null };

/** The subscription to store when its first charges are recorded. @param now milliseconds since 1970 */
export function toSubscription(owner: Owner, message: Subscription, now: number): NewSubscription {
  const periods = periodsOf(message, now);
  const { days, nextOn } = begunPeriods(periods, 1, dayOf(now));
  return {
    ...owner,
    message,
    period: message.interval,
    anchor_on: periods.anchor,
    ends_on: periods.endsOn,
    booked_periods: 1 + days.length,
    next_on: nextOn,
  };
}

/**
 * The charges of a subscription's periods after the first that have begun by now, each at the exchange rate of its own first day. The
 * message itself charges the first period.
 * @param now milliseconds since 1970
 */
export function dueCharges(message: Subscription, now: number): PeriodCharge[] {
  return begunPeriods(periodsOf(message, now), 1, dayOf(now)).days.map((startsOn) => ({
    startsOn,
    composed: composePeriod(message, startsOn, now),
  }));
}

/** How many charges `dueCharges` would return. @param now milliseconds since 1970 */
export function countDue(message: Subscription, now: number): number {
  return begunPeriods(periodsOf(message, now), 1, dayOf(now)).days.length;
}

/** A period's postings with the id of their subscription. */
export function postingsOfCharge({ composed }: PeriodCharge, subscriptionId: string) {
  return composed.postings.map((posting) => ({
    ...posting,
    details: { ...(posting.details as object), subscription_id: subscriptionId },
  }));
}

function periodsOf(message: Subscription, now: number): Periods {
  return {
    anchor: message.starts_on ?? occurredAt(message, now).slice(0, 10),
    interval: message.interval,
    endsOn: message.ends_on ?? null,
  };
}

/** `days`: the first days of the periods from `index` on that have begun by `today`. `nextOn`: the next one; null after the last period. */
export function begunPeriods(
  { anchor, interval, endsOn }: Periods,
  index: number,
  today: string,
): { days: string[]; nextOn: string | null } {
  const days: string[] = [];
  for (;;) {
    const start = periodStart(anchor, interval, index + days.length);
    if (endsOn !== null && start > endsOn) return { days, nextOn: null };
    if (start > today) return { days, nextOn: start };
    days.push(start);
  }
}

/** The charge of the period that starts on a day, at the exchange rate of that day. @param now milliseconds since 1970 */
export function composePeriod(message: Subscription, startsOn: string, now: number): Composed {
  return composeMessage(
    { ...message, starts_on: startsOn, occurred_at: `${startsOn}T00:00:00Z` },
    { now, overrides: [] },
  );
}
