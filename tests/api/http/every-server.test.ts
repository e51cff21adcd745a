import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { routes } from "@/app/routes.generated";
import { withHarness } from "@/tests/helpers/harness";
import { startNextAlone } from "@/tests/helpers/next-alone";
import { exchange } from "@/tests/helpers/raw-http";
import { withPages } from "@/tests/helpers/service";

// What each server must do, and all alike: ours on its lane, ours through Next, and Next alone, as on a platform without ours.

const harness = withHarness({ services: 0, settings: withPages });

const settings = {
  BASE_URL: "https://outlay.example",
  MCP_URL: "https://mcp.outlay.example/agents",
  ALLOWED_HOSTS: "inside.example, Other.Example",
  VERCEL_URL: "outlay-abc.vercel.app",
  VERCEL_BRANCH_URL: "outlay-git-main.vercel.app",
  VERCEL_PROJECT_PRODUCTION_URL: "outlay.vercel.app",
  // Next alone does not know which requests are of this machine: without a token, its metrics are for nobody.
  METRICS_TOKEN: "token-of-the-monitoring",
};

const names = ["the fast lane", "our server and Next", "Next alone"] as const;
type Name = (typeof names)[number];
const servers = {} as Record<Name, string>;
let stopNext: (() => Promise<unknown>) | undefined;
beforeAll(async () => {
  const lane = await harness.start(settings);
  const through = await harness.start({ ...settings, OUTLAY_FAST_LANE: "off" });
  const next = await startNextAlone({ ...settings, POSTGRES_URL: harness.database.url });
  stopNext = next.stop;
  Object.assign(servers, {
    "the fast lane": lane.baseUrl,
    "our server and Next": through.baseUrl,
    "Next alone": next.baseUrl,
  });
});
afterAll(() => stopNext?.());

const ask = (baseUrl: string, line: string, host = "localhost", accept = "*/*") =>
  exchange(baseUrl, [`${line} HTTP/1.1`, `Host: ${host}`, `Accept: ${accept}`, "Connection: close"]);

