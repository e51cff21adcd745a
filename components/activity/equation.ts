import { type Amount, exactText } from "@/components/amount";
import type { MessageDetail } from "@/lib/contract/activity";
import { groupDigits, subtractExact } from "./exact";

/** What is needed to say how an amount came about: of a message, or of a line of a batch. */
export type Priced = Pick<MessageDetail, "cost_status" | "amount_usd" | "quantity" | "price"> &
  Partial<Pick<MessageDetail, "unit_type" | "currency" | "original_amount">>;

/** A price as messages keep it (`lib/ledger/pricing/price-line`); more than `rate` is there only where it matters. */
type Rate = { rate: Amount; per?: Amount; minimum?: Amount; cached?: Rate & { quantity: Amount } };

const dollars = (usd: Amount) => `$${groupDigits(exactText(usd))}`;

function describeRate({ rate, per }: Rate): string {
  const portion = per === undefined ? "1" : exactText(per);
  return portion === "1" ? dollars(rate) : `${dollars(rate)} ÷ ${groupDigits(portion)}`;
}

/**
 * How an amount came about, as an equation to the last digit: `1,200 × $0.0000025 = $0.003`.
 * @returns undefined where nothing was multiplied: the cost was given, or there is no price
 */
export function writeEquation(priced: Priced): string | undefined {
  const { price, amount_usd: usd } = priced;
  if (!price) return undefined;
  if (priced.cost_status === "converted" && priced.original_amount != null) {
    return `${groupDigits(exactText(priced.original_amount))} ${priced.currency} × ${dollars(price.rate)} = ${dollars(usd)}`;
  }
  if (priced.quantity == null) return undefined;
  const rate = price as Rate;
  const quantity = exactText(priced.quantity);
  const fresh = rate.cached ? subtractExact(quantity, exactText(rate.cached.quantity)) : quantity;
  const terms = [
    writeTerm(fresh, rate),
    ...(rate.cached ? [writeTerm(exactText(rate.cached.quantity), rate.cached)] : []),
  ];
  return `${terms.join(" + ")} = ${dollars(usd)}`;
}

/** A part of the sum; where the provider bills a least amount and it was reached, that amount. */
function writeTerm(quantity: string, rate: Rate): string {
  if (rate.minimum !== undefined) return `${dollars(rate.minimum)} at least`;
  return `${groupDigits(quantity)} × ${describeRate(rate)}`;
}
