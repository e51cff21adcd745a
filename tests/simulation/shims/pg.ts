// In place of `pg` in a simulated process: every connection and every statement is a step of the scheduler.
import pg, { type ClientConfig, type PoolConfig, type QueryResult } from "pg";
import { splitSql } from "@/lib/db/split-sql";
import { host } from "./host";

export const { DatabaseError, types } = pg;

type Callback = (error: unknown, result?: unknown) => void;
type Statement = { text: string; submit?: unknown; values?: unknown[] };

export class Client extends pg.Client {
  constructor(config?: string | ClientConfig) {
    super(config);
    this.on("error", () => {});
    host.connections.add(this);
    this.once("end", () => host.connections.delete(this));
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares two forms of this method.
  override connect(callback?: any): any {
    return settle(
      host.step("connect", () => super.connect()),
      callback,
    );
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares fifteen forms of this method.
  override query(...given: any[]): any {
    const [config, values, last] = given as [string | Statement, unknown, Callback | undefined];
    if (typeof config !== "string" && config.submit) return super.query(...(given as [string]));
    const callback = typeof values === "function" ? (values as Callback) : last;
    const rest = Array.isArray(values) ? [values] : [];
    const send = (text: string) =>
      host.statement(this, text, () => {
        const moved = onMovedClock(text);
        return super.query(
          typeof config === "string" ? moved : { ...config, text: moved },
          ...(rest as []),
        ) as unknown;
      });
    const text = typeof config === "string" ? config : config.text;
    return settle(
      typeof config === "string" && rest.length === 0 ? oneByOne(text, send) : send(text),
      callback,
    );
  }

  // biome-ignore lint/suspicious/noExplicitAny: pg declares two forms of this method.
  override end(callback?: any): any {
    host.leave(this);
    return settle(
      host.inOrder(() => super.end()),
      callback,
    );
  }
}

export class Pool extends pg.Pool {
  constructor(config: PoolConfig) {
    super({ ...config, Client: Client as never, idleTimeoutMillis: 0, connectionTimeoutMillis: 0 });
    host.pools.push(config.max ?? 10);
  }
}

/** Sends statements of one text one after another, so that those of other processes come between them. */
async function oneByOne(text: string, send: (text: string) => Promise<unknown>): Promise<unknown> {
  const statements = splitSql(text).map(({ body }) => body);
  if (statements.length < 2) return send(text);
  const results: QueryResult[] = [];
  for (const statement of statements) results.push((await send(statement)) as QueryResult);
  return results;
}

const onMovedClock = (text: string) => text.replace(/\b(?:clock_timestamp|now)\(\)/g, "test_clock.now()");

function settle(promise: Promise<unknown>, callback: Callback | undefined): Promise<unknown> | undefined {
  if (!callback) return promise;
  promise.then((result) => callback(null, result), callback);
  return undefined;
}
