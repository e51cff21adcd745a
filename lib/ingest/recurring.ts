import { toInstant } from "@/lib/contract/instant";
import type { CostMessage, Source } from "@/lib/contract/message";
import { deadlines } from "@/lib/db/deadlines";
import { newId } from "@/lib/db/new-id";
import { asService } from "@/lib/db/transaction";
import { type Composed, composeMessage, occurredAt } from "./compose";
import type { LedgerRow } from "./ledger";
import { requireMonths, withMonths } from "./months";
import { type Interval, periodStart } from "./periods";
import {
  advanceSubscription,
  type DueSubscription,
  lockDueSubscriptions,
  selectNow,
  storeMessages,
} from "./queries";

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

/** A period's postings as the subscription with this id has them. */
export function postingsOf({ composed }: PeriodCharge, subscriptionId: string) {
  return composed.postings.map((posting) => ({
    ...posting,
    details: { ...(posting.details as object), subscription_id: subscriptionId },
  }));
}

const dayOf = (now: number) => new Date(now).toISOString().slice(0, 10);

function periodsOf(message: Subscription, now: number): Periods {
  return {
    anchor: message.starts_on ?? occurredAt(message, now).slice(0, 10),
    interval: message.interval,
    endsOn: message.ends_on ?? null,
  };
}

/** The first days of the periods from `index` on that have begun by `today`, and that of the next one, if there is one. */
function begunPeriods(
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

function composePeriod(message: Subscription, startsOn: string, now: number): Composed {
  return composeMessage(
    { ...message, starts_on: startsOn, occurred_at: `${startsOn}T00:00:00Z` },
    { now, overrides: [] },
  );
}

/** Subscriptions booked in one transaction. */
const subscriptionsAWrite = 50;

/**
 * Books every period that has begun and is not booked yet, each exactly once, whichever process comes first and however
 * long none came. Periods are charged at the rates of their own first day, to the workspace and to no key.
 * @param now milliseconds since 1970; the database's time where it is left out
 * @returns how many charges were booked
 */
export async function bookDueSubscriptions(now?: number): Promise<number> {
  let booked = 0;
  for (;;) {
    const charges = await withMonths(() => bookSome(now));
    if (charges === 0) return booked;
    booked += charges;
  }
}

/** One transaction of a booking. @returns how many charges were booked; 0 where nothing is due */
async function bookSome(at: number | undefined): Promise<number> {
  return asService(async (client) => {
    const now = at ?? (await selectNow(client));
    const due = await lockDueSubscriptions(client, dayOf(now), subscriptionsAWrite);
    const plans = due.map((subscription) => planCharges(subscription, now));
    const messages = plans.flatMap(({ rows }) => rows);
    if (messages.length === 0) return 0;
    requireMonths(messages.map((row) => row.occurred_at));
    await storeMessages(client, { projects: [], messages, replays: [] });
    for (const { subscription, booked, nextOn } of plans) {
      await advanceSubscription(client, subscription, subscription.booked_periods + booked, nextOn);
    }
    return plans.reduce((count, plan) => count + plan.booked, 0);
  }, deadlines.job);
}

function planCharges(subscription: DueSubscription, now: number) {
  const { anchor_on: anchor, period: interval, ends_on: endsOn, booked_periods: index } = subscription;
  const { days, nextOn } = begunPeriods({ anchor, interval, endsOn }, index, dayOf(now));
  return {
    subscription,
    rows: days.flatMap((day) => chargeOf(subscription, day, now)),
    booked: days.length,
    nextOn,
  };
}

function chargeOf(subscription: DueSubscription, startsOn: string, now: number): LedgerRow[] {
  const { workspace_id, project_id, source, environment, message } = subscription;
  const owner = {
    workspace_id,
    id: newId(),
    project_id,
    api_key_id: null,
    source,
    environment,
    created_at: toInstant(now),
  };
  const charge = { startsOn, composed: composePeriod(message, startsOn, now) };
  return postingsOf(charge, subscription.id).map((posting) => ({ ...posting, ...owner }));
}
