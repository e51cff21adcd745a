import type { z } from "zod";
import { requireMembership } from "@/lib/access/workspaces/membership";
import type { recurringSubscription, subscriptionList } from "@/lib/contract/ledger/subscriptions";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { toInstant } from "@/lib/contract/values/instant";
import { asUser, asUserReading, type UserClaims } from "@/lib/db/transaction";
import { notFound } from "@/lib/errors";
import { type SubscriptionRow, selectSubscriptions, stopSubscription } from "./recurring-queries";

/** Lists a workspace's recurring subscriptions, for its members. @throws ServiceError not_found */
export function listSubscriptions(
  claims: UserClaims,
  slug: string,
): Promise<z.output<typeof subscriptionList>> {
  return asUserReading(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug);
    return { subscriptions: (await selectSubscriptions(client, id)).map(toRecurringSubscription) };
  });
}

/**
 * Stops a subscription: no further periods are booked, and booked ones are kept. It cannot be started again.
 * @throws ServiceError not_found, permission_denied for viewers
 */
export function stopRecurring(
  claims: UserClaims,
  slug: string,
  subscriptionId: string,
): Promise<z.output<typeof recurringSubscription>> {
  return asUser(claims, async (client) => {
    const { id } = await requireMembership(client, claims, slug, "member");
    await stopSubscription(client, id, subscriptionId);
    const [row] = await selectSubscriptions(client, id, subscriptionId);
    if (!row) throw notFound();
    return toRecurringSubscription(row);
  });
}

function toRecurringSubscription({ message, anchor_on, stopped_at, ...row }: SubscriptionRow) {
  const { vendor, plan = null, amount, currency, interval } = message;
  return {
    ...row,
    vendor,
    plan,
    amount: new ExactNumber(amount),
    currency,
    interval,
    starts_on: anchor_on,
    stopped_at: stopped_at && toInstant(stopped_at.getTime()),
  };
}
