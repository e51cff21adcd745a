import type { z } from "zod";
import { multiplyExact } from "@/components/figures/exact";
import { parseAmount } from "@/components/figures/parse-amount";
import { addDays, startOfDay } from "@/components/figures/utc-day";
import type { setPriceRequest } from "@/lib/contract/ledger/prices";
import { ExactNumber } from "@/lib/contract/values/exact-number";

/** The exact reciprocal of each portion: a price for a portion times it is the price of one unit. */
const reciprocals: Record<string, string> = { "1": "1", "1000": "0.001", "1000000": "0.000001" };

/** The numbers of units that a price can be entered for. */
export const portions = [
  { value: "1", label: "one unit" },
  { value: "1000", label: "a thousand units" },
  { value: "1000000", label: "a million units" },
];

/** The values of the price form. Days are `YYYY-MM-DD` in UTC, or empty. */
export type PriceForm = {
  provider: string;
  model: string;
  unitType: string;
  /** USD for `per` units, as typed. */
  rate: string;
  per: string;
  startsOn: string;
  /** Whether usage that already has a price is corrected too, from `repriceFrom` to `repriceTo`, both included. */
  reprices: boolean;
  repriceFrom: string;
  repriceTo: string;
};

/** The USD rate of one unit as exact digits; undefined when the typed rate is not an amount. */
export function unitRate({ rate, per }: Pick<PriceForm, "rate" | "per">): string | undefined {
  const typed = parseAmount(rate);
  return typed ? multiplyExact(typed, reciprocals[per] ?? "1") : undefined;
}

/** The decimals that a rate can have. */
const maxDecimals = 18;

/**
 * Turns the form's values into a request.
 * @returns the request, and `errors` by the API's paths for values that cannot be sent
 */
export function parsePriceForm(form: PriceForm): {
  request: z.input<typeof setPriceRequest>;
  errors: Record<string, string>;
} {
  const rate = unitRate(form);
  const errors: Record<string, string> = {};
  if (rate === undefined) errors.rate = "must be an amount, like 2.50, or 0 if it is free";
  const decimals = (form.rate.split(".")[1]?.trim().length ?? 0) + form.per.length - 1;
  if (decimals > maxDecimals) errors.rate = `has more than ${maxDecimals} decimals for one unit`;
  if (!form.startsOn) errors.starts_at = "is required";
  if (form.reprices && !form.repriceFrom) errors["reprice.from"] = "is required";
  const { repriceFrom: from, repriceTo: to } = form;
  return {
    errors,
    request: {
      provider: form.provider.trim(),
      model: form.model.trim() || null,
      unit_type: form.unitType.trim(),
      rate: new ExactNumber(rate ?? "0"),
      starts_at: startOfDay(form.startsOn),
      ...(form.reprices && {
        // The API's `to` is exclusive.
        reprice: { from: startOfDay(from), ...(to && { to: startOfDay(addDays(to, 1)) }) },
      }),
    },
  };
}
