/** Id of the element that gets the focus when a subscription leaves its list. */
export const subscriptionsId = "subscriptions";
