import {
  compare,
  type Decimal,
  divideMoney,
  isZero,
  multiply,
  parseDecimal,
  roundTo,
  zero,
} from "@/lib/decimal";
import { priceUsage } from "@/lib/ledger/pricing/price-message";
import { type BilledFact, isTokens } from "./statements";

/** A quantity so large that a price is exact, and so large an input that prices for long contexts would apply. */
const million = parseDecimal(1_000_000);

/**
 * Adds missing quantities of tokens to the facts of a statement: the amount before discounts divided by the list price. Anthropic's
 * cost report has no quantities. A model gets quantities only if all its amounts come to whole numbers of tokens in the standard tier,
 * and if its prices do not depend on the length of the context, which a bill does not state.
 * @param provider the provider's key
 * @param day the first of the statement, whose list prices count
 */
export function inferQuantities(provider: string, day: string, facts: readonly BilledFact[]): BilledFact[] {
  const lacking = facts.filter(
    (fact) => fact.quantity === null && fact.tier === null && isTokens(fact.unit) && !isZero(fact.amount),
  );
  const inferred = new Map(lacking.map((fact) => [fact, inferQuantity(provider, day, fact)]));
  const open = new Set(lacking.filter((fact) => !inferred.get(fact)).map(({ model }) => model));
  return facts.map((fact) => {
    const quantity = open.has(fact.model) ? undefined : inferred.get(fact);
    return quantity ? { ...fact, quantity } : fact;
  });
}

function inferQuantity(
  provider: string,
  day: string,
  { model, unit, list }: BilledFact,
): Decimal | undefined {
  if (model === null || unit === null || list === null || compare(list, zero) <= 0) return undefined;
  const cost = (inputQuantity?: Decimal) =>
    priceUsage({
      ...{ provider, model, unitType: unit, quantity: million, inputQuantity },
      occurredAt: new Date(day),
    });
  const [price, ofLongContexts] = [cost(), cost(million)];
  if (price.costStatus !== "priced" || compare(price.amount, ofLongContexts.amount) !== 0) return undefined;
  if (isZero(price.amount)) return undefined;
  const quantity = roundTo(divideMoney(multiply(list, million), price.amount), 0, "nearest");
  return compare(multiply(quantity, price.amount), multiply(list, million)) === 0 ? quantity : undefined;
}
