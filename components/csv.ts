/** A field of a CSV. Text that a spreadsheet would run as a formula gets an apostrophe in front. */
function field(value: string): string {
  const isNumber = /^-?\d+(\.\d+)?$/.test(value);
  const safe = !isNumber && /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Lines of fields as a CSV (RFC 4180). */
export function toCsvText(lines: string[][]): string {
  return `${lines.map((line) => line.map(field).join(",")).join("\r\n")}\r\n`;
}
