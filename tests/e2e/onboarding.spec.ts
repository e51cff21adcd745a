import { execFile } from "node:child_process";
import { promisify } from "node:util";
import type { Page } from "@playwright/test";
import { demote, setRole, signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { readPage } from "./html";
import { expectUsable } from "./page-checks";

const run = promisify(execFile);

/** The text of a snippet as it is copied. */
async function readSnippet(page: Page, tab: string): Promise<string> {
  await page.getByRole("tab", { name: tab, exact: true }).click();
  return (await page.getByRole("tabpanel").getByRole("group").textContent()) ?? "";
}

test("Brings a new workspace to its first message in three steps without a reload", async ({ page }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}`);
  await page.getByRole("button", { name: "Create a key" }).click();
  const secret = await page.getByLabel("secret", { exact: true }).inputValue();
  for (const tab of ["TypeScript", "Python", "MCP", "curl"])
    expect(await readSnippet(page, tab)).toContain(secret);
  await expect(page.getByText("Nothing is recorded here yet.")).toBeVisible();
  await expect(page.getByText("Waiting for the first message")).toBeVisible();
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  // Runs what the page shows, in a shell as a person would.
  const { stdout } = await run("sh", ["-c", (await readSnippet(page, "curl")).replace("curl ", "curl -sS ")]);
  const { amount_usd: amount } = JSON.parse(stdout);
  await expect(page.getByText("The first message is here.")).toBeVisible();
  // Three steps are done: it must not say that nothing is there.
  await expect(page.getByRole("heading", { name: /\(done\)$/ })).toHaveCount(3);
  await expect(page.getByText("Nothing is recorded")).toHaveCount(0);
  await expect(page.getByText("Your first cost is recorded.")).toBeVisible();
  await expect(page.locator('[data-figure="amount_usd"]')).toHaveAttribute("data-exact", String(amount));
  await expectUsable(page);
  await page.getByRole("button", { name: "Go to the overview" }).click();
  await expect(page.getByRole("heading", { name: "Watch it arrive" })).toBeHidden();
  await expect(page.getByText("$0.13").first()).toBeVisible();
  expect(await page.evaluate(() => "isSamePage" in window)).toBe(true);
  await expect(page).toHaveURL(new RegExp(`/${slug}$`));
});

test("Names an existing key and does not ask for its secret; runs the TypeScript example as copied", async ({
  page,
}) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}`);
  await page.getByRole("button", { name: "Create a key" }).click();
  const secret = await page.getByLabel("secret", { exact: true }).inputValue();
  await page.reload();
  await expect(page.getByText(`${secret.slice(-4)}) exists already`)).toBeVisible();
  expect(await readSnippet(page, "curl")).toContain("$OUTLAY_API_KEY");
  await page.getByRole("button", { name: "Create another key" }).click();
  await page.getByLabel("secret", { exact: true }).waitFor();
  await run(process.execPath, ["--input-type=module", "-e", await readSnippet(page, "TypeScript")]);
  await expect(page.getByText("The first message is here.")).toBeVisible();
});

test("Says what being told needs, finds in the data what is there, and sends the first message from the page", async ({
  page,
  world,
}) => {
  const { slug, email } = await signUp(page);
  await page.goto(`/${slug}`);
  const step = page
    .getByRole("listitem")
    .filter({ has: page.getByRole("heading", { name: "Set up alerts" }) });
  await expect(step).toContainText("No budget yet");
  await expect(step).toContainText("No channel yet");
  await step.getByRole("button", { name: "Set a budget" }).click();
  const budget = page.getByRole("dialog", { name: "Set a budget" });
  await budget.getByLabel("How much per month?").fill("100");
  await budget.getByRole("button", { name: "Set the budget" }).click();
  await expect(step).toContainText("Everything");
  await expect(step.getByRole("heading", { name: "Set up alerts (done)" })).toHaveCount(0);
  await step.getByRole("button", { name: "Add a channel" }).click();
  const channel = page.getByRole("dialog", { name: "Add a channel" });
  await channel.getByLabel("Addresses").fill(email);
  await channel.getByLabel("Name").fill("Me");
  await channel.getByRole("button", { name: "Add the channel" }).click();
  await expect(step.getByRole("heading", { name: "Set up alerts (done)" })).toBeVisible();
  await page.reload();
  await expect(step).toContainText("Me");
  await demote(world, { slug, email }, "viewer");
  const { html, text } = await readPage(page.request, `/${slug}`);
  expect(text).toMatch(/Set up alerts ?\(done\)/);
  expect(text).toContain("ask a member of this workspace");
  expect(html).not.toMatch(/<button\b[^>]*>(?:(?!<\/button>).)*(Set a budget|Add a channel|Create a key)/s);
  await setRole(world, slug, email, "owner");
  await page.reload();
  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByRole("button", { name: "Send it from here" }).click();
  await expect(page.getByText("The first message is here.")).toBeVisible();
});
