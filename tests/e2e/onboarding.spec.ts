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

/** Opens the steps for one's own code in a new workspace, and creates the test key. @returns its secret */
async function createTestKey(page: Page, slug: string): Promise<string> {
  await page.goto(`/${slug}`);
  await page.getByRole("link", { name: "Your own code" }).click();
  await page.getByRole("button", { name: "Create a test key" }).click();
  return page.getByLabel("secret", { exact: true }).inputValue();
}

test("Leads from what one runs to the lines to paste, and to import, without a script", async ({
  page,
  request,
}) => {
  const { slug } = await signUp(page);
  const { html, text } = await readPage(page.request, `/${slug}`);
  expect(text).toContain("What do you run?");
  expect(html).toContain(`href="/${slug}/activity/import"`);
  await page.goto(`/${slug}`);
  await page.getByRole("link", { name: "Claude Code", exact: true }).click();
  await expect(page.getByRole("radio", { name: /^Claude Code On your own machine/ })).toBeChecked();
  await page.getByRole("button", { name: "Make the key" }).click();
  const secret = await page.getByLabel("secret", { exact: true }).inputValue();
  await page.goto(`/${slug}`);
  await expect(page.getByText("Added, and nothing received yet: Claude Code")).toBeVisible();
  await expect(page.getByText("Waiting for the first cost")).toBeVisible();
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  const sent = await request.post("/api/v1/messages", {
    headers: { authorization: `Bearer ${secret}` },
    data: {
      project: "shop",
      source: "api",
      message: { type: "usage", provider: "x", model: "y", unit_type: "z", quantity: 1, estimated_cost: 2 },
    },
  });
  expect(sent.status()).toBe(201);
  await expect(page.getByText("Your first cost is recorded.")).toBeVisible();
  await expect(page.locator('[data-figure="amount_usd"]')).toHaveAttribute("data-exact", "2");
  await page.getByRole("button", { name: "Go to the overview" }).click();
  await expect(page.locator('[data-figure="totals.total_usd"]')).toHaveAttribute("data-exact", "2");
  expect(await page.evaluate(() => "isSamePage" in window)).toBe(true);
});

test("Records the example of the steps for own code as test data, so that live costs stay empty", async ({
  page,
}) => {
  const { slug } = await signUp(page);
  const secret = await createTestKey(page, slug);
  for (const tab of ["TypeScript", "Python", "MCP", "curl"])
    expect(await readSnippet(page, tab)).toContain(secret);
  await expect(page.getByText("Waiting for the test message")).toBeVisible();
  // Runs what the page shows, in a shell as a person would.
  const { stdout } = await run("sh", ["-c", (await readSnippet(page, "curl")).replace("curl ", "curl -sS ")]);
  const { amount_usd: amount } = JSON.parse(stdout);
  await expect(page.getByText("The message is here, as test data.")).toBeVisible();
  await expect(page.getByRole("heading", { name: /\(done\)$/ })).toHaveCount(3);
  await expect(page.locator('[data-figure="amount_usd"]')).toHaveAttribute("data-exact", String(amount));
  await expectUsable(page);
  await page.getByRole("link", { name: "Show the test data" }).click();
  await expect(page.locator('[data-figure="totals.total_usd"]')).toHaveAttribute(
    "data-exact",
    String(amount),
  );
  const { text } = await readPage(page.request, `/${slug}`);
  expect(text).toContain("Nothing is recorded here yet.");
  expect(text).toContain("There is test data");
});

test("Runs the TypeScript example as copied", async ({ page }) => {
  const { slug } = await signUp(page);
  await createTestKey(page, slug);
  await run(process.execPath, ["--input-type=module", "-e", await readSnippet(page, "TypeScript")]);
  await expect(page.getByText("The message is here, as test data.")).toBeVisible();
});

test("Says what alerts need, finds in the data what is there, and sends the test message from the page", async ({
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
  expect(html).not.toMatch(/<button\b[^>]*>(?:(?!<\/button>).)*(Set a budget|Add a channel)/s);
  expect(html).not.toContain("/sources/new");
  await setRole(world, slug, email, "owner");
  await createTestKey(page, slug);
  await page.getByRole("button", { name: "Send it from here" }).click();
  await expect(page.getByText("The message is here, as test data.")).toBeVisible();
});
