import { decodeJwt, decodeProtectedHeader } from "jose";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { makeClient, must, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";
import { latestMail, openLink } from "@/tests/helpers/outbox";

// Behaviour of Supabase Auth that the local sign-in shares. Settings are read once, at first use.
vi.hoisted(() => {
  process.env.AUTH_SIGN_IN_LIMIT = "3";
});

const server = withAuthServer();
let token: string;

beforeAll(async () => {
  token = (await signUp()).session?.access_token ?? "";
});

const json = { "content-type": "application/json" };
const ask = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
  const answer = await fetch(`${server.url}/auth/v1/${path}`, {
    method,
    headers: { ...(body !== undefined && json), ...headers },
    ...(body !== undefined && { body: typeof body === "string" ? body : JSON.stringify(body) }),
  });
  const text = await answer.text();
  return { status: answer.status, headers: answer.headers, body: text ? JSON.parse(text) : undefined };
};
const refusal = async (...request: Parameters<typeof ask>) => {
  const { status, body } = await ask(...request);
  return [status, body.error_code];
};

async function signUp(email = someEmail(), auth = makeClient(server.url).auth) {
  return { email, auth, ...must(await auth.signUp({ email, password: somePassword })) };
}

describe("An address", () => {
  test.each([
    "a&b@example.com",
    "a/b@example.com",
    "x!y@example.com",
    "a=b@example.com",
    "a%b@example.com",
    "a..b@example.com",
    "u@localhost",
    "u@xn--bcher-kva.example",
  ])("Valid in HTML is accepted: %s", async (address) => {
    const { user } = await signUp(address);
    expect(user?.email).toBe(address);
    const { auth } = makeClient(server.url);
    must(await auth.signInWithPassword({ email: address, password: somePassword }));
    must(await auth.resetPasswordForEmail(address));
    must(await auth.signInWithOtp({ email: address }));
  });

  test.each(["john", "john@", "@example.com", "a b@example.com", "a@b@example.com", "a@-b.example"])(
    "Invalid is refused where one is given, and has no account: %s",
    async (address) => {
      for (const path of ["signup", "recover", "otp"])
        expect(await ask("POST", path, { email: address, password: somePassword })).toMatchObject({
          status: 400,
          body: {
            error_code: "validation_failed",
            msg: "Unable to validate email address: invalid format",
          },
        });
      const signIn = { email: address, password: somePassword };
      expect(await refusal("POST", "token?grant_type=password", signIn)).toEqual([
        400,
        "invalid_credentials",
      ]);
    },
  );
});

describe("What is not offered", () => {
  test.each([
    ["POST", "token?grant_type=web3", {}, 422, "web3_provider_disabled"],
    ["POST", "token?grant_type=id_token", {}, 400, "provider_disabled"],
    ["POST", "token?grant_type=magic", {}, 400, "invalid_credentials"],
    ["POST", "signup", {}, 422, "anonymous_provider_disabled"],
    ["POST", "signup", { phone: "+49", password: somePassword }, 400, "phone_provider_disabled"],
    ["POST", "otp", { phone: "+49" }, 400, "phone_provider_disabled"],
    ["POST", "token?grant_type=password", { phone: "+49" }, 422, "phone_provider_disabled"],
    ["GET", "admin/users", undefined, 404, "not_found"],
    ["DELETE", "user", undefined, 405, "method_not_allowed"],
    ["GET", "no-such-thing", undefined, 404, "not_found"],
  ] as const)("Is refused with Supabase Auth's code: %s %s %j", async (method, path, body, status, code) => {
    const authorization = `Bearer ${token}`;
    expect(await refusal(method, path, body, { authorization })).toEqual([status, code]);
  });

  test.each([["GET", "reauthenticate"]])(
    "Is refused for want of a session first: %s %s",
    async (method, path) => {
      expect(await refusal(method, path)).toEqual([401, "no_authorization"]);
    },
  );
});

