import { readdirSync, readFileSync } from "node:fs";
import { type ClientBase, DatabaseError } from "pg";
import { type Statement, splitSql } from "./split-sql";

/** A migration or a bootstrap file that failed. The message names the file, the line and the statement. */
export class MigrationError extends Error {
  override name = "MigrationError";

  constructor(
    readonly file: string,
    readonly line: number,
    statement: string,
    reason: string,
    cause?: unknown,
  ) {
    super(`${file}, line ${line}: ${reason}\n  ${excerpt(statement)}`, { cause });
  }
}

/** The names of the files of SQL in a folder, in the order in which they run. */
export function sqlFilesIn(directory: string): string[] {
  // Sorted by code unit and not by locale, so that the order is the same on every machine.
  return readdirSync(directory)
    .filter((file) => file.endsWith(".sql"))
    .sort();
}

/** The statements of a file of SQL. */
export function statementsIn(path: string): Statement[] {
  return splitSql(readFileSync(path, "utf8").replace(/^\uFEFF/, ""));
}

/**
 * Runs the statements of a file one after another, in the transaction that the client is in.
 * @returns the text of each. @throws MigrationError
 */
export async function runFile(client: ClientBase, file: string, path: string): Promise<string[]> {
  const statements = statementsIn(path);
  for (const statement of statements) {
    if (/^(begin|start\s+transaction|commit|end|rollback|abort)\b/i.test(statement.body)) {
      const reason = "a migration is one transaction already and cannot begin or end another";
      throw new MigrationError(file, statement.line, statement.body, reason);
    }
    try {
      await client.query(statement.text);
    } catch (error) {
      throw new MigrationError(file, lineOf(error, statement), statement.body, reasonOf(error), error);
    }
  }
  return statements.map(({ text }) => text);
}

/** The line of a file at which a statement failed. */
function lineOf(error: unknown, statement: Statement): number {
  if (!(error instanceof DatabaseError) || !error.position) return statement.line;
  // Postgres counts characters, JavaScript counts UTF-16 code units.
  const before = Array.from(statement.text).slice(0, Number(error.position) - 1);
  return statement.firstLine + before.filter((character) => character === "\n").length;
}

/** The message, detail and hint of an error of Postgres. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const { detail, hint } = error as DatabaseError;
  return [error.message, detail, hint && `Hint: ${hint}`].filter(Boolean).join(" ");
}

/** The beginning of a statement, on one line. */
function excerpt(statement: string): string {
  const line = statement.replace(/\s+/g, " ");
  return line.length > 160 ? `${line.slice(0, 160)}…` : line;
}
