import {
  absolute,
  compare,
  type Decimal,
  divideMoney,
  isZero,
  multiply,
  parseDecimal,
  roundTo,
  subtract,
  sum,
  zero,
} from "@/lib/decimal";
import { findUnit } from "@/lib/ledger/pricing/units";
import { decimalsOf, isRounding, totalOf } from "./explain";
import { type Cell, groupBy, type RecordedRow } from "./match";
import type { BilledFact } from "./statements";

/** A price that bills say, and what it changes. `from`: the first day from which every row is billed at it. */
export type LearnedRate = {
  provider: string;
  model: string;
  unit: string;
  rate: Decimal;
  /** What usage is recorded at; null where it has several prices. */
  recordedRate: Decimal | null;
  from: string;
  /** What was recorded since then at a price of Outlay's, and what it costs now and then, USD. */
  quantity: Decimal;
  before: Decimal;
  after: Decimal;
};

/** The decimals of the ledger, and so of a rate. */
const scale = 18;

/** A rate is learned where the rounding of the bill is less than a fortieth of its amounts. */
const certain = parseDecimal(40);

type Line = { from: string; quantity: Decimal; amount: Decimal };

/**
 * Learns prices: of a model and unit whose billed amounts are one rate times their quantities, within the rounding of the bill, where what
 * was recorded on the same days has another. The last days of the month decide, so that a price that changed is learned from its change on.
 * @param names how the provider of each key is recorded
 * @returns the largest change first
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

/** A price of the workspace's own holds for every tier. */
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
    const recordedRate = findRate(rows.flatMap(toLine), scale);
    return [
      { provider: names.get(key) ?? key, model, unit, rate, recordedRate, from, quantity, before, after },
    ];
  });
}

const toLine = ({ day, quantity, amount }: RecordedRow): Line[] =>
  quantity === null || isZero(quantity) ? [] : [{ from: day, quantity, amount }];

/** The rate of the last days, and the first of them. @param lines in the order of their days */
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
 * The rate with the fewest decimals at which every amount is the rate times the quantity, rounded to some decimals; null where there is
 * none, or where the rounding leaves it open.
 */
function findRate(lines: readonly Line[], decimals: number): Decimal | null {
  const quantity = sum(lines.map((line) => line.quantity));
  const amount = totalOf(lines);
  const isOpen = isRounding(divideMoney(amount, certain), decimals, lines.length);
  if (isZero(quantity) || compare(amount, zero) <= 0 || isOpen) return null;
  const mean = divideMoney(amount, quantity);
  for (let places = 0; places <= scale; places += 1) {
    const rate = roundTo(mean, places, "nearest");
    const fits = (line: Line) =>
      isRounding(subtract(multiply(rate, line.quantity), line.amount), decimals, 1);
    if (lines.every(fits)) return rate;
  }
  return null;
}
