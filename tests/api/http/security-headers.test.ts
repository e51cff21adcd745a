import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { withHarness } from "@/tests/helpers/harness";
import { startNextAlone } from "@/tests/helpers/next-alone";
import { exchange } from "@/tests/helpers/raw-http";
import { withPages } from "@/tests/helpers/service";

const harness = withHarness({ services: 0, settings: withPages });
const https = { BASE_URL: "https://outlay.example" };

type Started = { baseUrl: string; stop(): Promise<unknown> };

const servers = {
  "the fast lane": harness.start,
  "our server and Next": (settings: Record<string, string> = {}) =>
    harness.start({ ...settings, OUTLAY_FAST_LANE: "off" }),
  "Next alone": (settings: Record<string, string> = {}) => startNextAlone(settings),
};

/** One of each kind: answers, refusals, redirects, pages of every kind, and files. */
const addresses = [
  "GET /api/openapi.json",
  "GET /api/v1/me",
  "GET /api/nothing",
  "OPTIONS /api/v1/messages",
  "PUT /api/v1/messages",
  "POST /api/mcp",
  "GET /.well-known/oauth-protected-resource",
  "POST /oauth/token",
  "POST /oauth/consent",
  "GET /auth/v1/nothing",
  "GET /callback",
  "GET /sign-in/",
  "GET /sign-in",
  "GET /docs",
  "GET /outbox",
  "GET /acme/keys",
  "GET /oauth/problem",
  "GET /a/page/that/is/nowhere",
  "GET /icon.svg",
  "GET /_next/static/nothing.js",
];

describe.each(Object.entries(servers))("Responses by %s", (_, start) => {
  let plain: Started;
  beforeAll(async () => {
    plain = await start();
  });
  afterAll(() => plain?.stop());

  test("Have security headers, every one", async () => {
    const secure = await start(https);
    const ask = (baseUrl: string, line: string) =>
      exchange(baseUrl, [`${line} HTTP/1.1`, "Host: localhost", "Accept: */*", "Connection: close"]);
    const check = async (line: string) => {
      const [{ status, headers }, { headers: secureHeaders }] = await Promise.all([
        ask(plain.baseUrl, line),
        ask(secure.baseUrl, line),
      ]);
      expect([line, status, headers["x-content-type-options"]]).toEqual([line, status, "nosniff"]);
      expect([line, headers["x-frame-options"]]).toEqual([line, "DENY"]);
      expect([line, headers["referrer-policy"]]).toEqual([
        line,
        expect.stringMatching(/^(same-origin|no-referrer)$/),
      ]);
      expect([line, headers["permissions-policy"]]).toEqual([line, expect.stringContaining("camera=()")]);
      expect([line, headers["content-security-policy"]]).toEqual([
        line,
        expect.stringContaining("frame-ancestors 'none'"),
      ]);
      expect(headers["content-security-policy"]).not.toMatch(/script-src[^;]*unsafe/);
      expect([line, headers["strict-transport-security"]]).toEqual([line, undefined]);
      expect([line, secureHeaders["strict-transport-security"]]).toEqual([line, "max-age=31536000"]);
    };
    await Promise.all(addresses.map(check));
    await secure.stop();
  });

  test("Allow a page's own scripts by nonce, a new one for every page", async () => {
    const { baseUrl } = plain;
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
      const response = await fetch(baseUrl + path, {
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
