import { compare, type Decimal, divideMoney, isZero, multiply, subtract } from "@/lib/decimal";

/** An amount with its quantity in a unit and tier, of which some is taken at a time. */
type Pool = {
  model: string | null;
  unit: string;
  tier: string | null;
  quantity: Decimal;
  amount: Decimal;
  list: Decimal | null;
  isUnpriced: boolean;
};

/** Equal quantities of both sides, with what each says that they cost. `list`: the billed ones before discounts. */
type Pair = {
  quantity: Decimal;
  billed: Decimal;
  recorded: Decimal;
  list: Decimal | null;
  isUnpriced: boolean;
  isOtherTier: boolean;
};

type Side = {
  model: string | null;
  unit: string | null;
  tier: string | null;
  quantity: Decimal | null;
  amount: Decimal;
  list?: Decimal | null;
  isUnpriced?: boolean;
};

/** Units that providers bill as one, at one price: what one side calls reasoning the other may call output. */
const broader: Record<string, string> = {
  input_text_tokens: "input_tokens",
  input_image_tokens: "input_tokens",
  output_text_tokens: "output_tokens",
  output_reasoning_tokens: "output_tokens",
  cache_image_read_tokens: "cache_read_tokens",
};
/** Units that differ by how long a cache lasts, which is a price like that of a tier. */
const ofCaches = new Set([
  "cache_write_tokens",
  "cache_write_5m_tokens",
  "cache_write_1h_tokens",
  "cache_write_12h_tokens",
]);
const family = (unit: string) => (ofCaches.has(unit) ? "cache_write_tokens" : (broader[unit] ?? unit));

/**
 * Pairs billed with recorded quantities: first of the same unit and tier, then of the same unit in another tier, then of units of one
 * family; and all of that first of models with the same name, then of any. Both sides must have units and positive quantities.
 * @returns the pairs, and what is left of each side. Amounts are divided by quantity; pairs and rests sum to them exactly.
 */
export function pairUnits(
  billed: readonly Side[],
  recorded: readonly Side[],
): { pairs: Pair[]; billed: Pool[]; recorded: Pool[] } {
  const bills = billed.map(toPool);
  const records = recorded.map(toPool);
  const pairs: Pair[] = [];
  const pair = (fits: (bill: Pool, record: Pool) => boolean) => {
    for (const bill of bills)
      for (const record of records) {
        if (isZero(bill.quantity)) break;
        if (isZero(record.quantity) || !fits(bill, record)) continue;
        const quantity = compare(bill.quantity, record.quantity) <= 0 ? bill.quantity : record.quantity;
        const fromBill = take(bill, quantity);
        const fromRecord = take(record, quantity);
        const isOtherTier =
          bill.tier !== record.tier ||
          (bill.unit !== record.unit && ofCaches.has(bill.unit) && ofCaches.has(record.unit));
        pairs.push({
          quantity,
          billed: fromBill.amount,
          recorded: fromRecord.amount,
          list: fromBill.list,
          isUnpriced: record.isUnpriced,
          isOtherTier,
        });
      }
  };
  for (const isSame of [(a: Pool, b: Pool) => a.model === b.model, () => true]) {
    pair((a, b) => isSame(a, b) && a.unit === b.unit && a.tier === b.tier);
    pair((a, b) => isSame(a, b) && a.unit === b.unit);
    pair((a, b) => isSame(a, b) && family(a.unit) === family(b.unit) && a.tier === b.tier);
    pair((a, b) => isSame(a, b) && family(a.unit) === family(b.unit));
  }
  const isLeft = ({ quantity, amount }: Pool) => !(isZero(quantity) && isZero(amount));
  return { pairs, billed: bills.filter(isLeft), recorded: records.filter(isLeft) };
}

/** A model's name as it is compared: without the provider before it. */
export const nameOf = (model: string): string => model.toLowerCase().replace(/^.*\//, "");

function toPool({ model, unit, tier, quantity, amount, list = null, isUnpriced = false }: Side): Pool {
  if (unit === null || quantity === null) throw new Error("Only quantities with a unit are paired.");
  return { model: model && nameOf(model), unit, tier, quantity, amount, list, isUnpriced };
}

/** Takes a quantity of a pool, with its share of the amounts. The last of a pool takes the rest. */
function take(pool: Pool, quantity: Decimal): { amount: Decimal; list: Decimal | null } {
  const share = (whole: Decimal) =>
    compare(quantity, pool.quantity) === 0 ? whole : divideMoney(multiply(whole, quantity), pool.quantity);
  const taken = { amount: share(pool.amount), list: pool.list && share(pool.list) };
  pool.amount = subtract(pool.amount, taken.amount);
  pool.list = pool.list && taken.list && subtract(pool.list, taken.list);
  pool.quantity = subtract(pool.quantity, quantity);
  return taken;
}
