import { request as httpRequest } from "node:http";
import { describe, expect, test } from "vitest";
import { apiClient } from "../helpers/client";
import { withHarness } from "../helpers/harness";
import { toolCall } from "../helpers/tool-call";

const mcpHost = "mcp.outlay.example";

const harness = withHarness({
  services: 0,
  settings: { MCP_URL: `http://${mcpHost}/tools/`, MCP_ALLOWED_ORIGINS: "https://agent.example.com" },
});

const usage = {
  project: "checkout",
  provider: "acme",
  unit_type: "requests",
  quantity: 1,
  estimated_cost: 0.01,
};

/** A response, its body as text. */
type Answer = { status: number; headers: Record<string, string | string[] | undefined>; text: string };

/** Sends a request with any Host header and any body. */
function raw(
  baseUrl: string,
  options: { method?: string; path?: string; headers?: Record<string, string>; body?: string | Buffer },
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const { method = "POST", path = "/api/mcp", headers = {}, body } = options;
    const request = httpRequest(baseUrl + path, { method, headers }, async (response) => {
      let text = "";
      for await (const chunk of response) text += chunk;
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text });
    });
    request.once("error", reject);
    request.end(body);
  });
}

describe.each(["on", "off"])("with the fast lane %s", (lane) => {
  const setUp = async () => {
    const existing = harness.services[lane === "on" ? 0 : 1];
    const service = existing ?? (await harness.start({ OUTLAY_FAST_LANE: lane }));
    const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    const authorization = { authorization: `Bearer ${secret}` };
    const { body, headers } = toolCall("2026", "log_usage", usage);
    const call = {
      body: JSON.stringify(body),
      headers: { ...headers, ...authorization, "content-type": "application/json" } as Record<string, string>,
    };
    return { baseUrl: service.baseUrl, secret, authorization, call };
  };

  test("Accepts pages of the service's own origin, of this machine and of allowed origins only", async () => {
    const { baseUrl, call } = await setUp();
    for (const origin of [
      baseUrl,
      "http://localhost:6274",
      "https://agent.example.com",
      `http://${mcpHost}`,
    ]) {
      const answer = await raw(baseUrl, { ...call, headers: { ...call.headers, origin } });
      expect([origin, answer.status, answer.headers["access-control-allow-origin"]]).toEqual([
        origin,
        200,
        origin,
      ]);
      expect(answer.headers["access-control-expose-headers"]).toContain("WWW-Authenticate");
    }
    for (const origin of [
      "https://evil.example",
      "http://localhost.evil.example",
      "null",
      "https://agent.example.com.evil.example",
    ]) {
      const answer = await raw(baseUrl, { ...call, headers: { ...call.headers, origin } });
      expect([origin, answer.status]).toEqual([origin, 403]);
      expect(JSON.parse(answer.text).error).toBe("origin_not_allowed");
      expect(answer.headers["access-control-allow-origin"]).toBeUndefined();
    }
  });

  test("Answers a CORS preflight request without credentials", async () => {
    const { baseUrl } = await setUp();
    const ask = (origin: string) =>
      raw(baseUrl, {
        method: "OPTIONS",
        headers: {
          origin,
          "access-control-request-method": "POST",
          "access-control-request-headers":
            "authorization,content-type,mcp-protocol-version,mcp-method,mcp-name",
        },
      });
    const answer = await ask("http://localhost:6274");
    expect(answer.status).toBe(204);
    expect(answer.headers["access-control-allow-methods"]).toContain("POST");
    expect(String(answer.headers["access-control-allow-headers"]).toLowerCase()).toContain(
      "mcp-protocol-version",
    );
    expect((await ask("https://evil.example")).status).toBe(403);
  });

  test("Refuses hosts that are not served, such as a name rebound to this machine", async () => {
    const { baseUrl, call } = await setUp();
    const port = new URL(baseUrl).port;
    for (const [host, status] of [
      [`localhost:${port}`, 200],
      [`[::1]:${port}`, 200],
      ["192.168.1.5:3000", 200],
      ["evil.example", 421],
      [`localhost.evil.example:${port}`, 421],
      ["127.0.0.1.evil.example", 421],
    ] as const) {
      const answer = await raw(baseUrl, { ...call, headers: { ...call.headers, host } });
      expect([host, answer.status]).toEqual([host, status]);
    }
  });

  test("Serves the tools at `/` and at the path of MCP_URL on its host, and at /api/mcp only elsewhere", async () => {
    const { baseUrl, call } = await setUp();
    for (const path of ["/", "/tools", "/api/mcp"]) {
      const answer = await raw(baseUrl, { ...call, path, headers: { ...call.headers, host: mcpHost } });
      expect([path, answer.status]).toEqual([path, 200]);
      expect(JSON.parse(answer.text).result.structuredContent.amount_usd).toBe(0.01);
    }
    expect((await raw(baseUrl, { ...call, path: "/tools" })).status).not.toBe(200);
  });

  test("Refuses every method but POST", async () => {
    const { baseUrl, authorization } = await setUp();
    for (const method of ["GET", "DELETE", "PUT", "PATCH"]) {
      const headers = { ...authorization, accept: "text/event-stream" };
      const answer = await raw(baseUrl, { method, headers });
      expect([method, answer.status, answer.headers.allow]).toEqual([method, 405, "POST, OPTIONS"]);
    }
  });

  test("Refuses a body that is not JSON, too large, or of another type", async () => {
    const { baseUrl, call } = await setUp();
    for (const body of ["{", "", "not json", '{"jsonrpc":"2.0"'] as const) {
      const answer = await raw(baseUrl, { ...call, body });
      expect([body, answer.status, JSON.parse(answer.text).error.code]).toEqual([body, 400, -32700]);
    }
    const large = await raw(baseUrl, { ...call, body: JSON.stringify({ filler: "x".repeat(1024 * 1024) }) });
    expect([large.status, JSON.parse(large.text).error]).toEqual([413, "payload_too_large"]);
    const chunked = await raw(baseUrl, {
      ...call,
      headers: { ...call.headers, "transfer-encoding": "chunked" },
      body: Buffer.alloc(1024 * 1024 + 1, "x"),
    });
    expect(chunked.status).toBe(413);
    const typed = await raw(baseUrl, { ...call, headers: { ...call.headers, "content-type": "text/plain" } });
    expect(typed.status).toBe(415);
  });

  test("Refuses JSON that is not a request of the protocol", async () => {
    const { baseUrl, secret } = await setUp();
    const client = apiClient(baseUrl, secret);
    const send = async (body: unknown, headers: Record<string, string> = {}) => {
      const answer = await client.call("POST", "/api/mcp", body, {
        accept: "application/json, text/event-stream",
        ...headers,
      });
      return [answer.status, (answer.body.error as { code?: number } | undefined)?.code];
    };
    for (const body of ["null", "[]", "1", '"text"', "{}"]) {
      const [status, code] = await send(body);
      expect([body, status]).toEqual([body, 400]);
      expect([-32700, -32600, -32602]).toContain(code);
    }
    const { body, headers } = toolCall("2026", "log_usage", usage);
    expect(await send(body, { ...headers, "mcp-name": "add_expense" })).toEqual([400, -32020]);
    expect(await send(body, { ...headers, "mcp-method": "tools/list" })).toEqual([400, -32020]);
    expect(await send(body, { ...headers, "mcp-protocol-version": "2025-11-25" })).toEqual([400, -32020]);
    const future = structuredClone(body) as { params: { _meta: Record<string, unknown> } };
    future.params._meta["io.modelcontextprotocol/protocolVersion"] = "2099-01-01";
    expect(await send(future, { ...headers, "mcp-protocol-version": "2099-01-01" })).toEqual([400, -32022]);
    const unknown = { ...body, method: "tools/burn" };
    expect(await send(unknown, { ...headers, "mcp-method": "tools/burn" })).toEqual([404, -32601]);
    const older = toolCall("2025", "burn_money", {});
    expect(await send(older.body, older.headers)).toEqual([200, -32602]);
    expect(await send(older.body, { ...older.headers, accept: "application/json" })).toEqual([406, -32000]);
    const batch = Array.from({ length: 21 }, () => older.body);
    expect((await send(batch, older.headers))[0]).toBe(413);
  });
});

