import type { Page } from "@playwright/test";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { fillSignUp, signUpByForm } from "./accounts";
import { connectAssistant } from "./assistant";
import { expect, test } from "./fixtures";

/** Navigates to a page of the workspace by its name, as a person does. */
async function goTo(page: Page, name: string): Promise<void> {
  const menu = page.getByRole("button", { name: "Menu" });
  if (await menu.isVisible()) await menu.click();
  await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name, exact: true }).click();
  await expect(page.getByRole("heading", { level: 1, name })).toBeVisible();
}

test("Takes a team from its first key to disconnecting an assistant", async ({ page, openPage, world }) => {
  const { baseUrl } = world.service;
  const record = async (secret: string, usd: number) =>
    (await apiClient(baseUrl, secret).post(costMessage({ estimated_cost: usd }))).status;
  const slug = await signUpByForm(page);
  let secret = "";

  await test.step("the first message appears as it is recorded, without a reload", async () => {
    await page.getByRole("link", { name: "AI SDK", exact: true }).click();
    await page.getByLabel("What is its name?").fill("First key");
    await page.getByRole("button", { name: "Make the key" }).click();
    secret = await page.getByLabel("secret", { exact: true }).inputValue();
    await goTo(page, "Overview");
    await expect(page.getByText("Waiting for the first cost")).toBeVisible();
    await page.evaluate(() => Object.assign(window, { isSamePage: true }));
    expect(await record(secret, 12.34)).toBe(201);
    await expect(page.getByText("Your first cost is recorded.")).toBeVisible();
    await page.getByRole("button", { name: "Go to the overview" }).click();
    await expect(page.locator('[data-figure="totals.total_usd"]')).toHaveAttribute("data-exact", "12.34");
    expect(await page.evaluate(() => "isSamePage" in window)).toBe(true);
  });

  await test.step("a budget holds, and says so where it comes close to its limit", async () => {
    await goTo(page, "Budgets");
    await page.getByRole("button", { name: "Set a budget" }).click();
    await page.getByLabel("How much per month?").fill("20");
    await page.getByLabel("Name").fill("The team");
    await page.getByRole("dialog").getByRole("button", { name: "Set the budget" }).click();
    await expect(page.getByText("Within budget: The team (62%).")).toBeVisible();
    expect(await record(secret, 4)).toBe(201);
    await goTo(page, "Overview");
    await expect(page.getByText("Close to the limit: The team (82%).")).toBeVisible();
    await goTo(page, "Budgets");
    await expect(page.getByRole("heading", { name: "The team" })).toContainText("Close to the limit");
  });

  await test.step("a replaced secret is refused at once, and the new one works", async () => {
    await goTo(page, "Keys");
    await page.getByRole("button", { name: "Actions for First key" }).click();
    await page.getByRole("menuitem", { name: "Rotate the secret" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Rotate" }).click();
    const shown = page.getByRole("dialog", { name: "The new secret of First key" });
    const renewed = await shown.getByLabel("secret", { exact: true }).inputValue();
    await shown.getByRole("button", { name: "I have stored it" }).click();
    expect(await record(secret, 1)).toBe(401);
    expect(await record(renewed, 0.01)).toBe(201);
  });

  const viewer = await openPage();
  const errors: string[] = [];
  viewer.on("console", (message) => message.type() === "error" && errors.push(message.text()));
  viewer.on("pageerror", (error) => errors.push(String(error)));

  await test.step("somebody who is invited signs up by the link, sees, and cannot change", async () => {
    await goTo(page, "Settings");
    const settings = page.getByRole("navigation", { name: "Settings" });
    await settings.getByRole("link", { name: "Members" }).click();
    await page.getByRole("button", { name: "Invite someone" }).click();
    await page.getByRole("radio", { name: "Viewer" }).check();
    await page.getByRole("button", { name: "Create the link" }).click();
    const link = await page.getByLabel("invitation link", { exact: true }).inputValue();
    await page.getByRole("button", { name: "I have copied it" }).click();

    await viewer.goto(link);
    await viewer.getByRole("link", { name: "Create an account" }).click();
    await fillSignUp(viewer, "Grace");
    await viewer.getByRole("button", { name: /^Join / }).click();
    await viewer.waitForURL(`**/${slug}`);
    await expect(viewer.locator('[data-figure="totals.total_usd"]')).toHaveAttribute("data-exact", "16.35");
    await expect(viewer.getByText("Close to the limit: The team")).toBeVisible();
    await goTo(viewer, "Keys");
    await expect(viewer.getByRole("rowgroup").filter({ hasText: "First key" })).toBeVisible();
    await expect(viewer.getByRole("button", { name: /Create a key|Actions for/ })).toHaveCount(0);
    await goTo(viewer, "Budgets");
    await expect(viewer.getByRole("heading", { name: "The team" })).toBeVisible();
    await expect(viewer.getByRole("button", { name: /budget|Actions for/ })).toHaveCount(0);
    const refused = await viewer.request.post(`/api/v1/workspaces/${slug}/budgets`, {
      headers: { "sec-fetch-site": "same-origin" },
      data: { scope_type: "global", amount: 1 },
    });
    expect(refused.status()).toBe(403);
  });

  await test.step("an assistant that is let in records a cost, until it is disconnected", async () => {
    const assistant = await connectAssistant(page, world, "Claude Code", async () => {
      await expect(page.getByRole("heading", { name: "Connect “Claude Code” to Outlay?" })).toBeVisible();
      await page.getByRole("checkbox", { name: /^Record usage/ }).check();
      await page.getByRole("button", { name: "Allow" }).click();
    });
    const log = () =>
      assistant.callTool({
        name: "log_usage",
        arguments: {
          project: "checkout",
          provider: "anthropic",
          unit_type: "requests",
          quantity: 1,
          estimated_cost: 1.5,
        },
      });
    expect((await log()).isError).toBeFalsy();
    await page.goto(`/${slug}`);
    await expect(page.locator('[data-figure="totals.total_usd"]')).toHaveAttribute("data-exact", "17.85");
    await goTo(page, "Connections");
    await expect(page.locator('[data-figure="spent"]')).toHaveAttribute("data-exact", "1.5");
    await page.getByRole("button", { name: "Disconnect Claude Code" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Disconnect" }).click();
    await expect(page.getByText("No assistant is connected")).toBeVisible();
    await expect(log()).rejects.toThrow();
    await assistant.close();
    await goTo(page, "Overview");
    await expect(page.locator('[data-figure="totals.total_usd"]')).toHaveAttribute("data-exact", "17.85");
  });

  expect(errors).toEqual([]);
});
