import { dayOf, toInstant } from "@/lib/contract/values/instant";
import { deadlines } from "@/lib/db/deadlines";
import { runSteps } from "@/lib/db/job-steps";
import { newId } from "@/lib/db/new-id";
import { asService } from "@/lib/db/transaction";
import { bookAsAdjustments } from "@/lib/ledger/closing/book-as-adjustments";
import type { LedgerRow } from "@/lib/ledger/ingest/ledger";
import { requireMonths, withMonths } from "@/lib/ledger/ingest/months";
import { storeMessages } from "@/lib/ledger/ingest/store-messages";
import { followPublished } from "@/lib/ledger/published/follow";
import { begunPeriods, composePeriod, postingsOfCharge } from "./charges";
import {
  advanceSubscription,
  type DueSubscription,
  lockDueSubscriptions,
  selectNow,
} from "./recurring-queries";

/** The most subscriptions that are booked in one transaction. */
const subscriptionsAWrite = 50;

/**
 * Books every period that has begun and is not booked yet, exactly once over all processes, even if none ran for a long time. A period is
 * charged at the exchange rate of its first day, to the workspace and not to a key.
 * @param now milliseconds since 1970; by default the database's time
 * @returns how many charges were booked
 */
export async function bookDueSubscriptions(now?: number): Promise<number> {
  await followPublished();
  // A step also conflicts with the closing of its month.
  return runSteps(() => withMonths(() => bookSome(now)));
}

/** Books some subscriptions in one transaction. @returns how many charges were booked; null if nothing is due */
async function bookSome(at: number | undefined): Promise<number | null> {
  return asService(async (client) => {
    const now = at ?? (await selectNow(client));
    const due = await lockDueSubscriptions(client, dayOf(now), subscriptionsAWrite);
    const plans = due.map((subscription) => planCharges(subscription, now));
    const messages = plans.flatMap(({ rows }) => rows);
    if (messages.length === 0) return null;
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
  const books = { closedUntil: subscription.closed_until, timeZone: subscription.time_zone };
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
  const postings = bookAsAdjustments(postingsOfCharge(charge, subscription.id), books, owner.created_at);
  return postings.map((posting) => ({ ...posting, ...owner }));
}
