import type { Browser, Page } from "@playwright/test";
import { password, signUp } from "./accounts";
import { keepAwake } from "./awake";
import { expect, test } from "./fixtures";
import { startCuttingProxy } from "./proxy";
import { recordSpend } from "./spend";

const unreachable = (page: Page) => page.getByText("Outlay cannot be reached. Trying again…");

// A service starts and stops in one of these tests, and the first page of one takes longer.
test.setTimeout(300_000);
const started = { timeout: 30_000 };

/** A page of the stoppable service. Its console is not watched: a browser reports each request without an answer there. */
async function openAt(browser: Browser, baseURL: string): Promise<Page> {
  return keepAwake(await (await browser.newContext({ baseURL })).newPage());
}

test("Keeps the app when the service stops: what was clicked, typed and sent, until it answers again", async ({
  browser,
  stoppable,
}) => {
  const openPage = () => openAt(browser, stoppable.baseUrl);
  const [app, landing, form, signIn] = [
    await openPage(),
    await openPage(),
    await openPage(),
    await openPage(),
  ];
  const { slug } = await signUp(app);
  await app.goto(`/${slug}/keys`);
  await landing.goto("/");
  const reference = landing.getByRole("link", { name: "API reference", exact: true });
  const { slug: budgets } = await signUp(form);
  await form.goto(`/${budgets}/budgets`);
  const account = await signUp(signIn);
  await signIn.context().clearCookies();
  await signIn.goto("/sign-in");
  await signIn.getByLabel("E-mail address").fill(account.email);
  await signIn.getByLabel("Password", { exact: true }).fill(password);
  for (const page of [app, form]) await page.waitForLoadState("networkidle");

  await stoppable.stop({ kill: true });
  await test.step("a page that is clicked", async () => {
    await app.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Budgets" }).click();
    await expect(unreachable(app)).toBeVisible();
    await expect(app.getByRole("status").filter({ hasText: "cannot be reached" })).toContainText(
      /at \d+:\d\d:\d\d/,
    );
    await expect(app.getByRole("complementary", { name: "Workspace" })).toBeVisible();
    // A page that was not loaded before, in a click that the router cannot answer from what it has.
    await app.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Settings" }).click();
    await expect(unreachable(app)).toBeVisible();
  });
  await test.step("a link that the browser opens itself, as that to the API reference", async () => {
    await reference.click();
    await expect(unreachable(landing)).toBeVisible();
    await expect(reference).toBeVisible();
  });
  await test.step("a dialog whose code is loaded on demand", async () => {
    await form.getByRole("button", { name: "Set a budget" }).first().click();
    await expect(unreachable(form)).toBeVisible();
    await expect(form.getByRole("heading", { level: 1, name: "Budgets" })).toBeVisible();
  });
  await test.step("a form that is rendered without scripts, too", async () => {
    await signIn.getByRole("button", { name: "Sign in" }).click();
    await expect(unreachable(signIn)).toBeVisible();
    await expect(signIn.getByLabel("E-mail address")).toHaveValue(account.email);
  });

  await stoppable.startAgain();
  await app.waitForURL(`**/${slug}/settings`);
  await expect(app.getByRole("textbox", { name: "Name" })).toBeVisible(started);
  await expect(unreachable(app)).toBeHidden();
  await landing.waitForURL("**/docs");
  await signIn.waitForURL(`**/${account.slug}`);
  const dialog = form.getByRole("dialog", { name: "Set a budget" });
  await dialog.getByLabel("Name").fill("All of it");
  await dialog.getByRole("textbox", { name: /month/i }).first().fill("25");

  await stoppable.stop();
  await test.step("what was typed into a form, which is sent once the service answers", async () => {
    await dialog.getByRole("button", { name: "Set the budget" }).click();
    await expect(dialog.getByRole("alert")).toContainText("What you entered is still here");
    await expect(dialog.getByLabel("Name")).toHaveValue("All of it");
    await stoppable.startAgain();
    await expect(async () => {
      // A service that has just started may still refuse once, and says so in the form, which stays open.
      if (await dialog.isVisible()) await dialog.getByRole("button", { name: "Set the budget" }).click();
      await expect(dialog).toBeHidden({ timeout: 5_000 });
    }).toPass();
    await expect(form.getByRole("main").getByText("All of it").first()).toBeVisible(started);
  });
  for (const page of [app, landing, form, signIn]) await page.context().close();
});

test("Keeps the app when a proxy answers for a service that is away", async ({ browser, world }) => {
  const page = await openAt(browser, world.service.baseUrl);
  const { slug } = await signUp(page);
  await page.goto(`/${slug}/keys`);
  await page.waitForLoadState("networkidle");
  const refuse = { status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" };
  await page.route("**/*", (route) => route.fulfill(refuse));
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Projects" }).click();
  await expect(unreachable(page)).toBeVisible();
  await expect(page.getByText("Bad gateway")).toBeHidden();
  await page.unroute("**/*");
  await page.waitForURL(`**/${slug}/projects`);
  await expect(page.getByRole("heading", { level: 1, name: "Projects" })).toBeVisible();
  await expect(unreachable(page)).toBeHidden();
  await page.context().close();
});

test("An export that breaks off is not saved, and says what to do", async ({ browser, world }) => {
  const proxy = await startCuttingProxy(world.service.baseUrl);
  const page = await openAt(browser, proxy.baseUrl);
  const downloads: string[] = [];
  page.on("download", (download) => downloads.push(download.suggestedFilename()));
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}/activity?period=all`);
  await page.getByRole("button", { name: "Export" }).click();
  await page.getByRole("menuitem", { name: /^CSV/ }).click();
  await expect(page.getByText(/The connection broke .* nothing was saved\. Export again/)).toBeVisible();
  await expect(page.getByRole("button", { name: "Export" })).toBeEnabled();
  expect(downloads).toEqual([]);
  await page.context().close();
  proxy.stop();
});
