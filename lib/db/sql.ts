import sql, { empty, join, raw, type Sql } from "sql-template-tag";
import { quoteLiteral } from "./quote-literal";

/**
 * The one way to write a statement: `` sql`select … where id = ${id}` ``. A value becomes a parameter, another statement
 * becomes part of the text; nobody counts `$1`, `$2`. `raw` is for names that the code itself has in a constant, never
 * for anything that comes from outside.
 */
export { empty, join, raw, type Sql, sql };

/**
 * A statement as one text, its values as literals: for the simple protocol, which sends several statements in one round
 * trip and knows no parameters. Values must be text or null.
 */
export function toLiteralText({ strings, values }: Sql): string {
  let text = strings[0] ?? "";
  for (const [index, value] of values.entries()) {
    if (typeof value !== "string" && value !== null)
      throw new Error("A value of a statement with literals must be text or null.");
    text += (value === null ? "null" : quoteLiteral(value)) + (strings[index + 1] ?? "");
  }
  return text;
}

/**
 * The `set` list of an update: `name = $1, amount = $2`. What is undefined stays as it is.
 * @param changes by column
 * @returns undefined where nothing changes
 */
export function assignments(changes: Readonly<Record<string, unknown>>): Sql | undefined {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  if (given.length === 0) return undefined;
  return join(
    given.map(([column, value]) => sql`${nameOf(column)} = ${value}`),
    ", ",
  );
}

/** A call of a function: `private.name($1, $2)`. */
export function functionCall(name: string, values: readonly unknown[]): Sql {
  return values.length === 0 ? sql`${nameOf(name)}()` : sql`${nameOf(name)}(${join(values)})`;
}

/** @throws Error where it is more than a name: it would be run */
function nameOf(name: string): Sql {
  if (!/^[a-z_][a-z0-9_.]*$/.test(name)) throw new Error(`${name} is no name of a column or function.`);
  return raw(name);
}
