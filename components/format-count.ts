const withThousands = new Intl.NumberFormat("en-US");

/** A number with its thousands separated: 12345 as "12,345". */
export function formatNumber(value: number): string {
  return withThousands.format(value);
}

/** A noun in the singular for 1 and in the plural for other counts: "row", "rows". */
export function plural(count: number, noun: string): string {
  return count === 1 ? noun : `${noun}s`;
}

/** A number with its noun: "1 row", "12,345 rows". */
export function formatCount(count: number, noun: string): string {
  return `${formatNumber(count)} ${plural(count, noun)}`;
}
