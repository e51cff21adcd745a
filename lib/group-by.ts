/** Groups rows by a key, in the order in which their keys first appear. */
export function groupBy<T, K>(rows: readonly T[], keyOf: (row: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const row of rows) {
    const found = groups.get(keyOf(row));
    if (found) found.push(row);
    else groups.set(keyOf(row), [row]);
  }
  return groups;
}
