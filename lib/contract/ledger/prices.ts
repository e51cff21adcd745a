import { z } from "zod";
import { day, decimalNumber, instant, positiveDecimal, text, uuid } from "@/lib/contract/values/fields";

/** A workspace's own price. */
const price = z
  .object({
    id: uuid,
    provider: z.string(),
    model: z.string().nullable().meta({ description: "Null: every model of the provider." }),
    unit_type: z.string(),
    rate: decimalNumber("USD for one unit."),
    starts_at: instant.meta({
      description: "It applies to usage from then on, until a later price starts.",
    }),
    created_at: instant,
  })
  .meta({ id: "Price" });

/** A correction of stored amounts, made in the background after a price was set. */
const repricing = z
  .object({
    id: uuid,
    provider: z.string(),
    from: instant,
    to: instant.nullable(),
    includes_priced: z.boolean(),
    status: z.enum(["pending", "running", "done"]),
    examined_count: z.int(),
    changed_count: z.int(),
    change_usd: decimalNumber("By how much the total has changed so far, USD."),
    created_at: instant,
    finished_at: instant.nullable(),
  })
  .meta({ id: "Repricing" });

/** The price of one unit in one catalogue. */
const offer = z.object({
  source: z.string().meta({ description: "The catalogue and its version, or a correction of it." }),
  model: z.string().meta({ description: "The model as the catalogue names it." }),
  rate: decimalNumber("USD for one unit."),
});

/** A price of a model in use that differs between two catalogues. */
const disputedPrice = z
  .object({
    provider: z.string().meta({ description: "The provider's name as your messages have it." }),
    model: z.string(),
    unit_type: z.string(),
    last_used_on: day,
    applied: offer.meta({ description: "The price that usage is recorded at until you settle it." }),
    other: offer.meta({ description: "The price of the other catalogue." }),
  })
  .meta({ id: "DisputedPrice" });

export const priceList = z
  .object({
    prices: z.array(price),
    disputed: z.array(disputedPrice).meta({
      description:
        "Prices of models used in the last 31 days that two catalogues disagree about by 10% or more on the same day, by the cost of their models. Setting a price of your own settles it.",
    }),
    repricings: z.array(repricing).meta({ description: "The latest 20, newest first." }),
    closed_until: day.nullable().meta({
      description:
        "The first open day (UTC): prices and corrections leave what occurred before it as it is. Null where no month is closed.",
    }),
  })
  .meta({ id: "PriceList" });

export const setPriceRequest = z
  .strictObject({
    provider: text(64, "The provider's name as your messages have it, in any letter case."),
    model: text(128).nullable().default(null).meta({ description: "Left out: every model of the provider." }),
    unit_type: text(64),
    rate: positiveDecimal("USD for one unit; 0 if it is free.", { orZero: true }),
    starts_at: instant.meta({
      description:
        "The time from which the price applies. Unpriced usage since then is corrected in the background.",
    }),
    reprice: z
      .strictObject({
        from: instant,
        to: instant.optional(),
      })
      .optional()
      .meta({
        description:
          "Also corrects usage in this range that already has a price. Costs that clients sent do not change.",
      }),
  })
  .refine(({ reprice }) => !reprice?.to || Date.parse(reprice.from) < Date.parse(reprice.to), {
    path: ["reprice", "to"],
    error: "must be later than from",
  })
  .meta({ id: "SetPriceRequest" });
export type SetPriceRequest = z.output<typeof setPriceRequest>;

export const setPriceResult = z
  .object({ price, repricings: z.array(repricing).meta({ description: "The corrections that were begun." }) })
  .meta({ id: "SetPriceResult" });

/** Usage without a price, grouped by what a price can be set for. Names that differ only in letter case are one group. */
export const unpricedList = z
  .object({
    unpriced: z.array(
      z.object({
        provider: z.string(),
        model: z.string().nullable(),
        unit_type: z.string(),
        line_count: z.int().meta({ description: "Messages, or lines of batches." }),
        quantity: decimalNumber("Units in all."),
        first_occurred_at: instant,
        last_occurred_at: instant,
      }),
    ),
  })
  .meta({ id: "UnpricedList" });
