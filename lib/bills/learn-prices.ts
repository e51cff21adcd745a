import {
  absolute,
  compare,
  type Decimal,
  divideMoney,
  isZero,
  moneyScale,
  multiply,
  parseDecimal,
  roundTo,
  subtract,
  sum,
  zero,
} from "@/lib/decimal";
import { groupBy } from "@/lib/group-by";
import { findUnit } from "@/lib/ledger/pricing/units";
import { decimalsOf, isRounding, totalOf } from "./explain";
import type { Cell, RecordedRow } from "./match";
import type { BilledFact } from "./statements";

/** A price found in bills, and its effect. `from`: the first day since which every row is billed at it. */
export type LearnedRate = {
  provider: string;
  model: string;
  unit: string;
  rate: Decimal;
  /** The price at which the usage is recorded; null if there are several. */
  recordedRate: Decimal | null;
  from: string;
  /** The usage since `from` that Outlay priced, and its cost before and after the new price, USD. */
  quantity: Decimal;
  before: Decimal;
  after: Decimal;
};

/** A rate is learned only if the bill's rounding error is below a fortieth of its amounts. */
const certain = parseDecimal(40);

type Line = { from: string; quantity: Decimal; amount: Decimal };

/**
 * Learns negotiated prices. A price is learned for a model and unit if every billed amount is the same rate times its quantity, within
 * the bill's rounding, and if the usage is recorded at another rate. A price that changed within the month is learned from the day of
 * the change.
 * @param names the recorded spelling of each provider, by the provider's key
 * @returns the rates, the largest change first
 */
export function learnPrices(cells: readonly Cell[], names: ReadonlyMap<string, string>): LearnedRate[] {
  const ofModels = groupBy(cells, ({ provider, model }) => JSON.stringify([provider, model]));
  return [...ofModels.values()]
    .flatMap((own) => {
      const facts = own.flatMap((cell) => cell.facts);
      const decimals = decimalsOf(facts);
      return [...groupBy(facts, ({ unit }) => unit)].flatMap(([unit, rows]) =>
        unit === null || findUnit(unit) === undefined || !isOfOneTier(rows)
          ? []
          : learnUnit(own, unit, decimals, names),
      );
    })
    .sort((a, b) => compare(changeOf(b), changeOf(a)) || (a.model < b.model ? -1 : 1));
}

const changeOf = ({ before, after }: LearnedRate) => absolute(subtract(after, before));

/** A workspace's own price applies to every tier, so a rate of one tier must not become one. */
const isOfOneTier = (facts: readonly BilledFact[]) => facts.every(({ tier }) => tier === null);

function learnUnit(
  cells: readonly Cell[],
  unit: string,
  decimals: number,
  names: ReadonlyMap<string, string>,
): LearnedRate[] {
  const billed = cells
    .flatMap(({ from, facts }) =>
      facts
        .filter((fact) => fact.unit === unit)
        .flatMap(({ quantity, amount }) =>
          quantity !== null && compare(quantity, zero) > 0 ? [{ from, quantity, amount }] : [],
        ),
    )
    .sort((a, b) => (a.from < b.from ? -1 : a.from > b.from ? 1 : 0));
  const learned = findLastRate(billed, decimals);
  if (!learned) return [];
  const { rate, from } = learned;
  const used = cells
    .filter((cell) => cell.from >= from && cell.facts.length > 0)
    .flatMap((cell) => cell.used)
    .filter((row) => row.unit === unit && row.isGiven === false && row.quantity !== null);
  return [...groupBy(used, ({ model }) => model)].flatMap(([model, rows]) => {
    const quantity = sum(rows.map((row) => row.quantity ?? zero));
    const before = totalOf(rows);
    const after = multiply(rate, quantity);
    const isSame = isRounding(subtract(after, before), decimals, rows.length);
    if (model === null || isSame || compare(quantity, zero) <= 0) return [];
    const key = rows[0]?.provider ?? "";
    const recordedRate = findRate(rows.flatMap(toLine), moneyScale);
    return [
      { provider: names.get(key) ?? key, model, unit, rate, recordedRate, from, quantity, before, after },
    ];
  });
}

const toLine = ({ day, quantity, amount }: RecordedRow): Line[] =>
  quantity === null || isZero(quantity) ? [] : [{ from: day, quantity, amount }];

/** The rate at the end of the month, and the first day since which it applies. @param lines sorted by day */
function findLastRate(lines: readonly Line[], decimals: number): { rate: Decimal; from: string } | undefined {
  for (const from of new Set(lines.map((line) => line.from))) {
    const rate = findRate(
      lines.filter((line) => line.from >= from),
      decimals,
    );
    if (rate) return { rate, from };
  }
  return undefined;
}

/**
 * The rate with the fewest decimals for which every amount equals rate times quantity, rounded to `decimals`. Null if there is none, or if
 * the rounding makes it ambiguous.
 */
function findRate(lines: readonly Line[], decimals: number): Decimal | null {
  const quantity = sum(lines.map((line) => line.quantity));
  const amount = totalOf(lines);
  const isOpen = isRounding(divideMoney(amount, certain), decimals, lines.length);
  if (isZero(quantity) || compare(amount, zero) <= 0 || isOpen) return null;
  const mean = divideMoney(amount, quantity);
  for (let places = 0; places <= moneyScale; places += 1) {
    const rate = roundTo(mean, places, "nearest");
    const fits = (line: Line) =>
      isRounding(subtract(multiply(rate, line.quantity), line.amount), decimals, 1);
    if (lines.every(fits)) return rate;
  }
  return null;
}
