import { expect, test } from "./fixtures";
import { watchPolicy } from "./page-checks";

test.describe("what a policy keeps from a page", () => {
  // Pages that are not there are answered with a refusal.
  test.use({ mayBeRefused: true });

  test("nothing is kept from a page that says there is none, and it wakes up", async ({ page }) => {
    const violations = await watchPolicy(page);
    for (const path of ["/nowhere", "/a/page/that/is/nowhere", "/docs/nowhere.html"]) {
      const response = await page.goto(path);
      expect(response?.status()).toBe(404);
      await expect(page.locator("html")).toHaveClass(/\blight\b/);
      await page.waitForLoadState("networkidle");
    }
    expect(violations).toEqual([]);
  });
});

test("A script that somebody wrote into a page does not run", async ({ browser, world }) => {
  // A context of its own: what is refused here is an error on the console.
  const page = await (await browser.newContext({ baseURL: world.service.baseUrl })).newPage();
  const violations = await watchPolicy(page);
  await page.goto("/sign-in");
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.stolen = true";
    document.body.append(script);
    document.body.insertAdjacentHTML("beforeend", '<img src="data:," onerror="window.stolen = true">');
  });
  await expect.poll(() => violations.filter((each) => each.startsWith("script-src")).length).toBe(2);
  expect(await page.evaluate(() => "stolen" in window)).toBe(false);
  await page.context().close();
});
