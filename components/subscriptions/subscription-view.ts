import type { z } from "zod";
import { exactText } from "@/components/figures/amount";
import type { recurringSubscription } from "@/lib/contract/ledger/subscriptions";

type Subscription = z.output<typeof recurringSubscription>;

/** A subscription with its amount as exact text, so that a server component can pass it to a client component. */
export type SubscriptionView = Omit<Subscription, "amount"> & {
  /** The charge of one period, in its currency. */
  amount: string;
};

/** Maps a subscription of the service's answer to a SubscriptionView. */
export const toSubscriptionView = (subscription: Subscription): SubscriptionView => ({
  ...subscription,
  amount: exactText(subscription.amount),
});
