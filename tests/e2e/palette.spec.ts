import type { Page } from "@playwright/test";
import { costMessage } from "@/tests/helpers/client";
import { signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { expectStill, watchLayout, watchPolicy } from "./page-checks";
import { clientOf, signUpWithSpend } from "./spend";

const line = (page: Page) => page.getByRole("combobox", { name: "Search pages, projects and actions" });

/** Holds back every script that the page asks for from now on. @returns a function that lets them through */
async function holdScripts(page: Page): Promise<() => void> {
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route("**/_next/static/**/*.js", async (route) => {
    await released;
    await route.continue();
  });
  return release;
}

test("Loads the command palette late, without moving anything or breaking the policy; finds pages and projects, and closes with Escape", async ({
  page,
  world,
}) => {
  const { slug } = await signUpWithSpend(page, world);
  await watchLayout(page);
  const violations = await watchPolicy(page);
  await page.goto(`/${slug}`);
  await page.waitForLoadState("networkidle");
  const late: string[] = [];
  page.on("request", (request) => request.url().endsWith(".js") && late.push(request.url()));
  await page.keyboard.press("Control+k");
  await expect(line(page)).toBeFocused();
  await expect(page.getByRole("option", { name: "checkout" })).toBeVisible();
  expect(late).not.toEqual([]);
  await expectStill(page);
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
  await expect(line(page)).toBeHidden();
  await expectStill(page);
  expect(violations).toEqual([]);
});

test("Finds keys, members, features, people and pages of settings by name in the command palette", async ({
  page,
  world,
}) => {
  const { slug, email } = await signUp(page);
  const client = await clientOf(world, slug);
  const usage = costMessage({ feature: "order-answers", user: "bo@example.org" });
  expect((await client.post(usage)).status).toBe(201);
  await page.goto(`/${slug}`);
  const find = async (typed: string, group: string, option: RegExp) => {
    await page.keyboard.press("Control+k");
    await line(page).fill(typed);
    await page.getByRole("group", { name: group }).getByRole("option", { name: option }).click();
  };
  await find("order", "Features", /^order-answers$/);
  await page.waitForURL((url) => url.searchParams.get("feature") === "order-answers");
  await expect(page.getByRole("table", { name: "Activity" }).locator("[data-row]")).toHaveCount(1);
  await find("bo@", "People", /^bo@example\.org$/);
  await page.waitForURL((url) => url.searchParams.get("user") === "bo@example.org");
  await find("test key", "Keys", /^Test key$/);
  await page.waitForURL((url) => url.searchParams.has("key"));
  await expect(page.getByRole("table", { name: "Activity" }).locator("[data-row]")).toHaveCount(1);
  await find(email.slice(0, 8), "Members", /Ada/);
  await page.waitForURL(`**/${slug}/settings/members`);
  await find("audit", "Pages", /^Audit log/);
  await page.waitForURL(`**/${slug}/settings/audit`);
  await find("import", "Pages", /^Import a file/);
  await page.waitForURL(`**/${slug}/activity/import`);
});

test("Shows long names to their last character, where they differ", { tag: "@phone" }, async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  const client = await clientOf(world, slug);
  const names = [1, 2].map(
    (number) => `Customer support assistant of the Scandinavian and Baltic region, generation ${number}`,
  );
  for (const feature of names) expect((await client.post(costMessage({ feature }))).status).toBe(201);
  await page.goto(`/${slug}`);
  await page.keyboard.press("Control+k");
  await line(page).fill("assistant");
  for (const name of names) {
    const label = page.getByRole("option", { name }).getByText(name);
    await expect(label).toBeVisible();
    const cut = await label.evaluate(
      (element) => element.scrollWidth > element.clientWidth || element.scrollHeight > element.clientHeight,
    );
    expect(cut, name).toBe(false);
  }
});

test("Goes on in the same text when the palette is loaded", async ({ page }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}`);
  await page.waitForLoadState("networkidle");
  const release = await holdScripts(page);
  await page.keyboard.press("Control+k");
  await page.keyboard.type("bud");
  release();
  await expect(page.getByRole("option", { name: "Budgets" })).toHaveAttribute("aria-selected", "true");
  await expect(line(page)).toBeFocused();
  await page.keyboard.type("get");
  await expect(line(page)).toHaveValue("budget");
});

test("Returns the focus to where it was, and opens from the button", { tag: "@phone" }, async ({ page }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}/keys`);
  const button = page.getByRole("button", { name: "Search" }).filter({ visible: true });
  await button.click();
  await expect(line(page)).toBeFocused();
  await page.keyboard.press("Escape");
  await expect(button).toBeFocused();
});

test.describe("Without its scripts", () => {
  test.use({ mayReportErrors: true });

  test("Says that the palette could not be loaded, loads it at the next try, and keeps what is typed, and Enter, meanwhile", async ({
    page,
  }) => {
    const { slug } = await signUp(page);
    await page.goto(`/${slug}`);
    await page.waitForLoadState("networkidle");
    await page.route("**/_next/static/**/*.js", (route) => route.abort());
    await page.keyboard.press("Control+k");
    await expect(page.getByRole("status").filter({ hasText: "could not be loaded" })).toBeVisible();
    await page.keyboard.press("Escape");
    await page.unroute("**/_next/static/**/*.js");
    const release = await holdScripts(page);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("budg");
    await expect(page.getByRole("status").filter({ hasText: "Loading" })).toBeVisible();
    await page.keyboard.press("Enter");
    release();
    await page.waitForURL(`**/${slug}/budgets`);
  });
});
