import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { sessionCookieName } from "@/lib/access/sign-in/session-client";
import { createTestDatabase, type TestDatabase } from "@/tests/helpers/database";
import { type Service, startService, withPages } from "@/tests/helpers/service";

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

/** Starts a service that has not yet fetched the project's keys. */
const start = () => {
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  return startService(database, {
    ...withPages,
    SUPABASE_URL: url,
    SUPABASE_PUBLISHABLE_KEY: "sb_publishable_x",
  });
};

beforeAll(async () => {
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  database = await createTestDatabase();
  cookie = await cookieOf(`http://127.0.0.1:${(provider.address() as AddressInfo).port}/auth/v1`);
});
afterAll(async () => {
  provider.closeAllConnections();
  provider.close();
  await database.drop();
});

async function cookieOf(issuer: string): Promise<string> {
  const claims = { role: "authenticated", aud: "authenticated", session_id: crypto.randomUUID() };
  const token = await new SignJWT({ ...claims, email: "a@b.co" })
    .setProtectedHeader({ alg: "ES256", kid: "hosted" })
    .setSubject(crypto.randomUUID())
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
