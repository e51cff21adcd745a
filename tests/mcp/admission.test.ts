import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { expect, test } from "vitest";
import { apiClient, costMessage } from "../helpers/client";
import { connectModern, modernHttp, modernStdio } from "../helpers/mcp";
import { withSharedHarness } from "../helpers/shared-harness";
import { toolCall } from "../helpers/tool-call";

const harness = withSharedHarness({ services: 2 });
const clientOf = (secret: string | null, service = 0) =>
  apiClient(harness.services[service]?.baseUrl ?? "", secret);

const usage = {
  project: "checkout",
  provider: "acme",
  unit_type: "requests",
  quantity: 1,
  estimated_cost: 0.01,
};

/** Sends a tool call as plain HTTP. */
function send(
  secret: string | null,
  name: string,
  args: Record<string, unknown>,
  era: "2026" | "2025" = "2026",
  service = 0,
) {
  const { body, headers } = toolCall(era, name, args);
  return clientOf(secret, service).call("POST", "/api/mcp", body, headers);
}

const remaining = (headers: Headers) => headers.get("ratelimit")?.split(";")[1];

test("Counts a request once against the rate limit, whatever it carries, over every process and together with REST", async () => {
  const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
    rate_limit_rpm: 7,
  });
  expect(remaining((await send(secret, "log_usage", usage)).headers)).toBe("r=6");
  expect(remaining((await send(secret, "log_usage", { ...usage, quantity: 0 }, "2026", 1)).headers)).toBe(
    "r=5",
  );
  expect(remaining((await send(secret, "get_budget_status", {}, "2025")).headers)).toBe("r=4");
  expect(remaining((await clientOf(secret).post(costMessage())).headers)).toBe("r=3");
  expect(remaining((await clientOf(secret).call("POST", "/api/mcp", "{")).headers)).toBe("r=2");
  const two = [
    toolCall("2025", "log_usage", usage, { id: 1 }),
    toolCall("2025", "log_usage", usage, { id: 2 }),
  ];
  const batch = await clientOf(secret, 1).call(
    "POST",
    "/api/mcp",
    two.map(({ body }) => body),
    {
      ...two[0]?.headers,
      "mcp-protocol-version": "2025-03-26",
    },
  );
  expect([batch.status, remaining(batch.headers)]).toEqual([200, "r=1"]);
  expect(
    remaining(
      (await send(secret, "add_expense", { project: "checkout", vendor: "Figma", amount: 1 })).headers,
    ),
  ).toBe("r=0");

  const refused = await send(secret, "log_usage", usage);
  expect(refused.status).toBe(429);
  expect(refused.body.error).toBe("rate_limited");
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(50);
  const { rows } = await harness.fixtures.sql.query(
    "select count(*)::int as messages from public.messages where api_key_id = $1",
    [id],
  );
  expect(rows).toEqual([{ messages: 5 }]);
});

/**
 * Forwards requests to a service, and lists them as `METHOD path`. A request that has come is forwarded whole, also when its
 * client has ended meanwhile. `settled()` waits until the service has answered all of them.
 */
async function startForwarder(serviceUrl: string) {
  const requests: string[] = [];
  const pending = new Set<Promise<unknown>>();
  const server = createServer(async (incoming, outgoing) => {
    const { method = "GET", url = "/", headers } = incoming;
    requests.push(`${method} ${url}`);
    const forwarded = text(incoming).then(async (body) => {
      const { authorization = "", "content-type": type } = headers;
      const answer = await fetch(serviceUrl + url, {
        method,
        headers: { authorization, ...(type && { "content-type": type }) },
        ...(body && { body }),
      });
      const answered = await answer.text();
      outgoing.writeHead(answer.status, { "content-type": "application/json" }).end(answered);
    });
    pending.add(forwarded);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    settled: () => Promise.all(pending),
    stop: () => server.close(),
  };
}

test("Counts each HTTP request of a client's session once against the rate limit", async () => {
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace(), { rate_limit_rpm: 50 });
  const baseUrl = harness.services[0]?.baseUrl ?? "";
  const remote = await connectModern(modernHttp(`${baseUrl}/api/mcp`, secret));
  await remote.call("get_budget_status");
  await remote.close();
  // The discovery of protocol versions, the call, and the read on this line.
  const before = Number(remaining((await clientOf(secret).get("/api/v1/budgets/status")).headers)?.slice(2));
  expect(50 - before).toBe(3);
  const forwarder = await startForwarder(baseUrl);
  const local = await connectModern(modernStdio(forwarder.url, secret));
  // The local program checks the key when it starts.
  await expect.poll(() => forwarder.requests, { timeout: 30_000 }).toContain("GET /api/v1/budgets/status");
  await local.call("log_usage", usage);
  await local.close();
  await forwarder.settled();
  forwarder.stop();
  // The client starts a second program to learn its protocol, and ends it at once: before it has checked the key, or after.
  const isCheck = (request: string) => request === "GET /api/v1/budgets/status";
  expect([1, 2]).toContain(forwarder.requests.filter(isCheck).length);
  expect(forwarder.requests.filter((request) => !isCheck(request))).toEqual(["POST /api/v1/messages"]);
  const after = Number(remaining((await clientOf(secret).get("/api/v1/budgets/status")).headers)?.slice(2));
  // Those, and the read on the line before.
  expect(before - after).toBe(forwarder.requests.length + 1);
});

