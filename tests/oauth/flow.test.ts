import * as oauth from "oauth4webapi";
import { beforeAll, describe, expect, test } from "vitest";
import { apiClient } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import { type Browser, callTool, consent, openBrowser, openPage, redirectUri } from "@/tests/helpers/oauth";
import { withPages } from "@/tests/helpers/service";

/** The service of a test is on this machine, without TLS. */
const insecure = { [oauth.allowInsecureRequests]: true };
const none = oauth.None();

// Through our server and through Next alone: the same route files.
describe.each(["on", "off"])("With the fast lane %s", (lane) => {
  const harness = withHarness({ settings: { ...withPages, OUTLAY_FAST_LANE: lane } });
  const baseUrl = () => harness.services[0]?.baseUrl ?? "";
  let browser: Browser;
  let workspace: string;
  let server: oauth.AuthorizationServer;
  let resource: string;

  beforeAll(async () => {
    browser = await openBrowser(baseUrl());
    const { body } = await apiClient(baseUrl(), browser.token).get("/api/v1/me");
    workspace = (body.workspaces as { slug: string }[])[0]?.slug ?? "";
  });

  describe("A client that knows only the agent tools' address", () => {
    test("Finds the authorization server by the refusal and both metadata documents", async () => {
      const { status, challenge } = await callTool(baseUrl(), null);
      expect(status).toBe(401);
      const [, metadata = ""] = /resource_metadata="([^"]+)"/.exec(challenge) ?? [];
      expect(metadata).toBe(`${baseUrl()}/.well-known/oauth-protected-resource/api/mcp`);
      const address = new URL(`${baseUrl()}/api/mcp`);
      const found = await oauth.processResourceDiscoveryResponse(
        address,
        await oauth.resourceDiscoveryRequest(address, insecure),
      );
      resource = found.resource;
      expect(resource).toBe(address.href);
      const issuer = new URL(found.authorization_servers?.[0] ?? "");
      server = await oauth.processDiscoveryResponse(
        issuer,
        await oauth.discoveryRequest(issuer, { algorithm: "oauth2", ...insecure }),
      );
      expect(server.code_challenge_methods_supported).toEqual(["S256"]);
      expect(server.client_id_metadata_document_supported).toBe(true);
    });

    test("Registers, gets consent, calls, refreshes, and has no access after revoking", async () => {
      const registered = await oauth.processDynamicClientRegistrationResponse(
        await oauth.dynamicClientRegistrationRequest(
          server,
          { client_name: "Independent client", redirect_uris: [redirectUri] },
          insecure,
        ),
      );
      const client: oauth.Client = { client_id: registered.client_id, token_endpoint_auth_method: "none" };
      const verifier = oauth.generateRandomCodeVerifier();
      const state = oauth.generateRandomState();
      const link = new URL(server.authorization_endpoint ?? "");
      const parameters = {
        response_type: "code",
        client_id: client.client_id,
        redirect_uri: redirectUri,
        code_challenge: await oauth.calculatePKCECodeChallenge(verifier),
        code_challenge_method: "S256",
        state,
        resource,
        scope: "log_usage",
      };
      for (const [name, value] of Object.entries(parameters)) link.searchParams.set(name, value);
      const code = await consent(browser, link.href, { workspace, permissions: ["log_usage"] });
      const answer = new URL(`${redirectUri}?${new URLSearchParams({ code, state, iss: server.issuer })}`);
      const tokens = await oauth.processAuthorizationCodeResponse(
        server,
        client,
        await oauth.authorizationCodeGrantRequest(
          server,
          client,
          none,
          oauth.validateAuthResponse(server, client, answer, state),
          redirectUri,
          verifier,
          { additionalParameters: { resource }, ...insecure },
        ),
      );
      expect(tokens.access_token).toMatch(/^svc_at_/);
      expect(tokens.expires_in).toBe(3600);
      // Whoever may write may read, or a client would ask for one scope after the other.
      expect(tokens.scope).toBe("log_usage read_summaries");

      const usage = {
        project: "checkout",
        provider: "openai",
        unit_type: "requests",
        quantity: 1,
        estimated_cost: 0.5,
      };
      const recorded = await callTool(baseUrl(), tokens.access_token, "log_usage", usage);
      expect(recorded.body.result?.structuredContent).toMatchObject({ amount_usd: 0.5 });
      const { rows } = await harness.fixtures.sql.query(
        "select k.kind, k.name, m.source from public.messages as m join public.api_keys as k on k.id = m.api_key_id",
      );
      expect(rows).toEqual([{ kind: "connection", name: "Independent client", source: "mcp" }]);

      const renewed = await oauth.processRefreshTokenResponse(
        server,
        client,
        await oauth.refreshTokenGrantRequest(server, client, none, tokens.refresh_token ?? "", insecure),
      );
      expect(renewed.refresh_token).not.toBe(tokens.refresh_token);
      expect((await callTool(baseUrl(), renewed.access_token)).status).toBe(200);

      await oauth.processRevocationResponse(
        await oauth.revocationRequest(server, client, none, renewed.refresh_token ?? "", insecure),
      );
      for (const token of [tokens.access_token, renewed.access_token]) {
        const refused = await callTool(baseUrl(), token);
        expect(refused.status).toBe(401);
        expect(refused.challenge).toContain('error="invalid_token"');
      }
    });

    test("Gets its answer with the issuer, and a refusal with its state", async () => {
      const registered = await oauth.processDynamicClientRegistrationResponse(
        await oauth.dynamicClientRegistrationRequest(server, { redirect_uris: [redirectUri] }, insecure),
      );
      const link = `${baseUrl()}/oauth/authorize?${new URLSearchParams({
        response_type: "code",
        client_id: registered.client_id,
        redirect_uri: redirectUri,
        code_challenge: "short",
        code_challenge_method: "S256",
        state: "mine",
      })}`;
      expect((await openPage(null, link)).location).toMatch(/^\/sign-in\?next=/);
      const { location } = await openPage(browser, link);
      const refused = new URL(location ?? "");
      expect(refused.origin + refused.pathname).toBe(redirectUri);
      expect(Object.fromEntries(refused.searchParams)).toMatchObject({
        error: "invalid_request",
        state: "mine",
        iss: server.issuer,
      });
    });
  });
});
