import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { expectSystemTheme } from "./page-checks";

const isPhone = (page: Page) => page.getByRole("button", { name: "Menu" }).isVisible();

async function openSidebar(page: Page): Promise<void> {
  if (await isPhone(page)) await page.getByRole("button", { name: "Menu" }).click();
}

test("Opens a page from the sidebar, marks it, and closes the sidebar on a phone", {
  tag: "@phone",
}, async ({ page }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}`);
  await openSidebar(page);
  const sidebar = page.getByRole("complementary", { name: "Workspace" });
  await expect(sidebar.getByRole("link", { name: "Overview" })).toHaveAttribute("aria-current", "page");
  await sidebar.getByRole("link", { name: "Projects" }).click();
  await page.waitForURL(`**/${slug}/projects`);
  await expect(page.getByRole("heading", { level: 1, name: "Projects" })).toBeVisible();
  if (await isPhone(page)) await expect(sidebar).toBeHidden();
  await openSidebar(page);
  await expect(sidebar.getByRole("link", { name: "Projects" })).toHaveAttribute("aria-current", "page");
});

test("Skips to the content by keyboard first, and says nothing of scripts where they run", async ({
  page,
}) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}`);
  await expect(page.locator("[data-without-script]")).toBeHidden();
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main")).toBeFocused();
});

test("Works by keyboard in the menus: the theme is the system's, changes and stays", {
  tag: "@phone",
}, async ({ page }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}`);
  await expectSystemTheme(page);
  await openSidebar(page);
  const account = page.getByRole("button", { name: "Account of Ada" });
  for (const theme of ["dark", "light"]) {
    await account.focus();
    await page.keyboard.press("ArrowDown");
    await expect(page.getByRole("menu", { name: "Account" })).toBeVisible();
    await page.keyboard.press(theme.charAt(0));
    await page.keyboard.press("Enter");
    await expect(page.locator("html")).toHaveClass(new RegExp(`\\b${theme}\\b`));
    await expect(page.getByRole("menu", { name: "Account" })).toBeHidden();
    await expect(account).toBeFocused();
  }
  await page.reload();
  await expect(page.locator("html")).toHaveClass(/\blight\b/);
});

test.describe("A new workspace", () => {
  test.use({ mayBeRefused: true });

  test("Is created by name, with an address that is not taken or reserved, and left for the first one", {
    tag: "@phone",
  }, async ({ page }) => {
    const { slug } = await signUp(page);
    await page.goto(`/${slug}`);
    await openSidebar(page);
    await page.getByRole("button", { name: /switch workspace/ }).click();
    await page.getByRole("menuitem", { name: "New workspace" }).click();
    const name = `Team ${randomUUID().slice(0, 8)}`;
    await page.getByLabel("Name").fill(name);
    const address = page.getByLabel("Address");
    const suggested = await address.inputValue();
    for (const [taken, said] of [
      [slug, `The slug ${slug} is taken.`],
      ["settings", "is reserved for the service's own pages"],
    ] as const) {
      await address.fill(taken);
      await page.getByRole("button", { name: "Create the workspace" }).click();
      await expect(page.getByRole("alert").filter({ hasText: said })).toBeVisible();
      expect(new URL(page.url()).pathname).toBe("/workspaces/new");
    }
    await address.fill(suggested);
    await page.getByRole("button", { name: "Create the workspace" }).click();
    await page.waitForURL((url) => url.pathname.startsWith("/team-"));
    await openSidebar(page);
    await page.getByRole("button", { name: `${name} , switch workspace` }).click();
    await page.getByRole("menuitem", { name: "Ada" }).click();
    await page.waitForURL(`**/${slug}`);
  });
});