const servedHosts = [
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

const otherHosts = [
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

/** One of each kind: answers, refusals, redirects, pages of every kind, the local sign-in, files, and what is not there. */
const kinds = [
  "GET /api/health",
  "GET /api/openapi.json",
  "GET /api/v1/me",
  "GET /api/nothing",
  "OPTIONS /api/v1/messages",
  "PUT /api/v1/messages",
  "POST /api/v1/messages",
  "POST /api/mcp",
  "GET /.well-known/oauth-protected-resource",
  "GET /.well-known/oauth-authorization-server",
  "POST /oauth/token",
  "POST /oauth/consent",
  "GET /oauth/authorize",
  "GET /auth/v1/nothing",
  "GET /auth/v1/.well-known/jwks.json",
  "POST /auth/v1/recover",
  "GET /callback",
  "GET /",
  "GET /sign-in/",
  "GET /sign-in",
  "GET /docs",
  "GET /outbox",
  "GET /acme/keys",
  "GET /oauth/problem",
  "GET /a/page/that/is/nowhere",
  "GET /icon.svg",
  "GET /favicon.ico",
  "GET /_next/static/chunks/nothing.js",
];

describe.each(names)("Served by %s", (name) => {
  test("Names of the service are answered, and no others", async () => {
    const baseUrl = servers[name];
    for (const host of servedHosts)
      expect([host, (await ask(baseUrl, "GET /api/mcp", host)).status]).toEqual([host, 405]);
    for (const host of otherHosts) {
      const { status, body } = await ask(baseUrl, "GET /api/mcp", host);
      expect([host, status]).toEqual([host, 421]);
      expect(body).toContain('"error":"misdirected_request"');
      expect(body).toContain("ALLOWED_HOSTS");
    }
    for (const line of kinds) {
      const { status, headers } = await ask(baseUrl, line, "rebind.evil.example");
      expect([line, status]).toEqual([line, 421]);
      expect(headers).not.toHaveProperty("set-cookie");
    }
    const page = await ask(baseUrl, "GET /sign-in", "rebind.evil.example", "text/html");
    expect([page.status, page.headers["content-type"]]).toEqual([421, "text/plain; charset=utf-8"]);
    expect(page.body).toContain("ALLOWED_HOSTS");
  });

  test("Every response has security headers", async () => {
    const check = async (line: string) => {
      const { headers } = await ask(servers[name], line);
      const policy = headers["content-security-policy"];
      expect([line, headers]).toEqual([
        line,
        expect.objectContaining({
          "x-content-type-options": "nosniff",
          "x-frame-options": "DENY",
          "referrer-policy": expect.stringMatching(/^(same-origin|no-referrer)$/),
          "permissions-policy": expect.stringContaining("camera=()"),
          "content-security-policy": expect.stringContaining("frame-ancestors 'none'"),
          "strict-transport-security": "max-age=31536000",
        }),
      ]);
      expect(policy).not.toMatch(/script-src[^;]*unsafe/);
    };
    await Promise.all(kinds.map(check));
  });

  test("Pages allow their own scripts by nonce, a new one for every page", async () => {
    const nonces = new Set<string>();
    const pages = [
      "/sign-in",
      "/docs",
      "/sign-up",
      "/reset",
      "/oauth/problem",
      "/a/page/that/is/nowhere",
      "/sign-in",
    ];
    for (const path of pages) {
      const response = await fetch(servers[name] + path, {
        headers: { "content-security-policy": "script-src 'nonce-theirs'", accept: "text/html" },
      });
      const policy = response.headers.get("content-security-policy") ?? "";
      const nonce = /'nonce-([^']+)'/.exec(policy)?.[1];
      const html = await response.text();
      expect(html).not.toContain("theirs");
      for (const directive of ["script-src 'self'", "base-uri 'none'", "object-src 'none'"])
        expect(policy).toContain(directive);
      expect(policy).not.toContain("unsafe-eval");
      expect(response.headers.get("x-powered-by")).toBeNull();
      if (nonce) nonces.add(nonce);
      const inline = [...html.matchAll(/<script(?![^>]*\ssrc=)([^>]*)>/g)];
      // The reference's pages are static and have files for scripts; all others have scripts of Next's inline.
      expect([path, inline.length > 0]).toEqual([path, path !== "/docs"]);
      if (nonce && response.status === 200)
        for (const [, attributes] of inline) expect(attributes).toContain(`nonce="${nonce}"`);
    }
    expect(nonces.size).toBeGreaterThanOrEqual(5);
  });
});

test.each(["the fast lane", "our server and Next"] as const)(
  "%s uses the authority of an absolute target as the host",
  async (name) => {
    const baseUrl = servers[name];
    const request = (target: string, ...headers: string[]) =>
      exchange(baseUrl, [`GET ${target} HTTP/1.1`, ...headers, "Connection: close"]);
    const local = "Host: localhost";
    for (const target of [
      "http://evil.example/sign-in",
      "http://evil.example/api/health",
      "https://evil.example",
      "HTTP://evil.example/_next/static/x.js",
      "ftp://localhost/api/health",
    ])
      expect([target, (await request(target, local)).status]).toEqual([target, 421]);
    const own = await request("http://outlay.example/api/mcp", "Host: rebind.evil.example");
    expect(own.status).toBe(405);
    const metadata = await request(
      "http://localhost/.well-known/oauth-protected-resource",
      "Host: rebind.evil.example",
    );
    expect([metadata.status, metadata.body]).toEqual([200, expect.not.stringContaining("evil")]);
    expect((await request("/api/mcp", local, "Host: evil.example")).status).toBe(421);
    expect((await exchange(baseUrl, ["GET /api/health HTTP/1.0"])).status).toBe(421);
  },
);

test.each(["the fast lane", "our server and Next"] as const)(
  "%s gives security headers to refusals of requests that no route could answer",
  async (name) => {
    for (const head of [
      ["GET /api/health HTTP/1.1"],
      ["GET /api/health HTTP/1.1", "Host: localhost", "Expect: coffee"],
      ["GET /api/health HTTP/1.1", "Host: localhost", "Bad header"],
      ["GET /api/health HTTP/1.1", "Host: localhost", `X: ${"x".repeat(20_000)}`],
    ]) {
      const { status, headers } = await exchange(servers[name], head);
      expect([head.at(-1), status, headers["x-content-type-options"]]).toEqual([
        head.at(-1),
        expect.toSatisfy((refusal: number) => refusal >= 400 && refusal < 500),
        "nosniff",
      ]);
    }
  },
);

