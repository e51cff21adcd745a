import { exactText } from "@/components/figures/amount";
import { capitalize } from "@/components/figures/capitalize";
import { csvNumber, csvRow } from "@/lib/contract/values/csv";
import type { Bar, ChartGroup } from "./chart-data";

/** The figures of a chart of spend as a CSV: a line for each day or month, amounts in USD with all their digits. */
export function spendCsv(
  unit: string,
  groups: ChartGroup[],
  bars: Bar[],
  comparison: string | undefined,
): string {
  return [
    [capitalize(unit), ...groups.map(({ name }) => name), "Total", ...(comparison ? [comparison] : [])],
    ...bars.map(({ from, amounts, total, previous }) => [
      unit === "month" ? from.slice(0, 7) : from,
      ...groups.map((_, group) => csvNumber(exactText(amounts[group] ?? 0))),
      csvNumber(exactText(total)),
      ...(comparison ? [csvNumber(previous === null ? null : exactText(previous))] : []),
    ]),
  ]
    .map(csvRow)
    .join("");
}
