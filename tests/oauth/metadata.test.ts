import { request } from "node:http";
import { beforeAll, describe, expect, test } from "vitest";
import { apiClient } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import { startNextAlone } from "@/tests/helpers/next-alone";
import { connect, openBrowser, postForm } from "@/tests/helpers/oauth";
import { withPages } from "@/tests/helpers/service";

const mcpUrl = "https://mcp.outlay.example/agents";
const baseUrlSetting = "https://outlay.example";
// Metadata needs no pages. Without the fast lane, Next serves it, and pages too.
const harness = withHarness({ services: 0 });

/** Asks the service under a Host of the test's choice, which `fetch` would not send. */
function ask(baseUrl: string, path: string, host?: string, method = "GET") {
  return new Promise<{
    status: number;
    headers: NodeJS.Dict<string | string[]>;
    body: Record<string, unknown>;
  }>((resolve, reject) => {
    const outgoing = request(baseUrl + path, { method, headers: host ? { host } : {} }, (incoming) => {
      const chunks: Buffer[] = [];
      incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
      incoming.on("end", () => {
        const text = Buffer.concat(chunks).toString("utf8");
        const isJson = text.startsWith("{");
        resolve({
          status: incoming.statusCode ?? 0,
          headers: incoming.headers,
          body: isJson ? JSON.parse(text) : {},
        });
      });
    });
    outgoing.once("error", reject);
    outgoing.end();
  });
}

for (const lane of ["on", "off"] as const) {
  describe(`Metadata with the fast lane ${lane}`, () => {
    let baseUrl: string;
    beforeAll(async () => {
      const settings = { BASE_URL: baseUrlSetting, MCP_URL: mcpUrl, OUTLAY_FAST_LANE: lane };
      ({ baseUrl } = await harness.start(settings));
    });

    test("Gives each allowed host its own address, and refuses a spoofed one", async () => {
      const resourceAt = async (path: string, host: string) => {
        const { status, body, headers } = await ask(baseUrl, path, host);
        return {
          status,
          resource: body.resource,
          servers: body.authorization_servers,
          cors: headers["access-control-allow-origin"],
        };
      };
      const own = {
        status: 200,
        resource: `${baseUrlSetting}/api/mcp`,
        servers: [baseUrlSetting],
        cors: "*",
      };
      const wellKnown = "/.well-known/oauth-protected-resource";
      for (const path of [wellKnown, `${wellKnown}/api/mcp`, `/api/mcp${wellKnown}`]) {
        expect(await resourceAt(path, "outlay.example")).toEqual(own);
        expect((await ask(baseUrl, path, "evil.example")).status).toBe(421);
        expect(await resourceAt(path, "localhost")).toEqual(own);
      }
      for (const path of [wellKnown, `${wellKnown}/agents`, `/agents${wellKnown}`])
        expect(await resourceAt(path, "mcp.outlay.example")).toEqual({ ...own, resource: mcpUrl });
      expect((await ask(baseUrl, `${wellKnown}/other`, "outlay.example")).status).toBe(404);

      for (const host of ["outlay.example", "mcp.outlay.example", "127.0.0.1"]) {
        for (const path of [
          "/.well-known/oauth-authorization-server",
          "/.well-known/oauth-authorization-server/api/mcp",
        ]) {
          const { status, body } = await ask(baseUrl, path, host);
          expect([status, body.issuer]).toEqual([200, baseUrlSetting]);
          expect(body).toMatchObject({
            authorization_endpoint: `${baseUrlSetting}/oauth/authorize`,
            token_endpoint: `${baseUrlSetting}/oauth/token`,
            token_endpoint_auth_methods_supported: ["none"],
            authorization_response_iss_parameter_supported: true,
            protected_resources: [`${baseUrlSetting}/api/mcp`, mcpUrl],
          });
        }
      }
      // There is no sign-in with OpenID here, and nothing that says there were.
      expect((await ask(baseUrl, "/.well-known/openid-configuration", "outlay.example")).status).toBe(404);
    });

    test("Is named by a refusal of the agent tools, by the requested host", async () => {
      const invitationAt = async (host: string) => {
        const { headers } = await ask(
          baseUrl,
          host.startsWith("mcp.") ? "/agents" : "/api/mcp",
          host,
          "POST",
        );
        return String(headers["www-authenticate"] ?? "");
      };
      expect(await invitationAt("outlay.example")).toContain(
        `resource_metadata="${baseUrlSetting}/.well-known/oauth-protected-resource/api/mcp"`,
      );
      expect(await invitationAt("mcp.outlay.example")).toContain(
        'resource_metadata="https://mcp.outlay.example/.well-known/oauth-protected-resource/agents"',
      );
      expect(await invitationAt("evil.example")).toBe("");
    });
  });
}

