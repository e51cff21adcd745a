import {
  isCalendar,
  type SpendAnswer,
  type SpendDimension,
  type SpendGroupTotal,
  type SpendMeasure,
  type SpendQuery,
} from "@/lib/contract/spend/spend-query";
import { ExactNumber } from "@/lib/contract/values/exact-number";
import type { DayRange } from "@/lib/contract/values/month";
import { add, type Decimal, divideMoney, isZero, parseDecimal, shiftDecimal, zero } from "@/lib/decimal";
import { toExact } from "@/lib/ledger/pricing/exact";
import { addDays } from "@/lib/spend/period";
import type { CellRow, Cells } from "./explore-queries";

/** `costText`: the cost as text, if the database has sent it in the form of the answer, so that it is not formatted again. */
type Sums = { cost: Decimal; costText?: string; messages: number; tokens: Decimal; tokenCost: Decimal };

const nothing: Sums = { cost: zero, messages: 0, tokens: zero, tokenCost: zero };

/** What an answer is made from besides its cells. */
type Context = {
  /** The slugs and names of projects and keys, by id. */
  names: Map<string, { value: string; name: string }>;
  /** The first day of each day, week or month of the range, so that those without spend are listed, too. */
  buckets: string[];
  needsTokens: boolean;
};

/** The groups of one axis while they are collected, in their order. */
type Axis = {
  groups: Omit<SpendGroupTotal, keyof ReturnType<typeof toSums>>[];
  placeOf: (cell: CellRow) => number;
  restCount: number;
};

/** Builds the answer from its cells. Rows, columns and totals are sums of the cells, so they agree exactly. */
export function toAnswer(
  { group_by: groupBy, measure, environment }: Pick<SpendQuery, "group_by" | "measure" | "environment">,
  range: DayRange,
  { cells, rowCount, columnCount }: Cells,
  context: Context,
): SpendAnswer {
  const rows = axisOf(groupBy[0], cells, "row", rowCount, context);
  const columns = axisOf(groupBy[1], cells, "column", columnCount, context);
  const placed = cells
    .map((cell) => ({ row: rows.placeOf(cell), column: columns.placeOf(cell), sums: sumsOf(cell) }))
    .sort((a, b) => a.row - b.row || a.column - b.column);
  const show = (sums: Sums) => toSums(sums, measure, context.needsTokens);
  // One pass over the cells: a year of weeks has hundreds of them.
  const ofRows = rows.groups.map(() => nothing);
  const ofColumns = columns.groups.map(() => nothing);
  for (const { row, column, sums } of placed) {
    ofRows[row] = plus(ofRows[row] ?? nothing, sums);
    ofColumns[column] = plus(ofColumns[column] ?? nothing, sums);
  }
  return {
    from: range.from,
    to: addDays(range.until, -1),
    environment,
    measure,
    totals: show(ofRows.reduce(plus, nothing)),
    rows: {
      dimension: groupBy[0] ?? null,
      groups: rows.groups.map((group, place) => ({ ...group, ...show(ofRows[place] ?? nothing) })),
      rest_count: rows.restCount,
    },
    columns: {
      dimension: groupBy[1] ?? null,
      groups: columns.groups.map((group, place) => ({ ...group, ...show(ofColumns[place] ?? nothing) })),
      rest_count: columns.restCount,
    },
    cells: placed.map(({ row, column, sums }) => ({ row, column, ...show(sums) })),
  };
}

function axisOf(
  dimension: SpendDimension | undefined,
  cells: CellRow[],
  side: "row" | "column",
  count: number,
  { names, buckets }: Context,
): Axis {
  if (dimension === undefined)
    return { groups: [{ value: null, name: null, is_rest: false }], placeOf: () => 0, restCount: 0 };
  const [placeName, valueName] = [`${side}_place`, `${side}_value`] as const;
  if (isCalendar(dimension)) {
    const placeOfBucket = new Map(buckets.map((first, place) => [first, place]));
    return {
      groups: buckets.map((first) => ({ value: first, name: first, is_rest: false })),
      placeOf: (cell) => placeOfBucket.get(cell[valueName] ?? "") ?? 0,
      restCount: 0,
    };
  }
  const listed: Axis["groups"] = [];
  for (const cell of cells) {
    const place = cell[placeName];
    const id = cell[valueName];
    // Skips repetitions: each value has a cell in each column.
    if (place === null || id === null || listed[place - 1]) continue;
    const shown = names.get(id) ?? { value: id, name: id };
    listed[place - 1] =
      id === "" ? { value: null, name: null, is_rest: false } : { ...shown, is_rest: false };
  }
  const restCount = Math.max(0, count - listed.length);
  return {
    groups: restCount > 0 ? [...listed, { value: null, name: null, is_rest: true }] : listed,
    placeOf: (cell) => (cell[placeName] ?? listed.length + 1) - 1,
    restCount,
  };
}

const sumsOf = ({ cost, messages, tokens, token_cost: tokenCost }: CellRow): Sums => ({
  cost: parseDecimal(cost),
  costText: cost,
  messages: Number(messages),
  tokens: tokens === null ? zero : parseDecimal(tokens),
  tokenCost: tokenCost === null ? zero : parseDecimal(tokenCost),
});

const plus = (a: Sums, b: Sums): Sums => ({
  cost: add(a.cost, b.cost),
  messages: a.messages + b.messages,
  // Most queries are not about tokens.
  tokens: b.tokens === zero ? a.tokens : add(a.tokens, b.tokens),
  tokenCost: b.tokenCost === zero ? a.tokenCost : add(a.tokenCost, b.tokenCost),
});

function toSums(sums: Sums, measure: SpendMeasure, needsTokens: boolean) {
  const cost = sums.costText === undefined ? toExact(sums.cost) : new ExactNumber(sums.costText);
  const measured = measureOf(sums, measure);
  return {
    cost_usd: cost,
    message_count: sums.messages,
    tokens: needsTokens ? toExact(sums.tokens) : null,
    token_cost_usd: needsTokens ? toExact(sums.tokenCost) : null,
    measured: measured === sums.cost ? cost : measured && toExact(measured),
  };
}

/** The value of a measure for some sums. @returns null for a division by zero */
function measureOf({ cost, messages, tokens, tokenCost }: Sums, measure: SpendMeasure): Decimal | null {
  switch (measure) {
    case "cost":
      return cost;
    case "messages":
      return parseDecimal(messages);
    case "tokens":
      return tokens;
    case "cost_per_message":
      return messages === 0 ? null : divideMoney(cost, parseDecimal(messages));
    case "cost_per_million_tokens":
      return isZero(tokens) ? null : divideMoney(shiftDecimal(tokenCost, 6), tokens);
  }
}
