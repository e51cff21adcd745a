import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { withHarness } from "@/tests/helpers/harness";
import {
  authorizeUrl,
  type Browser,
  callTool,
  connect,
  makePkce,
  openBrowser,
  openPage,
  redirectUri,
  register,
} from "@/tests/helpers/oauth";
import { withPages } from "@/tests/helpers/service";
import { slugOf } from "@/tests/helpers/sign-in";
import { type OutsideNetwork, openOutsideNetwork } from "./outside-network";

const clientId = "https://client.example/oauth/client.json";
const assistantId = "https://claude.ai/oauth/client.json";
const describeClient = (id: string, more: Record<string, unknown> = {}) => ({
  client_id: id,
  client_name: "Assistant",
  redirect_uris: [redirectUri],
  ...more,
});

const harness = withHarness({ services: 0, settings: withPages });
let network: OutsideNetwork;
let browser: Browser;
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

beforeAll(async () => {
  network = await openOutsideNetwork();
  await harness.start(network.settings);
  browser = await openBrowser(baseUrl());
});
afterAll(() => network.close());
beforeEach(async () => {
  network.documents.clear();
  network.asked.length = 0;
  await harness.fixtures.sql.query("delete from private.oauth_document_outage");
});

const ask = (id: string, at = browser) =>
  openPage(at, authorizeUrl(at.baseUrl, id, makePkce().challenge, { resource: at.resource }));
const isAdvertised = async (at = baseUrl()) => {
  const response = await fetch(`${at}/.well-known/oauth-authorization-server`);
  return (await response.json()).client_id_metadata_document_supported;
};

describe("A client identified by a document", () => {
  test("Is shown under the document's name and host, and gets a code and working tokens", async () => {
    network.connect("client.example");
    network.documents.set(clientId, describeClient(clientId));
    const page = await ask(clientId);
    expect(page.html).toContain("Connect “Assistant” to Outlay?");
    expect(page.html).toContain("client.example");
    expect(network.asked).toEqual([clientId]);
    const { access, scope } = await connect(browser, { workspace: await slugOf(browser) }, clientId);
    expect(scope).toBe("log_usage read_summaries");
    expect((await callTool(baseUrl(), access)).status).toBe(200);
  });

  test("Is refused when the document is about another client, however similar", async () => {
    network.connect("client.example", "other.example");
    for (const other of [
      "https://other.example/oauth/client.json",
      "https://client.example/oauth/client.json?",
      "https://CLIENT.example/oauth/client.json",
      "https://client.example/oauth/client.json/",
      "",
      null,
      undefined,
    ]) {
      network.documents.set(clientId, describeClient(clientId, { client_id: other }));
      const page = await ask(clientId);
      expect([other, page.nonce]).toEqual([other, undefined]);
      expect(page.html).toContain("about another client");
    }
    const { rows } = await harness.fixtures.sql.query(
      "select from private.oauth_clients where name = 'Assistant' and id <> $1",
      [clientId],
    );
    expect(rows).toEqual([]);
  });

  test("Is called back at the document's own redirects only", async () => {
    network.connect("client.example");
    network.documents.set(
      clientId,
      describeClient(clientId, { redirect_uris: ["https://client.example/cb"] }),
    );
    const page = await ask(clientId);
    expect(page.nonce).toBeUndefined();
    expect(page.html).toContain("an address that it did not register");
  });
});

describe("Client documents are advertised", () => {
  test("Until one cannot be fetched for want of a network; clients then register, as the page says", async () => {
    network.connect();
    expect(await isAdvertised()).toBe(true);
    const page = await ask(assistantId);
    expect(page.nonce).toBeUndefined();
    expect(page.html).toContain("Try again: your program will then register");
    expect(await isAdvertised()).toBe(false);
    expect((await register(baseUrl())).status).toBe(201);
  });

  test("No longer by any process, and again once the network is back", async () => {
    const other = await harness.start(network.settings);
    network.connect();
    await ask(assistantId);
    expect(await isAdvertised(other.baseUrl)).toBe(false);
    network.connect("claude.ai");
    network.documents.set(assistantId, describeClient(assistantId));
    expect((await ask(assistantId)).nonce).toBeDefined();
    expect(await isAdvertised(other.baseUrl)).toBe(true);
  });

  test("No longer when a client's own host and every well-known one are unreachable", async () => {
    network.connect();
    expect((await ask(clientId)).html).toContain("Try again: your program will then register");
    expect(await isAdvertised()).toBe(false);
  });

  test("Still when a stranger names an unknown host", async () => {
    network.connect("claude.ai");
    for (const id of ["https://no-such-name.example/client.json", "https://localhost/client.json"]) {
      const page = await ask(id);
      expect(page.html).toContain("could not be read");
    }
    expect(await isAdvertised()).toBe(true);
  });

  test("Still when a reachable host has no such document, a well-known one included", async () => {
    network.connect("claude.ai", "client.example");
    for (const id of [assistantId, clientId]) expect((await ask(id)).html).toContain("could not be read");
    expect(await isAdvertised()).toBe(true);
  });

  test("Never with the setting off, and a client that uses one is told to register", async () => {
    const off = await harness.start({ ...network.settings, OAUTH_CLIENT_DOCUMENTS: "off" });
    const there = await openBrowser(off.baseUrl);
    network.connect("client.example");
    network.documents.set(clientId, describeClient(clientId));
    expect(await isAdvertised(off.baseUrl)).toBe(false);
    const page = await ask(clientId, there);
    expect([page.nonce, network.asked]).toEqual([undefined, []]);
    expect(page.html).toContain("your program will then register");
  });
});
