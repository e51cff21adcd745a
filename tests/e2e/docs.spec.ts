import { gzipSync } from "node:zlib";
import type { APIRequestContext } from "@playwright/test";
import { expect, test } from "./fixtures";
import { expectStill, expectSystemTheme, expectUsable, expectWithin, watchLayout } from "./page-checks";

/** The limit of a page's first visit: HTML uncompressed, its requests compressed where possible. */
const maxBytes = 300_000;

/** Every page of the reference, from the first page's table of contents. */
async function listPages(request: APIRequestContext): Promise<string[]> {
  const html = await (await request.get("/docs")).text();
  const [contents = ""] = /<nav aria-label="Contents".*?<\/nav>/s.exec(html) ?? [];
  const paths = [...contents.matchAll(/href="(\/docs[^"#]*)"/g)].map(([, path]) => path ?? "");
  expect(paths.length).toBeGreaterThan(10);
  return paths;
}

test("Is accessible on every page of the API reference, within the screen and without layout shifts", {
  tag: "@phone",
}, async ({ page, request, isMobile }) => {
  test.setTimeout(480_000);
  await watchLayout(page);
  for (const [index, path] of (await listPages(request)).entries()) {
    await test.step(path, async () => {
      await page.goto(path);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      // On a phone, the elements and their colours are those of a wide screen; only the contents fold, the same on every page.
      if (!isMobile || index === 0) await expectUsable(page);
      else await expectWithin(page);
      await expectStill(page);
    });
  }
});

test("Loads at most 300 kB for any page's first visit, and nothing inline", async ({ request }) => {
  for (const path of await listPages(request)) {
    const answer = await request.get(path);
    expect(answer.headers()["content-security-policy"]).toContain("script-src 'self' 'nonce-");
    const html = await answer.body();
    const text = html.toString();
    const sources = [...text.matchAll(/(?:src|href)="(\/docs\/assets\/[^"]+)"/g)].map(
      ([, source]) => source ?? "",
    );
    expect(sources.filter((source) => /\.(css|js|woff2)$/.test(source))).toHaveLength(5);
    const loaded = await Promise.all(
      sources.map(async (source) => {
        const asset = await request.get(source);
        expect(asset.headers()["cache-control"]).toBe("public, max-age=31536000, immutable");
        const body = await asset.body();
        return source.endsWith(".woff2") ? body.length : gzipSync(body).length;
      }),
    );
    const bytes = loaded.reduce((sum, size) => sum + size, html.length);
    expect(bytes, `${path}: ${bytes} bytes`).toBeLessThanOrEqual(maxBytes);
    expect(text).not.toMatch(/<script(?![^>]*\ssrc=)|<style|\sstyle=|\son\w+=/);
  }
});

test("Shows every endpoint, with links that lead to what they name", async ({ request }) => {
  const { paths } = await (await request.get("/api/openapi.json")).json();
  const pages = new Map<string, string>();
  for (const path of await listPages(request)) pages.set(path, await (await request.get(path)).text());
  const html = [...pages.values()].join("");
  for (const path of Object.keys(paths)) expect(html).toContain(`>${path}</code>`);
  const lost: string[] = [];
  for (const [at, text] of pages) {
    for (const [, target = "", id = ""] of text.matchAll(
      /href="(\/docs(?!\/assets)[^"#]*)?(?:#([^"]+))?"/g,
    )) {
      const there = pages.get(target || at);
      if (there === undefined || (id && !there.includes(`id="${id}"`))) lost.push(`${at}: ${target}#${id}`);
    }
  }
  expect(lost).toEqual([]);
});

test("Shows the fields of each alternative of a request body", async ({ page }) => {
  await page.goto("/docs/alert-channels");
  const section = page.locator("#post-workspaces-by-slug-alert-channels");
  await expect(section.locator("code").getByText("name", { exact: true }).first()).toBeVisible();
  for (const [kind, field] of [
    ["webhook", "url"],
    ["teams", "url"],
    ["pagerduty", "routing_key"],
    ["email", "addresses"],
  ] as const) {
    const alternative = section
      .locator("details")
      .filter({ has: page.locator("summary", { hasText: `kind: "${kind}"` }) });
    await expect(alternative).toHaveCount(1);
    await alternative.evaluate((details: HTMLDetailsElement) => {
      details.open = true;
    });
    await expect(alternative.locator("code").getByText(field, { exact: true })).toBeVisible();
  }
});

test("Shows the addresses of the page and of the agent tools in examples", async ({ page, world }) => {
  const { baseUrl } = world.service;
  await page.goto("/docs/agents");
  await expect(page.getByRole("group", { name: "Agent tools" })).toHaveText(`${baseUrl}/api/mcp`);
  await expect(page.locator("main")).not.toContainText("127.0.0.1:3000");
  await page.goto("/docs/messages");
  const example = page.getByRole("group", { name: /in curl$/ }).first();
  await expect(example).toContainText(`curl ${baseUrl}/api/v1/messages`);
});

test("Finds fields and errors by keyboard, and loads the search index on opening", async ({ page }) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto("/docs");
  await page.waitForLoadState("networkidle");
  expect(asked.filter((url) => url.includes("search"))).toEqual([]);
  await page.keyboard.press("/");
  const field = page.getByRole("textbox", { name: "Search endpoints, fields and errors" });
  const results = page.getByRole("list", { name: "Results" }).getByRole("link");
  await expect(field).toBeFocused();
  await page.keyboard.type("idempotency_conflict");
  await expect(results.first()).toContainText("idempotency_conflict");
  await expectUsable(page);
  await page.keyboard.press("Enter");
  await expect(page).toHaveURL(/\/docs\/errors#idempotency_conflict$/);
  await page.keyboard.press("Control+k");
  await field.fill("quantity");
  await expect(results.first()).toContainText("POST /api/v1/messages");
  await field.fill("no such thing anywhere");
  await expect(page.getByText("Nothing found.")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(field).toBeHidden();
});

test("Keeps the chosen language on the next page, and has the theme of the system or that was chosen in the app", async ({
  page,
}) => {
  await page.goto("/docs/summary");
  await expectSystemTheme(page);
  await page.getByText("Python", { exact: true }).first().click();
  await page.evaluate(() => localStorage.setItem("theme", "dark"));
  await page.goto("/docs/messages");
  await expect(page.locator("html")).toHaveClass(/\bdark\b/);
  await expect(page.getByRole("group", { name: /in Python$/ }).first()).toBeVisible();
  await expect(page.getByRole("group", { name: /in curl$/ }).first()).toBeHidden();
});

test.describe("Without scripts", () => {
  test.use({ javaScriptEnabled: false });

  test("Lets one read, navigate and choose a language", { tag: "@phone" }, async ({ page }) => {
    await page.goto("/docs/messages");
    await page.getByText("TypeScript", { exact: true }).first().click();
    await expect(page.getByRole("group", { name: /in TypeScript$/ }).first()).toBeVisible();
    await expect(page.getByRole("button", { name: "Search" })).toBeHidden();
    const contents = page.locator("summary").filter({ hasText: "Contents" });
    if (await contents.isVisible()) await contents.click();
    const list = page.getByRole("navigation", { name: "Contents" }).filter({ visible: true });
    await expect(list.getByRole("link", { name: "Messages", exact: true })).toHaveAttribute(
      "aria-current",
      "page",
    );
    await list.getByRole("link", { name: "Errors" }).click();
    await expect(page.getByRole("heading", { level: 1, name: "Errors" })).toBeVisible();
  });
});
