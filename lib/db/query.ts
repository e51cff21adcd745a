import type { ClientBase, Pool } from "pg";
import type { Columns, Row } from "./columns";
import { functionCall, type Sql, sql } from "./sql";

/** Runs a statement. @returns its rows. @param columns the columns of its result */
export async function selectAll<C extends Columns>(
  client: ClientBase | Pool,
  columns: C,
  statement: Sql,
): Promise<Row<C>[]> {
  const { text, values } = statement;
  // pg ignores `columns` and `statement`. `tests/db/row-types.test.ts` compares `columns` with Postgres's description;
  // `asKeyAtOnce` needs the parts of `statement`.
  const query = { text, values, columns, statement };
  const { rows } = await client.query<Row<C>>(query);
  return rows;
}

/** Runs a statement. @returns its first row, or undefined if there is none */
export async function selectFirst<C extends Columns>(
  client: ClientBase | Pool,
  columns: C,
  statement: Sql,
): Promise<Row<C> | undefined> {
  const [row] = await selectAll(client, columns, statement);
  return row;
}

/** Runs a statement that always returns a row. @throws Error if it returns none */
export async function selectOne<C extends Columns>(
  client: ClientBase | Pool,
  columns: C,
  statement: Sql,
): Promise<Row<C>> {
  const row = await selectFirst(client, columns, statement);
  if (!row) throw new Error("The statement returned no row.");
  return row;
}

/** Runs a statement whose result is not needed. @returns how many rows it found or changed */
export async function execute(client: ClientBase | Pool, { text, values }: Sql): Promise<number> {
  const { rowCount } = await client.query({ text, values });
  return rowCount ?? 0;
}

/**
 * Calls a function of the database that returns one value, mostly JSON. `T` is not checked: the caller declares what the
 * function returns.
 * @param name schema and name, such as `private.load_admission`
 */
export async function callFunction<T>(
  client: ClientBase | Pool,
  name: string,
  ...values: unknown[]
): Promise<T> {
  const { text, values: given } = sql`select ${functionCall(name, values)} as answer`;
  const { rows } = await client.query<{ answer: T }>({ text, values: given });
  const [row] = rows;
  if (!row) throw new Error("The function returned no row.");
  return row.answer;
}
