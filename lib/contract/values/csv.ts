/** A number that is written to a file unchanged. Unlike text, it is not guarded against formulas. */
export type CsvNumber = { digits: string };
export type CsvCell = string | CsvNumber | null;

/** Characters that begin a formula in spreadsheets, including the wide forms that Japanese ones accept. */
const formula = /^[=+\-@\t\r\n＝＋－＠]/;

/** Characters that separate cells in RFC 4180 or in spreadsheets of other locales and formats: `;` and tabs. */
const needsQuotes = /[",;\t\r\n]/;

/**
 * A row in RFC 4180's format, ending in CRLF. Text that a spreadsheet would run as a formula gets an apostrophe in
 * front, because anybody with a key can write labels.
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

/** A cell with an exact number; an empty one for null. @param digits decimal text */
export const csvNumber = (digits: string | null): CsvCell => (digits === null ? null : { digits });
