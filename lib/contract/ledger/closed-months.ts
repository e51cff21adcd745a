import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { day, decimalNumber, instant, text, uuid } from "@/lib/contract/values/fields";

/** A month since the year 2000, the earliest year of a cost. */
export const month = z
  .string()
  .regex(/^2\d{3}-(0[1-9]|1[0-2])$/, "must be a month, such as 2026-10")
  .meta({ description: "A month, `YYYY-MM`." });

const figures = {
  amount_usd: decimalNumber("Live costs, USD."),
  adjustments_usd: decimalNumber("Of them, adjustments of months that were closed before, USD."),
  message_count: z.int(),
  unpriced_count: z.int().meta({ description: "Messages or lines without a price: they cost nothing." }),
};

/** A closing of a month, with the amounts at that time. */
const closing = z
  .object({
    id: uuid,
    month,
    ...figures,
    closed_at: instant,
    closed_by: z
      .string()
      .nullable()
      .meta({ description: "The address of the admin who closed it; null for the service." }),
    sha256: z.string().nullable().meta({
      description:
        "SHA-256 of the filed export, hex. Null for a moment after the closing, until the export is written.",
    }),
    bytes: z.int().nullable().meta({ description: "The length of the filed export." }),
    reopened_at: instant.nullable(),
    reopened_by: z.string().nullable(),
    reopen_reason: z.string().nullable(),
  })
  .meta({ id: "Closing" });

/** A month that has begun. */
const ledgerMonth = z
  .object({
    month,
    ...figures,
    later_adjustments_usd: decimalNumber(
      "What was recorded of the month after it was closed, USD: booked in later months.",
    ),
    later_adjustment_count: z.int().meta({ description: "Entries of these adjustments." }),
    closable_from: instant.meta({ description: "Two days after its end." }),
    can_close: z.boolean().meta({ description: "Whether it is open, and `closable_from` has passed." }),
    closing: closing.nullable().meta({ description: "Null for an open month." }),
  })
  .meta({ id: "LedgerMonth" });
export type LedgerMonth = z.output<typeof ledgerMonth>;

export const closedMonthList = z
  .object({
    closed_until: day.nullable().meta({
      description:
        "The first open day (UTC): everything that occurred before it is closed. Null where nothing is.",
    }),
    months: z
      .array(ledgerMonth)
      .meta({ description: "From the first with costs to the present one, latest first." }),
    reopened: z.array(closing).meta({ description: "Closings of months that were reopened, latest first." }),
  })
  .meta({ id: "ClosedMonthList" });
export type ClosedMonthList = z.output<typeof closedMonthList>;

/** What a key reads of closed months. */
export const closedMonths = z
  .object({
    closed_until: day.nullable().meta({
      description: "The first open day (UTC). Null where nothing is closed, or the key sees no closed month.",
    }),
    months: z
      .array(z.object({ month, ...figures, closed_at: instant, sha256: closing.shape.sha256 }))
      .meta({ description: "The latest first." }),
  })
  .meta({ id: "ClosedMonths" });

export const closeRequest = z
  .strictObject({
    month: month.meta({
      description: "The month to close, `YYYY-MM`. Open months before it are closed with it.",
    }),
  })
  .meta({ id: "CloseMonthRequest" });

export const reopenRequest = z
  .strictObject({ reason: text(500, "Why, for those who read the audit log later.") })
  .meta({ id: "ReopenMonthRequest" });

export const closingParams = z.strictObject({ slug: workspaceSlug, id: uuid });
