import type { Browser, Page } from "@playwright/test";
import { signUp } from "./accounts";
import { keepAwake } from "./awake";
import { expect, test } from "./fixtures";
import { startCuttingProxy } from "./proxy";
import { recordSpend } from "./spend";

const unreachable = (page: Page) => page.getByText("Outlay cannot be reached. Trying again…");

// Services start and stop in these tests, and the first page of one takes longer.
test.setTimeout(300_000);
// In one worker, so that they share the service that stops.
test.describe.configure({ mode: "default" });
const started = { timeout: 30_000 };

/** A page of the stoppable service. Its console is not watched: a browser reports each request without an answer there. */
async function openAt(browser: Browser, baseURL: string): Promise<Page> {
  return keepAwake(await (await browser.newContext({ baseURL })).newPage());
}

test("Keeps the app when the service stops, and opens the page that was clicked when it answers again", async ({
  browser,
  stoppable,
}) => {
  const page = await openAt(browser, stoppable.baseUrl);
  const { slug } = await signUp(page);
  await page.goto(`/${slug}/keys`);
  await page.waitForLoadState("networkidle");
  await stoppable.stop();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Budgets" }).click();
  await expect(unreachable(page)).toBeVisible();
  await expect(page.getByRole("status").filter({ hasText: "cannot be reached" })).toContainText(
    /at \d+:\d\d:\d\d/,
  );
  await expect(page.getByRole("complementary", { name: "Workspace" })).toBeVisible();
  // A page that was not loaded before, in a click that the router cannot answer from what it has.
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Settings" }).click();
  await expect(unreachable(page)).toBeVisible();
  await stoppable.startAgain();
  await page.waitForURL(`**/${slug}/settings`);
  await expect(page.getByRole("textbox", { name: "Name" })).toBeVisible(started);
  await expect(unreachable(page)).toBeHidden();
  await page.context().close();
});

test("Keeps the app at a link that the browser opens itself, as that to the API reference", async ({
  browser,
  stoppable,
}) => {
  const page = await openAt(browser, stoppable.baseUrl);
  await page.goto("/");
  const reference = page.getByRole("link", { name: "API reference", exact: true });
  await stoppable.stop({ kill: true });
  await reference.click();
  await expect(unreachable(page)).toBeVisible();
  await expect(reference).toBeVisible();
  await stoppable.startAgain();
  await page.waitForURL("**/docs");
  await page.context().close();
});

test("Keeps what was typed into a form, says so, and saves it when the service answers again", async ({
  browser,
  stoppable,
}) => {
  const page = await openAt(browser, stoppable.baseUrl);
  const { slug } = await signUp(page);
  await page.goto(`/${slug}/budgets`);
  await page.waitForLoadState("networkidle");
  await stoppable.stop();
  // The dialog's code is loaded on demand: it opens when it can be.
  await page.getByRole("button", { name: "Set a budget" }).first().click();
  await expect(unreachable(page)).toBeVisible();
  await expect(page.getByRole("heading", { level: 1, name: "Budgets" })).toBeVisible();
  await stoppable.startAgain();
  const dialog = page.getByRole("dialog", { name: "Set a budget" });
  await dialog.getByLabel("Name").fill("All of it");
  await dialog.getByRole("textbox", { name: /month/i }).first().fill("25");
  await stoppable.stop();
  await dialog.getByRole("button", { name: "Set the budget" }).click();
  await expect(dialog.getByRole("alert")).toContainText("What you entered is still here");
  await expect(dialog.getByLabel("Name")).toHaveValue("All of it");
  await stoppable.startAgain();
  await expect(async () => {
    // A service that has just started may still refuse once, and says so in the form, which stays open.
    // A slow answer to the click before may close it meanwhile.
    const set = dialog.getByRole("button", { name: "Set the budget" });
    if (await dialog.isVisible()) await set.click({ timeout: 5_000 });
    await expect(dialog).toBeHidden({ timeout: 5_000 });
  }).toPass();
  await expect(page.getByRole("main").getByText("All of it").first()).toBeVisible(started);
  await page.context().close();
});

test("Signs in with what was typed as soon as the service answers again", async ({ browser, stoppable }) => {
  const page = await openAt(browser, stoppable.baseUrl);
  const { email, slug } = await signUp(page);
  await page.context().clearCookies();
  await page.goto("/sign-in");
  await page.getByLabel("E-mail address").fill(email);
  await page.getByLabel("Password", { exact: true }).fill("correct horse battery");
  await stoppable.stop();
  await page.getByRole("button", { name: "Sign in" }).click();
  await expect(unreachable(page)).toBeVisible();
  await expect(page.getByLabel("E-mail address")).toHaveValue(email);
  await stoppable.startAgain();
  await page.waitForURL(`**/${slug}`);
  await page.context().close();
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
