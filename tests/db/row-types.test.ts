import { readdirSync } from "node:fs";
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import type { Columns } from "@/lib/db/columns";
import { describeStatement } from "@/tests/helpers/describe-statement";
import { anything, given } from "@/tests/helpers/statement-arguments";
import { withDatabase } from "@/tests/helpers/with-database";

let service: pg.Client;
/** The nullable columns of all tables, as `table id.column id`. */
let mayBeNull: Set<string>;
withDatabase((open) => {
  service = open.service;
});
beforeAll(async () => {
  const { rows } = await service.query<{ place: string }>(
    "select attrelid || '.' || attnum as place from pg_catalog.pg_attribute where not attnotnull",
  );
  mayBeNull = new Set(rows.map(({ place }) => place));
});

type Statement = { text: string; columns?: Columns };

/** A fake connection: it records statements and answers each with one row of any values. */
class Recorder {
  readonly statements: Statement[] = [];
  query(statement: Statement): Promise<unknown> {
    this.statements.push(statement);
    return Promise.resolve({ rows: [anything], rowCount: 1 });
  }
}

async function statementsOf(name: string, run: (...args: unknown[]) => unknown): Promise<Statement[]> {
  const recorder = new Recorder();
  const calls = given[name] ?? [
    Array(run.length + 3).fill(anything),
    // Calls the function without its optional arguments too.
    Array(Math.max(0, run.length - 1)).fill(anything),
  ];
  for (const args of calls) {
    const before = recorder.statements.length;
    // The function may fail on the fake answer; only its statement matters here.
    await Promise.resolve()
      .then(() => run(recorder, ...args))
      .catch((error: unknown) => {
        if (recorder.statements.length === before) throw error;
      });
  }
  return recorder.statements;
}

/** The functions in these files that take a connection: all statements of the service. */
async function queryFunctions(): Promise<[name: string, run: (...args: unknown[]) => unknown][]> {
  const files = readdirSync("lib", { recursive: true, encoding: "utf8" })
    .filter(
      (path) => /(^|\/|-)(queries|clock)\.ts$/.test(path) || /\/(workspace-prices|outbox)\.ts$/.test(path),
    )
    .sort();
  const found: [string, (...args: unknown[]) => unknown][] = [];
  for (const file of files) {
    const exported: Record<string, unknown> = await import(`@/lib/${file}`);
    for (const [name, value] of Object.entries(exported)) {
      const takesConnection =
        typeof value === "function" && /^(async )?function \w+\(client\b/.test(String(value));
      if (takesConnection && !ofPrograms.has(name))
        found.push([`${file} ${name}`, value as (...args: unknown[]) => unknown]);
    }
  }
  return found;
}

/** Functions whose `client` is an OAuth client, not a connection. */
const ofPrograms = new Set(["saveClient", "insertClient"]);

test.each(await queryFunctions())(
  "%s: Postgres describes its rows as they are declared",
  async (path, run) => {
    const statements = await statementsOf(path.split(" ").at(-1) ?? "", run);
    expect(statements).not.toEqual([]);
    for (const { text, columns } of statements) {
      const described = await describeStatement(service, text);
      if (!columns) continue;
      expect(described.map((column) => column.name).sort(), text).toEqual(Object.keys(columns).sort());
      for (const column of described) {
        const declared = columns[column.name];
        expect(declared?.typeIds, `${column.name} in ${text}`).toContain(column.typeId);
        if (declared?.nulls === "never")
          expect(mayBeNull, `${column.name} may be null in ${text}`).not.toContain(
            `${column.tableId}.${column.columnId}`,
          );
      }
    }
  },
);
