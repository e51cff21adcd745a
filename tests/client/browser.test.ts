import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "@playwright/test";
import { build } from "esbuild";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Outlay } from "@/packages/client/src/index";
import { ensureChromium } from "@/scripts/chromium.mjs";
import { projectRoot } from "@/tests/helpers/project-root";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { names, once, recordedLabels } from "./client";

const harness = withSharedHarness();
let browser: Browser;
let page: Page;
let url: string;
let workspace: string;
let secret: string;
/** The bodies that the page sent. */
let bodies: string[];

declare const outlay: Outlay;

/** A site whose server passes `/costs` on to the service, and adds the key: the page has none. */
const site = createServer(async (request, response) => {
  if (request.url === "/client.js") {
    const entry = join(projectRoot, "dist/client/index.js");
    const { outputFiles } = await build({ entryPoints: [entry], bundle: true, write: false, format: "esm" });
    return response.writeHead(200, { "content-type": "text/javascript" }).end(outputFiles[0]?.text);
  }
  if (!request.url?.startsWith("/costs/")) {
    const script = `import { Outlay } from "/client.js";
      window.outlay = new Outlay({ url: "/costs", project: "site", flushIntervalMs: 60000 });`;
    const html = `<!doctype html><title>Site</title><script type="module">${script}</script>`;
    return response.writeHead(200, { "content-type": "text/html" }).end(html);
  }
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks).toString();
  bodies.push(body);
  const answer = await fetch(harness.services[0]?.baseUrl + request.url.slice("/costs".length), {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${secret}` },
    body,
  });
  const text = await answer.text();
  response.writeHead(answer.status, { "content-type": "application/json" }).end(text);
});

beforeAll(async () => {
  await new Promise<void>((resolve) => site.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
  const executablePath = process.env.CHROMIUM_PATH || String(await ensureChromium());
  browser = await chromium.launch({
    executablePath,
    args: ["--no-sandbox", "--disable-background-networking"],
  });
}, 300_000);
afterAll(async () => {
  await browser?.close();
  site.closeAllConnections();
  site.close();
});

beforeEach(async () => {
  workspace = await harness.fixtures.workspace();
  ({ secret } = await harness.fixtures.key(workspace));
  bodies = [];
  // A context that lives longer than the page, as a browser does.
  const context = await browser.newContext();
  page = await context.newPage();
  await page.goto(url);
  await page.waitForFunction("window.outlay");
  return () => context.close();
});

/** Records messages in the page. */
const record = (labels: string[], text = "") =>
  page.evaluate(
    ([all, note]) => {
      const message = { type: "usage" as const, provider: "openai", unit_type: "requests", quantity: 1 };
      for (const label of all) outlay.record({ ...message, label, metadata: { note } });
    },
    [labels, text || "-"] as const,
  );

test("A page records through its own server", async () => {
  await record(names(3));
  expect(await page.evaluate(() => outlay.flush())).toBe(true);
  expect(await page.evaluate(() => outlay.counts)).toMatchObject({ recorded: 3, queued: 0 });
  expect(await recordedLabels(harness, workspace)).toEqual(once(names(3)));
});

test.each([
  ["is left for another", () => page.goto("about:blank")],
  ["is closed", () => page.close({ runBeforeUnload: true })],
])("What waits is sent when the page %s, in a request that outlives it", async (_, leave) => {
  // 200 kB: more than a page may send when it ends. The first 60 kB arrive for certain.
  await record(names(400), "x".repeat(400));
  expect(bodies).toEqual([]);
  await leave();
  const count = async () => Object.keys(await recordedLabels(harness, workspace)).length;
  await expect.poll(count, { timeout: 30_000 }).toBeGreaterThan(50);
  const recorded = await recordedLabels(harness, workspace);
  expect(Object.values(recorded).every((count) => count === 1)).toBe(true);
  expect(bodies[0]?.length).toBeLessThanOrEqual(60_000);
});