test("Answers each protocol of 2025 in JSON with the version that the client requested", async () => {
  const { baseUrl } = harness.services[0] ?? (await harness.start());
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
  for (const protocolVersion of ["2025-11-25", "2025-06-18", "2025-03-26"]) {
    const { status, headers, body } = await apiClient(baseUrl, secret).call(
      "POST",
      "/api/mcp",
      {
        jsonrpc: "2.0",
        id: 0,
        method: "initialize",
        params: { protocolVersion, capabilities: {}, clientInfo: { name: "t", version: "1" } },
      },
      { accept: "application/json, text/event-stream" },
    );
    expect([status, headers.get("content-type")]).toEqual([200, "application/json"]);
    expect(body.result).toMatchObject({ protocolVersion, capabilities: { tools: { listChanged: false } } });
  }
});

test("Acknowledges a subscription to changes at once, and stops without waiting for it", async () => {
  const service = await harness.start();
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
  const { body, headers } = toolCall("2026", "", {});
  const listening = await fetch(`${service.baseUrl}/api/mcp`, {
    method: "POST",
    headers: {
      ...headers,
      "mcp-method": "subscriptions/listen",
      "content-type": "application/json",
      authorization: `Bearer ${secret}`,
    },
    body: JSON.stringify({
      ...body,
      method: "subscriptions/listen",
      params: { ...(body.params as object), notifications: { toolsListChanged: true } },
    }),
  });
  const reader = listening.body?.pipeThrough(new TextDecoderStream()).getReader();
  expect((await reader?.read())?.value).toContain("notifications/subscriptions/acknowledged");
  const stopped = service.stop();
  for (;;) if ((await reader?.read())?.done !== false) break;
  expect(await stopped).toBe(0);
});
