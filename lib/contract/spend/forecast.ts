import { z } from "zod";
import { decimalNumber } from "@/lib/contract/values/fields";

/** How a forecast was made, and its range. */
export const forecastDetails = z
  .object({
    low_usd: decimalNumber(
      "The lower end of the forecast range, USD. In at least four of five cases, the total is within the range.",
    ),
    high_usd: decimalNumber("Its upper end, USD."),
    recorded_usd: decimalNumber("Spend recorded in the period and booked on its remaining days, USD."),
    coming_usd: decimalNumber(
      "Recurring subscriptions that are due on the days left and not booked yet, USD.",
    ),
    added_usd: decimalNumber("The forecast usage of the remaining days, USD."),
    days_left: z.int().meta({ description: "Days of the period that are left, with today." }),
    days_compared: z.int().meta({
      description:
        "Whole days before today that the forecast is based on: at most 35, five of each day of the week.",
    }),
  })
  .nullable()
  .meta({
    id: "ForecastDetails",
    description:
      "How the forecast was made: what is recorded and booked, the recurring subscriptions that are due, and for each day left the median usage of the same weekdays of the last five weeks, moved along its trend where it has one. Expenses and allocations are not extrapolated. Null where there is no forecast.",
  });
