import type { LedgerRow } from "./ledger";

/**
 * Rows as `private.store_messages` reads them, as JSON: `shared` has the columns in which all rows have the same value, and
 * `rows` has the other columns of each row. Reading values is the largest part of Postgres's work for a row, and most columns
 * of a group have one value: the workspace, the type, the model, and the price, which is longer than the rest of the row.
 */
export function extractShared(messages: readonly LedgerRow[]): { shared: string; rows: string } {
  const columns = new Set<string>();
  for (const row of messages) for (const column in row) columns.add(column);
  const shared: string[] = [];
  const own: [keyof LedgerRow, string][] = [];
  for (const column of columns as Set<keyof LedgerRow>) {
    const value = messages[0]?.[column];
    const isIn = value !== undefined && value !== null && messages.every((row) => isSame(row[column], value));
    if (isIn) shared.push(`"${column}":${JSON.stringify(value)}`);
    else own.push([column, `"${column}":`]);
  }
  // Writes the text itself: an object for each row, with columns that differ from group to group, takes twice as long.
  const rows = messages.map((row) => {
    let text = "";
    for (const [column, name] of own) {
      const value = row[column];
      if (value !== undefined) text += `${text && ","}${name}${JSON.stringify(value)}`;
    }
    return `{${text}}`;
  });
  return { shared: `{${shared.join(",")}}`, rows: `[${rows.join(",")}]` };
}

/** Whether two values of a column are the same; prices and details are objects. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  return typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b);
}
