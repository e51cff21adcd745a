import type { Page } from "@playwright/test";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { openAs, signUp, workspaceId } from "./accounts";
import { expect, test, type World } from "./fixtures";
import { expectUsable } from "./page-checks";

/** A new user on the keys page of a workspace with the projects `checkout` and `search`. */
async function openKeys(page: Page, world: World): Promise<{ slug: string; workspace: string }> {
  const { slug } = await signUp(page);
  const workspace = await workspaceId(world, slug);
  await world.fixtures.project(workspace, "checkout");
  await world.fixtures.project(workspace, "search");
  await page.goto(`/${slug}/keys`);
  return { slug, workspace };
}

/** Creates a key of a preset on the page, and closes its secret. @returns the secret */
async function makeKey(page: Page, name: string, preset = "Everything"): Promise<string> {
  await page.getByRole("button", { name: "Create a key" }).click();
  const sheet = page.getByRole("dialog", { name: "Create a key" });
  await sheet.getByLabel("What is its name?").fill(name);
  await sheet.getByRole("radio", { name: preset }).check();
  await sheet.getByRole("button", { name: "Create the key" }).click();
  const shown = page.getByRole("dialog", { name: `The secret of ${name}` });
  const secret = await shown.getByLabel("secret", { exact: true }).inputValue();
  await shown.getByRole("button", { name: "I have stored it" }).click();
  await expect(shown).toBeHidden();
  return secret;
}

const rowOf = (page: Page, name: string) => page.getByRole("rowgroup").filter({ hasText: name });

async function chooseAction(page: Page, name: string, action: string): Promise<void> {
  await page.getByRole("button", { name: `Actions for ${name}` }).click();
  await page.getByRole("menuitem", { name: action }).click();
}

test("Creates a key and sums it up in a sentence", { tag: "@phone" }, async ({ page, world }) => {
  await openKeys(page, world);
  await expect(page.getByText("No key yet")).toBeVisible();
  await expectUsable(page);
  await page.getByRole("button", { name: "Create a key" }).click();
  const sheet = page.getByRole("dialog", { name: "Create a key" });
  const sentence = sheet.getByRole("status");
  await expect(sentence).toHaveText("May log usage in every project.");
  await sheet.getByLabel("What is its name?").fill("Assistant");
  await sheet.getByRole("radio", { name: "Read-only assistant" }).check();
  await expect(sentence).toHaveText("May read summaries in every project.");
  await sheet.getByRole("radio", { name: "Something else" }).check();
  await sheet.getByRole("checkbox", { name: "Log usage" }).check();
  await sheet.getByText("All but some").click();
  await sheet.getByLabel("Excluded projects").click();
  await sheet.getByRole("option", { name: "search" }).click();
  await sheet.getByLabel("How much per month?").fill("1,250.50");
  await sheet.getByText("More limits").click();
  await sheet.getByLabel("Requests in any 60 seconds").fill("60");
  const words =
    "May log usage and read summaries in every project but search, up to $1,250.50 a month, at most 60 requests a minute.";
  await expect(sentence).toHaveText(words);
  await expectUsable(page);
  await sheet.getByRole("button", { name: "Create the key" }).click();
  await page.getByRole("button", { name: "I have stored it" }).click();
  await expect(rowOf(page, "Assistant")).toContainText(words);
});

test("Shows a secret once in every example, does not close by accident, and tries it from the page", {
  tag: "@phone",
}, async ({ page, world }) => {
  const { workspace } = await openKeys(page, world);
  await page.getByRole("button", { name: "Create a key" }).click();
  await page.getByLabel("What is its name?").fill("CI");
  await page.getByRole("button", { name: "Create the key" }).click();
  const shown = page.getByRole("dialog", { name: "The secret of CI" });
  const secret = await shown.getByLabel("secret", { exact: true }).inputValue();
  expect(secret).toMatch(/^svc_live_\w{38}$/);
  for (const tab of [".env", "curl", "TypeScript", "Python", "MCP"]) {
    await shown.getByRole("tab", { name: tab, exact: true }).click();
    await expect(shown.getByRole("tabpanel")).toContainText(secret);
  }
  await page.keyboard.press("Escape");
  await page.keyboard.press("Escape");
  await page.mouse.click(5, 5);
  await expect(shown.getByRole("alert")).toContainText("cannot be shown again");
  await shown.getByRole("button", { name: "Send a test message" }).click();
  await expect(shown.getByText("It works")).toBeVisible();
  await expectUsable(page);
  await shown.getByRole("button", { name: "I have stored it" }).click();
  await expect(page.getByText("One key is in use.")).toBeVisible();
  expect(await page.content()).not.toContain(secret);
  const { rows } = await world.fixtures.sql.query("select from public.messages where workspace_id = $1", [
    workspace,
  ]);
  expect(rows, "the test message was a dry run").toEqual([]);
});

