import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
  type OAuthClientProvider as ModernProvider,
} from "@modelcontextprotocol/client";
import type { OAuthClientProvider } from "@modelcontextprotocol/sdk/client/auth.js";
import { Client as OlderClient } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport as OlderHttp } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { toolNames } from "@/lib/contract/tools";
import { apiClient } from "@/tests/helpers/client";
import {
  allowing,
  type Browser,
  type Choice,
  openBrowser,
  openPage,
  redirectUri,
  sendForm,
} from "@/tests/helpers/oauth";
import { type Service, startService, withPages } from "@/tests/helpers/service";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { slugOf } from "@/tests/helpers/sign-in";

const harness = withSharedHarness({ settings: withPages });
const baseUrl = () => harness.services[0]?.baseUrl ?? "";
const info = { name: "sdk-client", version: "1.0.0" };

/** Another process of the same service: it calls itself what the first one does. */
let otherProcess: Service;
let browser: Browser;
let workspace: string;
beforeAll(async () => {
  otherProcess = await startService(harness.database, { BASE_URL: baseUrl() });
});
afterAll(() => otherProcess?.stop());
// Everybody's connections, spend and workspace are their own.
beforeEach(async () => {
  browser = await openBrowser(baseUrl());
  workspace = await slugOf(browser);
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
    invalidateCredentials: () => void delete memory.tokens,
    redirectToAuthorization: (url: URL) => void Object.assign(memory, { visited: url.href }),
    saveCodeVerifier: (verifier: string) => void Object.assign(memory, { verifier }),
    codeVerifier: () => memory.verifier,
    saveDiscoveryState: (state: unknown) => void Object.assign(memory, { discovery: state }),
    discoveryState: () => memory.discovery,
  };
  return { memory, provider: provider as unknown as OAuthClientProvider & ModernProvider };
}

/** Goes where the assistant sent the browser, and allows. @returns what the assistant is called back with */
async function allow(visited: unknown, choice: Omit<Choice, "workspace">): Promise<URLSearchParams> {
  const { nonce } = await openPage(browser, String(visited));
  const { location } = await sendForm(browser, allowing(nonce, { workspace, ...choice }));
  return new URL(location).searchParams;
}

const summary = { name: "get_monthly_summary", arguments: {} };
const expense = { name: "add_expense", arguments: { project: "checkout", vendor: "Figma", amount: 12 } };
const usage = (project: string, cost: number) => ({
  name: "log_usage",
  arguments: { project, provider: "acme", unit_type: "requests", quantity: 1, estimated_cost: cost },
});

const generations = {
  "the 2026 SDK": () => {
    const { memory, provider } = remember();
    const transport = (at = baseUrl()) =>
      new ModernHttp(new URL(`${at}/api/mcp`), { authProvider: provider });
    return {
      memory,
      finish: (answer: URLSearchParams) => transport().finishAuth(answer),
      connect: async (at?: string) => {
        const client = new ModernClient(info, { versionNegotiation: { mode: "auto" } });
        await client.connect(transport(at));
        return client;
      },
    };
  },
  "the 2025 SDK": () => {
    const { memory, provider } = remember();
    const transport = (at = baseUrl()) => new OlderHttp(new URL(`${at}/api/mcp`), { authProvider: provider });
    return {
      memory,
      finish: (answer: URLSearchParams) => transport().finishAuth(answer.get("code") ?? ""),
      connect: async (at?: string) => {
        const client = new OlderClient(info);
        // The SDK's own types do not agree under exactOptionalPropertyTypes.
        await client.connect(transport(at) as Parameters<OlderClient["connect"]>[0]);
        return client;
      },
    };
  },
};

