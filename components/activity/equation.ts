import { type Amount, exactText } from "@/components/figures/amount";
import { subtractExact } from "@/components/figures/exact";
import { formatDigits } from "@/components/figures/format-count";
import { formatExactUsd } from "@/components/figures/format-money";
import type { MessageDetail } from "@/lib/contract/spend/message-detail";

/** The fields of a message, or of a line of a batch, that its amount was calculated from. */
export type Priced = Pick<MessageDetail, "cost_status" | "amount_usd" | "quantity" | "price"> &
  Partial<Pick<MessageDetail, "list_price_usd" | "unit_type" | "currency" | "original_amount">>;

/** A price as messages keep it (`lib/ledger/pricing/price-line`). All fields but `rate` are only set when they apply. */
type Rate = { rate: Amount; per?: Amount; minimum?: Amount; cached?: Rate & { quantity: Amount } };

const dollars = (usd: Amount) => formatExactUsd(usd, true);

function formatRate({ rate, per }: Rate): string {
  const portion = per === undefined ? "1" : exactText(per);
  return portion === "1" ? dollars(rate) : `${dollars(rate)} ÷ ${formatDigits(portion)}`;
}

/**
 * The calculation of an amount with all digits: `1,200 × $0.0000025 = $0.003`.
 * @returns undefined when nothing was calculated: the cost was sent with the message, or there is no price
 */
export function formatEquation(priced: Priced): string | undefined {
  const { price, amount_usd, list_price_usd: listPrice } = priced;
  const usd = listPrice ?? amount_usd;
  if (!price) return undefined;
  if (priced.cost_status === "converted" && priced.original_amount != null) {
    return `${formatDigits(exactText(priced.original_amount))} ${priced.currency} × ${dollars(price.rate)} = ${dollars(usd)}`;
  }
  if (priced.quantity == null) return undefined;
  const rate = price as Rate;
  const quantity = exactText(priced.quantity);
  const uncached = rate.cached ? subtractExact(quantity, exactText(rate.cached.quantity)) : quantity;
  const terms = [
    formatTerm(uncached, rate),
    ...(rate.cached ? [formatTerm(exactText(rate.cached.quantity), rate.cached)] : []),
  ];
  return `${terms.join(" + ")} = ${dollars(usd)}`;
}

/** One term of the sum. When the provider's minimum charge applied, the term is that charge. */
function formatTerm(quantity: string, rate: Rate): string {
  if (rate.minimum !== undefined) return `${dollars(rate.minimum)} minimum`;
  return `${formatDigits(quantity)} × ${formatRate(rate)}`;
}