test.describe("A refused key", () => {
  test.use({ mayBeRefused: true });

  test("Shows the API's errors beside their fields and focuses the first", async ({ page, world }) => {
    await openKeys(page, world);
    await page.getByRole("button", { name: "Create a key" }).click();
    const sheet = page.getByRole("dialog");
    await sheet.getByText("More limits").click();
    const addresses = sheet.getByLabel("Allowed IP addresses");
    await addresses.fill("home");
    await addresses.press("Enter");
    await sheet.getByText("More limits").click();
    await sheet.getByRole("button", { name: "Create the key" }).click();
    const name = sheet.getByLabel("What is its name?");
    await expect(name).toBeFocused();
    await expect(name).toHaveAccessibleDescription("Must not be blank.");
    await name.fill("CI");
    await sheet.getByText("Only some").click();
    await sheet.getByRole("button", { name: "Create the key" }).click();
    await expect(sheet.getByText("Choose at least one project.")).toBeVisible();
    await sheet.getByText("Every project", { exact: true }).click();
    await sheet.getByRole("button", { name: "Create the key" }).click();
    await expect(addresses).toBeFocused();
    await expect(addresses).toHaveAccessibleDescription(/Home must be an address or a CIDR range/);
    await expectUsable(page);
  });
});

test("Restricts a key to an address that was typed and not confirmed", async ({ page, world }) => {
  await openKeys(page, world);
  await page.getByRole("button", { name: "Create a key" }).click();
  const sheet = page.getByRole("dialog");
  await sheet.getByLabel("What is its name?").fill("Office");
  await sheet.getByText("More limits").click();
  await sheet.getByLabel("Allowed IP addresses").fill("203.0.113.0/24");
  await sheet.getByRole("button", { name: "Create the key" }).click();
  await page.getByRole("button", { name: "I have stored it" }).click();
  await expect(rowOf(page, "Office")).toContainText("from 203.0.113.0/24");
});

test("Limits a key to the slug of a project that does not exist yet", {
  tag: "@phone",
}, async ({ page, world }) => {
  await openKeys(page, world);
  await page.getByRole("button", { name: "Create a key" }).click();
  const sheet = page.getByRole("dialog");
  await sheet.getByLabel("What is its name?").fill("Rollout");
  await sheet.getByText("Only some").click();
  const projects = sheet.getByLabel("Allowed projects");
  await expect(projects).toHaveAccessibleDescription(/the slug of a new project/);
  await projects.fill("next-release");
  await expect(sheet.getByRole("option", { name: "next-release new" })).toBeVisible();
  await projects.press("Enter");
  await expect(sheet.getByRole("status")).toContainText("in next-release");
  await expectUsable(page);
  await sheet.getByRole("button", { name: "Create the key" }).click();
  const shown = page.getByRole("dialog", { name: "The secret of Rollout" });
  const secret = await shown.getByLabel("secret", { exact: true }).inputValue();
  await shown.getByRole("button", { name: "I have stored it" }).click();
  await expect(rowOf(page, "Rollout")).toContainText("in next-release");
  const api = apiClient(world.service.baseUrl, secret);
  expect((await api.post(costMessage())).body.error).toBe("project_not_allowed");
  expect((await api.post(costMessage({}, { project: "next-release" }))).status).toBe(201);
});

test("Changes what a key may do from its next request on, and keeps its secret", async ({ page, world }) => {
  await openKeys(page, world);
  const secret = await makeKey(page, "CI");
  const api = apiClient(world.service.baseUrl, secret);
  expect((await api.post(costMessage())).status).toBe(201);
  await chooseAction(page, "CI", "Edit");
  const sheet = page.getByRole("dialog", { name: "Edit CI" });
  await sheet.getByText("Only some").click();
  await sheet.getByLabel("Allowed projects").click();
  await sheet.getByRole("option", { name: "search" }).click();
  await sheet.getByRole("button", { name: "Save" }).click();
  await expect(sheet).toBeHidden();
  await expect(rowOf(page, "CI")).toContainText("in search.");
  await expect(page.getByRole("button", { name: "Actions for CI" })).toBeFocused();
  expect((await api.post(costMessage())).body.error).toBe("project_not_allowed");
});