describe.each(Object.entries(generations))("%s on its own", (_, makeAssistant) => {
  /** An assistant that was let in. */
  const letIn = async (choice: Omit<Choice, "workspace">) => {
    const assistant = makeAssistant();
    await expect(assistant.connect()).rejects.toThrow(/unauthorized/i);
    await assistant.finish(await allow(assistant.memory.visited, choice));
    return { ...assistant, client: await assistant.connect() };
  };

  test("Calls every tool and records what REST reads", async () => {
    const { client } = await letIn({ permissions: ["log_usage", "add_expenses"] });
    const { tools } = await client.listTools();
    expect(tools.map(({ name }) => name)).toEqual(toolNames);
    const { rows } = await harness.fixtures.sql.query(
      `with made as (
         insert into public.budgets (workspace_id, name, scope_type, amount)
         select id, 'All', 'global', 100 from public.workspaces where slug = $1
       )
       select id from public.workspaces where slug = $1`,
      [workspace],
    );
    const { secret } = await harness.fixtures.key(rows[0].id);
    const rest = apiClient(baseUrl(), secret);
    expect((await client.callTool(usage("checkout", 0.5))).structuredContent).toMatchObject({
      amount_usd: 0.5,
    });
    expect((await client.callTool(expense)).structuredContent).toMatchObject({ amount_usd: 12 });
    for (const [tool, path] of [
      [{ name: "get_project_spend", arguments: { project: "checkout" } }, "/api/v1/projects/checkout/spend"],
      [{ name: "get_budget_status", arguments: {} }, "/api/v1/budgets/status"],
      [summary, "/api/v1/summary/month"],
    ] as const) {
      const { structuredContent } = await client.callTool(tool);
      expect([path, structuredContent]).toEqual([path, (await rest.get(path)).body]);
    }
    const me = apiClient(baseUrl(), browser.token);
    const { body } = await me.get(`/api/v1/workspaces/${workspace}/activity`);
    expect(body).toMatchObject({
      count: 2,
      activity: [
        { message_type: "expense", amount_usd: 12, source: "mcp", key: { name: "An assistant" } },
        { message_type: "usage", amount_usd: 0.5, source: "mcp", key: { name: "An assistant" } },
      ],
    });
    await client.close();
  });

  test("Is limited to what its user allowed: one project and a monthly amount", async () => {
    const { rows } = await harness.fixtures.sql.query("select id from public.workspaces where slug = $1", [
      workspace,
    ]);
    await harness.fixtures.project(rows[0].id, "checkout");
    const { client } = await letIn({ permissions: ["log_usage"], project: "checkout", monthlyLimit: "5" });
    const refusal = async (tool: ReturnType<typeof usage>) => {
      const { isError, content } = await client.callTool(tool);
      expect(isError).toBe(true);
      return (content as { text: string }[])[0]?.text;
    };
    expect((await client.callTool(usage("checkout", 4.5))).isError).toBeFalsy();
    expect(await refusal(usage("checkout", 0.75))).toContain("monthly_limit_exceeded");
    expect(await refusal(usage("search", 0.1))).toContain("project_not_allowed");
    expect((await client.callTool(usage("checkout", 0.5))).isError).toBeFalsy();
    await client.close();
  });

  test("Is refused on another process's next call once revoked, and asks for consent again", async () => {
    const { memory, client, connect } = await letIn({ permissions: ["read_summaries"] });
    const elsewhere = await connect(otherProcess.baseUrl);
    expect((await elsewhere.callTool(summary)).isError).toBeFalsy();
    const me = apiClient(baseUrl(), browser.token);
    const connections = `/api/v1/workspaces/${workspace}/connections`;
    const { body } = await me.get(connections);
    const [{ id } = { id: "" }] = body.connections as { id: string }[];
    expect((await me.call("DELETE", `${connections}/${id}`)).status).toBe(200);
    memory.visited = undefined;
    await expect(elsewhere.callTool(summary)).rejects.toThrow();
    await expect(client.callTool(summary)).rejects.toThrow(/unauthorized/i);
    expect(memory.visited).toMatch(/\/oauth\/authorize\?/);
    await Promise.all([client.close(), elsewhere.close()]);
  });

  test("Signs in, calls, refreshes expired tokens, and asks for more permissions when needed", async () => {
    const { client, ...assistant } = await letIn({ permissions: ["read_summaries"] });
    expect((await client.callTool(summary)).isError).toBeFalsy();

    const before = assistant.memory.tokens as { access_token: string };
    await harness.fixtures.sql.query(
      "update private.oauth_access_tokens set expires_at = now() - interval '1 second'",
    );
    expect((await client.callTool(summary)).isError).toBeFalsy();
    expect((assistant.memory.tokens as typeof before).access_token).not.toBe(before.access_token);

    await expect(client.callTool(expense)).rejects.toThrow();
    // Every scope it needs, with what it has: nothing is asked for one after the other.
    const asked = new URL(String(assistant.memory.visited)).searchParams.get("scope")?.split(" ");
    expect(asked).toEqual(expect.arrayContaining(["add_expenses", "read_summaries"]));
    await assistant.finish(await allow(assistant.memory.visited, { permissions: ["add_expenses"] }));
    const stronger = await assistant.connect();
    expect((await stronger.callTool(expense)).isError).toBeFalsy();
    await Promise.all([client.close(), stronger.close()]);
  });
});
