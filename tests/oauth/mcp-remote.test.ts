import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable } from "node:stream";
import { getDefaultEnvironment, StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import { apiClient } from "@/tests/helpers/client";
import { connectOlder } from "@/tests/helpers/mcp";
import { allowing, openPage, sendForm } from "@/tests/helpers/oauth";
import { projectRoot } from "@/tests/helpers/project-root";
import { withSignIn } from "@/tests/helpers/sign-in";

const world = withSignIn();

/** Where the bridge keeps what it knows of its sign-in; its default is in the home of whoever runs the tests. */
let memory: string;
beforeAll(() => {
  memory = mkdtempSync(join(tmpdir(), "outlay-mcp-remote-"));
});
afterAll(() => rmSync(memory, { recursive: true, force: true }));

/**
 * Starts the bridge without a key. @returns what connects to it, and the link that it opens in a browser, once its
 * server waits for the browser's return: where its probe of the service fails, it prints the link first
 */
function startBridge() {
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [
      join(projectRoot, "node_modules/mcp-remote/dist/proxy.js"),
      `${world.baseUrl()}/api/mcp`,
      "--allow-http",
    ],
    // The browser that it opens does nothing: ours goes where it was sent.
    env: { ...getDefaultEnvironment(), MCP_REMOTE_CONFIG_DIR: memory, BROWSER: "true" },
    stderr: "pipe",
  });
  const link = new Promise<string>((resolve) => {
    if (!transport.stderr) throw new Error("The bridge's words were asked for.");
    let address: string | undefined;
    let isListening = false;
    createInterface({ input: transport.stderr as Readable }).on("line", (line) => {
      if (line.includes("/oauth/authorize?")) address = line.trim();
      if (line.includes("OAuth callback server running")) isListening = true;
      if (address !== undefined && isListening) resolve(address);
    });
  });
  return { connecting: connectOlder(transport), link };
}

const usage = {
  project: "checkout",
  provider: "acme",
  unit_type: "requests",
  quantity: 1,
  estimated_cost: 0.25,
};

test("Lets mcp-remote register, get consent, call, and reconnect without asking", {
  timeout: 90_000,
}, async () => {
  const first = startBridge();
  const { nonce } = await openPage(world.browser, await first.link);
  const choice = { workspace: world.workspace, permissions: ["log_usage"] };
  const { location } = await sendForm(world.browser, allowing(nonce, choice));
  expect((await fetch(location)).status).toBe(200);
  const client = await first.connecting;
  const names = (await client.list()).map(({ name }) => name);
  expect(names).toContain("get_monthly_summary");
  expect((await client.call("log_usage", usage)).data).toMatchObject({ amount_usd: 0.25 });
  await client.close();

  const again = await startBridge().connecting;
  expect((await again.call("log_usage", usage)).data).toMatchObject({ amount_usd: 0.25 });
  const summary = await again.call("get_monthly_summary");
  await again.close();

  const { rows } = await world.harness.fixtures.sql.query(
    "select id from public.workspaces where slug = $1",
    [world.workspace],
  );
  const { secret } = await world.harness.fixtures.key(rows[0].id);
  const rest = await apiClient(world.baseUrl(), secret).get("/api/v1/summary/month");
  expect(summary.data).toEqual(rest.body);
  const me = apiClient(world.baseUrl(), world.browser.token);
  const { body } = await me.get(`/api/v1/workspaces/${world.workspace}/activity`);
  const row = { amount_usd: 0.25, source: "mcp", project_slug: "checkout" };
  expect(body).toMatchObject({ count: 2, activity: [row, row] });
});
