import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { day, decimalNumber, instant, uuid } from "@/lib/contract/values/fields";

/** A recurring subscription: each following period is booked automatically. */
export const recurringSubscription = z
  .object({
    id: uuid.meta({ description: "Also the id of its first charge's message." }),
    project: z.string().meta({ description: "Project slug." }),
    environment: z.enum(["live", "test"]),
    vendor: z.string(),
    plan: z.string().nullable(),
    amount: decimalNumber("The charge of one period, in `currency`."),
    currency: z.string(),
    interval: z.enum(["month", "year"]),
    starts_on: day,
    ends_on: day.nullable(),
    booked_periods: z.int(),
    next_on: day
      .nullable()
      .meta({ description: "The first day of the next period; null when there is none." }),
    stopped_at: instant.nullable(),
  })
  .meta({ id: "RecurringSubscription" });

export const subscriptionList = z
  .object({ subscriptions: z.array(recurringSubscription) })
  .meta({ id: "SubscriptionList" });

export const subscriptionParams = z.strictObject({ slug: workspaceSlug, id: uuid });
