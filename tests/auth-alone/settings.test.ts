import { describe, expect, test, vi } from "vitest";
import { makeClient, must, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";
import { openLink } from "@/tests/helpers/outbox";

// Settings are read once, at first use. The caller is whom the proxy says, as behind a reverse proxy on this machine.
vi.hoisted(() => {
  process.env.AUTH_ALLOWED_ORIGINS = "https://app.example.com, https://other.example.com/";
  process.env.AUTH_REDIRECT_URLS = "https://app.example.com/**,com.example.app://signed-in";
  process.env.AUTH_SIGN_IN_LIMIT = "3";
  process.env.TRUSTED_PROXIES = "127.0.0.1/32";
});

const server = withAuthServer();

const ask = (path: string, origin: string | undefined, init: RequestInit = {}) =>
  fetch(`${server.url}/auth/v1/${path}`, {
    ...init,
    headers: { ...(origin && { origin }), ...init.headers },
  });
const preflight = (origin: string | undefined) =>
  ask("token", origin, {
    method: "OPTIONS",
    headers: {
      "access-control-request-method": "POST",
      "access-control-request-headers": "apikey,authorization,content-type,x-client-info",
    },
  });

describe("A page of another origin", () => {
  test.each([
    "https://app.example.com",
    "https://other.example.com",
    "http://localhost:5173",
    "http://127.0.0.1:8080",
  ])("May call from this machine or from AUTH_ALLOWED_ORIGINS: %s", async (origin) => {
    const asked = await preflight(origin);
    expect([asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([204, origin]);
    expect(asked.headers.get("access-control-allow-methods")).toContain("PUT");
    const allowed = asked.headers.get("access-control-allow-headers")?.toLowerCase().split(", ") ?? [];
    for (const header of [
      "apikey",
      "authorization",
      "content-type",
      "x-client-info",
      "x-supabase-api-version",
    ])
      expect(allowed).toContain(header);
    expect(asked.headers.get("access-control-allow-credentials")).toBeNull();
    for (const answer of [await ask("no-such-thing", origin), await ask("user", origin)]) {
      expect(answer.headers.get("access-control-allow-origin")).toBe(origin);
      expect(answer.headers.get("vary")).toContain("Origin");
    }
  });

  test("May call as one of this service", async () => {
    expect((await preflight(server.url)).headers.get("access-control-allow-origin")).toBe(server.url);
  });

  test.each([
    "https://evil.example",
    "https://app.example.com.evil.example",
    "http://app.example.com",
    "https://app.example.com:8443",
    "null",
    "localhost",
    undefined,
  ])("May not call otherwise: %s", async (origin) => {
    const asked = await preflight(origin);
    expect([asked.status, asked.headers.get("access-control-allow-origin")]).toEqual([204, null]);
    expect((await ask("user", origin)).headers.get("access-control-allow-origin")).toBeNull();
  });

  test.each([
    ["text/plain", "token?grant_type=password"],
    ["application/x-www-form-urlencoded", "token?grant_type=password"],
    [undefined, "token?grant_type=password"],
    ["text/plain", "signup"],
    ["text/plain", "recover"],
  ])("Cannot make a browser send %s to %s without a preflight", async (type, path) => {
    const email = someEmail();
    const body = new TextEncoder().encode(JSON.stringify({ email, password: "wrong" }));
    for (let attempt = 0; attempt < 11; attempt += 1) {
      const headers = type && { "content-type": type };
      const answer = await ask(path, "https://evil.example", {
        method: "POST",
        body,
        ...(headers && { headers }),
      });
      expect([answer.status, (await answer.json()).code]).toEqual([415, "unsupported_media_type"]);
    }
    // Nothing was counted against the account.
    const { error } = await makeClient(server.url).auth.signInWithPassword({ email, password: "wrong" });
    expect(error?.code).toBe("invalid_credentials");
  });
});

test("A link in a mail leads to addresses in AUTH_REDIRECT_URLS, and otherwise to this service", async () => {
  const { auth } = makeClient(server.url);
  const email = someEmail();
  must(await auth.signUp({ email, password: somePassword }));
  for (const [wanted, reached] of [
    ["https://app.example.com/callback?next=/x", "https://app.example.com/callback?next=/x"],
    ["com.example.app://signed-in", "com.example.app://signed-in"],
    ["https://app.example.com.evil.example/", `${server.url}/`],
    ["https://evil.example/https://app.example.com/", `${server.url}/`],
    ["javascript:alert(1)", `${server.url}/`],
  ] as const) {
    must(await auth.signInWithOtp({ email, options: { emailRedirectTo: wanted } }));
    const target = await openLink(email);
    target.hash = "";
    expect(target.href, wanted).toBe(reached);
  }
});

/** A supabase-js client whose requests come from an address. */
const authFrom = (address: string) =>
  makeClient(server.url, "any-key", {}, { "x-forwarded-for": address }).auth;
/** How often each code was answered, or `ok`. */
const countCodes = async (answers: Promise<{ error: { code?: string | undefined } | null }>[]) => {
  const counts: Record<string, number> = {};
  for (const { error } of await Promise.all(answers)) {
    const code = error === null ? "ok" : (error.code ?? "");
    counts[code] = (counts[code] ?? 0) + 1;
  }
  return counts;
};
const times = (count: number) => Array.from({ length: count }, (_, index) => index);

describe("Limits", () => {
  test("Allow an address sixty mails an hour, say when to try again, and leave other addresses alone", async () => {
    const auth = authFrom("203.0.113.10");
    const send = (from: typeof auth) =>
      from.signInWithOtp({ email: someEmail(), options: { shouldCreateUser: false } });
    expect(await countCodes(times(70).map(() => send(auth)))).toEqual({
      ok: 60,
      over_request_rate_limit: 10,
    });
    expect((await send(authFrom("203.0.113.11"))).error).toBeNull();
    const answer = await ask("recover", undefined, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": "203.0.113.10" },
      body: JSON.stringify({ email: someEmail() }),
    });
    const seconds = Number(answer.headers.get("retry-after"));
    expect([answer.status, seconds > 3500, seconds <= 3600]).toEqual([429, true, true]);
    expect((await answer.json()).message).toContain(`in ${seconds} seconds`);
  });

  test("Allow a network sixty tries of mails' codes, and exempt this machine's own address", async () => {
    // Two addresses of one IPv6 network are one subscriber. This machine's own is that of all callers behind an unnamed proxy.
    const tryCodes = (...clients: ReturnType<typeof authFrom>[]) =>
      countCodes(
        times(66).map((index) =>
          (clients[index % clients.length] as ReturnType<typeof authFrom>).verifyOtp({
            email: someEmail(),
            token: "123456",
            type: "email",
          }),
        ),
      );
    expect(await tryCodes(authFrom("2001:db8::1"), authFrom("2001:db8::2"))).toEqual({
      otp_expired: 60,
      over_request_rate_limit: 6,
    });
    expect(await tryCodes(makeClient(server.url).auth)).toEqual({ otp_expired: 66 });
  });

  test("Count sign-ups of one account from anywhere, whether it exists or not", async () => {
    const email = someEmail();
    const codes: string[] = [];
    for (const index of times(12)) {
      const { error } = await authFrom(`198.51.100.${index}`).signUp({ email, password: somePassword });
      codes.push(error?.code ?? "made");
    }
    expect(codes.slice(0, 10)).toEqual(["made", ...times(9).map(() => "user_already_exists")]);
    expect(codes.slice(10)).toEqual(["over_request_rate_limit", "over_request_rate_limit"]);
  });

  test("Count an account's sign-ins by AUTH_SIGN_IN_LIMIT", async () => {
    const account = { email: someEmail(), password: somePassword };
    must(await makeClient(server.url).auth.signUp(account));
    const signIns = times(4).map(() => makeClient(server.url).auth.signInWithPassword(account));
    expect(await countCodes(signIns)).toEqual({ ok: 3, over_request_rate_limit: 1 });
  });
});
