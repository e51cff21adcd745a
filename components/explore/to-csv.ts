import { exactText } from "@/components/figures/amount";
import { type CsvCell, csvNumber, csvRow } from "@/lib/contract/values/csv";
import {
  comparisonOfRows,
  type ExploreChange,
  type ExploreData,
  type ExploreGroup,
  type ExploreSums,
} from "./data";
import { calendarNames, dimensionLabel, measures } from "./dimensions";
import type { ExploreState } from "./state";

/** Writes a chart or a pivot as CSV: the pivot as a grid, a chart as a line for each cell. Figures have all digits; amounts are USD. */
export function toCsv(state: ExploreState, data: ExploreData): string {
  const lines = state.show === "pivot" ? pivotLines(state, data) : cellLines(state, data);
  return lines.map(csvRow).join("");
}

const digitsOf = (figure: ExploreSums["measured"]) => csvNumber(figure === null ? null : exactText(figure));

/** The name of a group in a file: `2026-11-01` for days and weeks, `2026-11` for months, in every locale. */
function nameInFile(dimension: string | null, group: ExploreGroup | undefined): string {
  if (!group) return "";
  if (dimension === null || group.value === null || !calendarNames.includes(dimension)) return group.label;
  return dimension === "month" ? group.value.slice(0, 7) : group.value;
}

function pivotLines({ by, over }: ExploreState, data: ExploreData): CsvCell[][] {
  const { rows, columns, cells, totals } = data;
  const cellOf = new Map(cells.map((cell) => [`${cell.row} ${cell.column}`, cell.measured]));
  const shown = over === null ? [] : columns;
  const comparison = comparisonOfRows(data);
  const changeCell = (change: ExploreChange | undefined) =>
    comparison ? [digitsOf(change?.difference ?? null)] : [];
  return [
    [
      dimensionLabel(by),
      ...shown.map((column) => nameInFile(over, column)),
      "Total",
      ...(comparison ? ["Change"] : []),
    ],
    ...rows.map((row, at) => [
      nameInFile(by, row),
      ...shown.map((_, place) => digitsOf(cellOf.get(`${at} ${place}`) ?? null)),
      digitsOf(row.measured),
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
      nameInFile(by, rows[row]),
      ...(over === null ? [] : [nameInFile(over, columns[column])]),
      digitsOf(measured),
      ...(isCost ? [] : [digitsOf(cost)]),
      csvNumber(String(messages)),
    ]),
  ];
}
