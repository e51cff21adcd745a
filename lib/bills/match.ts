import type { DifferencePart } from "@/lib/contract/bills/difference-parts";
import { add, type Decimal, isZero, subtract, sum, zero } from "@/lib/decimal";
import { groupBy } from "@/lib/group-by";
import { addDays } from "@/lib/spend/period";
import {
  attributeToRefusals,
  decimalsOf,
  type Explained,
  explain,
  Parts,
  type RecordedUse,
  totalOf,
} from "./explain";
import { nameOf } from "./pair-units";
import { type BilledFact, daysOf } from "./statements";

/** What was recorded on a day at a provider: of one unit, or a whole model where the units are not known. */
export type RecordedRow = RecordedUse & { provider: string; day: string };

/** What limits refused to record on a day at a provider. Null: of models that were not kept. */
export type RefusedRow = { provider: string; day: string; model: string | null; amount: Decimal };

/** The adjustments of one part of a difference, on a day and model of the bill. */
export type AdjustedRow = {
  provider: string;
  day: string;
  model: string | null;
  part: DifferencePart;
  amount: Decimal;
};

/** What counts of the bills of one provider and period, from the first day to before the second. */
export type CountedPeriod = { provider: string; from: string; until: string; facts: BilledFact[] };

/** Billed and recorded costs of a provider, period and model. `parts` sum to the difference that is left after adjustments. */
export type Cell = Explained & {
  provider: string;
  from: string;
  until: string;
  model: string | null;
  /** The recorded name of the model, or the bill's name if nothing is recorded. */
  recordedModel: string | null;
  billed: Decimal;
  /** The recorded cost without adjustments. */
  recorded: Decimal;
  adjusted: Decimal;
  /** The billed cost that nobody recorded, before adjustments. */
  untold: Decimal;
  facts: BilledFact[];
  used: RecordedRow[];
};

/**
 * Explains what one provider billed and what was recorded at it, by period and model.
 * @param periods those of the provider, whichever accounts they are of; those that overlap are compared as one
 * @param rows those of the provider, of all days that are compared
 * @param refused what limits refused of them. The days are those of the workspace, so that what was refused near midnight UTC
 *   may be looked for in the bill of the day beside
 * @param adjusted the adjustments of the differences
 */
export function reconcileProvider(
  provider: string,
  periods: readonly CountedPeriod[],
  rows: readonly RecordedRow[],
  refused: readonly RefusedRow[],
  adjusted: readonly AdjustedRow[] = [],
): Cell[] {
  const byDay = groupBy(rows, ({ day }) => day);
  const adjustedByDay = groupBy(adjusted, ({ day }) => day);
  const decimals = decimalsOf(periods.flatMap(({ facts }) => facts));
  const cells: Cell[] = [];
  for (const { from, until, facts } of joinOverlapping(periods)) {
    const days = daysOf({ from, until });
    const recorded = days.flatMap((day) => takeFrom(byDay, day));
    const booked = days.flatMap((day) => takeFrom(adjustedByDay, day));
    const refusedThen = refused.filter(({ day }) => day >= from && day < until);
    for (const { model, billed, used, adjustments } of byModel(facts, recorded, booked)) {
      const explained = explain(billed, used, decimals);
      const ofModel = model === null ? refusedThen : refusedThen.filter((row) => isOfModel(row, model));
      attributeToRefusals(explained.parts, totalOf(ofModel));
      const sums = { billed: totalOf(billed), recorded: totalOf(used), adjusted: totalOf(adjustments) };
      const untold = explained.parts.get("no_source") ?? zero;
      leave(explained.parts, adjustments);
      const recordedModel = used[0]?.model ?? model;
      cells.push({
        provider,
        from,
        until,
        model,
        recordedModel,
        facts: billed,
        used,
        untold,
        ...sums,
        ...explained,
      });
    }
  }
  for (const day of new Set([...byDay.keys(), ...adjustedByDay.keys()]))
    cells.push(...notBilled(provider, day, byDay.get(day) ?? [], adjustedByDay.get(day) ?? []));
  return cells;
}

function takeFrom<T>(byDay: Map<string, T[]>, day: string): T[] {
  const found = byDay.get(day) ?? [];
  byDay.delete(day);
  return found;
}

const nothing = (): Explained => ({ parts: new Map(), billedUnits: zero, recordedUnits: zero });

/** Subtracts adjustments from the parts of a difference. */
function leave(parts: Explained["parts"], adjustments: readonly AdjustedRow[]): void {
  const left = new Parts(parts);
  for (const { part, amount } of adjustments) left.add(part, subtract(zero, amount));
}

/** A cell for costs that were recorded or adjusted on a day without a bill. */
function notBilled(
  provider: string,
  day: string,
  recorded: readonly RecordedRow[],
  adjusted: readonly AdjustedRow[],
): Cell[] {
  const until = addDays(day, 1);
  const [used, booked] = [groupBy(recorded, ({ model }) => model), groupBy(adjusted, ({ model }) => model)];
  return [...new Set([...used.keys(), ...booked.keys()])].map((model) => {
    const [rows, adjustments] = [used.get(model) ?? [], booked.get(model) ?? []];
    const explained = nothing();
    new Parts(explained.parts).add("not_billed_yet", subtract(zero, totalOf(rows)));
    leave(explained.parts, adjustments);
    const sums = { billed: zero, recorded: totalOf(rows), adjusted: totalOf(adjustments) };
    const names = { model, recordedModel: model, untold: zero };
    return { provider, from: day, until, ...names, facts: [], used: rows, ...sums, ...explained };
  });
}

