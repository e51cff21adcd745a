import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { exportJWK, generateKeyPair, SignJWT } from "jose";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { explainAuthError } from "@/lib/access/sign-in/explain-error";
import { handleLocalAuth } from "@/lib/access/sign-in/local/handler";
import { readOutbox } from "@/lib/access/sign-in/local/outbox";
import { askProject } from "@/lib/access/sign-in/project-auth";
import { accessTokenOf } from "@/lib/access/sign-in/request-session";
import { createSessionClient, sessionCookieName } from "@/lib/access/sign-in/session-client";
import { verifyUserJwt } from "@/lib/access/sign-in/verify-user-jwt";
import { closeDatabase, configureDatabase } from "@/lib/db/pool";
import { parseEnv } from "@/lib/env";
import { createTestDatabase, type TestDatabase } from "@/tests/helpers/database";

type Given = { status: number; body: object | string };
const refusal = (status: number, code: string): Given => ({
  status,
  body: { code, message: "Not that." },
});
const wrongPassword = refusal(400, "invalid_credentials");
const limited = refusal(429, "over_request_rate_limit");
const session: Given = {
  status: 200,
  body: {
    access_token: "a.new.token",
    token_type: "bearer",
    expires_in: 3600,
    refresh_token: "the-next-one",
    user: { id: crypto.randomUUID() },
  },
};

let database: TestDatabase;
/** Started before the modules of the service are loaded, because its settings are read once. */
const { provider, url, secret } = await vi.hoisted(async () => {
  const { createServer } = await import("node:http");
  const provider = createServer();
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  vi.stubEnv("SUPABASE_URL", url);
  vi.stubEnv("SUPABASE_PUBLISHABLE_KEY", "sb_publishable_x");
  const secret = "a-shared-secret-of-an-older-project";
  vi.stubEnv("SUPABASE_JWT_SECRET", secret);
  return { provider, url, secret };
});
/** What the project answers, the headers of what it was asked, and how often for its keys. */
let given = session;
let asked: IncomingHttpHeaders[] = [];
let keysAsked = 0;

beforeAll(async () => {
  database = await createTestDatabase();
  configureDatabase(database);
  provider.on("request", (request, response) => {
    asked.push(request.headers);
    if (request.url?.endsWith("/jwks.json")) keysAsked += 1;
    const { status, body } = given;
    const type = typeof body === "string" ? "text/html" : "application/json";
    response
      .writeHead(status, { "content-type": type, "x-supabase-api-version": "2024-01-01" })
      .end(typeof body === "string" ? body : JSON.stringify(body));
  });
});
afterAll(async () => {
  provider.close();
  await closeDatabase();
  await database.drop();
});
beforeEach(() => {
  [given, asked, keysAsked] = [session, [], 0];
});

const someAddress = () => `198.51.${Math.floor(Math.random() * 256)}.${Math.floor(Math.random() * 256)}`;
const someEmail = () => `${crypto.randomUUID()}@example.com`;

