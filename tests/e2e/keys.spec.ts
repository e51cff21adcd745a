import type { Page } from "@playwright/test";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { demote, signUp, workspaceId } from "./accounts";
import { expect, test, type World } from "./fixtures";
import { digitsIn, readPage } from "./html";

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

test("Shows a secret once in every example, does not close by accident, and tries it from the page", async ({
  page,
  world,
}) => {
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
  await shown.getByRole("button", { name: "I have stored it" }).click();
  await expect(page.getByText("One key is in use.")).toBeVisible();
  expect(await page.content()).not.toContain(secret);
  const { rows } = await world.fixtures.sql.query("select from public.messages where workspace_id = $1", [
    workspace,
  ]);
  expect(rows, "the test message was a dry run").toEqual([]);
});

test("Changes what a key may do from its next request on, replaces its secret, and ends it, each after a warning", async ({
  page,
  world,
}) => {
  await openKeys(page, world);
  const first = await makeKey(page, "CI");
  const record = async (secret: string, project = "checkout") =>
    apiClient(world.service.baseUrl, secret).post(costMessage({ estimated_cost: 12.5 }, { project }));

  await test.step("a revoked key that was never used", async () => {
    await chooseAction(page, "CI", "Revoke");
    const question = page.getByRole("alertdialog", { name: "Revoke CI?" });
    await expect(question).toContainText("It was never used.");
    await question.getByRole("button", { name: "Cancel" }).click();
  });

  await test.step("fewer projects, with the same secret", async () => {
    expect((await record(first)).status).toBe(201);
    await chooseAction(page, "CI", "Edit");
    const sheet = page.getByRole("dialog", { name: "Edit CI" });
    await sheet.getByText("Only some").click();
    await sheet.getByLabel("Allowed projects").click();
    await sheet.getByRole("option", { name: "search" }).click();
    await sheet.getByRole("button", { name: "Save" }).click();
    await expect(sheet).toBeHidden();
    await expect(rowOf(page, "CI")).toContainText("in search.");
    await expect(page.getByRole("button", { name: "Actions for CI" })).toBeFocused();
    expect((await record(first)).body.error).toBe("project_not_allowed");
  });

  let second = "";
  await test.step("another secret, which refuses the old one at once", async () => {
    await chooseAction(page, "CI", "Rotate the secret");
    const question = page.getByRole("alertdialog", { name: "Rotate the secret of CI?" });
    await expect(question).toContainText("It was last used just now and recorded $12.50 this month.");
    await question.getByRole("button", { name: "Rotate" }).click();
    const shown = page.getByRole("dialog", { name: "The new secret of CI" });
    second = await shown.getByLabel("secret", { exact: true }).inputValue();
    await shown.getByRole("button", { name: "I have stored it" }).click();
    expect((await record(first, "search")).status).toBe(401);
    expect((await record(second, "search")).status).toBe(201);
  });

  await test.step("its end, folded away", async () => {
    await chooseAction(page, "CI", "Revoke");
    await page
      .getByRole("alertdialog", { name: "Revoke CI?" })
      .getByRole("button", { name: "Revoke" })
      .click();
    await expect(page.getByText("No keys are in use.")).toBeFocused();
    expect((await record(second, "search")).body.error).toBe("key_revoked");
    await expect(rowOf(page, "CI")).toBeHidden();
    await page.getByText("One key that is revoked or expired").click();
    await expect(rowOf(page, "CI")).toContainText("Revoked just now");
  });
});

test("Gives a member buttons for their own keys only", async ({ page, world }) => {
  const { email, slug } = await signUp(page);
  const { id } = await world.fixtures.key(await workspaceId(world, slug));
  await world.fixtures.sql.query("update public.api_keys set name = 'Theirs' where id = $1", [id]);
  await demote(world, { slug, email }, "member");
  await page.goto(`/${slug}/keys`);
  await makeKey(page, "Mine");
  await expect(page.getByRole("button", { name: "Actions for Mine" })).toBeVisible();
  await expect(rowOf(page, "Theirs")).toBeVisible();
  await expect(page.getByRole("button", { name: "Actions for Theirs" })).toHaveCount(0);
});

test("Shows the API's figures to the last digit, and a warning near the limit", async ({
  request,
  world,
}) => {
  const { slug } = await signUp({ request });
  const { secret } = await world.fixtures.key(await workspaceId(world, slug), { monthly_limit: "10" });
  await fetch(`${world.service.baseUrl}/api/v1/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: JSON.stringify(costMessage()).replace("0.01", "8.500000000000000001"),
  });
  const answer = await (await request.get(`/api/v1/workspaces/${slug}/api-keys`)).text();
  expect(/"spent":([\d.]+)/.exec(answer)?.[1]).toBe("8.500000000000000001");
  const { html, text } = await readPage(request, `/${slug}/keys`);
  expect(digitsIn(html, "spent")).toEqual(["8.500000000000000001"]);
  expect(text).toContain("Test key (85%) is close to the limit.");
});
