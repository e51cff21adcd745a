/** The statement that inserts a row and returns its id, and its values. @param columns the row's values by column */
export function insertStatement(
  table: string,
  columns: Record<string, unknown>,
): [text: string, values: unknown[]] {
  const names = Object.keys(columns);
  const places = names.map((_, index) => `$${index + 1}`);
  return [`insert into ${table} (${names}) values (${places}) returning id`, Object.values(columns)];
}
