/** Deeper than any data about a user, and far below the depth that Postgres refuses to parse. */
const maxDepth = 16;

/**
 * Whether Postgres can store a value: text and jsonb accept neither NUL nor unpaired surrogates, in names or values, and
 * nesting is limited.
 * @param value as `JSON.parse` returns it
 */
export function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\u0000");
  if (typeof value !== "object" || value === null) return true;
  if (depth >= maxDepth) return false;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member, depth + 1));
}
