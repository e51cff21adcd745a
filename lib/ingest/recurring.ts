import { toInstant } from "@/lib/contract/instant";
import type { CostMessage, Source } from "@/lib/contract/message";
import { newId } from "@/lib/db/new-id";
import { asService } from "@/lib/db/transaction";
import { composeMessage, occurredAt } from "./compose";
import type { LedgerRow } from "./ledger";
import { type Interval, periodStart } from "./periods";
import {
  advanceSubscription,
  type DueSubscription,
  ensureMonths,
  lockDueSubscriptions,
  storeMessages,
} from "./queries";

type Subscription = Extract<CostMessage, { type: "subscription" }>;

/** Who a subscription's charges belong to. */
type Owner = {
  workspace_id: string;
  id: string;
  project_id: string;
  api_key_id: string | null;
  source: Source;
  environment: "live" | "test";
  created_at: string;
};

/** A subscription to go on with after its first charge, as `private.start_subscriptions` reads it. */
export type NewSubscription = Owner & {
  message: Subscription;
  period: Interval;
  anchor_on: string;
  ends_on: string | null;
  next_on: string | null;
};

/** What is to be remembered of a recurring subscription when its first charge is recorded. @param now ms since 1970 */
export function toSubscription(owner: Owner, message: Subscription, now: number): NewSubscription {
  const anchor = message.starts_on ?? occurredAt(message, now).slice(0, 10);
  return {
    ...owner,
    message,
    period: message.interval,
    anchor_on: anchor,
    ends_on: message.ends_on ?? null,
    next_on: nextPeriod(anchor, message.interval, 1, message.ends_on ?? null),
  };
}

/** The first day of period `index`, or null where the subscription has ended by then. */
function nextPeriod(anchor: string, interval: Interval, index: number, endsOn: string | null): string | null {
  const start = periodStart(anchor, interval, index);
  return endsOn !== null && start > endsOn ? null : start;
}

/** Subscriptions booked in one transaction. */
const subscriptionsAWrite = 50;

/**
 * Books every period that has begun and is not booked yet, each exactly once, whichever process comes first and however
 * long none came. Periods are charged at the prices and rates of their own first day.
 * @param now milliseconds since 1970
 * @returns how many charges were booked
 */
export async function bookDueSubscriptions(now: number): Promise<number> {
  const today = new Date(now).toISOString().slice(0, 10);
  let booked = 0;
  for (;;) {
    const charges = await asService(async (client) => {
      const due = await lockDueSubscriptions(client, today, subscriptionsAWrite);
      const plans = due.map((subscription) => planCharges(subscription, today, now));
      const messages = plans.flatMap(({ rows }) => rows);
      if (messages.length === 0) return 0;
      await ensureMonths(messages.map((row) => row.occurred_at));
      await storeMessages(client, { projects: [], messages, replays: [] });
      for (const { subscription, booked, nextOn } of plans) {
        await advanceSubscription(client, subscription, booked, nextOn);
      }
      return plans.reduce((count, plan) => count + plan.booked - plan.subscription.booked_periods, 0);
    });
    if (charges === 0) return booked;
    booked += charges;
  }
}

function planCharges(subscription: DueSubscription, today: string, now: number) {
  const rows: LedgerRow[] = [];
  let booked = subscription.booked_periods;
  let nextOn: string | null = subscription.next_on;
  while (nextOn !== null && nextOn <= today) {
    rows.push(...chargeOf(subscription, nextOn, now));
    booked += 1;
    nextOn = nextPeriod(subscription.anchor_on, subscription.period, booked, subscription.ends_on);
  }
  return { subscription, rows, booked, nextOn };
}

function chargeOf(subscription: DueSubscription, startsOn: string, now: number): LedgerRow[] {
  const { workspace_id, project_id, api_key_id, source, environment } = subscription;
  const message = { ...subscription.message, starts_on: startsOn, occurred_at: `${startsOn}T00:00:00Z` };
  const id = newId();
  return composeMessage(message, { now, overrides: [] }).postings.map((posting) => ({
    ...posting,
    details: { ...(posting.details as object), subscription_id: subscription.id },
    workspace_id,
    id,
    project_id,
    api_key_id,
    source,
    environment,
    created_at: toInstant(now),
  }));
}
