import { exactText } from "@/components/figures/amount";
import { type CsvCell, csvNumber, csvRow } from "@/lib/contract/values/csv";
import { comparisonOfRows, type ExploreChange, type ExploreData, type ExploreSums } from "./data";
import { dimensionLabel, measures } from "./dimensions";
import type { ExploreState } from "./state";

/** What a chart or a pivot shows as a CSV: the pivot as it is, a chart as a line for each cell. Figures have all their digits, amounts are USD. */
export function toCsv(state: ExploreState, data: ExploreData): string {
  const lines = state.show === "pivot" ? pivotLines(state, data) : cellLines(state, data);
  return lines.map(csvRow).join("");
}

const digitsOf = (figure: ExploreSums["measured"]) => csvNumber(figure === null ? null : exactText(figure));

function pivotLines({ by, over }: ExploreState, data: ExploreData): CsvCell[][] {
  const { rows, columns, cells, totals } = data;
  const cellOf = new Map(cells.map((cell) => [`${cell.row} ${cell.column}`, cell.measured]));
  const shown = over === null ? [] : columns;
  const comparison = comparisonOfRows(data);
  const changeCell = (change: ExploreChange | undefined) =>
    comparison ? [digitsOf(change?.difference ?? null)] : [];
  return [
    [dimensionLabel(by), ...shown.map(({ label }) => label), "Total", ...(comparison ? ["Change"] : [])],
    ...rows.map(({ label, measured }, at) => [
      label,
      ...shown.map((_, place) => digitsOf(cellOf.get(`${at} ${place}`) ?? null)),
      digitsOf(measured),
      ...changeCell(comparison?.rows[at]),
    ]),
    [
      "Total",
      ...shown.map(({ measured }) => digitsOf(measured)),
      digitsOf(totals.measured),
      ...changeCell(comparison?.totals),
    ],
  ];
}

function cellLines({ by, over, measure }: ExploreState, { rows, columns, cells }: ExploreData): CsvCell[][] {
  const dimensions = [by, ...(over === null ? [] : [over])];
  const isCost = measure === "cost";
  return [
    [...dimensions.map(dimensionLabel), measures[measure].label, ...(isCost ? [] : ["Cost"]), "Messages"],
    ...cells.map(({ row, column, measured, cost, messages }) => [
      rows[row]?.label ?? "",
      ...(over === null ? [] : [columns[column]?.label ?? ""]),
      digitsOf(measured),
      ...(isCost ? [] : [digitsOf(cost)]),
      csvNumber(String(messages)),
    ]),
  ];
}
