import {
  Client,
  type OAuthClientProvider,
  StreamableHTTPClientTransport,
} from "@modelcontextprotocol/client";
import type { Page } from "@playwright/test";
import { expect, type World } from "./fixtures";
import { startProgram } from "./program";

/**
 * An assistant with the protocol's own SDK, which finds its way from the address of the agent tools alone. Whoever `page`
 * is signed in as lets it in.
 * @param answer what they do with the page that asks them; it ends with the button to allow
 * @returns the client, connected
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
