import type { LedgerRow } from "./ledger";

/** With more units, grouping repeats more shared columns than it saves in the rows. */
const maxUnits = 8;

/**
 * Encodes rows as the JSON that `private.store_messages` reads, grouped by unit. `shared` has one object for each unit with the columns
 * that have the same value in all of its rows; `rows` has, in the same order, an array with the other columns of each row. Reading values
 * is the largest part of Postgres's work for a row, and most columns of a group have one value: the workspace, the type, the model, and
 * within a unit the price, which is longer than the rest of the row.
 */
export function extractShared(messages: readonly LedgerRow[]): { shared: string; rows: string } {
  const byUnit = new Map<string | undefined, LedgerRow[]>();
  for (const row of messages) {
    const others = byUnit.get(row.unit_type ?? undefined);
    if (others) others.push(row);
    else byUnit.set(row.unit_type ?? undefined, [row]);
  }
  const groups = byUnit.size > maxUnits ? [messages] : [...byUnit.values()];
  const extracted = groups.map(extractFrom);
  return {
    shared: `[${extracted.map(({ shared }) => shared).join(",")}]`,
    rows: `[${extracted.map(({ rows }) => rows).join(",")}]`,
  };
}

function extractFrom(messages: readonly LedgerRow[]): { shared: string; rows: string } {
  const columns = new Set<string>();
  for (const row of messages) for (const column in row) columns.add(column);
  const shared: string[] = [];
  const own: [keyof LedgerRow, string][] = [];
  for (const column of columns as Set<keyof LedgerRow>) {
    const value = messages[0]?.[column];
    const text = JSON.stringify(value);
    // Prices and details are objects.
    const isSame =
      typeof value === "object"
        ? (other: unknown) => other === value || JSON.stringify(other) === text
        : (other: unknown) => other === value;
    const isIn = value !== undefined && value !== null && messages.every((row) => isSame(row[column]));
    if (isIn) shared.push(`"${column}":${text}`);
    else own.push([column, `"${column}":`]);
  }
  // Concatenates text, because creating an object for each row, with different columns in each group, takes twice as long.
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
