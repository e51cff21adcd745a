import { ExactNumber } from "@/lib/contract/values/exact-number";
import {
  compare,
  type Decimal,
  divideMoney,
  isZero,
  multiply,
  roundMoney,
  subtract,
  sum,
  toText,
} from "@/lib/decimal";
import { priceFromCatalogue } from "@/lib/ledger/pricing/catalogue";
import type { SourceRecord } from "./source-record";

/** The quantity of one unit that a call used. */
export type ReportedLine = { unitType: string; quantity: Decimal };

/** A line of a message. */
type WrittenLine = { unit_type: string; quantity: ExactNumber; estimated_cost?: ExactNumber };

/**
 * The lines of a call's message, with the emitter's cost if that is trusted. Emitters report the cost of the whole call. It is divided
 * among the lines in proportion to their list prices, or to their quantities if one of them has no list price. The shares sum to the cost
 * exactly.
 * @param isCostTrusted whether the emitter's cost counts; that of the record by default
 */
export function withGivenCost(
  record: SourceRecord,
  lines: ReportedLine[],
  isCostTrusted = record.isCostTrusted,
): WrittenLine[] {
  const { givenCostUsd } = record;
  const shares = isCostTrusted && givenCostUsd ? spread(roundMoney(givenCostUsd), weigh(record, lines)) : [];
  return lines.map(({ unitType, quantity }, index) => {
    const share = shares[index];
    const line: WrittenLine = { unit_type: unitType, quantity: new ExactNumber(toText(quantity)) };
    if (share) line.estimated_cost = new ExactNumber(toText(share));
    return line;
  });
}

function weigh(
  { provider, model, occurredAt, requestInput, tier }: SourceRecord,
  lines: ReportedLine[],
): Decimal[] {
  const shared = {
    provider,
    model,
    occurredAt: occurredAt === undefined ? new Date() : new Date(occurredAt),
    serviceTier: tier,
    ...(requestInput && { inputQuantity: requestInput }),
  };
  const prices = lines.flatMap((line) => {
    const priced = priceFromCatalogue({ ...shared, ...line });
    return priced.status === "priced" ? [priced.amount] : [];
  });
  const isPriced = prices.length === lines.length && !isZero(sum(prices));
  return isPriced ? prices : lines.map(({ quantity }) => quantity);
}

/** Divides a total by weights, at least one of which is above 0. The largest share takes the rounding difference. */
function spread(total: Decimal, weights: Decimal[]): Decimal[] {
  const whole = sum(weights);
  const shares = weights.map((weight) => divideMoney(multiply(total, weight), whole));
  const largest = weights.reduce(
    (best, weight, index) => (compare(weight, weights[best] ?? weight) > 0 ? index : best),
    0,
  );
  const others = sum(shares.filter((_, index) => index !== largest));
  return shares.map((share, index) => (index === largest ? subtract(total, others) : share));
}
