import { z } from "zod";
import { day, decimalNumber } from "./fields";

/** The query parameter for sums in a second currency. */
export const currencyFilter = {
  currency: z
    .string()
    .regex(/^[A-Z]{3}$/, "must be a currency code of ISO 4217, like USD or EUR")
    .optional()
    .meta({
      description:
        "A currency (ISO 4217) in which sums are wanted besides USD: each day converted at its rate, in `converted`.",
    }),
};

/** The currency of converted sums, and the rates that they were converted at. */
export const conversion = {
  currency: z.string().meta({ description: "ISO 4217." }),
  rates: z
    .array(
      z
        .object({
          from: day.nullable().meta({
            description: "The first UTC day it is used for; null for all days before the next one.",
          }),
          per_usd: decimalNumber("Units of the currency for one USD."),
          rate_date: day.meta({ description: "The day that the rate is of." }),
          source: z.string().meta({ description: "Where the rate is from." }),
        })
        .meta({ id: "ConversionRate" }),
    )
    .meta({
      description:
        "Each is used until the next begins, and the last for all days after it, those to come included.",
    }),
};
