import type { ClientBase } from "pg";
import { type Sql, toLiteralText } from "./sql";

/**
 * Reads the rows of a statement page by page with a cursor, so that not all of them are in memory. Needs a transaction, which may read one
 * statement at a time in this way. Its values must be text or null.
 * @param atATime rows of a page
 * @param fetch runs each fetch, for callers that limit how many run at once
 */
export async function* fetchRows<Row extends object>(
  client: ClientBase,
  statement: Sql,
  atATime: number,
  fetch: <T>(run: () => Promise<T>) => Promise<T> = (run) => run(),
): AsyncGenerator<Row[]> {
  await client.query(`declare fetched no scroll cursor for ${toLiteralText(statement)}`);
  for (;;) {
    const { rows } = await fetch(() => client.query<Row>(`fetch forward ${atATime} from fetched`));
    if (rows.length > 0) yield rows;
    if (rows.length < atATime) break;
  }
  await client.query("close fetched");
}