describe("A refusal", () => {
  test("Says of a token that it could not be verified", async () => {
    const { status, body } = await ask("GET", "user", undefined, { authorization: "Bearer nonsense" });
    expect([status, body.error_code]).toEqual([403, "bad_jwt"]);
    expect(body.msg).toMatch(/^invalid JWT: unable to parse or verify signature, /);
  });

  test.each([
    [
      "signup",
      "x".repeat(20_000),
      413,
      "request_entity_too_large",
      /^Request body too large \(max 16384 bytes\)$/,
    ],
    ["signup", "not json", 400, "bad_json", /^Could not parse request body as JSON/],
    [
      "signup",
      { email: 5 },
      400,
      "bad_json",
      /^Could not parse request body as JSON: email has to be of type string$/,
    ],
    ["signup", { email: "a@b.co" }, 400, "validation_failed", /^Signup requires a valid password$/],
    ["recover", {}, 400, "validation_failed", /^Password recovery requires an email$/],
    ["otp", {}, 400, "validation_failed", /^One of email or phone must be set$/],
    [
      "otp",
      { email: "a@b.co", code_challenge: "x".repeat(43) },
      400,
      "validation_failed",
      /^PKCE flow requires/,
    ],
    [
      "otp",
      { email: "a@b.co", code_challenge: "x", code_challenge_method: "s256" },
      400,
      "validation_failed",
      /^code challenge has to be between 43 and 128/,
    ],
    ["token?grant_type=password", {}, 400, "validation_failed", /^missing email or phone$/],
    ["token?grant_type=refresh_token", {}, 400, "validation_failed", /^refresh_token required$/],
    [
      "token?grant_type=pkce",
      {},
      400,
      "validation_failed",
      /both auth code and code verifier should be non-empty$/,
    ],
    ["verify", {}, 400, "validation_failed", /^Verify requires a verification type$/],
    [
      "verify",
      { type: "sms", phone: "12-34", token: "1" },
      400,
      "validation_failed",
      /^Invalid phone number format \(E.164 required\)$/,
    ],
    [
      "verify",
      { type: "email" },
      400,
      "validation_failed",
      /^Verify requires either a token or a token hash$/,
    ],
    [
      "verify",
      { type: "email", token: "1" },
      400,
      "validation_failed",
      /^Only an email address or phone number/,
    ],
    [
      "verify",
      { type: "other", token_hash: "1" },
      400,
      "validation_failed",
      /^Invalid email verification type$/,
    ],
    [
      "resend",
      { type: "recovery" },
      400,
      "validation_failed",
      /^Missing one of these types: signup, email_change/,
    ],
  ] as const)("Says what is wrong with a body: %s %j", async (path, sent, status, code, message) => {
    const { body, ...answer } = await ask("POST", path, sent);
    expect([answer.status, body.error_code]).toEqual([status, code]);
    expect(body.msg).toMatch(message);
  });
});

describe("A sign-in mail", () => {
  test.each([
    ["recovery", "email"],
    ["recovery", "magiclink"],
    ["recovery", "recovery"],
    ["magiclink", "recovery"],
    ["magiclink", "magiclink"],
  ] as const)("For %s has digits that verify as %s, and its session began by `otp`", async (sent, type) => {
    const { email, auth } = await signUp();
    if (sent === "recovery") must(await auth.resetPasswordForEmail(email));
    else must(await auth.signInWithOtp({ email }));
    expect(must(await auth.getUser()).user.recovery_sent_at).toMatch(/^20/);
    const { auth: other } = makeClient(server.url);
    must(await other.verifyOtp({ email, token: (await latestMail(email)).code ?? "", type }));
    const claims = must(await other.getClaims())?.claims;
    expect(claims?.amr).toMatchObject([{ method: "otp" }]);
    expect(claims?.aal).toBe("aal1");
  });

  test("Has a link whose token opens no session as another kind of mail", async () => {
    const { email, auth } = await signUp();
    must(await auth.signInWithOtp({ email }));
    const token_hash = new URL((await latestMail(email)).link ?? "").searchParams.get("token") ?? "";
    for (const type of ["email_change", "signup", "invite"] as const)
      expect((await auth.verifyOtp({ token_hash, type })).error?.code).toBe("otp_expired");
    must(await auth.verifyOtp({ token_hash, type: "magiclink" }));
  });

  test("Gives a code that survives a wrong verifier", async () => {
    const { email, auth } = await signUp(
      someEmail(),
      makeClient(server.url, "any-key", { flowType: "pkce" }).auth,
    );
    must(await auth.resetPasswordForEmail(email));
    const auth_code = (await openLink(email)).searchParams.get("code") ?? "";
    const thief = { auth_code, code_verifier: "x".repeat(43) };
    for (let attempt = 0; attempt < 2; attempt += 1)
      expect(await refusal("POST", "token?grant_type=pkce", thief)).toEqual([400, "bad_code_verifier"]);
    must(await auth.exchangeCodeForSession(auth_code));
    expect(await refusal("POST", "token?grant_type=pkce", thief)).toEqual([404, "flow_state_not_found"]);
    expect(must(await auth.getClaims())?.claims.amr).toMatchObject([{ method: "recovery" }]);
  });
});

describe("Discovery", () => {
  test("Agrees between tokens, their issuer and its keys", async () => {
    const { iss } = decodeJwt(token);
    expect(iss).toBe(`${server.url}/auth/v1`);
    const { keys } = await (await fetch(`${iss}/.well-known/jwks.json`)).json();
    expect(keys[0].kid).toBe(decodeProtectedHeader(token).kid);
  });

  test("Says that a user's address is verified", async () => {
    const { user } = await signUp();
    expect(user?.user_metadata.email_verified).toBe(true);
    expect(user).not.toHaveProperty("new_email");
  });
});

test("Limits an account's sign-ins by a setting", async () => {
  const { email } = await signUp();
  const codes: string[] = [];
  for (let time = 0; time < 4; time += 1) {
    const { error } = await makeClient(server.url).auth.signInWithPassword({ email, password: somePassword });
    codes.push(error?.code ?? "signed in");
  }
  expect(codes).toEqual(["signed in", "signed in", "signed in", "over_request_rate_limit"]);
});
