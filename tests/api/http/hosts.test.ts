import { describe, expect, test } from "vitest";
import { withHarness } from "@/tests/helpers/harness";
import { startNextAlone } from "@/tests/helpers/next-alone";
import { exchange } from "@/tests/helpers/raw-http";
import { withPages } from "@/tests/helpers/service";

const harness = withHarness({ services: 0, settings: withPages });
const baseUrlSetting = "https://outlay.example";
const settings = {
  BASE_URL: baseUrlSetting,
  MCP_URL: "https://mcp.outlay.example/agents",
  ALLOWED_HOSTS: "inside.example, Other.Example",
  VERCEL_URL: "outlay-abc.vercel.app",
  VERCEL_BRANCH_URL: "outlay-git-main.vercel.app",
  VERCEL_PROJECT_PRODUCTION_URL: "outlay.vercel.app",
};

const served = [
  "outlay.example",
  "OUTLAY.example:8443",
  "mcp.outlay.example",
  "inside.example",
  "other.example:80",
  "outlay-abc.vercel.app",
  "outlay-git-main.vercel.app",
  "outlay.vercel.app",
  "localhost:3000",
  "app.localhost",
  "127.0.0.1:1",
  "192.0.2.7",
  "[::1]:3000",
  "[2001:db8::7]",
];

const refused = [
  "rebind.evil.example",
  "evil.example:3000",
  "outlay.example.evil.example",
  "notlocalhost",
  "localhost.evil.example",
  "127.0.0.1.evil.example",
  "evil.example@localhost",
  "localhost@evil.example",
  "localhost/evil",
  "localhost:3000:3000",
  "[evil]",
  "%6cocalhost",
  "",
];

const servers = {
  "the fast lane": () => harness.start(settings),
  "our server and Next": () => harness.start({ ...settings, OUTLAY_FAST_LANE: "off" }),
  "Next alone": () => startNextAlone(settings),
};

/** One address of each kind: routes, pages, files of the build, the local sign-in, metadata, and what is not there. */
const addresses = [
  "GET /api/health",
  "GET /api/v1/me",
  "POST /api/v1/messages",
  "POST /api/mcp",
  "GET /auth/v1/.well-known/jwks.json",
  "POST /auth/v1/recover",
  "POST /oauth/token",
  "GET /.well-known/oauth-authorization-server",
  "GET /callback",
  "GET /",
  "GET /sign-in",
  "GET /outbox",
  "GET /docs",
  "GET /oauth/authorize",
  "GET /nothing/is/here/at/all",
  "GET /icon.svg",
  "GET /favicon.ico",
  "GET /_next/static/chunks/nothing.js",
];

describe.each(Object.entries(servers))("Hosts served by %s", (_, start) => {
  test("Answers served names and no others", async () => {
    const { baseUrl, stop } = await start();
    const ask = (host: string, line = "GET /api/mcp", accept = "*/*") =>
      exchange(baseUrl, [`${line} HTTP/1.1`, `Host: ${host}`, `Accept: ${accept}`, "Connection: close"]);
    for (const host of served) expect([host, (await ask(host)).status]).toEqual([host, 405]);
    for (const host of refused) {
      const { status, body } = await ask(host);
      expect([host, status]).toEqual([host, 421]);
      expect(body).toContain('"error":"misdirected_request"');
      expect(body).toContain("ALLOWED_HOSTS");
    }
    for (const line of addresses) {
      const { status, headers } = await ask("rebind.evil.example", line);
      expect([line, status]).toEqual([line, 421]);
      expect(headers).not.toHaveProperty("set-cookie");
    }
    const page = await ask("rebind.evil.example", "GET /sign-in", "text/html");
    expect([page.status, page.headers["content-type"]]).toEqual([421, "text/plain; charset=utf-8"]);
    expect(page.body).toContain("ALLOWED_HOSTS");
    await stop();
  });
});

describe.each(["on", "off"])("Our server with its lane %s", (lane) => {
  test("Uses the authority of an absolute target as the host", async () => {
    const { baseUrl } = await harness.start({ ...settings, OUTLAY_FAST_LANE: lane });
    const ask = (target: string, ...headers: string[]) =>
      exchange(baseUrl, [`GET ${target} HTTP/1.1`, ...headers, "Connection: close"]);
    const local = "Host: localhost";
    for (const target of [
      "http://evil.example/sign-in",
      "http://evil.example/api/health",
      "https://evil.example",
      "HTTP://evil.example/_next/static/x.js",
      "ftp://localhost/api/health",
    ])
      expect([target, (await ask(target, local)).status]).toEqual([target, 421]);
    const own = await ask("http://outlay.example/api/mcp", "Host: rebind.evil.example");
    expect(own.status).toBe(405);
    const metadata = await ask(
      "http://localhost/.well-known/oauth-protected-resource",
      "Host: rebind.evil.example",
    );
    expect([metadata.status, metadata.body]).toEqual([200, expect.not.stringContaining("evil")]);
    expect((await ask("/api/mcp", local, "Host: evil.example")).status).toBe(421);
    expect((await exchange(baseUrl, ["GET /api/health HTTP/1.0"])).status).toBe(421);
  });
});

describe("The mails of the sign-in", () => {
  test("Are hidden from a page whose name was rebound to this machine", async () => {
    const { baseUrl } = await harness.start();
    const victim = "victim@outlay.example";
    await fetch(`${baseUrl}/auth/v1/signup`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: victim, password: "correct horse battery" }),
    });
    const rebound = (line: string, body = "") =>
      exchange(
        baseUrl,
        [
          `${line} HTTP/1.1`,
          "Host: rebind.evil.example",
          "Content-Type: application/json",
          `Content-Length: ${body.length}`,
          "Connection: close",
        ],
        body,
      );
    const steps = [
      await rebound("POST /auth/v1/recover", JSON.stringify({ email: victim })),
      await rebound("GET /outbox"),
      await rebound(
        "POST /auth/v1/verify",
        JSON.stringify({ type: "recovery", email: victim, token: "123456" }),
      ),
      await rebound(
        "POST /auth/v1/token?grant_type=password",
        JSON.stringify({ email: victim, password: "correct horse battery" }),
      ),
    ];
    expect(steps.map(({ status }) => status)).toEqual([421, 421, 421, 421]);
    expect(steps.map(({ body }) => body).join()).not.toContain("access_token");
  });
});
