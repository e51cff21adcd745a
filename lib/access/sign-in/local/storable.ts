/** Deeper than any data about a user, and far shallower than what Postgres refuses to parse. */
const maxDepth = 16;

/**
 * Whether Postgres can keep a value: text and jsonb hold neither NUL nor half of a surrogate pair, in members' names as
 * little as in their values, and both it and we walk through what is nested.
 * @param value as `JSON.parse` gives it
 */
export function isStorable(value: unknown, depth = 0): boolean {
  if (typeof value === "string") return value.isWellFormed() && !value.includes("\u0000");
  if (typeof value !== "object" || value === null) return true;
  if (depth >= maxDepth) return false;
  return Object.entries(value).every(([name, member]) => isStorable(name) && isStorable(member, depth + 1));
}