async function ask(path: string, body: object, address: string, secretKey?: string): Promise<Response> {
  const request = new Request(`${url}/auth/v1/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
  });
  return askProject({ url, publishableKey: "sb_publishable_x", secretKey }, request, address);
}
const signIn = (address: string, email = someEmail()) =>
  ask("token?grant_type=password", { email, password: "a guess" }, address);
const statusesOf = async (answers: Promise<Response>[]) =>
  (await Promise.all(answers)).map(({ status }) => status);

describe("A Supabase project", () => {
  test("Is told the caller's address where there is a secret key, and nothing without one", async () => {
    await ask("token?grant_type=password", { email: someEmail() }, "203.0.113.7", "sb_secret_x");
    await signIn("203.0.113.8");
    expect(asked.map((headers) => headers["sb-forwarded-for"])).toEqual(["203.0.113.7", undefined]);
  });

  test("Gets no more than twenty sign-ins of one address, so that others can still sign in", async () => {
    given = wrongPassword;
    const stranger = someAddress();
    const statuses = await statusesOf(Array.from({ length: 43 }, () => signIn(stranger)));
    expect(asked).toHaveLength(20);
    expect(statuses.filter((status) => status === 429)).toHaveLength(23);
    given = session;
    expect((await signIn(someAddress())).status).toBe(200);
  });

  test("Gets no more than ten wrong passwords of one account, from however many addresses", async () => {
    const email = someEmail();
    expect((await signIn(someAddress(), email)).status).toBe(200);
    given = wrongPassword;
    await statusesOf(Array.from({ length: 15 }, () => signIn(someAddress(), email.toUpperCase())));
    expect(asked).toHaveLength(11);
  });

  test.each([
    ["signup", 20],
    ["recover", 20],
    ["otp", 20],
    ["verify", 20],
    ["token?grant_type=pkce", 20],
    ["token?grant_type=refresh_token", 60],
    ["factors/0193a0f7-1e44-7c02-a6d3-90b1f8e2d417/verify", 20],
    ["factors/recovery-codes/verify", 20],
  ])("Gets from one address as many calls of %s as it can take beside others: %i", async (path, most) => {
    const stranger = someAddress();
    await statusesOf(Array.from({ length: most + 5 }, () => ask(path, { email: someEmail() }, stranger)));
    expect(asked).toHaveLength(most);
  });
});

test("Explains a limit of the project and ours in words of their own", async () => {
  const { auth } = await createSessionClient({ getAll: () => [], setAll: () => {} }, someAddress());
  const explain = async (code: string) => {
    given = refusal(429, code);
    const { error } = await auth.signInWithPassword({ email: someEmail(), password: "x" });
    return error && explainAuthError(error);
  };
  expect(await explain("over_request_rate_limit")).toBe(
    "Too many attempts. Wait a few minutes, then try again.",
  );
  expect(await explain("over_email_send_rate_limit")).toContain("Too many mails");
  given = wrongPassword;
  const email = someEmail();
  for (let count = 0; count < 10; count += 1) await signIn(someAddress(), email);
  const { error } = await auth.signInWithPassword({ email, password: "x" });
  expect(error && explainAuthError(error)).toBe("Too many attempts. Try again in 15 minutes.");
});

describe("A session that has to be renewed", () => {
  const expired = {
    access_token: "an.old.token",
    refresh_token: "a-token",
    token_type: "bearer",
    expires_in: 3600,
  };
  const cookie = (expiresAt: number) => {
    const text = JSON.stringify({ ...expired, expires_at: expiresAt });
    return { name: sessionCookieName, value: `base64-${Buffer.from(text).toString("base64url")}` };
  };
  /** Asks for the token of a session. @returns it or the code of the refusal, and what was set into cookies */
  async function renew(expiresAt = Math.floor(Date.now() / 1000) - 60) {
    const set: { name: string; value: string }[] = [];
    const client = await createSessionClient(
      { getAll: () => [cookie(expiresAt)], setAll: (changes) => void set.push(...changes) },
      someAddress(),
    );
    const token = await accessTokenOf(client, 400).catch((error: { code?: string }) => error.code);
    return { token, set };
  }

  test.each([
    ["a limit", limited],
    ["a fault", refusal(500, "unexpected_failure")],
    ["an outage", refusal(503, "unexpected_failure")],
    ["a page of a gateway", { status: 403, body: "<html>" }],
    ["a limit of a gateway", { status: 429, body: "<html>" }],
  ])("Is kept where the project answers with %s", async (_, answer) => {
    given = answer;
    expect(await renew()).toEqual({ token: "unavailable", set: [] });
    given = session;
    const { token, set } = await renew();
    expect(token).toBe("a.new.token");
    expect(set).not.toEqual([]);
  });

  test("Is asked for once only where the project answers with a limit", async () => {
    given = limited;
    await renew();
    expect(asked).toHaveLength(1);
  });

  test("Is used while its token is valid, where the project answers with a limit", async () => {
    given = limited;
    expect(await renew(Math.floor(Date.now() / 1000) + 30)).toEqual({ token: "an.old.token", set: [] });
  });

  test("Is over where the project says so", async () => {
    given = refusal(400, "refresh_token_not_found");
    const { token, set } = await renew();
    expect(token).toBeUndefined();
    expect(set).toContainEqual(expect.objectContaining({ name: sessionCookieName, value: "" }));
  });
});

const { privateKey: signingKey, publicKey } = await generateKeyPair("ES256");
const publicJwk = { ...(await exportJWK(publicKey)), kid: "hosted", alg: "ES256", use: "sig" };
const token = (alg: "ES256" | "HS256", key: CryptoKey | Uint8Array, iss = `${url}/auth/v1`) =>
  new SignJWT({
    role: "authenticated",
    aud: "authenticated",
    session_id: crypto.randomUUID(),
    email: "a@b.co",
  })
    .setProtectedHeader({ alg, ...(alg === "ES256" && { kid: "hosted" }) })
    .setSubject(crypto.randomUUID())
    .setIssuer(iss)
    .setExpirationTime("1h")
    .sign(key);
const bytes = (text: string) => new TextEncoder().encode(text);

test("Calls nobody unauthorised while a Supabase project's keys cannot be fetched", async () => {
  given = { status: 500, body: "oops" };
  await expect(verifyUserJwt(await token("ES256", signingKey))).rejects.toMatchObject({
    code: "unavailable",
  });
  given = { status: 200, body: "<html>" };
  await expect(verifyUserJwt(await token("ES256", signingKey))).rejects.toMatchObject({
    code: "unavailable",
  });
});

test("Verifies a Supabase project's tokens with its keys, which are fetched once", async () => {
  given = { status: 200, body: { keys: [publicJwk] } };
  expect(await verifyUserJwt(await token("ES256", signingKey))).toMatchObject({
    role: "authenticated",
    email: "a@b.co",
  });
  await verifyUserJwt(await token("ES256", signingKey));
  // A client of an earlier test may still repeat its request.
  expect(keysAsked).toBe(1);
  await expect(
    verifyUserJwt(await token("ES256", signingKey, "urn:outlay:local-auth")),
  ).rejects.toMatchObject({
    code: "invalid_credentials",
  });
});

test("Verifies an older project's tokens with its shared secret, and no others", async () => {
  expect(await verifyUserJwt(await token("HS256", bytes(secret)))).toMatchObject({ role: "authenticated" });
  await expect(
    verifyUserJwt(await token("HS256", bytes("another-secret-of-the-same-length---"))),
  ).rejects.toMatchObject({
    code: "invalid_credentials",
  });
});

test("Has no local sign-in and no outbox beside a Supabase project", async () => {
  for (const path of ["health", "signup", ".well-known/jwks.json", "verify?token=x"]) {
    expect((await handleLocalAuth(new Request(`http://localhost/auth/v1/${path}`))).status, path).toBe(404);
  }
  expect(await readOutbox()).toBeUndefined();
});

test("Refuses to start with a Supabase project without its publishable key, and names it", async () => {
  expect(() => parseEnv({ SUPABASE_URL: "https://x.supabase.co" })).toThrow(
    /NEXT_PUBLIC_SUPABASE_PUBLISHABLE_KEY/,
  );
  expect(
    parseEnv({ SUPABASE_URL: "https://x.supabase.co", NEXT_PUBLIC_SUPABASE_ANON_KEY: "k" }),
  ).toBeDefined();
});
