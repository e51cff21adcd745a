import type { z } from "zod";
import { exactText } from "@/components/figures/amount";
import { multiplyExact } from "@/components/figures/exact";
import { formatUsd } from "@/components/figures/money";
import type { priceList, unpricedList } from "@/lib/contract/ledger/prices";

/** A price, as the API answers it. */
type Price = z.output<typeof priceList>["prices"][number];
/** A correction of earlier usage, as the API answers it. */
export type Repricing = z.output<typeof priceList>["repricings"][number];
/** Usage without a price, as the API answers it. */
type Unpriced = z.output<typeof unpricedList>["unpriced"][number];

/** A price with its rate as exact text, so that a server component can pass it to a client component. */
export type PriceView = Omit<Price, "rate"> & {
  /** USD for one unit. */
  rate: string;
};
/** Usage without a price, with its units as exact text. */
export type UnpricedView = Omit<Unpriced, "quantity"> & { quantity: string };

/** Maps a price of the service's answer to a PriceView. */
export const toPriceView = (price: Price): PriceView => ({ ...price, rate: exactText(price.rate) });

/** Maps usage without a price to an UnpricedView. */
export const toUnpricedView = (unpriced: Unpriced): UnpricedView => ({
  ...unpriced,
  quantity: exactText(unpriced.quantity),
});

/** A price that two catalogues disagree about, as the API answers it. */
export type Disputed = z.output<typeof priceList>["disputed"][number];
/** What one catalogue asks for a unit. */
export type Offer = Disputed["applied"];

/** The initial values of the price form. Amounts are exact text. */
export type PriceStart = {
  provider: string;
  model: string;
  unitType: string;
  /** USD for the usual portion of the unit; empty when it is not known. */
  rate: string;
  /** The first UTC day, `YYYY-MM-DD`. */
  startsOn: string;
  /** Number of units without a price; null when there are none. */
  waiting: string | null;
};

/** The number of units that a price is usually quoted for: a million tokens, or one of anything else. */
export function usualPortion(unitType: string): string {
  return /token/i.test(unitType) ? "1000000" : "1";
}

/** The rate of one unit, quoted for the usual portion: "$2.50 a million", "$0.04 each". */
export function formatRate(rate: string, unitType: string): string {
  const portion = usualPortion(unitType);
  const usd = formatUsd(multiplyExact(rate, portion));
  return portion === "1" ? `${usd} each` : `${usd} a million`;
}

/** The day from which a settled price holds: the first of the current UTC month. @param today `YYYY-MM-DD` */
export function startOfMonth(today: string): string {
  return `${today.slice(0, 8)}01`;
}

/** The initial values for a new price that replaces an existing one. @param today its first UTC day, `YYYY-MM-DD` */
export function startFromPrice(price: PriceView, today: string): PriceStart {
  const { provider, model, unit_type: unitType, rate } = price;
  return {
    provider,
    model: model ?? "",
    unitType,
    rate: multiplyExact(rate, usualPortion(unitType)),
    startsOn: today,
    waiting: null,
  };
}

/** The initial values for the first price of unpriced usage: it starts on the day of the first usage. */
export function startFromUnpriced(unpriced: UnpricedView): PriceStart {
  return {
    provider: unpriced.provider,
    model: unpriced.model ?? "",
    unitType: unpriced.unit_type,
    rate: "",
    startsOn: unpriced.first_occurred_at.slice(0, 10),
    waiting: unpriced.quantity,
  };
}
