import {
  coloursByName,
  historyColour,
  noneColour,
  projectColours,
  restColour,
} from "@/components/charts/colours";
import {
  type Amount,
  type AmountProp,
  asProp,
  exactText,
  sumAmounts,
  toNumber,
} from "@/components/figures/amount";
import { subtractExact } from "@/components/figures/exact";
import { formatNumber } from "@/components/figures/format-count";
import type { ComparedStretch, SpendChange, SpendComparison } from "@/lib/contract/spend/spend-comparison";
import type { SpendAnswer, SpendCell, SpendGroupTotal } from "@/lib/contract/spend/spend-query";
import { valueLabel } from "./dimensions";

/** The sums of a row, a column or a cell, as exact text. Amounts have their conversion if there is one. */
export type ExploreSums = { cost: AmountProp; messages: number; measured: AmountProp | null };

/** A row or a column. `value` is null for spend without a value, and for the rest. */
export type ExploreGroup = ExploreSums & {
  value: string | null;
  label: string;
  isRest: boolean;
  colour: string;
};

/** An answer in the form of the page's components. Amounts are text, so that a server component can pass them to a client component. */
export type ExploreData = {
  from: string;
  to: string;
  totals: ExploreSums;
  rows: ExploreGroup[];
  columns: ExploreGroup[];
  cells: (ExploreSums & { row: number; column: number })[];
  /** How it compares with other days; null if nothing is compared. */
  comparison: ExploreComparison | null;
};

/** How a figure differs from that of the days compared with, as `SpendChange`. */
export type ExploreChange = { before: AmountProp | null; difference: AmountProp | null; isNew: boolean };

/** A comparison of an answer, as `SpendComparison`. */
export type ExploreComparison = {
  stretch: ComparedStretch;
  totals: ExploreChange;
  rows: ExploreChange[];
  gone: { count: number; difference: AmountProp } | null;
};

/**
 * The comparison to show for each row. Null if nothing is compared, if the rows are days, weeks or months, which are not compared
 * one by one, or if nothing was recorded before, so that every row is new.
 */
export const comparisonOfRows = ({ comparison }: ExploreData): ExploreComparison | null =>
  comparison && comparison.rows.length > 0 && !comparison.totals.isNew ? comparison : null;

const toSums = ({
  cost_usd: cost,
  message_count: messages,
  measured,
}: Omit<SpendCell, "row" | "column">) => ({
  cost: asProp(cost),
  messages,
  measured: measured === null ? null : asProp(measured),
});

const toChange = ({ before, difference, isNew }: SpendChange): ExploreChange => ({
  before: before === null ? null : asProp(before),
  difference: difference === null ? null : asProp(difference),
  isNew,
});

const toExploreComparison = ({ stretch, totals, rows, gone }: SpendComparison): ExploreComparison => ({
  stretch,
  totals: toChange(totals),
  rows: rows.map(toChange),
  gone: gone && { count: gone.count, difference: asProp(gone.difference) },
});

/** @param projectOrder the slugs of all projects, the oldest first, which decides their colours */
export function toExploreData(
  answer: SpendAnswer,
  comparison: SpendComparison | null,
  projectOrder: string[],
): ExploreData {
  const groupsOf = ({ dimension, groups, rest_count: rest }: SpendAnswer["rows"]) => {
    const colourOf = colours(dimension, groups, projectOrder);
    return groups.map((group) => ({
      value: group.value,
      label: labelOf(dimension, group, rest),
      isRest: group.is_rest,
      colour: colourOf(group),
      ...toSums(group),
    }));
  };
  return {
    from: answer.from,
    to: answer.to,
    totals: toSums(answer.totals),
    rows: groupsOf(answer.rows),
    columns: groupsOf(answer.columns),
    cells: answer.cells.map(({ row, column, ...sums }) => ({ row, column, ...toSums(sums) })),
    comparison: comparison && toExploreComparison(comparison),
  };
}

/** The billed history of an answer: its sum, that of each column, and that of the days compared with. */
export type ExploreHistory = { total: Amount; ofColumns: Amount[]; before: Amount };

/** An answer with billed history as its last row, and in the sums and the comparison. */
export function withHistory(data: ExploreData, { total, ofColumns, before }: ExploreHistory): ExploreData {
  const toSums = (cost: AmountProp): ExploreSums => ({ cost, messages: 0, measured: cost });
  const plus = ({ cost, messages }: ExploreSums, more: Amount): ExploreSums => ({
    ...toSums(sumAmounts([cost, more])),
    messages,
  });
  const change = (of: ExploreChange | null, now: Amount, isNew: boolean): ExploreChange => {
    const earlier = sumAmounts([of?.before ?? "0", before]);
    return { before: earlier, difference: sumAmounts([now, negative(earlier)]), isNew };
  };
  const isNewBefore = toNumber(before) === 0;
  const totals = plus(data.totals, total);
  const { comparison } = data;
  if (toNumber(total) === 0 && isNewBefore) return data;
  return {
    ...data,
    totals,
    rows: [
      ...data.rows,
      { value: null, label: "Billed history", isRest: true, colour: historyColour, ...toSums(asProp(total)) },
    ],
    columns: data.columns.map((column, index) => ({ ...column, ...plus(column, ofColumns[index] ?? "0") })),
    cells: [
      ...data.cells,
      ...ofColumns.flatMap((amount, column) =>
        toNumber(amount) === 0 ? [] : [{ row: data.rows.length, column, ...toSums(asProp(amount)) }],
      ),
    ],
    comparison: comparison && {
      ...comparison,
      totals: change(comparison.totals, totals.cost, comparison.totals.isNew && isNewBefore),
      rows: comparison.rows.length === 0 ? [] : [...comparison.rows, change(null, total, isNewBefore)],
    },
  };
}

/** An amount with the opposite sign. */
function negative(amount: AmountProp): AmountProp {
  const negate = (text: string) => subtractExact("0", text);
  return typeof amount === "string"
    ? negate(amount)
    : { usd: negate(exactText(amount)), converted: negate(exactText(amount.converted)) };
}

/** The label of a row or a column. @param rest the number of values that the rest sums */
export function labelOf(dimension: string | null, group: SpendGroupTotal, rest: number): string {
  if (dimension === null) return "Total";
  return group.is_rest ? `Other (${formatNumber(rest)})` : valueLabel(dimension, group.value, group.name);
}

function colours(dimension: string | null, groups: SpendGroupTotal[], projectOrder: string[]) {
  const names = groups.flatMap(({ value }) => value ?? []);
  const known = dimension === "project" ? projectColours(names, projectOrder) : coloursByName(names);
  return ({ value, is_rest: isRest }: SpendGroupTotal) => {
    if (isRest) return restColour;
    return value === null ? noneColour : (known.get(value) ?? restColour);
  };
}
