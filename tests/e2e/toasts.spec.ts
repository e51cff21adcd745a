import type { Page } from "@playwright/test";
import { signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { expectStill, watchLayout, watchPolicy } from "./page-checks";
import { signUpWithSpend } from "./spend";

const notices = (page: Page) => page.getByRole("region", { name: "Notices" });

/** Archives the project of the page, which shows a notice with a button. */
async function archive(page: Page): Promise<void> {
  await page.getByRole("button", { name: "Actions for checkout" }).click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await page.getByRole("button", { name: "Archive", exact: true }).click();
}

test("Loads notices with the first one, says them politely, and breaks neither policy nor layout", async ({
  page,
}) => {
  const { slug } = await signUp(page);
  await watchLayout(page);
  const violations = await watchPolicy(page);
  await page.goto(`/${slug}/settings/account`);
  await page.waitForLoadState("networkidle");
  await expect(notices(page)).toHaveCount(0);
  const late: string[] = [];
  page.on("request", (request) => request.url().endsWith(".js") && late.push(request.url()));
  await page.getByRole("button", { name: "Save" }).first().click();
  const notice = notices(page).getByRole("listitem");
  await expect(notice).toContainText("Your account is changed.");
  expect(late).not.toEqual([]);
  await expect(notices(page)).toHaveAttribute("aria-live", "polite");
  // The pointer on it keeps it.
  await notice.hover();
  await expectStill(page);
  expect(violations).toEqual([]);
});

test("Leaves every control of a page in reach at 390 px; reaches a notice by keyboard, and returns the focus when it goes", async ({
  page,
  world,
}) => {
  const wide = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  const { slug } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}/projects/checkout`);
  await archive(page);
  await expect(notices(page)).toContainText("checkout is archived.");
  const notice = notices(page).getByRole("listitem");
  await notice.hover();
  await page.evaluate(() => window.scrollTo(0, document.documentElement.scrollHeight));
  const box = await notice.boundingBox();
  const covered = await page.getByRole("main").evaluate((main, top) => {
    const controls = [...main.querySelectorAll("a, button, input, select, textarea, summary")];
    return controls
      .filter((control) => control.getBoundingClientRect().bottom > top)
      .map((each) => each.outerHTML);
  }, box?.y ?? 0);
  expect(covered).toEqual([]);
  expect(box?.x).toBeGreaterThanOrEqual(0);
  expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(390);

  // The notice stays while the pointer is on it.
  if (wide) await page.setViewportSize(wide);
  await notice.hover();
  const before = page.getByRole("link", { name: "Overview" });
  await before.focus();
  await page.keyboard.press("Alt+t");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Tab");
  await expect(notices(page).getByRole("button", { name: "Close" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(notices(page).getByText("checkout is archived.")).toHaveCount(0);
  await expect(before).toBeFocused();
});

test.describe("Without the network", () => {
  test.use({ mayReportErrors: true });

  test("Says a problem as plain text where notices cannot be loaded", async ({ page }) => {
    const { slug } = await signUp(page);
    await page.goto(`/${slug}/alerts/rules`);
    await page.waitForLoadState("networkidle");
    await page.route("**", (route) => route.abort());
    await page.getByRole("switch").first().click();
    const notice = page.getByRole("status").filter({ hasText: "Try again in a moment" });
    await expect(notice).toBeVisible();
    await page.unroute("**");
    // Once the service answers, it is shown as the others are.
    await expect(notices(page).getByRole("listitem")).toContainText("reached");
  });
});
