import { z } from "zod";
import { workspaceSlug } from "@/lib/contract/access/workspace";
import { month } from "@/lib/contract/ledger/closed-months";
import { bulkEffects } from "@/lib/contract/spend/bulk-actions";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { day, decimalNumber, instant, projectSlug, text, uuid } from "@/lib/contract/values/fields";
import { bookableParts } from "./difference-parts";

const part = z.enum(bookableParts);

/** A signed amount: a JSON number in requests, exact text in the code. */
const expected = z
  .custom<number | ExactNumber>((value) => typeof value === "number" || value instanceof ExactNumber, {
    error: "must be a number",
  })
  .transform((value) => (value instanceof ExactNumber ? value.text : String(value)))
  .refine(
    (text) => /^-?\d{1,15}(\.\d{1,18})?(e-\d{1,2})?$/i.test(text),
    "must be the amount that the preview said",
  )
  .meta({
    description:
      "What a preview said that the adjustment comes to, USD. Where the difference is another by now, nothing is booked.",
    jsonSchema: { type: "number", exclusiveMinimum: -(10 ** 15), exclusiveMaximum: 10 ** 15 },
  });

export const bookAdjustmentRequest = z
  .strictObject({
    month,
    project: projectSlug.meta({ description: "The project that the adjustment is a cost of." }),
    provider: text(64, "The provider whose difference is booked, as the reconciliation names it.").optional(),
    model: text(200, "The model whose difference is booked, as the reconciliation names it.").optional(),
    day: day
      .optional()
      .meta({ description: "The first day of the period whose difference is booked, such as 2026-10-05." }),
    parts: z
      .array(part)
      .min(1, "must name a part")
      .max(bookableParts.length, `must name at most ${bookableParts.length} parts`)
      .optional()
      .meta({
        description: `The parts of the difference that are booked: ${bookableParts.map((name) => `\`${name}\``).join(", ")}. All of them unless given. What is not billed yet is never booked.`,
      }),
    expected_usd: expected.optional(),
    dry_run: z
      .boolean()
      .default(false)
      .meta({ description: "Answers what would be booked, in `effects`, too, and books nothing." }),
  })
  .meta({ id: "BookAdjustmentRequest" });
export type BookAdjustmentRequest = z.output<typeof bookAdjustmentRequest>;

export const billAdjustment = z
  .object({
    id: uuid.nullable().meta({ description: "Null for a preview." }),
    month,
    project: z.object({ slug: z.string(), name: z.string() }),
    amount_usd: decimalNumber("What was booked, USD. Below zero where more was recorded than billed."),
    standing_usd: decimalNumber("Of it, what is still booked, USD: the rest was voided or undone."),
    message_count: z.int().meta({
      description: "Messages of the type `bill_adjustment`: one for each provider, day, model and part.",
    }),
    parts: z
      .array(z.object({ part, amount_usd: decimalNumber("USD.") }))
      .meta({ description: "What was booked, by part of the difference." }),
    days: z
      .array(
        z.object({
          day: day.meta({ description: "The day (UTC) that it belongs to." }),
          provider: z.string(),
          amount_usd: decimalNumber("USD."),
        }),
      )
      .meta({
        description:
          "What was booked, by day and provider. What belongs to a closed month counts on the day of the booking, and says its own day in `adjusts`.",
      }),
    effects: bulkEffects.nullable().meta({ description: "Of a preview; otherwise null." }),
    created_at: instant.nullable().meta({ description: "Null for a preview." }),
    created_by: z.string().nullable().meta({ description: "The address of who booked it." }),
    undone_at: instant.nullable(),
    undone_by: z.string().nullable().meta({ description: "The address of who undid it." }),
  })
  .meta({ id: "BillAdjustment" });
export type BillAdjustment = z.output<typeof billAdjustment>;

export const billAdjustmentList = z
  .object({
    adjustments: z.array(billAdjustment).meta({ description: "The latest first, at most 100." }),
    can_book: z.boolean().meta({ description: "Whether the caller may book and undo adjustments." }),
  })
  .meta({ id: "BillAdjustmentList" });
export type BillAdjustmentList = z.output<typeof billAdjustmentList>;

export const billAdjustmentQuery = z.strictObject({
  month: month.optional().meta({ description: "Only those of a month, such as 2026-10." }),
});

export const billAdjustmentParams = z.strictObject({ slug: workspaceSlug, id: uuid });