/** Asks every server. @returns what must be alike of the answers, in the order of `names` */
const askAll = (line: string) =>
  Promise.all(
    names.map(async (name) => {
      const { status, headers } = await ask(servers[name], line);
      const { allow = null, location = null } = headers;
      return { status, allow: allow?.split(", ").sort().join(", ") ?? null, location };
    }),
  );

/** A path of the route, its parameters filled in. */
const paths = routes.map(({ path }) =>
  path.replace("[...path]", "some/thing").replace(/\[[^\]]+\]/g, "01a1b2c3-0000-7000-8000-000000000000"),
);

test.each(paths)("OPTIONS and other methods of %s are answered alike by every server", async (path) => {
  // OPTIONS lists all methods of a path. Of the others each path has two, and each method every second path.
  const others = paths.indexOf(path) % 2 === 0 ? ["HEAD", "DELETE"] : ["PUT", "PATCH"];
  for (const method of ["OPTIONS", ...others]) {
    const [lane, next, alone] = await askAll(`${method} ${path}`);
    expect({ method, ...next }).toEqual({ method, ...lane });
    expect({ method, ...alone }).toEqual({ method, ...lane });
    if (method === "OPTIONS") expect([204, 404, 405]).toContain(lane?.status);
  }
});

describe("A closing slash or repeated ones are redirected to the one address, by every server", () => {
  const redirected = async (lines: [asked: string, location: string][]) => {
    for (const [asked, location] of lines)
      expect([asked, ...(await askAll(asked))]).toEqual([
        asked,
        ...Array(3).fill({ status: 308, allow: null, location }),
      ]);
  };

  test.each([...paths, "/sign-in", "/acme/keys", "/docs", "/api"])("Of %s", (path) =>
    redirected([
      [`GET ${path}/`, path],
      [`POST /${path}/?b=//`, `${path}/?b=//`],
    ]),
  );

  test.each(["/api/v1/messages", "/oauth/token", "/sign-in", "/api"])(
    "In every form and method: %s",
    (path) =>
      redirected(
        ["GET", "POST"].flatMap((method): [string, string][] => [
          [`${method} ${path}/`, path],
          [`${method} ${path}/?a=1`, `${path}?a=1`],
          [`${method} /${path}`, path],
          [`${method} /${path}/?b=//`, `${path}/?b=//`],
        ]),
      ),
  );

  test("And to no other host", async () => {
    for (const path of ["//evil.example/", "/\\evil.example/", "//evil.example//x/", "/%5Cevil.example/"])
      for (const { location } of await askAll(`GET ${path}`)) expect(location ?? "/").toMatch(/^\/(?![/\\])/);
  });
});

describe("Without https", () => {
  test("No response asks for it", async () => {
    const { baseUrl } = await harness.start();
    for (const line of kinds)
      expect([line, (await ask(baseUrl, line)).headers]).toEqual([
        line,
        expect.not.objectContaining({ "strict-transport-security": expect.anything() }),
      ]);
  });

  test("The mails of the sign-in are hidden from a page whose name was rebound to this machine", async () => {
    const [baseUrl = ""] = harness.services.slice(-1).map((service) => service.baseUrl);
    const victim = "victim@outlay.example";
    const password = "correct horse battery";
    await fetch(`${baseUrl}/auth/v1/signup`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ email: victim, password }),
    });
    const rebound = (line: string, fields?: Record<string, string>) => {
      const body = fields ? JSON.stringify(fields) : "";
      const head = [
        `${line} HTTP/1.1`,
        "Host: rebind.evil.example",
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
        "Connection: close",
      ];
      return exchange(baseUrl, head, body);
    };
    const steps = [
      await rebound("POST /auth/v1/recover", { email: victim }),
      await rebound("GET /outbox"),
      await rebound("POST /auth/v1/verify", { type: "recovery", email: victim, token: "123456" }),
      await rebound("POST /auth/v1/token?grant_type=password", { email: victim, password }),
    ];
    expect(steps.map(({ status }) => status)).toEqual([421, 421, 421, 421]);
    expect(steps.map(({ body }) => body).join()).not.toContain("access_token");
  });
});
