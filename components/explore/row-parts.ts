import { coloursByName } from "@/components/charts/colours";
import { type Amount, type AmountProp, asProp, exactText } from "@/components/figures/amount";
import type { SpendAnswer, SpendQueryInput } from "@/lib/contract/spend/spend-query";
import { type ExploreData, type ExploreGroup, labelOf } from "./data";
import { calendarNames } from "./dimensions";
import { clipDays, lastDayOf } from "./rows-href";
import { type ExploreFilter, type ExploreState, toQuery } from "./state";

/**
 * The query for the parts of one row by the second dimension: the row's own highest values, which can differ from those of the whole
 * answer. The parts sum to the row.
 */
export function queryOfParts(
  state: ExploreState,
  data: Pick<ExploreData, "from" | "to" | "rows">,
  row: ExploreGroup,
): SpendQueryInput {
  const { by, over } = state;
  const days = { from: data.from, to: data.to };
  const asked = { ...state, by: over ?? by, over: null };
  if (by === "environment") return { ...toQuery(asked, days), environment: row.value as "live" };
  if (calendarNames.includes(by)) {
    const first = row.value ?? data.from;
    return toQuery(asked, clipDays({ from: first, to: lastDayOf(by, first) }, days));
  }
  const listed = data.rows.filter(({ isRest }) => !isRest).map(({ value }) => value ?? "");
  const filter: ExploreFilter = row.isRest
    ? { field: by, op: "is_not", values: listed }
    : { field: by, op: "is", values: [row.value ?? ""] };
  return toQuery({ ...asked, filters: [...state.filters, filter] }, days);
}

/** The rows of a response with amounts as props, which have a conversion if the query named a currency. */
export function toParts({ rows, converted }: SpendAnswer): ExploreGroup[] {
  const { dimension, groups, rest_count: rest } = rows;
  const colours = coloursByName(groups.flatMap(({ value }) => value ?? []));
  const withConverted = (usd: Amount, amount: Amount | null | undefined): AmountProp =>
    amount == null ? asProp(usd) : { usd: exactText(usd), converted: exactText(amount) };
  return groups.map((group, place) => ({
    value: group.value,
    label: labelOf(dimension, group, rest),
    isRest: group.is_rest,
    colour: colours.get(group.value ?? "") ?? "",
    messages: group.message_count,
    cost: withConverted(group.cost_usd, converted?.rows[place]?.cost),
    measured:
      group.measured === null ? null : withConverted(group.measured, converted?.rows[place]?.measured),
  }));
}
