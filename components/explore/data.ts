import { type AmountProp, asProp } from "@/components/amount";
import { coloursByName, noneColour, projectColours, restColour } from "@/components/charts/colours";
import { formatNumber } from "@/components/format-count";
import type { SpendAnswer, SpendCell, SpendGroupTotal } from "@/lib/contract/spend-query";
import { valueLabel } from "./dimensions";

/** The sums of a row, a column or a cell, as exact text. Amounts have their conversion where there is one. */
export type ExploreSums = { cost: AmountProp; messages: number; measured: AmountProp | null };

/** A row or a column. `value` is null for what has none, and for the rest. */
export type ExploreGroup = ExploreSums & {
  value: string | null;
  label: string;
  isRest: boolean;
  colour: string;
};

/** An answer as the page's components take it: amounts are text, so that a server component can pass them on. */
export type ExploreData = {
  from: string;
  to: string;
  totals: ExploreSums;
  rows: ExploreGroup[];
  columns: ExploreGroup[];
  cells: (ExploreSums & { row: number; column: number })[];
};

const toSums = ({
  cost_usd: cost,
  message_count: messages,
  measured,
}: Omit<SpendCell, "row" | "column">) => ({
  cost: asProp(cost),
  messages,
  measured: measured === null ? null : asProp(measured),
});

/** @param projectOrder the slugs of all projects, the oldest first, which decides their colours */
export function toExploreData(answer: SpendAnswer, projectOrder: string[]): ExploreData {
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
  };
}

function labelOf(dimension: string | null, group: SpendGroupTotal, rest: number): string {
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
