import type { IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from "vitest";
import { explainAuthError } from "@/lib/access/sign-in/explain-error";
import { askProject } from "@/lib/access/sign-in/project-auth";
import { accessTokenOf } from "@/lib/access/sign-in/request-session";
import { createSessionClient, sessionCookieName } from "@/lib/access/sign-in/session-client";
import { closeDatabase, configureDatabase } from "@/lib/db/pool";
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
const { provider, url } = await vi.hoisted(async () => {
  const { createServer } = await import("node:http");
  const provider = createServer();
  await new Promise<void>((resolve) => provider.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(provider.address() as AddressInfo).port}`;
  vi.stubEnv("SUPABASE_URL", url);
  vi.stubEnv("SUPABASE_PUBLISHABLE_KEY", "sb_publishable_x");
  return { provider, url };
});
/** What the project answers, and the headers of what it was asked. */
let given = session;
let asked: IncomingHttpHeaders[] = [];

beforeAll(async () => {
  database = await createTestDatabase();
  configureDatabase(database);
  provider.on("request", (request, response) => {
    asked.push(request.headers);
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
  [given, asked] = [session, []];
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
  expect(await explain("over_request_rate_limit")).toContain("tried too often");
  expect(await explain("over_email_send_rate_limit")).toContain("Too many mails");
  given = wrongPassword;
  const email = someEmail();
  for (let count = 0; count < 10; count += 1) await signIn(someAddress(), email);
  const { error } = await auth.signInWithPassword({ email, password: "x" });
  expect(error && explainAuthError(error)).toBe("That was tried too often. Try again in 15 minutes.");
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
