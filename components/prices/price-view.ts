import type { z } from "zod";
import { multiplyExact } from "@/components/activity/exact";
import { exactText } from "@/components/amount";
import { formatUsd } from "@/components/money";
import type { priceList, unpricedList } from "@/lib/contract/prices";

/** A price of an answer. */
export type Price = z.output<typeof priceList>["prices"][number];
/** A correction of an answer. */
export type Repricing = z.output<typeof priceList>["repricings"][number];
/** What has no price, of an answer. */
export type Unpriced = z.output<typeof unpricedList>["unpriced"][number];

/** What the form of a price begins with; decimals and days as text. */
export type PriceStart = {
  provider: string;
  model: string;
  unitType: string;
  /** USD for `per` units; empty where it is to be found out. */
  rate: string;
  /** The first UTC day, `YYYY-MM-DD`. */
  startsOn: string;
  /** Units that wait for it; null where none do. */
  waiting: string | null;
};

/** How many units people quote a price for: tokens by the million, the rest one by one. */
export function usualPortion(unitType: string): string {
  return /token/i.test(unitType) ? "1000000" : "1";
}

/** A rate for one unit as people quote it: "$2.50 for 1,000,000". */
export function describeRate(rate: string, unitType: string): string {
  const portion = usualPortion(unitType);
  const usd = formatUsd(multiplyExact(rate, portion));
  return portion === "1" ? `${usd} each` : `${usd} a million`;
}

/** What a price that takes over from another begins with. @param today the UTC day it begins on unless said */
export function startFromPrice(price: Price, today: string): PriceStart {
  const { provider, model, unit_type: unitType, rate } = price;
  return {
    provider,
    model: model ?? "",
    unitType,
    rate: multiplyExact(exactText(rate), usualPortion(unitType)),
    startsOn: today,
    waiting: null,
  };
}

/** What the first price of something begins with: the day its usage did. */
export function startFromUnpriced(unpriced: Unpriced): PriceStart {
  return {
    provider: unpriced.provider,
    model: unpriced.model ?? "",
    unitType: unpriced.unit_type,
    rate: "",
    startsOn: unpriced.first_occurred_at.slice(0, 10),
    waiting: exactText(unpriced.quantity),
  };
}
