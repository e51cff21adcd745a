import type pg from "pg";

/** A column of a statement's result as Postgres describes it. The table is 0 for an expression. */
export type DescribedColumn = { name: string; typeId: number; tableId: number; columnId: number };

type Field = { name: string; dataTypeID: number; tableID: number; columnID: number };

/** The part of pg's interface for queries that it sends (`Query`). */
type Connection = {
  parse(statement: { name: string; text: string }): void;
  describe(what: { type: "S"; name: string }): void;
  sync(): void;
};

/**
 * Has Postgres parse and describe a statement without running it. Names, tables and types must be right; values are not
 * needed.
 * @throws Error of Postgres for a statement that it cannot plan
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
