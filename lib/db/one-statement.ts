import type { ClientBase, PoolClient, QueryResult } from "pg";
import { type Sql, toLiteralText } from "./sql";

/** A client that runs one statement, in a transaction of its own and in one round trip. */
export class OneStatement {
  #isUsed = false;

  /** @param opening the statements that begin the transaction and set its role */
  constructor(
    private readonly client: PoolClient,
    private readonly opening: string,
  ) {}

  /** This client for the functions of `query.ts`, which use only the method `query` of a client. */
  asClient(): ClientBase {
    return this as unknown as ClientBase;
  }

  async query({ statement }: { statement?: Sql }): Promise<QueryResult> {
    if (!statement || this.#isUsed) throw new Error("This client runs only one statement of `selectAll`.");
    this.#isUsed = true;
    // Sent as one text: if a statement fails, Postgres skips the later ones, so none runs without the role.
    const results: unknown = await this.client.query(`${this.opening}; ${toLiteralText(statement)}; commit`);
    const result = (results as QueryResult[]).at(-2);
    if (!result) throw new Error("The statement returned no result.");
    return result;
  }
}