/** Periods that share a day become one. */
export function joinOverlapping(
  periods: readonly Omit<CountedPeriod, "provider">[],
): Omit<CountedPeriod, "provider">[] {
  const joined: Omit<CountedPeriod, "provider">[] = [];
  for (const { from, until, facts } of [...periods].sort((a, b) => (a.from < b.from ? -1 : 1))) {
    const last = joined.at(-1);
    if (last && from < last.until) {
      if (until > last.until) last.until = until;
      last.facts = [...last.facts, ...facts];
    } else joined.push({ from, until, facts });
  }
  return joined;
}

type OfModel = {
  model: string | null;
  billed: BilledFact[];
  used: RecordedRow[];
  adjustments: AdjustedRow[];
};

/**
 * Brings billed and recorded models together: those whose names are alike but for a date, because one side may leave it out. A bill
 * without any model is compared as a whole.
 */
function byModel(
  facts: readonly BilledFact[],
  recorded: readonly RecordedRow[],
  adjusted: readonly AdjustedRow[],
): OfModel[] {
  if (facts.every(({ model }) => model === null))
    return [{ model: null, billed: [...facts], used: [...recorded], adjustments: [...adjusted] }];
  const booked = groupBy(adjusted, ({ model }) => withoutDate(model));
  const billed = groupBy(facts, ({ model }) => withoutDate(model));
  const used = groupBy(recorded, ({ model }) => withoutDate(model));
  return [...new Set([...billed.keys(), ...used.keys(), ...booked.keys()])].map((name) => {
    const [of, same, adjustments] = [billed.get(name) ?? [], used.get(name) ?? [], booked.get(name) ?? []];
    const known = of.length > 0 ? of : same.length > 0 ? same : adjustments;
    const names = new Set(known.map(({ model }) => model));
    return { model: names.size === 1 ? ([...names][0] ?? null) : name, billed: of, used: same, adjustments };
  });
}

const dates = /[-@]20\d\d-?\d\d-?\d\d|-latest$|-v\d+(?::\d+)?$/g;

/** What Bedrock writes before a model's name: where it runs, and its vendor. */
const vendors =
  /^(?:(?:us|us-gov|eu|apac|jp|au|ca|global)\.)?(?:anthropic|amazon|meta|mistral|cohere|ai21|deepseek|openai|qwen|writer)\./;

/** A name without the provider before it and the date after it. */
const withoutDate = (model: string | null): string | null =>
  model === null ? null : nameOf(model).replace(vendors, "").replace(dates, "");

const isOfModel = (row: RefusedRow, model: string): boolean => withoutDate(row.model) === withoutDate(model);

/** The difference of a cell: billed minus recorded minus adjustments. */
export const differenceOf = ({
  billed,
  recorded,
  adjusted,
}: Pick<Cell, "billed" | "recorded" | "adjusted">): Decimal => subtract(billed, add(recorded, adjusted));

/** The sums and parts of some cells. */
export function sumCells(cells: readonly Cell[]): Pick<Cell, "billed" | "recorded" | "adjusted"> & Explained {
  const parts = new Parts();
  for (const cell of cells) for (const [part, amount] of cell.parts) parts.add(part, amount);
  const total = (of: (cell: Cell) => Decimal) => sum(cells.map(of));
  return {
    parts: parts.sums,
    billed: total(({ billed }) => billed),
    recorded: total(({ recorded }) => recorded),
    adjusted: total(({ adjusted }) => adjusted),
    billedUnits: total(({ billedUnits }) => billedUnits),
    recordedUnits: total(({ recordedUnits }) => recordedUnits),
  };
}

/** Rows of whole models in place of their units, where the units do not sum to what was recorded. */
export function checkedRows(
  whole: readonly (RecordedRow & { unit: null })[],
  byUnit: readonly RecordedRow[],
): RecordedRow[] {
  const keyOf = ({ provider, day, model }: RecordedRow) => JSON.stringify([provider, day, model]);
  const units = groupBy(byUnit, keyOf);
  return whole.flatMap((row) => {
    const parts = units.get(keyOf(row)) ?? [];
    const isWhole = parts.length > 0 && isZero(subtract(totalOf(parts), row.amount));
    if (isWhole) return parts;
    return isZero(row.amount) && !row.isUnpriced ? [] : [row];
  });
}

/** Sums rows of the same provider, day and model. */
export function sumByModel(
  rows: readonly (RecordedRow & { unit: null })[],
): (RecordedRow & { unit: null })[] {
  const sums = new Map<string, RecordedRow & { unit: null }>();
  for (const row of rows) {
    const key = JSON.stringify([row.provider, row.day, row.model]);
    const found = sums.get(key);
    sums.set(
      key,
      found
        ? { ...found, amount: add(found.amount, row.amount), isUnpriced: found.isUnpriced && row.isUnpriced }
        : row,
    );
  }
  return [...sums.values()];
}
