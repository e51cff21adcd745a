/** A number, exactly as it is to stand in a file; text is guarded, numbers are not. */
export type CsvNumber = { digits: string };
export type CsvCell = string | CsvNumber | null;

/** What a spreadsheet takes for the beginning of a formula; in Japanese ones, the wide forms as well. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

/** What separates cells in RFC 4180, or where a spreadsheet of another locale or format is told so: `;` and tabs. */
const needsQuotes = /[",;\t\r\n]/;

/**
 * A row as RFC 4180 has it, ending in CRLF. Text that a spreadsheet would run as a formula is put behind an apostrophe:
 * labels come from whoever holds a key.
 */
export function csvRow(cells: CsvCell[]): string {
  return `${cells.map(csvCell).join(",")}\r\n`;
}

function csvCell(cell: CsvCell): string {
  if (cell === null) return "";
  if (typeof cell !== "string") return cell.digits;
  const safe = formula.test(cell) ? `'${cell}` : cell;
  return needsQuotes.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const csvNumber = (digits: string | null): CsvCell => (digits === null ? null : { digits });
