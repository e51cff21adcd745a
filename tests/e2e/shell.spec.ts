import { randomUUID } from "node:crypto";
import type { Page } from "@playwright/test";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { signUp, workspaceId } from "./accounts";
import { expect, test } from "./fixtures";
import { recordSpend } from "./spend";

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

test("Skips to the content by keyboard first", async ({ page }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}`);
  await page.keyboard.press("Tab");
  await expect(page.getByRole("link", { name: "Skip to the content" })).toBeFocused();
  await page.keyboard.press("Enter");
  await expect(page.getByRole("main")).toBeFocused();
});

test("Finds pages and projects in the command palette, and closes it with Escape", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}`);
  await page.keyboard.press("Control+k");
  const line = page.getByRole("combobox", { name: "Search pages, projects and actions" });
  await expect(line).toBeFocused();
  await page.keyboard.type("budg");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/${slug}/budgets`);
  await page.keyboard.press("Control+k");
  await expect(page.getByRole("option", { name: "checkout" })).toBeVisible();
  await page.keyboard.type("checkout");
  await page.keyboard.press("Enter");
  await page.waitForURL(`**/${slug}/projects/checkout`);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("no such thing");
  await expect(page.getByText("Nothing found")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(line).toBeHidden();
});

test("Finds keys, members, features, people and pages of settings by name in the command palette", async ({
  page,
  world,
}) => {
  const { slug, email } = await signUp(page);
  const { secret } = await world.fixtures.key(await workspaceId(world, slug));
  const usage = costMessage({ feature: "order-answers", user: "bo@example.org" });
  expect((await apiClient(world.service.baseUrl, secret).post(usage)).status).toBe(201);
  await page.goto(`/${slug}`);
  const find = async (typed: string, option: RegExp) => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Search pages, projects and actions" }).fill(typed);
    await page.getByRole("option", { name: option }).click();
  };
  await find("order", /^order-answers\s*Feature$/);
  await page.waitForURL((url) => url.searchParams.get("feature") === "order-answers");
  await expect(page.getByRole("table", { name: "Activity" }).locator("[data-row]")).toHaveCount(1);
  await find("bo@", /^bo@example\.org\s*Person$/);
  await page.waitForURL((url) => url.searchParams.get("user") === "bo@example.org");
  await find("test key", /^Test key\s*Key$/);
  await page.waitForURL((url) => url.searchParams.has("key"));
  await find(email.slice(0, 8), /Member$/);
  await page.waitForURL(`**/${slug}/settings/members`);
  await find("audit", /^Audit log/);
  await page.waitForURL(`**/${slug}/settings/audit`);
  await find("import", /^Import a file/);
  await page.waitForURL(`**/${slug}/activity/import`);
});

test("Works by keyboard in the menus: the theme changes and stays", { tag: "@phone" }, async ({ page }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}`);
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

test("Creates a workspace by name and switches back to the first", {
  tag: "@phone",
}, async ({ page }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}`);
  await openSidebar(page);
  await page.getByRole("button", { name: /switch workspace/ }).click();
  await page.getByRole("menuitem", { name: "New workspace" }).click();
  const name = `Team ${randomUUID().slice(0, 8)}`;
  await page.getByLabel("Name").fill(name);
  await page.getByRole("button", { name: "Create the workspace" }).click();
  await page.waitForURL((url) => url.pathname.startsWith("/team-"));
  await openSidebar(page);
  await page.getByRole("button", { name: `${name} , switch workspace` }).click();
  await page.getByRole("menuitem", { name: "Ada" }).click();
  await page.waitForURL(`**/${slug}`);
});

test.describe("A refused workspace", () => {
  test.use({ mayBeRefused: true });

  test("Shows a taken or reserved address under its field", async ({ page }) => {
    const { slug } = await signUp(page);
    await page.goto("/workspaces/new");
    await page.getByLabel("Name").fill("Another");
    for (const taken of [slug, "settings"]) {
      await page.getByLabel("Address").fill(taken);
      await page.getByRole("button", { name: "Create the workspace" }).click();
      await expect(page.getByRole("alert").filter({ hasText: /\S/ }).first()).toBeVisible();
      expect(new URL(page.url()).pathname).toBe("/workspaces/new");
    }
  });
});
