import { signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { watchPolicy } from "./page-checks";

// What is not found or blocked is an error on the console.
test.use({ mayReportErrors: true });

test("Runs the scripts of the not-found page under its policy", async ({ page }) => {
  const violations = await watchPolicy(page);
  await signUp(page);
  for (const path of ["/a/page/that/is/nowhere", "/nowhere", "/nowhere/keys"]) {
    const response = await page.goto(path);
    expect([path, response?.status()]).toEqual([path, 404]);
    await expect(page.locator("html")).toHaveClass(/\blight\b/);
    await page.waitForLoadState("networkidle");
  }
  expect(violations).toEqual([]);
});

test("Blocks a script injected into a page", async ({ page }) => {
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
});
