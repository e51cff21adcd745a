import { beforeAll, expect, test } from "vitest";
import { makeClient, must, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";

const server = withAuthServer();
let authorization: string;

beforeAll(async () => {
  const account = { email: someEmail(), password: somePassword };
  const { session } = must(await makeClient(server.url, server.key).auth.signUp(account));
  authorization = `Bearer ${session?.access_token}`;
});

async function refusal(method: string, path: string, body?: unknown, headers: object = { authorization }) {
  const answer = await fetch(`${server.url}/auth/v1/${path}`, {
    method,
    headers: { ...(body !== undefined && { "content-type": "application/json" }), ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  expect(answer.headers.get("x-supabase-api-version")).toBe("2024-01-01");
  const { code, message } = await answer.json();
  return { status: answer.status, code, message };
}

const password = somePassword;
const phone = "+491701234567";

test.each([
  ["POST", "signup", { phone, password }],
  ["POST", "otp", { phone }],
  ["POST", "otp", { email: "a@b.co", phone }],
  ["POST", "token?grant_type=password", { phone, password }],
  ["POST", "token?grant_type=id_token", { provider: "google", id_token: "x" }],
  ["POST", "token?grant_type=web3", { chain: "ethereum", message: "x" }],
  ["POST", "token", {}],
  ["POST", "verify", { type: "sms", phone, token: "123456" }],
  ["POST", "verify", { type: "signup", token_hash: "x" }],
  ["POST", "verify", { type: "invite", token_hash: "x" }],
  ["POST", "resend", { type: "signup", email: "a@b.co" }],
  ["PUT", "user", { phone }],
  ["PUT", "user", { app_metadata: { role: "admin" } }],
  ["POST", "factors", { factor_type: "phone", phone }],
  ["POST", "factors", { factor_type: "webauthn" }],
])("Refuses what only Supabase Auth offers, with one code: %s %s %j", async (method, path, body) => {
  expect(await refusal(method, path, body)).toEqual({
    status: 400,
    code: "not_supported",
    message: expect.stringMatching(/^Not supported by the local sign-in: (phone|app_metadata|this \w+)/),
  });
});

test.each([
  ["GET", "admin/users", 404, "not_found"],
  ["GET", "settings", 404, "not_found"],
  ["POST", "constructor", 404, "not_found"],
  ["DELETE", "user", 405, "method_not_allowed"],
  ["PUT", "signup", 405, "method_not_allowed"],
  ["DELETE", "factors/not-an-id", 404, "mfa_factor_not_found"],
  ["POST", "logout?scope=all", 400, "validation_failed"],
])("Refuses %s %s with %i", async (method, path, status, code) => {
  expect(await refusal(method, path)).toMatchObject({ status, code });
});

test("Refuses a request without a session, and one whose token cannot be verified", async () => {
  for (const path of ["user", "reauthenticate", "factors/recovery-codes"]) {
    expect(await refusal("GET", path, undefined, {})).toMatchObject({
      status: 401,
      code: "no_authorization",
    });
    const nonsense = { authorization: "Bearer nonsense" };
    expect(await refusal("GET", path, undefined, nonsense)).toMatchObject({ status: 403, code: "bad_jwt" });
  }
});

test.each([
  ["signup", "x".repeat(20_000), 413, /^A body may have at most 16384 bytes/],
  ["signup", "not json", 400, /^The body is not valid JSON/],
  ["signup", "[]", 400, /^the body: /],
  ["signup", "null", 400, /^the body: /],
  ["signup", {}, 400, /^email: /],
  ["signup", { email: 5 }, 400, /^email: /],
  ["signup", { email: "a@b.co" }, 400, /^password: /],
  ["signup", { email: "a@b.co", password: "ü".repeat(40) }, 400, /at most 72 bytes/],
  ["signup", { email: "a@b.co", password, data: { a: "x".repeat(2100) } }, 400, /^data: .* 2048 bytes/],
  ["signup", { email: `${"a".repeat(251)}@b.co`, password }, 400, /^email: .* 255/],
  ["recover", { email: "a b@example.com" }, 400, /^email: must be an e-mail address/],
  ["otp", { email: "a@-b.example" }, 400, /^email: must be an e-mail address/],
  ["otp", { email: "a@b.co", code_challenge: "x" }, 400, /^code_challenge: /],
  [
    "otp",
    { email: "a@b.co", code_challenge: "x".repeat(43), code_challenge_method: "plain" },
    400,
    /^code_challenge_method: must be s256/,
  ],
  ["token?grant_type=refresh_token", {}, 400, /^refresh_token: /],
  ["token?grant_type=pkce", { auth_code: "x" }, 400, /^code_verifier: /],
  ["verify", { type: "email", token: "1" }, 400, /token_hash, or token and email/],
  ["verify", { type: "email", email: "a@b.co", token_hash: "x" }, 400, /token_hash, or token and email/],
  ["factors", { factor_type: "totp", friendly_name: "\u0007" }, 400, /^friendly_name: must be printable/],
])("Says what is wrong with a body: %s %j", async (path, body, status, message) => {
  const refused = await refusal("POST", path, body);
  expect(refused.status).toBe(status);
  expect(refused.message).toMatch(message);
});

test.each([
  ["POST", "signup", `{"email":"a@b.co","password":"long enough\\ud800"}`],
  ["POST", "signup", `{"email":"a@b.co","password":"long enough","data":{"name":["\\u0000"]}}`],
  ["POST", "signup", `{"email":"a@b.co","password":"x","data":${"[".repeat(3000)}${"]".repeat(3000)}}`],
  ["POST", "token?grant_type=password", `{"email":"a\\u0000@b.co","password":"x"}`],
  ["POST", "verify", `{"type":"email","token_hash":"\\ud800"}`],
  ["PUT", "user", `{"data":{"\\u0000":1}}`],
])("Refuses text that Postgres cannot store: %s %s %s", async (method, path, body) => {
  expect(await refusal(method, path, body)).toMatchObject({ status: 400, code: "validation_failed" });
});
