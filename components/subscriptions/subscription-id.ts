/** The element that the focus goes to when a subscription leaves the list it was in. */
export const subscriptionsId = "subscriptions";
