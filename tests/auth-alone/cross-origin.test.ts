import { describe, expect, test, vi } from "vitest";
import { makeClient, must, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";

// Settings are read once, at first use.
vi.hoisted(() => {
  process.env.AUTH_ALLOWED_ORIGINS = "https://app.example.com, https://other.example.com/";
  process.env.AUTH_REDIRECT_URLS = "https://app.example.com/**,com.example.app://signed-in";
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
      "access-control-request-headers":
        "apikey,authorization,content-type,x-client-info,x-supabase-api-version",
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
    const allowed = asked.headers.get("access-control-allow-headers")?.toLowerCase() ?? "";
    for (const header of [
      "apikey",
      "authorization",
      "content-type",
      "x-client-info",
      "x-supabase-api-version",
    ])
      expect(allowed).toContain(header);
    expect(asked.headers.get("access-control-allow-credentials")).toBeNull();
    for (const answer of [await ask("settings", origin), await ask("user", origin)]) {
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
    expect((await ask("settings", origin)).headers.get("access-control-allow-origin")).toBeNull();
  });

  test.each([
    ["text/plain", "token?grant_type=password"],
    ["application/x-www-form-urlencoded", "token?grant_type=password"],
    ["multipart/form-data; boundary=x", "token?grant_type=password"],
    [undefined, "token?grant_type=password"],
    ["text/plain", "signup"],
    ["text/plain", "recover"],
    ["text/plain", "otp"],
    ["text/plain", "otp"],
    ["text/plain", "verify"],
    ["text/plain", "resend"],
  ])("Cannot make a browser send %s to %s without a preflight", async (type, path) => {
    const email = someEmail();
    const body = new TextEncoder().encode(
      JSON.stringify({ email, password: "wrong", type: "email", token: "1" }),
    );
    for (let attempt = 0; attempt < 11; attempt += 1) {
      const answer = await ask(path, "https://evil.example", {
        method: "POST",
        body,
        ...(type && { headers: { "content-type": type } }),
      });
      expect([answer.status, (await answer.json()).error_code]).toEqual([415, "unsupported_media_type"]);
    }
    // Nothing was counted against the account.
    const { error } = await makeClient(server.url).auth.signInWithPassword({ email, password: "wrong" });
    expect(error?.code).toBe("invalid_credentials");
  });
});

describe("A link in a mail", () => {
  test("Leads to addresses in AUTH_REDIRECT_URLS, and otherwise to this service", async () => {
    const { auth } = makeClient(server.url);
    const email = someEmail();
    must(await auth.signUp({ email, password: somePassword }));
    const { openLink } = await import("@/tests/helpers/outbox");
    for (const [wanted, reached] of [
      ["https://app.example.com/callback?next=/x", "https://app.example.com/callback?next=/x"],
      ["com.example.app://signed-in", "com.example.app://signed-in"],
      ["https://app.example.com.evil.example/", `${server.url}/`],
      ["https://evil.example/https://app.example.com/", `${server.url}/`],
    ] as const) {
      must(await auth.signInWithOtp({ email, options: { emailRedirectTo: wanted } }));
      const target = await openLink(email);
      target.hash = "";
      expect(target.href, wanted).toBe(reached);
    }
  });
});
