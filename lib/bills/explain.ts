import type { DifferencePart } from "@/lib/contract/bills/difference-parts";
import {
  absolute,
  add,
  compare,
  countDecimals,
  type Decimal,
  isZero,
  multiply,
  parseDecimal,
  shiftDecimal,
  subtract,
  sum,
  zero,
} from "@/lib/decimal";
import { findUnit } from "@/lib/ledger/pricing/units";
import { pairUnits } from "./pair-units";
import { type BilledFact, isTokens } from "./statements";

/** What was recorded of one unit. Null: the records do not say. */
export type RecordedUse = {
  model: string | null;
  unit: string | null;
  tier: string | null;
  amount: Decimal;
  quantity: Decimal | null;
  /** Whether it was recorded without a price. */
  isUnpriced: boolean;
  /** Whether the client stated the cost, which no price changes. */
  isGiven?: boolean;
};

/** Why billed and recorded differ. `parts` sum to billed less recorded, exactly. */
export type Explained = {
  parts: Map<DifferencePart, Decimal>;
  /** Quantities that the bill has, and how many of them were recorded. */
  billedUnits: Decimal;
  recordedUnits: Decimal;
};

/** Collects the parts of a difference. */
export class Parts {
  /** @param sums what is added to */
  constructor(readonly sums: Map<DifferencePart, Decimal> = new Map()) {}

  add(part: DifferencePart, amount: Decimal): void {
    if (isZero(amount)) return;
    const total = add(this.sums.get(part) ?? zero, amount);
    if (isZero(total)) this.sums.delete(part);
    else this.sums.set(part, total);
  }
}

/** The sum of amounts, in their currency. */
export const totalOf = (amounts: readonly { amount: Decimal }[]): Decimal =>
  sum(amounts.map(({ amount }) => amount));

/** What providers bill that calls of models do not report. */
const untold =
  /\b(web|file|grounding)[ _-]?search|code[ _-]?(execution|interpreter)|\bsession|\bstorage|\bseats?\b|container|vector[ _-]?store/i;

const isUntold = ({ unit, line }: BilledFact): boolean =>
  !isTokens(unit) &&
  ((unit !== null && findUnit(unit) !== undefined && unit !== "requests") ||
    untold.test(line ?? "") ||
    untold.test(unit ?? ""));

/**
 * Explains why what was billed differs from what was recorded of the same provider, days and model. What neither side decides is
 * unexplained.
 * @param decimals how many the amounts of the bill have at most: it was rounded to these
 */
export function explain(
  billed: readonly BilledFact[],
  recorded: readonly RecordedUse[],
  decimals: number,
): Explained {
  const parts = new Parts();
  const isCounted = ({ unit, quantity }: BilledFact | RecordedUse) =>
    unit !== null && findUnit(unit) !== undefined && quantity !== null && compare(quantity, zero) > 0;
  const counted = billed.filter(isCounted);
  const used = recorded.filter(isCounted);
  const othersBilled = billed.filter((fact) => !isCounted(fact));
  const othersRecorded = recorded.filter((use) => !isCounted(use));
  const billedUnits = sum(counted.map(({ quantity }) => quantity ?? zero));
  const whole = () => subtract(totalOf(billed), totalOf(recorded));
  if (recorded.length === 0) {
    for (const fact of billed) parts.add(partOfUnrecorded(fact), fact.amount);
    return { parts: parts.sums, billedUnits, recordedUnits: zero };
  }
  if (billed.length === 0) {
    parts.add("beyond_bill", whole());
    return { parts: parts.sums, billedUnits, recordedUnits: zero };
  }
  if (counted.length === 0 || used.length === 0) {
    explainAmounts(parts, billed, recorded, decimals);
    return { parts: parts.sums, billedUnits, recordedUnits: zero };
  }
  const paired = pairUnits(counted, used);
  let recordedUnits = zero;
  for (const pair of paired.pairs) {
    recordedUnits = add(recordedUnits, pair.quantity);
    const difference = subtract(pair.billed, pair.recorded);
    if (pair.isUnpriced) parts.add("unpriced", difference);
    else if (isRounding(difference, decimals, 1)) parts.add("rounding", difference);
    else {
      const listed = pair.list ?? pair.billed;
      parts.add("discount", subtract(pair.billed, listed));
      parts.add(pair.isOtherTier ? "tier" : "price", subtract(listed, pair.recorded));
    }
  }
  for (const { unit, amount } of paired.billed)
    parts.add(isTokens(unit) || unit === "requests" ? "no_source" : "no_telemetry", amount);
  for (const { amount } of paired.recorded) parts.add("beyond_bill", subtract(zero, amount));
  for (const fact of othersBilled)
    parts.add(isUntold(fact) && othersRecorded.length === 0 ? "no_telemetry" : "unexplained", fact.amount);
  parts.add(
    othersBilled.length === 0 ? "beyond_bill" : "unexplained",
    subtract(zero, totalOf(othersRecorded)),
  );
  return { parts: parts.sums, billedUnits, recordedUnits };
}

/**
 * Names as `refused` what limits refused to record of the calls that are billed and not recorded.
 * @param refused what they refused; more of it than is missing is of calls that were not made, or are not billed here
 */
export function attributeToRefusals(parts: Explained["parts"], refused: Decimal): void {
  const moved = new Parts(parts);
  let left = refused;
  for (const part of ["no_source", "unexplained"] as const) {
    const missing = parts.get(part) ?? zero;
    const taken = compare(left, missing) < 0 ? left : missing;
    if (compare(taken, zero) <= 0) continue;
    moved.add(part, subtract(zero, taken));
    moved.add("refused", taken);
    left = subtract(left, taken);
  }
}

/** Why something is billed of which nothing at all was recorded. */
function partOfUnrecorded(fact: BilledFact): DifferencePart {
  if (isUntold(fact)) return "no_telemetry";
  // A line of no model and no quantity, such as a tax or a credit, is no usage that a source could report.
  return fact.model !== null || isTokens(fact.unit) ? "no_source" : "unexplained";
}

/** Explains a difference where one side has no quantities. */
function explainAmounts(
  parts: Parts,
  billed: readonly BilledFact[],
  recorded: readonly RecordedUse[],
  decimals: number,
): void {
  const difference = subtract(totalOf(billed), totalOf(recorded));
  const isSmall = (amount: Decimal) => isRounding(amount, decimals, billed.length);
  if (recorded.every(({ isUnpriced }) => isUnpriced)) parts.add("unpriced", difference);
  else if (isSmall(difference)) parts.add("rounding", difference);
  else {
    const discounts = billed.map(({ list, amount }) => list && subtract(amount, list));
    const discount = discounts.every((one) => one !== null) ? sum(discounts) : zero;
    const rest = subtract(difference, discount);
    parts.add("discount", discount);
    parts.add(isSmall(rest) ? "rounding" : "unexplained", rest);
  }
}

/** Whether a difference is at most half of the last decimal of each of some amounts. */
export function isRounding(difference: Decimal, decimals: number, count: number): boolean {
  const most = shiftDecimal(multiply(parseDecimal("0.5"), parseDecimal(count)), -decimals);
  return compare(absolute(difference), most) <= 0;
}

/** How many decimals the amounts of bills are rounded to: those of the amount that has most, at least those of a cent. */
export const decimalsOf = (facts: readonly BilledFact[]): number =>
  facts.reduce((most, { amount }) => Math.max(most, countDecimals(amount)), 2);
