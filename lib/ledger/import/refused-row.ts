import type { FileRow } from "./row";

/** One line of CSV. */
function csvLine(values: readonly string[]): string {
  return `${values.map((value) => (/[",;\r\n\t]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value)).join(",")}\n`;
}

/** The first line of a file of refused rows. */
export function refusedHeader(columns: readonly string[]): string {
  return csvLine(["line", "reason", ...columns]);
}

/** The line of a refused row: its line number, the reason and all its columns, to be corrected and imported again. */
export function refusedLine(
  columns: readonly string[],
  { line, values }: Partial<FileRow> & { line: number },
  reason: string,
): string {
  return csvLine([String(line), reason, ...columns.map((column) => values?.[column] ?? "")]);
}