/** How the app is served: by our server with its lane for routes, by our server through Next, by Next alone. */
const servers = {
  "the fast lane": (MCP_URL: string) => harness.start({ MCP_URL }),
  "our server and Next": (MCP_URL: string) => harness.start({ MCP_URL, OUTLAY_FAST_LANE: "off" }),
  "Next alone": (MCP_URL: string) => startNextAlone({ MCP_URL }),
};

describe.each(Object.entries(servers))("A host for the tools on this machine, by %s", (_, start) => {
  test.each(["/mcp", "/"])("Serves metadata wherever a client looks, for MCP_URL's path %j", async (path) => {
    const host = "tools.localhost:4321";
    const { baseUrl, stop } = await start(`http://${host}${path}`);
    // A closing slash makes no other address: `new URL` puts one where there is no path.
    const bare = path.replace(/\/$/, "");
    const resource = `http://${host}${bare}`;
    const wellKnown = "/.well-known/oauth-protected-resource";
    for (const asked of [wellKnown, wellKnown + bare, bare + wellKnown]) {
      const { status, body } = await ask(baseUrl, asked, host);
      expect([asked, status, body.resource]).toEqual([asked, 200, resource]);
      expect(body.authorization_servers).not.toContain(`http://${host}`);
    }
    const refused = await ask(baseUrl, path, host, "POST");
    expect([refused.status, refused.headers["www-authenticate"]]).toEqual([
      401,
      expect.stringContaining(`resource_metadata="http://${host}${wellKnown}${bare}"`),
    ]);
    expect((await ask(baseUrl, `${wellKnown}/other`, host)).status).toBe(404);
    await stop();
  });
});

describe("On this machine", () => {
  test("Serves each of the machine's names alike, on its own port", async () => {
    const { baseUrl } = await harness.start();
    const { port } = new URL(baseUrl);
    const path = "/.well-known/oauth-protected-resource";
    for (const name of ["localhost", "127.0.0.1"]) {
      const { body } = await ask(baseUrl, path, `${name}:${port}`);
      expect(body).toMatchObject({
        resource: `http://${name}:${port}/api/mcp`,
        authorization_servers: [`http://${name}:${port}`],
      });
    }
    const { body } = await ask(baseUrl, path, "localhost:1");
    expect(body.resource).toBe(`${baseUrl}/api/mcp`);
  });

  test("Refuses a code of one address at another of its own", async () => {
    const { baseUrl } = await harness.start({ ...withPages, MCP_URL: mcpUrl });
    const browser = await openBrowser(baseUrl);
    const me = await apiClient(baseUrl, browser.token).get("/api/v1/me");
    const [{ slug: workspace } = { slug: "" }] = me.body.workspaces as { slug: string }[];
    const { clientId, refresh: token } = await connect(browser, { workspace });
    const grant = { grant_type: "refresh_token", client_id: clientId, refresh_token: token };
    const wrong = await postForm(baseUrl, "/oauth/token", { ...grant, resource: mcpUrl });
    expect([wrong.status, wrong.body.error]).toEqual([400, "invalid_grant"]);
    const right = await postForm(baseUrl, "/oauth/token", { ...grant, resource: `${baseUrl}/api/mcp/` });
    expect(right.status).toBe(200);
    expect(right.headers.get("cache-control")).toBe("no-store");
  });
});