test("Warns before replacing a secret, and refuses the old one at once", async ({ page, world }) => {
  await openKeys(page, world);
  const before = await makeKey(page, "CI");
  await apiClient(world.service.baseUrl, before).post(costMessage({ estimated_cost: 12.5 }));
  await page.reload();
  await chooseAction(page, "CI", "Rotate the secret");
  const question = page.getByRole("alertdialog", { name: "Rotate the secret of CI?" });
  await expect(question).toContainText("It was last used just now and recorded $12.50 this month.");
  await expectUsable(page);
  await question.getByRole("button", { name: "Rotate" }).click();
  const shown = page.getByRole("dialog", { name: "The new secret of CI" });
  const after = await shown.getByLabel("secret", { exact: true }).inputValue();
  await shown.getByRole("button", { name: "I have stored it" }).click();
  expect((await apiClient(world.service.baseUrl, before).post(costMessage())).status).toBe(401);
  expect((await apiClient(world.service.baseUrl, after).post(costMessage())).status).toBe(201);
});

test("Asks before revoking, ends the key, and folds it away", { tag: "@phone" }, async ({ page, world }) => {
  await openKeys(page, world);
  const secret = await makeKey(page, "CI");
  await chooseAction(page, "CI", "Revoke");
  const question = page.getByRole("alertdialog", { name: "Revoke CI?" });
  await expect(question).toContainText("It was never used.");
  await question.getByRole("button", { name: "Cancel" }).click();
  await chooseAction(page, "CI", "Revoke");
  await question.getByRole("button", { name: "Revoke" }).click();
  await expect(page.getByText("No keys are in use.")).toBeFocused();
  expect((await apiClient(world.service.baseUrl, secret).post(costMessage())).body.error).toBe("key_revoked");
  await expect(rowOf(page, "CI")).toBeHidden();
  await page.getByText("One key that is revoked or expired").click();
  await expect(rowOf(page, "CI")).toContainText("Revoked just now");
  await expectUsable(page);
});

test("Shows a viewer the keys without buttons, and a member buttons for their own only", async ({
  page,
  openPage,
  world,
}) => {
  const { slug } = await openKeys(page, world);
  await makeKey(page, "Theirs");
  const viewer = await openAs(openPage, world, slug, "viewer");
  await viewer.goto(`/${slug}/keys`);
  await expect(rowOf(viewer, "Theirs")).toBeVisible();
  const columns = viewer.locator("th button");
  await expect(columns.first()).toBeVisible();
  await expect(
    viewer.getByRole("main").getByRole("button").and(viewer.locator(":not(th button)")),
  ).toHaveCount(0);
  await expectUsable(viewer);
  const member = await openAs(openPage, world, slug, "member");
  await member.goto(`/${slug}/keys`);
  await makeKey(member, "Mine");
  await expect(member.getByRole("button", { name: "Actions for Mine" })).toBeVisible();
  await expect(rowOf(member, "Theirs")).toBeVisible();
  await expect(member.getByRole("button", { name: "Actions for Theirs" })).toHaveCount(0);
});

test("Shows the API's figures to the last digit, and a warning near the limit", async ({ page, world }) => {
  const { slug, workspace } = await openKeys(page, world);
  const { secret } = await world.fixtures.key(workspace, { monthly_limit: "10" });
  const exact = JSON.stringify(costMessage()).replace("0.01", "8.500000000000000001");
  await fetch(`${world.service.baseUrl}/api/v1/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: exact,
  });
  await page.reload();
  const answer = await (await page.request.get(`/api/v1/workspaces/${slug}/api-keys`)).text();
  const spent = /"spent":([\d.]+)/.exec(answer)?.[1];
  expect(spent).toBe("8.500000000000000001");
  await expect(page.locator('[data-figure="spent"]')).toHaveAttribute("data-exact", String(spent));
  await expect(page.getByText("Test key (85%) is close to the limit.")).toBeVisible();
  await expectUsable(page);
});
