import { saveFile } from "@/components/charts/save-picture";
import { utcDay } from "@/components/figures/utc-day";
import { type CsvCell, csvRow } from "@/lib/contract/values/csv";
import { isFigure, type TableColumn } from "./column";

/** Rows as a CSV with a line of headings. Figures have all their digits, times are ISO 8601. */
export function toTableCsv<Row>(rows: Row[], columns: TableColumn<Row>[]): string {
  const saved = columns.flatMap((column) => (column.value ? [column, ...(column.alsoSaved ?? [])] : []));
  const cellOf = (column: (typeof saved)[number], row: Row): CsvCell => {
    const value = column.value?.(row) ?? null;
    return value !== null && isFigure(column) ? { digits: String(value) } : (value?.toString() ?? null);
  };
  const lines = rows.map((row) => csvRow(saved.map((column) => cellOf(column, row))));
  return csvRow(saved.map(({ label }) => label)) + lines.join("");
}

/** Saves what a table shows as a file whose name ends with the present day: `acme-keys-2026-11-22.csv`. */
export function saveTableCsv<Row>(name: string, rows: Row[], columns: TableColumn<Row>[]): void {
  const csv = new Blob([toTableCsv(rows, columns)], { type: "text/csv;charset=utf-8" });
  saveFile(csv, `${name}-${utcDay(Date.now())}.csv`);
}
