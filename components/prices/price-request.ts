import type { z } from "zod";
import { multiplyExact } from "@/components/activity/exact";
import { readTypedAmount } from "@/components/typed-amount";
import { ExactNumber } from "@/lib/contract/exact-number";
import type { setPriceRequest } from "@/lib/contract/prices";

/** What one unit costs where so many of them cost something: as the portion's reciprocal, which is exact. */
const reciprocals: Record<string, string> = { "1": "1", "1000": "0.001", "1000000": "0.000001" };

/** How many units a price can be quoted for. */
export const portions = [
  { value: "1", label: "one unit" },
  { value: "1000", label: "a thousand units" },
  { value: "1000000", label: "a million units" },
];

/** A price as it is filled in; days are `YYYY-MM-DD` in UTC, or empty. */
export type PriceForm = {
  provider: string;
  model: string;
  unitType: string;
  rate: string;
  per: string;
  startsOn: string;
  /** Whether what was priced before is corrected too, and in which days, both included. */
  reprices: boolean;
  repriceFrom: string;
  repriceTo: string;
};

/** The rate of one unit as exact digits; undefined for what is no amount. */
export function unitRate({ rate, per }: Pick<PriceForm, "rate" | "per">): string | undefined {
  const typed = readTypedAmount(rate);
  return typed ? multiplyExact(typed, reciprocals[per] ?? "1") : undefined;
}

/** Decimals that a rate can have. */
const maxDecimals = 18;

/**
 * Reads a form as a request.
 * @returns with `errors` by the API's own paths, for what could not even be sent
 */
export function readPriceForm(form: PriceForm): {
  request: z.input<typeof setPriceRequest>;
  errors: Record<string, string>;
} {
  const rate = unitRate(form);
  const errors: Record<string, string> = {};
  if (rate === undefined) errors.rate = "must be an amount, like 2.50; 0 for what is free";
  const decimals = (form.rate.split(".")[1]?.trim().length ?? 0) + form.per.length - 1;
  if (decimals > maxDecimals) errors.rate = `comes to more than ${maxDecimals} decimals for one unit`;
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
      starts_at: startOf(form.startsOn),
      ...(form.reprices && { reprice: { from: startOf(from), ...(to && { to: startOf(dayAfter(to)) }) } }),
    },
  };
}

const startOf = (day: string) => `${day}T00:00:00Z`;
const dayMs = 24 * 60 * 60 * 1000;
const dayAfter = (day: string) => new Date(Date.parse(day) + dayMs).toISOString().slice(0, 10);
