import type { ExampleSet } from "./example-set";

const subscription = {
  id: "0193a1b4-71c2-7b6d-a15f-2e9d04c8b7f3",
  project: "design",
  environment: "live",
  vendor: "Figma",
  plan: "Professional",
  amount: 45,
  currency: "USD",
  interval: "month",
  starts_on: "2026-09-05",
  ends_on: null,
  booked_periods: 3,
  next_on: "2026-12-05",
  stopped_at: null,
};

export const subscriptionExamples: ExampleSet = {
  responses: {
    SubscriptionList: { subscriptions: [subscription] },
    RecurringSubscription: { ...subscription, next_on: null, stopped_at: "2026-11-21T09:31:02.511+00:00" },
  },
};
