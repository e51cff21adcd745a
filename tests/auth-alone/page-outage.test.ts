import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sessionCookieName } from "@/lib/access/sign-in/session-client";
import { createTestDatabase, type TestDatabase } from "@/tests/helpers/database";
import { Fixtures } from "@/tests/helpers/keys";
import { type Service, startService, withPages } from "@/tests/helpers/service";
import { createUser } from "@/tests/helpers/sql-user";

const { privateKey, publicKey } = await generateKeyPair("ES256");
const jwk = { ...(await exportJWK(publicKey)), kid: "hosted", alg: "ES256", use: "sig" };

type Answer = (response: ServerResponse) => void;
const nothing: Answer = () => {};
const fault: Answer = (response) => response.writeHead(500).end("oops");
const keys: Answer = (response) =>
  response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ keys: [jwk] }));

/** What the project answers to the next requests for its keys, one after another; the last answer stays. */
let answers: Answer[] = [keys];
const provider = createServer((_request, response) => {
  const [answer = keys] = answers.length > 1 ? answers.splice(0, 1) : answers;
  answer(response);
});
let database: TestDatabase;
let service: Service;
let cookie: string;

const providerUrl = () => `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;

/** Starts a service that has not yet fetched the project's keys. */
const start = () => {
  return startService(database, {
    ...withPages,
    SUPABASE_URL: providerUrl(),
    SUPABASE_PUBLISHABLE_KEY: "sb_publishable_x",
  });
};

beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  database = await createTestDatabase();
  cookie = await cookieOf(`${providerUrl()}/auth/v1`);
});
afterAll(async () => {
  provider.closeAllConnections();
  provider.close();
  await database.drop();
});

/** The cookie of a user's session. */
async function cookieOf(issuer: string, user: string = crypto.randomUUID()): Promise<string> {
  const claims = { role: "authenticated", aud: "authenticated", session_id: crypto.randomUUID() };
  const token = await new SignJWT({ ...claims, email: "a@b.co" })
    .setProtectedHeader({ alg: "ES256", kid: "hosted" })
    .setSubject(user)
    .setIssuer(issuer)
    .setExpirationTime("1h")
    .sign(privateKey);
  const session = {
    access_token: token,
    refresh_token: "a-token",
    token_type: "bearer",
    expires_in: 3600,
    expires_at: Math.floor(Date.now() / 1000) + 3600,
  };
  return `${sessionCookieName}=base64-${Buffer.from(JSON.stringify(session)).toString("base64url")}`;
}

async function open(path: string) {
  const response = await fetch(service.baseUrl + path, { headers: { cookie }, redirect: "manual" });
  const text = await response.text();
  const isOutage = text.includes("unavailable: The identity provider cannot be reached at the moment.");
  return { status: response.status, retryAfter: response.headers.get("retry-after"), isOutage };
}

const page = "/oauth/authorize?client_id=unknown";
const shown = { status: 200, retryAfter: null, isOutage: false };
const outage = { status: 503, retryAfter: "1", isOutage: true };

describe.each([
  ["get no answer", nothing, [page]],
  ["are answered with a fault", fault, [page, "/workspaces", "/acme", "/sign-in"]],
])("Where requests for a Supabase project's keys %s", (_, failure, paths) => {
  beforeAll(async () => {
    service = await start();
  });
  afterAll(() => service.stop());

  test("A page says so with 503 and when to try again, and is shown as soon as they are answered", async () => {
    answers = [failure];
    for (const path of paths) expect(await open(path), path).toEqual(outage);
    expect((await open("/docs")).status).toBe(200);
    answers = [keys];
    expect(await open(page)).toEqual(shown);
  });
});

test.each([
  ["gets no answer", nothing],
  ["is answered with a fault", fault],
])("A page is shown where only the first request for the keys %s", async (_, failure) => {
  service = await start();
  answers = [failure, keys];
  expect(await open(page)).toEqual(shown);
  await service.stop();
});

test("A page says with 503 that the database is away, and with no other failure", async () => {
  service = await start();
  answers = [keys];
  const fixtures = new Fixtures(database.adminUrl);
  const { id } = await createUser(fixtures);
  await fixtures.close();
  const member = await cookieOf(`${providerUrl()}/auth/v1`, id);
  const read = async (cookie: string) => {
    const response = await fetch(`${service.baseUrl}/workspaces`, {
      headers: { cookie },
      redirect: "manual",
    });
    const says = (await response.text()).includes(
      "unavailable: The database cannot be reached at the moment.",
    );
    return { status: response.status, retryAfter: response.headers.get("retry-after"), says };
  };
  const redirected = { status: 307, retryAfter: null, says: false };
  expect(await read(member)).toEqual(redirected);
  const admin = new Client({ connectionString: database.superuserUrl });
  await admin.connect();
  // A missing grant is no outage.
  await admin.query("revoke select on public.profiles from authenticated");
  expect(await read(member)).toEqual({ status: 500, retryAfter: null, says: false });
  await admin.query("grant select on public.profiles to authenticated");
  expect(await read(member)).toEqual(redirected);

  const admit = async (connections: number) => {
    const { rows } = await admin.query(
      "select format('alter database %I connection limit %s', current_database(), $1::integer) as change",
      [connections],
    );
    await admin.query(rows[0].change);
  };
  await admit(0);
  await admin.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()",
  );
  expect(await read(member)).toEqual({ status: 503, retryAfter: "1", says: true });
  await admit(-1);
  await admin.end();
  await expect.poll(() => read(member), { timeout: 10_000 }).toEqual(redirected);
  await service.stop();
});

test("A session whose account was erased is shown that, on every page that asks who is signed in", async () => {
  service = await start();
  answers = [keys];
  for (const path of ["/workspaces", "/acme", "/workspaces/two-factor?workspace=acme"]) {
    const response = await fetch(service.baseUrl + path, { headers: { cookie } });
    const text = await response.text();
    expect([new URL(response.url).pathname, response.status], path).toEqual(["/workspaces/deleted", 200]);
    expect(text).toContain("This account no longer exists");
  }
  await service.stop();
});
