import type { ClientBase, Pool } from "pg";
import type { Columns, Row } from "./columns";
import { functionCall, type Sql, sql } from "./sql";

/** Runs a statement. @returns its rows, which have the declared columns */
export async function selectAll<C extends Columns>(
  client: ClientBase | Pool,
  columns: C,
  { text, values }: Sql,
): Promise<Row<C>[]> {
  // pg has no use for `columns`; the test that has Postgres describe the statement reads them here.
  const query = { text, values, columns };
  const { rows } = await client.query<Row<C>>(query);
  return rows;
}

/** Runs a statement. @returns its first row, or undefined where there is none */
export async function selectFirst<C extends Columns>(
  client: ClientBase | Pool,
  columns: C,
  statement: Sql,
): Promise<Row<C> | undefined> {
  const [row] = await selectAll(client, columns, statement);
  return row;
}

/** Runs a statement that always has a row. @throws Error where it had none */
export async function selectOne<C extends Columns>(
  client: ClientBase | Pool,
  columns: C,
  statement: Sql,
): Promise<Row<C>> {
  const row = await selectFirst(client, columns, statement);
  if (!row) throw new Error("A statement that always has a row had none.");
  return row;
}

/** Runs a statement without a result of interest. @returns how many rows it found or changed */
export async function execute(client: ClientBase | Pool, { text, values }: Sql): Promise<number> {
  const { rowCount } = await client.query({ text, values });
  return rowCount ?? 0;
}

/**
 * Calls a function that answers one value, mostly JSON. What the value is made of is the word of whoever calls: the
 * functions are written for these calls.
 */
export async function callFunction<T>(
  client: ClientBase | Pool,
  name: string,
  ...values: unknown[]
): Promise<T> {
  const { text, values: given } = sql`select ${functionCall(name, values)} as answer`;
  const { rows } = await client.query<{ answer: T }>({ text, values: given });
  const [row] = rows;
  if (!row) throw new Error("A call of a function has one row.");
  return row.answer;
}