test("Refuses a request that a key's state or addresses forbid, as REST does", async () => {
  const workspace = await harness.fixtures.workspace();
  const keyOf = (options: Parameters<typeof harness.fixtures.key>[1]) =>
    harness.fixtures.key(workspace, options);
  const cases = [
    [401, "key_expired", await keyOf({ expires_at: "2026-01-01T00:00:00Z" })],
    [401, "key_revoked", await keyOf({ revoked_at: "2026-01-01T00:00:00Z" })],
    [403, "ip_not_allowed", await keyOf({ allowed_cidrs: ["203.0.113.0/24"] })],
  ] as const;
  for (const [status, error, { secret }] of cases) {
    for (const era of ["2026", "2025"] as const) {
      const answer = await send(secret, "log_usage", usage, era);
      expect([answer.status, answer.body.error]).toEqual([status, error]);
    }
  }
});

test("Says how to sign in to a request without valid credentials", async () => {
  for (const [secret, error] of [
    [null, "missing_credentials"],
    ["svc_live_nonsense", "invalid_credentials"],
  ] as const) {
    const answer = await send(secret, "get_budget_status", {});
    expect([answer.status, answer.body.error]).toEqual([401, error]);
    const challenge = answer.headers.get("www-authenticate");
    expect(challenge).toMatch(/^Bearer /);
    expect(challenge).toContain(
      `resource_metadata="${harness.services[0]?.baseUrl}/.well-known/oauth-protected-resource/api/mcp"`,
    );
    expect(challenge).toContain('scope="log_usage add_expenses read_summaries manage_alerts"');
  }
});

test("Records nothing with a revoked key from the next call on, in every process", async () => {
  const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace());
  expect((await send(secret, "log_usage", usage, "2026", 1)).status).toBe(200);
  await harness.fixtures.sql.query("update public.api_keys set revoked_at = now() where id = $1", [id]);
  for (const service of [0, 1])
    expect((await send(secret, "log_usage", usage, "2026", service)).status).toBe(401);
});

test("Records and reads only test data with a key of the test environment", async () => {
  const workspace = await harness.fixtures.workspace();
  const live = await harness.fixtures.key(workspace);
  const test = await harness.fixtures.key(workspace, { environment: "test" });
  await send(test.secret, "log_usage", usage);
  const totalOf = async (secret: string) => {
    const { body } = await send(secret, "get_monthly_summary", {});
    return (body.result as { structuredContent: Record<string, unknown> }).structuredContent.total_usd;
  };
  expect(await totalOf(test.secret)).toBe(0.01);
  expect(await totalOf(live.secret)).toBe(0);
});

test("Records exactly what a monthly limit allows in many calls at once", async () => {
  const { id, secret } = await harness.fixtures.key(await harness.fixtures.workspace(), {
    monthly_limit: "0.1",
  });
  const answers = await Promise.all(
    Array.from({ length: 32 }, (_, index) => {
      const { body, headers } = toolCall("2026", "log_usage", usage, { id: index });
      return clientOf(secret, index % 2).call("POST", "/api/mcp", body, headers);
    }),
  );
  const recorded = answers.filter(({ body }) => !(body.result as { isError?: boolean }).isError);
  expect(recorded).toHaveLength(10);
  const { rows } = await harness.fixtures.sql.query(
    "select sum(amount_usd)::float as spent from public.messages where api_key_id = $1",
    [id],
  );
  expect(rows).toEqual([{ spent: 0.1 }]);
});
