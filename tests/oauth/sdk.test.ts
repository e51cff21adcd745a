import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
  type OAuthClientProvider as ModernProvider,
} from "@modelcontextprotocol/client";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OlderHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { beforeAll, describe, expect, test } from "vitest";
import { apiClient } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import { allowing, type Browser, openBrowser, openPage, redirectUri, sendForm } from "@/tests/helpers/oauth";

const harness = withHarness();
const address = () => new URL(`${harness.services[0]?.baseUrl}/api/mcp`);
const info = { name: "sdk-client", version: "1.0.0" };

let browser: Browser;
let workspace: string;
beforeAll(async () => {
  const baseUrl = harness.services[0]?.baseUrl ?? "";
  browser = await openBrowser(baseUrl);
  const { body } = await apiClient(baseUrl, browser.token).get("/api/v1/me");
  workspace = (body.workspaces as { slug: string }[])[0]?.slug ?? "";
});

/** What an assistant remembers of its sign-in; its browser waits at `visited`. */
function remember() {
  const memory: Record<string, unknown> = {};
  const provider = {
    redirectUrl: redirectUri,
    clientMetadata: { client_name: "An assistant", redirect_uris: [redirectUri] },
    state: () => "state of the assistant",
    clientInformation: () => memory.client,
    saveClientInformation: (client: unknown) => void Object.assign(memory, { client }),
    tokens: () => memory.tokens,
    saveTokens: (tokens: unknown) => void Object.assign(memory, { tokens }),
    redirectToAuthorization: (url: URL) => void Object.assign(memory, { visited: url.href }),
    saveCodeVerifier: (verifier: string) => void Object.assign(memory, { verifier }),
    codeVerifier: () => memory.verifier,
    saveDiscoveryState: (state: unknown) => void Object.assign(memory, { discovery: state }),
    discoveryState: () => memory.discovery,
  };
  return { memory, provider: provider as unknown as OAuthClientProvider & ModernProvider };
}

/** Goes where the assistant sent the browser, and allows. @returns what the assistant is called back with */
async function allow(visited: unknown, permissions: string[]): Promise<URLSearchParams> {
  const { nonce } = await openPage(browser, String(visited));
  const { location } = await sendForm(browser, allowing(nonce, { workspace, permissions }));
  return new URL(location).searchParams;
}

const summary = { name: "get_monthly_summary", arguments: {} };
const expense = { name: "add_expense", arguments: { project: "checkout", vendor: "Figma", amount: 12 } };

const generations = {
  "the 2026 SDK": () => {
    const { memory, provider } = remember();
    const transport = () => new ModernHttp(address(), { authProvider: provider });
    return {
      memory,
      finish: (answer: URLSearchParams) => transport().finishAuth(answer),
      connect: async () => {
        const client = new ModernClient(info, { versionNegotiation: { mode: "auto" } });
        await client.connect(transport());
        return client;
      },
    };
  },
  "the 2025 SDK": () => {
    const { memory, provider } = remember();
    const transport = () => new OlderHttp(address(), { authProvider: provider });
    return {
      memory,
      finish: (answer: URLSearchParams) => transport().finishAuth(answer.get("code") ?? ""),
      connect: async () => {
        const client = new OlderClient(info);
        // The SDK's own types do not agree under exactOptionalPropertyTypes.
        await client.connect(transport() as Parameters<OlderClient["connect"]>[0]);
        return client;
      },
    };
  },
};

describe.each(Object.entries(generations))("%s, left to itself", (_, makeAssistant) => {
  test("signs in, calls, refreshes what has expired, and asks for more where it needs it", async () => {
    const assistant = makeAssistant();
    await expect(assistant.connect()).rejects.toThrow(/unauthorized/i);
    await assistant.finish(await allow(assistant.memory.visited, ["read_summaries"]));
    const client = await assistant.connect();
    expect((await client.callTool(summary)).isError).toBeFalsy();

    const before = assistant.memory.tokens as { access_token: string };
    await harness.fixtures.sql.query(
      "update private.oauth_access_tokens set expires_at = now() - interval '1 second'",
    );
    expect((await client.callTool(summary)).isError).toBeFalsy();
    expect((assistant.memory.tokens as typeof before).access_token).not.toBe(before.access_token);

    await expect(client.callTool(expense)).rejects.toThrow();
    expect(new URL(String(assistant.memory.visited)).searchParams.get("scope")).toContain("add_expenses");
    await assistant.finish(await allow(assistant.memory.visited, ["add_expenses"]));
    const stronger = await assistant.connect();
    expect((await stronger.callTool(expense)).isError).toBeFalsy();
    await Promise.all([client.close(), stronger.close()]);
  });
});
