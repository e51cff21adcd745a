import { randomUUID } from "node:crypto";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "@/tests/helpers/free-port";
import { projectRoot } from "@/tests/helpers/project-root";
import { blockWith, settingsIn } from "./document";
import { healthy, quote, type Running, shell, start } from "./machine";
import { emptyPostgres, type Postgres, superuserPassword } from "./postgres";

const servicePassword = "walk-service";

/** A Postgres as "A Postgres of your own" makes it, and the settings of a service on it. */
export async function preparePostgres(): Promise<{ postgres: Postgres; settings: Record<string, string> }> {
  const postgres = await emptyPostgres();
  postgres.psql(
    blockWith("A Postgres of your own", "create role outlay_service", [["'…'", quote(servicePassword)]]),
  );
  const at = `127.0.0.1:${postgres.port}`;
  const settings = settingsIn(
    blockWith("A Postgres of your own", "POSTGRES_URL=", [
      ["outlay_service:…@db.internal:5432", `outlay_service:${servicePassword}@${at}`],
      ["postgres:…@db.internal:5432", `postgres:${superuserPassword}@${at}`],
    ]),
  );
  return { postgres, settings: { ...settings, SEALING_KEYS: shell("openssl rand -base64 32").trim() } };
}

/** A service of this checkout. */
export type Outlay = { address: string; program: Running };

/** Starts a service of this checkout with settings, and waits until it serves. */
export async function startOutlay(settings: Record<string, string>): Promise<Outlay> {
  const port = await freePort();
  const address = `http://127.0.0.1:${port}`;
  const folder = mkdtempSync(join(tmpdir(), "outlay-walk-"));
  const env = { ...settings, PORT: String(port), BASE_URL: address, TRUSTED_PROXIES: "127.0.0.1,::1" };
  const program = start("node scripts/start.mjs", join(folder, "outlay.log"), projectRoot, env);
  await healthy(address, program);
  return { address, program };
}

/** Calls a service with JSON. @throws Error unless it answers 2xx */
export async function call<Answer>(
  { address }: Pick<Outlay, "address">,
  path: string,
  secret?: string,
  body?: object,
): Promise<Answer> {
  const response = await fetch(`${address}${path}`, {
    method: body ? "POST" : "GET",
    headers: {
      ...(body && { "content-type": "application/json" }),
      ...(secret && { authorization: `Bearer ${secret}` }),
    },
    body: body ? JSON.stringify(body) : null,
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status} ${text.slice(0, 500)}`);
  return JSON.parse(text);
}

/** Somebody who signed up, made a workspace and a key that may record and read. */
export type Member = { slug: string; token: string; key: string };

/** Signs up, makes a workspace and a key, as the pages do. */
export async function beginAt(outlay: Outlay): Promise<Member> {
  const account = { email: `${randomUUID()}@example.com`, password: randomUUID() };
  const { access_token: token } = await call<{ access_token: string }>(
    outlay,
    "/auth/v1/signup",
    undefined,
    account,
  );
  const { slug } = await call<{ slug: string }>(outlay, "/api/v1/workspaces", token, { name: "Walk" });
  const { secret } = await call<{ secret: string }>(outlay, `/api/v1/workspaces/${slug}/api-keys`, token, {
    name: "Walk",
    permissions: ["log_usage", "read_summaries"],
  });
  return { slug, token, key: secret };
}

/** Records a cost of one cent. */
export const recordCent = (outlay: Pick<Outlay, "address">, key: string) =>
  call<{ id: string }>(outlay, "/api/v1/messages", key, {
    project: "walk",
    source: "api",
    message: {
      type: "usage",
      provider: "openai",
      model: "gpt-4o",
      unit_type: "requests",
      quantity: 1,
      estimated_cost: 0.01,
    },
  });

/** What a workspace has spent this month, USD, as its key reads it. */
export async function spentAt(outlay: Pick<Outlay, "address">, key: string): Promise<number> {
  const { total_usd } = await call<{ total_usd: number }>(outlay, "/api/v1/summary/month", key);
  return total_usd;
}
