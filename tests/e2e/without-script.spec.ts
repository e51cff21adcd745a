import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures";
import { signUpWithSpend } from "./spend";

/** The pages of a workspace, and something that each shows of what was recorded. */
const pages = {
  "": "$", // the headline
  "/activity": "Hetzner",
  "/explore": "research",
  "/projects": "research",
  "/keys": "Test key",
  "/sources": "Sources",
  "/budgets": "Budgets",
  "/alerts": "Alerts",
  "/alerts/rules": "Key near its limit",
  "/connections": "Connections",
  "/settings/members": "Ada",
  "/settings/prices": "ranker-7b",
};

const notice = (page: Page) => page.locator("[data-without-script]");

test("Shows the content of every page without scripts, says that they are off, and leaves no skeleton", {
  tag: "@phone",
}, async ({ page, world, browser, viewport, colorScheme }) => {
  const { slug } = await signUpWithSpend(page, world);
  const context = await browser.newContext({
    javaScriptEnabled: false,
    storageState: await page.context().storageState(),
    baseURL: world.service.baseUrl,
    viewport,
    colorScheme: colorScheme ?? null,
  });
  const plain = await context.newPage();
  for (const [path, text] of Object.entries(pages)) {
    await plain.goto(`/${slug}${path}`);
    await expect(notice(plain), path).toBeVisible();
    await expect(plain.locator("[data-skeleton]").filter({ visible: true }), path).toHaveCount(0);
    await expect(plain.getByRole("heading", { level: 1 }).filter({ visible: true }), path).toHaveCount(1);
    const content = plain.locator('main, body > div[id^="S:"]').getByText(text).filter({ visible: true });
    await expect(content.first(), path).toBeVisible();
    // Beside the sidebar, within the screen, and below the header of the page.
    const box = await content.first().boundingBox();
    expect(box?.x, path).toBeGreaterThanOrEqual((viewport?.width ?? 0) >= 1024 ? 240 : 0);
    expect((box?.x ?? 0) + (box?.width ?? 0), path).toBeLessThanOrEqual(viewport?.width ?? 0);
  }
  await plain.goto("/");
  await expect(notice(plain)).toBeVisible();
  await context.close();
});
