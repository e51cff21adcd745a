import type { z } from "zod";
import { exactText, sumAmounts } from "@/components/figures/amount";
import { multiplyExact } from "@/components/figures/exact";
import { parseAmount } from "@/components/figures/parse-amount";
import { addDays, startOfDay } from "@/components/figures/utc-day";
import type { setPriceRequest } from "@/lib/contract/ledger/prices";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import { type PriceStart, usualPortion } from "./price-view";

/** The exact reciprocal of each portion, which converts a price for a portion to the price of one unit. */
const reciprocals: Record<string, string> = { "1": "1", "1000": "0.001", "1000000": "0.000001" };

/** The numbers of units that a price can be entered for. */
export const portions = [
  { value: "1", label: "one unit" },
  { value: "1000", label: "a thousand units" },
  { value: "1000000", label: "a million units" },
];

/** The values of one unit in the price form. */
export type UnitForm = {
  unitType: string;
  /** USD for `per` units, as typed; empty for a unit whose price is not set. */
  rate: string;
  per: string;
  /** Number of units without a price; null when there are none. */
  waiting: string | null;
};

/** The values of the price form. Days are `YYYY-MM-DD` in UTC, or empty. */
export type PriceForm = {
  provider: string;
  model: string;
  units: UnitForm[];
  startsOn: string;
  /** Whether usage that already has a price is corrected too, from `repriceFrom` to `repriceTo`, both included. */
  reprices: boolean;
  repriceFrom: string;
  repriceTo: string;
};

/** A unit that is added to the form. */
export const newUnit: UnitForm = { unitType: "", rate: "", per: "1000000", waiting: null };

/** The initial values of the form. */
export function priceFormOf({ units, startsOn, ...subject }: PriceStart): PriceForm {
  return {
    ...subject,
    units: units.map((unit) => ({ ...unit, per: usualPortion(unit.unitType) })),
    startsOn,
    reprices: false,
    repriceFrom: startsOn,
    repriceTo: "",
  };
}

/** The USD rate of one unit as exact digits; undefined when the typed rate is not an amount. */
export function unitRate({ rate, per }: Pick<UnitForm, "rate" | "per">): string | undefined {
  const typed = parseAmount(rate);
  return typed ? multiplyExact(typed, reciprocals[per] ?? "1") : undefined;
}

/** What the usage without a price will cost at the typed prices, exact USD; undefined if none of it gets a price. */
export function effectOf({ units }: Pick<PriceForm, "units">): string | undefined {
  const costs = units.flatMap((unit) => {
    const rate = unitRate(unit);
    return rate === undefined || unit.waiting === null ? [] : multiplyExact(unit.waiting, rate);
  });
  return costs.length === 0 ? undefined : exactText(sumAmounts(costs));
}

/** The decimals that a rate can have. */
const maxDecimals = 18;

/**
 * Turns the form's values into requests, one for each unit that has a price.
 * @returns the requests, each with the place of its unit, and `errors` for values that cannot be sent, by the API's paths; paths of a
 *   unit begin with its place (`units.0.rate`)
 */
export function parsePriceForm(form: PriceForm): {
  requests: { place: number; request: z.input<typeof setPriceRequest> }[];
  errors: Record<string, string>;
} {
  const errors: Record<string, string> = {};
  const filled = form.units.flatMap((unit, place) => (unit.rate.trim() === "" ? [] : [{ unit, place }]));
  if (filled.length === 0) errors["units.0.rate"] = amountNeeded;
  if (!form.startsOn) errors.starts_at = "is required";
  if (form.reprices && !form.repriceFrom) errors["reprice.from"] = "is required";
  const { repriceFrom: from, repriceTo: to } = form;
  const requests = filled.map(({ unit, place }, at) => {
    const rate = unitRate(unit);
    const decimals = (unit.rate.split(".")[1]?.trim().length ?? 0) + unit.per.length - 1;
    if (rate === undefined) errors[`units.${place}.rate`] = amountNeeded;
    else if (decimals > maxDecimals)
      errors[`units.${place}.rate`] = `has more than ${maxDecimals} decimals for one unit`;
    return {
      place,
      request: {
        provider: form.provider.trim(),
        model: form.model.trim() || null,
        unit_type: unit.unitType.trim(),
        rate: new ExactNumber(rate ?? "0"),
        starts_at: startOfDay(form.startsOn),
        // A correction prices all usage of the provider again, so it begins once, after the last price is set.
        ...(form.reprices &&
          at === filled.length - 1 && {
            // The API's `to` is exclusive.
            reprice: { from: startOfDay(from), ...(to && { to: startOfDay(addDays(to, 1)) }) },
          }),
      },
    };
  });
  return { requests, errors };
}

const amountNeeded = "must be an amount, like 2.50, or 0 if it is free";
