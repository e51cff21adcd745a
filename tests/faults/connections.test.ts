import { once } from "node:events";
import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import { connectTo, exchange, readAnswer } from "@/tests/helpers/raw-http";
import { withPages } from "@/tests/helpers/service";

const harness = withHarness({ services: 0, settings: withPages });

describe("A service told to stop", () => {
  test("Does not wait for connections that sent nothing, as browsers open in advance, sent half a head, or are idle", async () => {
    const service = await harness.start();
    const sent = [
      "",
      "GET /api/health HTTP/1.1\r\nHost: local",
      "GET /api/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
    ];
    const sockets: Socket[] = [];
    for (const bytes of sent) {
      const socket = await connectTo(service.baseUrl);
      sockets.push(socket);
      const answered = bytes.endsWith("\r\n\r\n") ? readAnswer(socket) : undefined;
      answered?.catch(() => {});
      socket.on("error", () => {}).write(bytes);
      await answered;
    }
    // Answered on another connection: those before were accepted.
    await apiClient(service.baseUrl, null).get("/api/health");
    const startedAt = performance.now();
    expect(await service.stop()).toBe(0);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    for (const socket of sockets) socket.destroy();
  });

  test("Waits for an incomplete body, but ends within five seconds", async () => {
    const service = await harness.start();
    const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    const socket = await connectTo(service.baseUrl);
    socket.on("error", () => {});
    const head = [
      "POST /api/v1/messages HTTP/1.1",
      "Host: localhost",
      `Authorization: Bearer ${secret}`,
      "Content-Length: 500",
      "Expect: 100-continue",
    ];
    socket.write(`${head.join("\r\n")}\r\n\r\n`);
    // "100 Continue": the request is under way.
    await once(socket, "data");
    const startedAt = performance.now();
    expect(await service.stop()).toBe(0);
    expect(performance.now() - startedAt).toBeGreaterThan(2_000);
    // Five seconds, and what a busy machine adds.
    expect(performance.now() - startedAt).toBeLessThan(8_000);
  });
});

describe.each(["on", "off"])("An HTTP/2 upgrade offer, with the lane %s", (lane) => {
  test("Is answered over HTTP/1.1, before and after the first page", async () => {
    const { baseUrl } = await harness.start({ OUTLAY_FAST_LANE: lane });
    const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
    // As Java's HttpClient sends it.
    const upgrade = [
      "Connection: Upgrade, HTTP2-Settings",
      "HTTP2-Settings: AAEAAEAAAAIAAAAB",
      "Upgrade: h2c",
    ];
    const read = () => exchange(baseUrl, ["GET /api/health HTTP/1.1", "Host: localhost", ...upgrade]);
    const record = (label: string) => {
      const body = JSON.stringify(costMessage({ label }));
      const head = [
        "POST /api/v1/messages HTTP/1.1",
        "Host: localhost",
        `Authorization: Bearer ${secret}`,
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
        ...upgrade,
      ];
      return exchange(baseUrl, head, body);
    };
    expect([(await read()).status, (await record("before")).status]).toEqual([200, 201]);
    expect((await fetch(`${baseUrl}/sign-in`)).status).toBe(200);
    expect([(await read()).status, (await record("after")).status]).toEqual([200, 201]);
    const page = await exchange(baseUrl, ["GET /sign-in HTTP/1.1", "Host: localhost", ...upgrade]);
    expect(page.status).toBe(200);
  });
});

describe.each([
  ["::", "localhost"],
  ["::1", "[::1]"],
])("A service listening on %s", (host, name) => {
  test("Prints an address that can be called, and answers there", async () => {
    const { baseUrl, stop } = await harness.start({
      HOST: host,
      MCP_URL: "http://tools.localhost:4321/mcp",
    });
    expect(baseUrl).toMatch(new RegExp(`^http://${name.replace(/[[\]]/g, "\\$&")}:\\d+$`));
    for (const path of ["/api/health", "/sign-in", "/.well-known/oauth-protected-resource"]) {
      const { status, body } = await exchange(`http://[::1]:${new URL(baseUrl).port}`, [
        `GET ${path} HTTP/1.1`,
        `Host: ${new URL(baseUrl).host}`,
        "Connection: close",
      ]);
      expect([path, status]).toEqual([path, 200]);
      if (path.startsWith("/.well")) expect(JSON.parse(body).resource).toBe(`${baseUrl}/api/mcp`);
    }
    expect(await stop()).toBe(0);
  });
});
