import type pg from "pg";

/** A column of a statement's result as Postgres describes it. The table is 0 where the column is an expression. */
export type DescribedColumn = { name: string; typeId: number; tableId: number; columnId: number };

type Field = { name: string; dataTypeID: number; tableID: number; columnID: number };

/** What pg asks of something that it is to send, in the words of its `Query`. */
type Connection = {
  parse(statement: { name: string; text: string }): void;
  describe(what: { type: "S"; name: string }): void;
  sync(): void;
};

/**
 * Has Postgres parse and describe a statement, without running it: names, tables and types must be right, values are
 * not asked for.
 * @throws what Postgres says of a statement that it cannot plan
 */
export function describeStatement(client: pg.Client, text: string): Promise<DescribedColumn[]> {
  return new Promise((resolve, reject) => {
    let columns: DescribedColumn[] = [];
    let failure: Error | undefined;
    client.query({
      submit(connection: Connection) {
        connection.parse({ name: "", text });
        connection.describe({ type: "S", name: "" });
        connection.sync();
      },
      handleRowDescription({ fields }: { fields: Field[] }) {
        columns = fields.map(({ name, dataTypeID, tableID, columnID }) => ({
          name,
          typeId: dataTypeID,
          tableId: tableID,
          columnId: columnID,
        }));
      },
      handleError(error: Error) {
        failure = error;
      },
      handleReadyForQuery() {
        if (failure) reject(failure);
        else resolve(columns);
      },
    } as unknown as pg.Submittable);
  });
}
