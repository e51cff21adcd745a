import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { createClient, type SupabaseClient } from "@supabase/supabase-js";
import pg from "pg";
import { afterAll, beforeAll } from "vitest";
import { closeDatabase, configureDatabase } from "@/lib/db/pool";
import { announceAddress } from "@/lib/service-address";
import { createRouter } from "@/server/router";
import { hashQuickly } from "./cluster";
import { createTestDatabase, type TestDatabase } from "./database";
import { noteProject, projectOf } from "./hosted-sign-in";

/**
 * The service's route handlers over real HTTP, in this process, on a database of their own; in runs of `npm run test:supabase`, the
 * project of the database.
 */
type AuthServer = { url: string; key: string; database: TestDatabase; stop(): Promise<void> };

async function startAuthServer(): Promise<AuthServer> {
  // The tests that sign up here expect a session at once.
  const database = await createTestDatabase({ GOTRUE_MAILER_AUTOCONFIRM: "true" });
  const { project } = database;
  if (project) {
    noteProject(project.url, project);
    return { url: project.url, key: project.publishableKey, database, stop: database.drop };
  }
  await hashQuickly(database);
  configureDatabase(database);
  const router = await createRouter();
  const server = createServer(
    getRequestListener((request, bindings) => router.fetch(request, bindings as HttpBindings)),
  );
  await once(server.listen(0, "127.0.0.1"), "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  announceAddress(url);
  return {
    url,
    key: "any-key",
    database,
    stop: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await closeDatabase();
      await database.drop();
    },
  };
}

/**
 * Starts an auth server before the tests of a file and stops it after them. The properties of the result are set before
 * the first test. `sql` is a connection as the superuser.
 */
export function withAuthServer(): AuthServer & { sql: pg.Client } {
  const server = {} as AuthServer & { sql: pg.Client };
  beforeAll(async () => {
    Object.assign(server, await startAuthServer());
    server.sql = new pg.Client({ connectionString: server.database.superuserUrl });
    await server.sql.connect();
  });
  afterAll(async () => {
    await server.sql?.end();
    await server.stop?.();
  });
  return server;
}

/**
 * Where the tests of Supabase's own clients sign in: at an auth server of the file's, or, with SUPABASE_URL and a
 * publishable key in the environment, at a Supabase project, which should confirm sign-ups itself. No mail can be read there.
 */
export function withAuthProject(): { url: string; key: string; isHosted: boolean } {
  const hosted = process.env.SUPABASE_URL;
  if (hosted) return { url: hosted, key: process.env.SUPABASE_PUBLISHABLE_KEY ?? "", isHosted: true };
  return Object.assign(withAuthServer(), { isHosted: false });
}

/** Node 20 has no WebSocket, which the client requires when it is created and never uses here. */
export const realtime = { transport: class {} as never };

/** The unmodified supabase-js client, with a store in memory instead of a browser's. */
export function makeClient(
  url: string,
  key = "any-key",
  auth: Record<string, unknown> = {},
  headers: Record<string, string> = {},
): SupabaseClient {
  const memory = new Map<string, string>();
  const storage = {
    getItem: (name: string) => memory.get(name) ?? null,
    setItem: (name: string, value: string) => void memory.set(name, value),
    removeItem: (name: string) => void memory.delete(name),
  };
  const project = projectOf(url);
  const options = { storageKey: randomUUID(), storage, autoRefreshToken: false, detectSessionInUrl: false };
  return createClient(project?.url ?? url, project?.publishableKey ?? key, {
    auth: { ...options, ...auth },
    realtime,
    global: { headers },
  });
}

/** Calls of clients at an auth server. */
export function signInAt(server: { url: string; key: string }) {
  const client = (options = {}) => makeClient(server.url, server.key, options).auth;
  return {
    /** A new client that nobody has signed in to. */
    client,
    /** Signs a new user up with `somePassword`. @returns their address and id, and the client with their session */
    signUp: async (options = {}) => {
      const [email, auth] = [someEmail(), client(options)];
      const { user } = must(await auth.signUp({ email, password: somePassword }));
      return { email, auth, id: user?.id ?? "" };
    },
    /** Signs in with another client. @returns `signed in`, or the code of the refusal */
    signsInWith: async (email: string, password: string) =>
      (await client().signInWithPassword({ email, password })).error?.code ?? "signed in",
  };
}

/** An address that nobody else uses. */
export function someEmail(name = "ada"): string {
  return `${name}-${randomUUID().slice(0, 8)}@example.com`;
}

export const somePassword = "correct horse battery";

/** The data of an answer. @throws its error, if it is a refusal */
export function must<Answer extends { data: unknown; error: unknown }>(
  answer: Answer,
): Extract<Answer, { error: null }>["data"] {
  if (answer.error) throw answer.error;
  return answer.data as Extract<Answer, { error: null }>["data"];
}
