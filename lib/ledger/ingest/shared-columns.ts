import type { LedgerRow } from "./ledger";

/**
 * Rows as `private.store_messages` reads them, as JSON: `shared` has the columns in which all rows have the same value, and
 * `rows` has the other columns of each row. Reading values is the largest part of Postgres's work for a row, and most columns
 * of a group have one value: the workspace, the type, the model, and the price, which is longer than the rest of the row.
 */
export function extractShared(messages: readonly LedgerRow[]): { shared: string; rows: string } {
  const shared = new Map<string, unknown>();
  for (const [column, value] of Object.entries(messages[0] ?? {})) {
    if (value === undefined || value === null) continue;
    if (messages.every((row) => isSame(row[column as keyof LedgerRow], value))) shared.set(column, value);
  }
  const rows = messages.map((row) => {
    const own: Record<string, unknown> = {};
    for (const column in row) if (!shared.has(column)) own[column] = row[column as keyof LedgerRow];
    return own;
  });
  return { shared: JSON.stringify(Object.fromEntries(shared)), rows: JSON.stringify(rows) };
}

/** Whether two values of a column are the same; prices and details are objects. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  return typeof a === "object" && typeof b === "object" && JSON.stringify(a) === JSON.stringify(b);
}
