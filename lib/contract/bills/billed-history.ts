import { z } from "zod";
import { rangeDay } from "@/lib/contract/spend/ledger-query";
import { day, decimalNumber } from "@/lib/contract/values/fields";

export const billedHistoryQuery = z
  .strictObject({
    from: rangeDay.optional().meta({ description: "The first day. Default: a year before `to`." }),
    to: rangeDay.optional().meta({ description: "The last day. Default: today." }),
  })
  .superRefine(({ from, to }, context) => {
    if (from !== undefined && to !== undefined && from > to)
      context.addIssue({ code: "custom", path: ["to"], message: "must not be before from" });
  });

/** What providers billed on days of which nothing was recorded. */
export const billedHistory = z
  .object({
    from: day,
    to: day,
    total_usd: decimalNumber("The sum of the days, USD."),
    days: z
      .array(
        z.object({
          day: day.meta({ description: "The billed day (UTC)." }),
          provider: z.string(),
          billed_usd: decimalNumber("What the provider billed, USD."),
          is_before_recording: z
            .boolean()
            .meta({ description: "Whether nothing had been recorded of the provider until then." }),
        }),
      )
      .meta({ description: "The earliest first; days without costs are left out." }),
  })
  .meta({ id: "BilledHistory" });
export type BilledHistory = z.output<typeof billedHistory>;
