import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { Page } from "@playwright/test";
import { expect, type World } from "./fixtures";
import { startProgram } from "./program";

/**
 * Connects an assistant with the MCP SDK, which starts from the address of the agent tools. The user signed in on
 * `page` gives consent.
 * @param answer what they do on the consent page; it ends with the button to allow
 * @returns the connected client
 */
export async function connectAssistant(
  page: Page,
  { service }: World,
  name: string,
  answer: () => Promise<void>,
): Promise<Client> {
  const { redirectUri, stop } = await startProgram();
  const memory: { visited?: string } & Record<string, unknown> = {};
  const keep = (what: string) => (value: unknown) => void Object.assign(memory, { [what]: value });
  const provider = {
    redirectUrl: redirectUri,
    clientMetadata: { client_name: name, redirect_uris: [redirectUri] },
    state: () => "state of the assistant",
    clientInformation: () => memory.client,
    saveClientInformation: keep("client"),
    tokens: () => memory.tokens,
    saveTokens: keep("tokens"),
    invalidateCredentials: () => keep("tokens")(undefined),
    redirectToAuthorization: (url: URL) => keep("visited")(url.href),
    saveCodeVerifier: keep("verifier"),
    codeVerifier: () => memory.verifier,
    saveDiscoveryState: keep("discovery"),
    discoveryState: () => memory.discovery,
  } as OAuthClientProvider;
  const transport = () =>
    new StreamableHTTPClientTransport(new URL(`${service.baseUrl}/api/mcp`), { authProvider: provider });
  const connect = async () => {
    const client = new Client({ name, version: "1.0.0" }, { versionNegotiation: { mode: "auto" } });
    await client.connect(transport());
    return client;
  };
  await expect(connect()).rejects.toThrow(/unauthorized/i);
  await page.goto(memory.visited ?? "");
  await answer();
  await page.waitForURL(`${redirectUri}*`);
  stop();
  await transport().finishAuth(new URL(page.url()).searchParams);
  return connect();
}
