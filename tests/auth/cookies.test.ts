import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test, vi } from "vitest";
import { sessionOf } from "@/lib/access/sign-in/request-session";
import { health } from "@/lib/contract/spend/reads";
import { defineRoute, endpoint, type Handler } from "@/lib/http/define-route";
import { must, someEmail, somePassword, withAuthServer } from "@/tests/helpers/auth-server";

const server = withAuthServer();
let cookie: string;
let email: string;

beforeAll(async () => {
  email = someEmail();
  const session = await sessionOf(new Request(server.url));
  must(await session.client.auth.signUp({ email, password: somePassword }));
  for (const line of session.setCookies) expect(line).toMatch(/; HttpOnly.*; SameSite=Lax/i);
  cookie = cookiesIn(session.setCookies);
});

const cookiesIn = (lines: string[]) => lines.map((line) => line.split(";", 1)[0]).join("; ");
const me = (headers: Record<string, string>) => fetch(`${server.url}/api/v1/me`, { headers });

describe("A session cookie", () => {
  test("Authenticates the user", async () => {
    const answer = await me({ cookie });
    expect(answer.status).toBe(200);
    expect((await answer.json()).user.email).toBe(email);
    expect(answer.headers.getSetCookie()).toEqual([]);
  });

  test("Gives way to an Authorization header, valid or not", async () => {
    expect((await me({ cookie, authorization: "Bearer nonsense" })).status).toBe(401);
  });

  test("Is refused when it is not ours", async () => {
    for (const value of ["x", "base64-", "base64-eyJ", "base64-e30", "%7B%7D", "base64-bnVsbA"]) {
      const answer = await me({ cookie: `outlay-session=${value}` });
      expect([answer.status, (await answer.json()).error], value).toEqual([401, "invalid_credentials"]);
    }
  });

  test("Is refreshed by a call when expired, and the response carries the new one", async () => {
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * 3600_000 });
    try {
      const answer = await me({ cookie });
      expect(answer.status).toBe(200);
      const renewed = cookiesIn(answer.headers.getSetCookie());
      expect(renewed).toContain("outlay-session");
      expect(renewed).not.toBe(cookie);
      expect((await me({ cookie: renewed })).status).toBe(200);
    } finally {
      vi.useRealTimers();
    }
  });

  test("Of an ended session is refused and removed once it needs refreshing", async () => {
    const session = await sessionOf(new Request(server.url));
    must(await session.client.auth.signInWithPassword({ email, password: somePassword }));
    await server.sql.query("delete from auth.sessions");
    vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 2 * 3600_000 });
    try {
      const answer = await me({ cookie: cookiesIn(session.setCookies) });
      expect([answer.status, (await answer.json()).error]).toEqual([401, "invalid_credentials"]);
      expect(answer.headers.getSetCookie().join()).toMatch(/outlay-session[^,]*Max-Age=0/);
    } finally {
      vi.useRealTimers();
    }
  });
});

describe("A write with a session cookie", () => {
  let write: Handler;
  let signedIn: string;

  beforeAll(async () => {
    const checks = { database_readable: "ok", database_writable: "ok" } as const;
    const body = { status: "ok", version: "1", checks } as const;
    write = defineRoute({
      POST: endpoint({ summary: "A write", auth: "user", response: health, run: async () => body }),
    }).POST;
    const session = await sessionOf(new Request(server.url));
    must(await session.client.auth.signInWithPassword({ email, password: somePassword }));
    signedIn = cookiesIn(session.setCookies);
  });

  const post = async (headers: Record<string, string>) => {
    const request = new Request(`${server.url}/api/v1/${randomUUID()}`, {
      method: "POST",
      headers: { host: "outlay.example:3000", cookie: signedIn, ...headers },
    });
    return (await write(request, { params: Promise.resolve({}) })).status;
  };

  test.each([
    [{ "sec-fetch-site": "same-origin" }, 200],
    [{ "sec-fetch-site": "same-origin", origin: "http://outlay.example:3000" }, 200],
    [{ origin: "http://outlay.example:3000" }, 200],
    [{ "sec-fetch-site": "cross-site" }, 403],
    [{ "sec-fetch-site": "same-site" }, 403],
    [{ "sec-fetch-site": "none" }, 403],
    [{ "sec-fetch-site": "cross-site", origin: "http://outlay.example:3000" }, 403],
    [{ origin: "http://evil.example" }, 403],
    [{ origin: "http://outlay.example" }, 403],
    [{ origin: "null" }, 403],
    [{}, 403],
  ])("With %o is answered %i", async (headers, status) => {
    expect(await post(headers as Record<string, string>)).toBe(status);
  });

  test("Is accepted from the service's own address behind a proxy that renames the host", async () => {
    expect(await post({ origin: server.url })).toBe(200);
  });

  test("Is accepted from anywhere with an access token instead, which no other site can send", async () => {
    const token = must(
      await (
        await sessionOf(new Request(server.url, { headers: { cookie: signedIn } }))
      ).client.auth.getSession(),
    ).session?.access_token;
    expect(await post({ authorization: `Bearer ${token}`, origin: "http://evil.example" })).toBe(200);
  });
});
