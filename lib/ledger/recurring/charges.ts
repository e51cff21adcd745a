import { dayOf } from "@/lib/contract/instant";
import type { CostMessage, Source } from "@/lib/contract/message";
import { type Composed, composeMessage, occurredAt } from "@/lib/ledger/ingest/compose";
import { type Interval, periodStart } from "./periods";

export type Subscription = Extract<CostMessage, { type: "subscription" }>;

/** Who a subscription's charges belong to. */
type Owner = {
  workspace_id: string;
  id: string;
  project_id: string;
  /** The key that posted it. What is booked later is the workspace's own: it counts against no key. */
  api_key_id: string | null;
  source: Source;
  environment: "live" | "test";
  created_at: string;
};

/** A subscription to go on with after its first charges, as `private.start_subscriptions` reads it. */
export type NewSubscription = Owner & {
  message: Subscription;
  period: Interval;
  anchor_on: string;
  ends_on: string | null;
  booked_periods: number;
  next_on: string | null;
};

/** One period's charge: its first day, and what it comes to. */
export type PeriodCharge = { startsOn: string; composed: Composed };

/** The periods of a subscription, by the first day of each: `anchor` is that of period 0. */
type Periods = { anchor: string; interval: Interval; endsOn: string | null };

/** What is to be remembered of a recurring subscription when its first charges are recorded. @param now ms since 1970 */
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
 * The charges of a recurring subscription's further periods that have begun by now, each at the rate of its own first
 * day. The first period is charged by the message itself.
 * @param now milliseconds since 1970
 */
export function dueCharges(message: Subscription, now: number): PeriodCharge[] {
  return begunPeriods(periodsOf(message, now), 1, dayOf(now)).days.map((startsOn) => ({
    startsOn,
    composed: composePeriod(message, startsOn, now),
  }));
}

/** How many charges `dueCharges` makes, without making them. @param now milliseconds since 1970 */
export function countDue(message: Subscription, now: number): number {
  return begunPeriods(periodsOf(message, now), 1, dayOf(now)).days.length;
}

/** A period's postings as the subscription with this id has them. */
export function postingsOf({ composed }: PeriodCharge, subscriptionId: string) {
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

/** The first days of the periods from `index` on that have begun by `today`, and that of the next one, if there is one. */
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

/** What the period that starts on a day costs, at the rate of that day. */
export function composePeriod(message: Subscription, startsOn: string, now: number): Composed {
  return composeMessage(
    { ...message, starts_on: startsOn, occurred_at: `${startsOn}T00:00:00Z` },
    { now, overrides: [] },
  );
}
