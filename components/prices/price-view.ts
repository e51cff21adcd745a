import type { z } from "zod";
import { exactText } from "@/components/figures/amount";
import { multiplyExact } from "@/components/figures/exact";
import { formatUsd } from "@/components/figures/money";
import type { priceList, unpricedList } from "@/lib/contract/ledger/prices";

/** A price in the form of the API. */
type Price = z.output<typeof priceList>["prices"][number];
/** A correction of earlier usage in the form of the API. */
export type Repricing = z.output<typeof priceList>["repricings"][number];
/** Usage without a price in the form of the API. */
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

/** A price that differs between two catalogues, in the form of the API. */
export type Disputed = z.output<typeof priceList>["disputed"][number];
/** The price of a unit in one catalogue. */
export type Offer = Disputed["applied"];

/** The initial values of one unit in the price form. Amounts are exact text. */
export type UnitStart = {
  unitType: string;
  /** USD for the usual portion of the unit; empty when it is not known. */
  rate: string;
  /** Number of units without a price; null when there are none. */
  waiting: string | null;
};

/** The initial values of the price form: a model with its units. */
export type PriceStart = {
  provider: string;
  model: string;
  units: UnitStart[];
  /** The first UTC day, `YYYY-MM-DD`. */
  startsOn: string;
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

/** The day from which a chosen catalogue price applies: the first of the current UTC month. @param today `YYYY-MM-DD` */
export function startOfMonth(today: string): string {
  return `${today.slice(0, 8)}01`;
}

type Priced = { provider: string; model: string | null; unit_type: string };

/** The rows of a model with another unit than a given one. Names that differ only in letter case are one. */
function otherUnits<Row extends Priced>(row: Row, all: Row[]): Row[] {
  const nameOf = ({ provider, model }: Priced) => `${provider}\n${model ?? ""}`.toLowerCase();
  return all.filter((each) => nameOf(each) === nameOf(row) && each.unit_type !== row.unit_type);
}

/**
 * The initial values for new prices that replace those of a model.
 * @param price the chosen price, which comes first
 * @param all the workspace's prices
 * @param today their first UTC day, `YYYY-MM-DD`
 */
export function startFromPrice(price: PriceView, all: PriceView[], today: string): PriceStart {
  const others = otherUnits(price, all);
  const latest = others.filter(
    (each) => !others.some((other) => other.unit_type === each.unit_type && other.starts_at > each.starts_at),
  );
  return {
    provider: price.provider,
    model: price.model ?? "",
    units: [price, ...latest].map(({ unit_type: unitType, rate }) => ({
      unitType,
      rate: multiplyExact(rate, usualPortion(unitType)),
      waiting: null,
    })),
    startsOn: today,
  };
}

/** The initial values for the first prices of a model's unpriced usage: they start on the day of the first usage. */
export function startFromUnpriced(unpriced: UnpricedView, all: UnpricedView[]): PriceStart {
  const rows = [unpriced, ...otherUnits(unpriced, all)];
  return {
    provider: unpriced.provider,
    model: unpriced.model ?? "",
    units: rows.map(({ unit_type: unitType, quantity }) => ({ unitType, rate: "", waiting: quantity })),
    startsOn: rows.map(({ first_occurred_at: at }) => at.slice(0, 10)).sort()[0] ?? "",
  };
}
