import { describe, expect, test } from "vitest";
import { generateSecret } from "@/lib/access/secrets/secret";
import { apiClient, costMessage, signUpUser } from "@/tests/helpers/client";
import { connectTo, readAnswer } from "@/tests/helpers/raw-http";
import type { Service } from "@/tests/helpers/service";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();
const shared = () => harness.services[0] as Service;

describe.each(["on", "off"])("with the lane %s", (lane) => {
  // Next reads a body before it asks its proxy, but does not parse it earlier.
  const sent = lane === "on" ? "" : `[${" ".repeat(3_999_999)}`;

  /** Announces a body of 4 MB, sends none of it to our own server, and reads the answer. */
  const announce = async (baseUrl: string, path: string, authorization: string) => {
    const socket = await connectTo(baseUrl);
    const answer = readAnswer(socket);
    const head = [
      `POST ${path} HTTP/1.1`,
      "Host: localhost",
      `Authorization: Bearer ${authorization}`,
      "Content-Type: application/json",
      "Content-Length: 4000000",
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n${sent}`);
    const { status, body } = await answer;
    socket.destroy();
    return [path, status, JSON.parse(body).error];
  };

  test("Refuses a key that is not known before any of a long body has come", async () => {
    const { baseUrl } = lane === "on" ? shared() : await harness.start({ OUTLAY_FAST_LANE: lane });
    const workspace = await harness.fixtures.workspace();
    const user = await signUpUser(baseUrl);
    const me = await user.get("/api/v1/me");
    const [{ slug } = { slug: "" }] = me.body.workspaces as { slug: string }[];
    const revoked = await harness.fixtures.key(workspace, { revoked_at: "2026-01-01T00:00:00Z" });
    const elsewhere = await harness.fixtures.key(workspace, { allowed_cidrs: ["203.0.113.0/24"] });
    const routes = ["/api/v1/messages", "/api/v1/messages/batch", "/api/mcp"];
    for (const path of routes) {
      for (const [secret, status, error] of [
        [generateSecret(), 401, "invalid_credentials"],
        [revoked.secret, 401, "key_revoked"],
        [elsewhere.secret, 403, "ip_not_allowed"],
      ] as const)
        expect(await announce(baseUrl, path, secret)).toEqual([path, status, error]);
    }
    for (const path of [`/api/v1/workspaces/${slug}/messages/batch`, `/api/v1/workspaces/${slug}/budgets`])
      expect(await announce(baseUrl, path, "a.b.c")).toEqual([path, 401, "invalid_credentials"]);
  });
});

test("Refuses a key whose rate is used up before its long body, and counts nothing", async () => {
  const { baseUrl } = shared();
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace(), { rate_limit_rpm: 2 });
  const client = apiClient(baseUrl, secret);
  const long = { messages: Array.from({ length: 40 }, () => costMessage()) };
  const bulk = () => client.call("POST", "/api/v1/messages/batch", long);
  expect([(await bulk()).status, (await bulk()).headers.get("ratelimit")?.split(";")[1]]).toEqual([
    207,
    "r=0",
  ]);
  const refused = await bulk();
  expect([refused.status, refused.body.error]).toEqual([429, "rate_limited"]);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(30);
});

test("Answers what is wrong with a body only to a key that is known", async () => {
  const { baseUrl } = shared();
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
  const precise = "0.12345678901234567";
  for (const body of [
    "{",
    `{"quantity":${precise}}`,
    `{"x":"${"x".repeat(5_000)}"}`,
    `[${"0,".repeat(100)}0]`,
  ]) {
    const stranger = await apiClient(baseUrl, generateSecret()).post(body);
    expect([stranger.status, stranger.body.error]).toEqual([401, "invalid_credentials"]);
    expect((await apiClient(baseUrl, secret).post(body)).status).toBe(400);
  }
  const text = JSON.stringify(costMessage()).replace('"quantity":1', `"quantity":${precise}`);
  expect((await apiClient(baseUrl, secret).post(text)).status).toBe(201);
});
