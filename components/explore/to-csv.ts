import { toCsvText } from "@/components/csv";
import type { ExploreData } from "./data";
import { dimensionLabel, measures } from "./dimensions";
import type { ExploreState } from "./state";

/** What is shown as a CSV: the pivot as it is, else a line for each cell. Amounts have all their digits. */
export function toCsv(state: ExploreState, { rows, columns, cells, totals }: ExploreData): string {
  const { by, over, measure, show } = state;
  const lines: string[][] = [];
  if (show === "pivot") {
    const cellOf = new Map(cells.map((cell) => [`${cell.row} ${cell.column}`, cell.measured ?? ""]));
    const heads = over === null ? [] : columns.map(({ label }) => label);
    lines.push([dimensionLabel(by), ...heads, "Total"]);
    for (const [at, row] of rows.entries()) {
      const figures = over === null ? [] : columns.map((_, place) => cellOf.get(`${at} ${place}`) ?? "");
      lines.push([row.label, ...figures, row.measured ?? ""]);
    }
    const sums = over === null ? [] : columns.map(({ measured }) => measured ?? "");
    lines.push(["Total", ...sums, totals.measured ?? ""]);
  } else {
    const dimensions = [by, ...(over === null ? [] : [over])];
    const isCost = measure === "cost";
    lines.push([
      ...dimensions.map(dimensionLabel),
      measures[measure].label,
      ...(isCost ? [] : ["Cost"]),
      "Messages",
    ]);
    for (const { row, column, measured, cost, messages } of cells)
      lines.push([
        rows[row]?.label ?? "",
        ...(over === null ? [] : [columns[column]?.label ?? ""]),
        measured ?? "",
        ...(isCost ? [] : [cost]),
        String(messages),
      ]);
  }
  return toCsvText(lines);
}
