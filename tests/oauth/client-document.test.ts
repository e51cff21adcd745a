import { once } from "node:events";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { fetchClientDocument } from "@/lib/access/oauth/client-document";
import type { OutsideNetwork } from "@/lib/outside/connect";
import { apiClient } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import { authorizeUrl, makePkce, openBrowser, openPage } from "@/tests/helpers/oauth";
import { withPages } from "@/tests/helpers/service";
import { openOutsideNetwork } from "./outside-network";

const clientId = "https://client.example/oauth/client.json";
const document = {
  client_id: clientId,
  client_name: "Assistant",
  redirect_uris: ["http://localhost/callback"],
};

type Answer = (request: IncomingMessage, response: ServerResponse) => void;
const asJson =
  (body: string): Answer =>
  (_, response) =>
    void response.writeHead(200, { "content-type": "application/json" }).end(body);

/** What stands in for the internet: names resolve to `addresses`, and every connection leads to the test's own server. */
let answer: Answer;
let addresses: string[];
let reached: string[];
const server = createServer((request, response) => answer(request, response));
const network: OutsideNetwork = {
  resolve: async () => addresses,
  connect: async (address) => {
    reached.push(address);
    const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
    await once(socket, "connect");
    return socket;
  },
};

beforeAll(() => once(server.listen(0, "127.0.0.1"), "listening"));
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  addresses = ["93.184.215.14"];
  reached = [];
  answer = asJson(JSON.stringify(document));
});

const refusal = expect.objectContaining({
  name: "OAuthError",
  code: "invalid_client",
  message: expect.stringContaining("could not be read"),
});

describe("A client document", () => {
  test("Is read from the checked address under the requested name", async () => {
    let host: string | undefined;
    answer = (request, response) => {
      host = request.headers.host;
      asJson(JSON.stringify(document))(request, response);
    };
    expect(await fetchClientDocument(clientId, network)).toEqual(document);
    expect([host, reached]).toEqual(["client.example", ["93.184.215.14"]]);
  });

  test.each([
    ["loopback", ["127.0.0.1"]],
    ["loopback in IPv6", ["::1"]],
    ["loopback mapped into IPv6", ["::ffff:127.0.0.1"]],
    ["link-local, where clouds keep their secrets", ["169.254.169.254"]],
    ["link-local in IPv6", ["fe80::1"]],
    ["private", ["10.1.2.3"]],
    ["private in IPv6", ["fd00::1"]],
    ["carrier-grade NAT", ["100.64.0.1"]],
    ["unspecified", ["0.0.0.0"]],
    ["translated to IPv4", ["64:ff9b::7f00:1"]],
    ["public and private at once", ["93.184.215.14", "192.168.1.1"]],
    ["nowhere", []],
  ])("Is not read from a name that is %s", async (_, resolved) => {
    addresses = resolved;
    await expect(fetchClientDocument(clientId, network)).rejects.toEqual(refusal);
    expect(reached).toEqual([]);
  });

  test.each([
    "https://127.0.0.1/client.json",
    "https://[::1]/client.json",
    "https://2130706433/client.json",
    "https://93.184.215.14/client.json",
    "http://client.example/client.json",
    "https://client.example/",
    "https://client.example:8443/client.json",
    "https://user:password@client.example/client.json",
    "https://client.example/client.json#part",
    "https://client.example/a/../client.json",
    "HTTPS://client.example/client.json",
  ])("Is not read from %s", async (address) => {
    await expect(fetchClientDocument(address, network)).rejects.toEqual(refusal);
    expect(reached).toEqual([]);
  });

  test("Is not read through a redirect", async () => {
    answer = (request, response) => {
      if (request.url === "/secret") return asJson(JSON.stringify(document))(request, response);
      response.writeHead(302, { location: "http://127.0.0.1/secret" }).end();
    };
    await expect(fetchClientDocument(clientId, network)).rejects.toEqual(refusal);
    expect(reached).toHaveLength(1);
  });

  test("Is cut off after 5 KB of 6 MB, with its connection closed", async () => {
    let sent = 0;
    const closed = new Promise<void>((resolve) => {
      answer = (_, response) => {
        response.writeHead(200, { "content-type": "application/json" });
        const chunk = Buffer.alloc(1024, " ");
        const send = () => {
          while (sent < 6 * 1024 * 1024 && response.write(chunk)) sent += chunk.length;
        };
        response.on("drain", send);
        response.on("close", () => resolve());
        send();
      };
    });
    await expect(fetchClientDocument(clientId, network)).rejects.toEqual(refusal);
    await closed;
    expect(sent).toBeLessThan(6 * 1024 * 1024);
  });

  test.each([
    ["no JSON", asJson("<html>")],
    [
      "of another type",
      ((_, response) =>
        void response
          .writeHead(200, { "content-type": "text/html" })
          .end(JSON.stringify(document))) as Answer,
    ],
    ["an error", ((_, response) => void response.writeHead(404).end()) as Answer],
    ["a broken connection", ((request) => void request.socket.destroy()) as Answer],
  ])("is not read where it is %s", async (_, reply) => {
    answer = reply;
    await expect(fetchClientDocument(clientId, network)).rejects.toEqual(refusal);
  });

  test("Is waited for at most five seconds, however slowly it arrives", async () => {
    let drip: NodeJS.Timeout | undefined;
    answer = (_, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      drip = setInterval(() => response.write(" "), 100);
    };
    const startedAt = performance.now();
    await expect(fetchClientDocument(clientId, network)).rejects.toEqual(refusal);
    clearInterval(drip);
    expect(performance.now() - startedAt).toBeLessThan(8_000);
  });
});

describe("The service itself", () => {
  const harness = withHarness({ services: 0, settings: withPages });

  test("Fetches nothing before sign-in, and reveals nothing of what it found", async () => {
    const outside = await openOutsideNetwork();
    outside.connect("claude.ai");
    const { baseUrl } = await harness.start(outside.settings);
    const browser = await openBrowser(baseUrl);
    const messages = new Set<string>();
    for (const id of [
      "https://localhost/client.json",
      "https://127.0.0.1/client.json",
      "https://no-such-name.invalid/c",
    ]) {
      const link = authorizeUrl(baseUrl, id, makePkce().challenge);
      expect((await openPage(null, link)).location).toMatch(/^\/sign-in/);
      const page = await openPage(browser, link);
      expect([page.location, page.nonce]).toEqual([null, undefined]);
      messages.add(/The document at this client_id[^<]*/.exec(page.html)?.[0] ?? page.html);
    }
    expect([...messages]).toEqual([expect.stringContaining("could not be read")]);
    expect((await apiClient(baseUrl, null).get("/api/health")).status).toBe(200);
    await outside.close();
  });
});
