import type { Page } from "@playwright/test";
import { costMessage } from "@/tests/helpers/client";
import { fillSignIn, openAs, password, setRole, signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { expectStill, watchLayout } from "./page-checks";
import { clientOf, signUpWithSpend } from "./spend";

const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });
const parts = [
  "",
  "/members",
  "/prices",
  "/subscriptions",
  "/books",
  "/bills",
  "/people",
  "/audit",
  "/account",
];

test("Shows an invitation link once, by which a viewer joins, who may change nothing", async ({
  page,
  openPage,
  world,
}) => {
  const { slug } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}/settings/members`);
  await page.getByRole("button", { name: "Invite someone" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByRole("radio", { name: "Viewer" }).check();
  await dialog.getByRole("button", { name: "Create the link" }).click();
  const link = await dialog.getByLabel("invitation link", { exact: true }).inputValue();
  await page.keyboard.press("Escape");
  await expect(dialog.getByRole("alert")).toContainText("cannot be shown again");
  await dialog.getByRole("button", { name: "I have copied it" }).click();
  await expect(rowOf(page, "Anyone with the link")).toContainText("Viewer");
  expect(await page.content()).not.toContain(link);

  const guest = await openPage();
  await signUp(guest, "Grace");
  await guest.goto(new URL(link).pathname);
  await guest.getByRole("button", { name: /^Join/ }).click();
  await guest.waitForURL(`**/${slug}`);
  await expect(guest.locator('[data-figure="totals.total_usd"]')).toBeVisible();
  const changed = await guest.request.patch(`/api/v1/workspaces/${slug}`, {
    data: { name: "Mine" },
    headers: { origin: world.service.baseUrl },
  });
  expect(changed.status()).toBe(403);
});

test("Raises a role at once, lowers it after a confirmation, and removes a member", async ({
  page,
  openPage,
  world,
}) => {
  const { slug } = await signUp(page);
  const guest = await openAs(openPage, world, slug, "viewer");
  await page.goto(`/${slug}/settings/members`);
  const role = page.getByRole("button", { name: /^Role of / });
  const choose = async (name: string) => {
    await role.click();
    await page.getByRole("menuitemradio", { name: new RegExp(`^${name}`) }).click();
  };
  await choose("Admin");
  // The notice stays while the pointer is on it, so that it does not go before a slow page shows the role.
  await page.getByRole("button", { name: "Undo" }).hover();
  await expect(role).toHaveText("Admin");
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(role).toHaveText("Viewer");
  await choose("Member");
  await expect(role).toHaveText("Member");
  await choose("Viewer");
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText("Keys they created keep working.");
  await question.getByRole("button", { name: "Change the role" }).click();
  await expect(role).toHaveText("Viewer");
  await role.click();
  await page.getByRole("menuitem", { name: "Remove from the workspace" }).click();
  await question.getByRole("button", { name: "Remove" }).click();
  await expect(page.getByText("You are the only member so far.")).toBeVisible();
  expect((await guest.request.get(`/${slug}`)).status()).toBe(404);
});

test.describe("Erasing a person", () => {
  test.use({ mayBeRefused: true });

  test("Shows where a name stands, and what stays, before a person is erased", async ({
    page,
    openPage,
    world,
  }) => {
    const { slug, email } = await signUp(page);
    const client = await clientOf(world, slug);
    const name = "ada@example.org";
    for (const user of [name, "Ada@example.org"])
      expect((await client.post(costMessage({ user, tags: { owner: name } }))).status).toBe(201);
    const budget = await page.request.post(`/api/v1/workspaces/${slug}/budgets`, {
      data: { scope_type: "user", scope_value: name, amount: 10, name: "Research of Ada" },
      headers: { origin: world.service.baseUrl },
    });
    expect(budget.status()).toBe(201);
    await page.setViewportSize({ width: 390, height: 844 });
    await page.goto(`/${slug}/settings/people`);
    const erase = page.getByRole("button", { name: `Erase ${name}`, exact: true });
    await openAs(openPage, world, slug, "owner");
    await setRole(world, slug, email, "viewer");
    await erase.focus();
    await page.keyboard.press("Enter");
    const question = page.getByRole("alertdialog");
    await expect(question.getByRole("alert")).toContainText("The search for the name failed.");
    await setRole(world, slug, email, "owner");
    await question.getByRole("button", { name: "Try again" }).press("Enter");
    await expect(question.getByRole("status")).toBeFocused();
    const listed = (title: string) => question.getByRole("region", { name: title }).getByRole("listitem");
    await expect(listed("Replaced").first()).toHaveText("2 messages");
    await expect(listed("Replaced").nth(1)).toHaveText("1 budget: Research of Ada");
    await expect(listed("Spellings")).toHaveText(["Ada@example.org", name]);
    await expect(listed("Stays").first()).toHaveText(`1 tag: owner:${name}`);
    await page.keyboard.press("Escape");
    await expect(question).toBeHidden();
    await expect(erase).toBeFocused();
  });
});

test("Transfers a workspace, and lets the former owner leave", async ({ page, openPage, world }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}/settings`);
  await expect(page.getByText("You are its only owner")).toBeVisible();
  await expect(page.getByRole("button", { name: "Leave" })).toHaveCount(0);
  const guest = await openAs(openPage, world, slug, "member");
  await page.reload();
  await page.getByRole("button", { name: "Transfer" }).click();
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText("You become an admin at once.");
  await question.getByRole("button", { name: "Transfer" }).click();
  await page.getByRole("button", { name: "Leave" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Leave" }).click();
  await page.waitForURL((url) => !url.pathname.startsWith(`/${slug}`));
  expect((await page.request.get(`/${slug}`)).status()).toBe(404);
  await guest.goto(`/${slug}/settings`);
  await expect(guest.getByRole("heading", { name: "Ownership" })).toBeVisible();
});

test("Shows a subscription's next charge and stops it after a confirmation", async ({ page, world }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}/settings/subscriptions`);
  await expect(page.getByText("No recurring subscription")).toBeVisible();
  const client = await clientOf(world, slug);
  const message = { type: "subscription", vendor: "Figma", amount: 45.5, currency: "EUR", recurring: true };
  const answer = await client.post({
    project: "design",
    source: "api",
    message,
  });
  expect(answer.status).toBe(201);
  await page.reload();
  await expect(rowOf(page, "Figma")).toContainText("€45.50");
  await page.getByRole("button", { name: "Stop Figma" }).click();
  const question = page.getByRole("alertdialog", { name: "Stop Figma?" });
  await expect(question).toContainText("€45.50 on ");
  await question.getByRole("button", { name: "Stop" }).click();
  const past = page.getByRole("table", { name: "Stopped and ended subscriptions" });
  await expect(past).toContainText("stopped on");
  await expect(page.getByRole("button", { name: "Stop Figma" })).toHaveCount(0);
  await expect(page.locator("#subscriptions")).toBeFocused();
});

test("Changes name and password, the password only with the present one", async ({ page, openPage }) => {
  const { slug, email } = await signUp(page);
  const elsewhere = await openPage();
  const signIn = async (typed: string) => {
    await elsewhere.goto("/sign-in");
    await fillSignIn(elsewhere, email, typed);
  };
  await signIn(password);
  await elsewhere.waitForURL(`**/${slug}`);

  await page.goto(`/${slug}/settings/account`);
  await page.getByLabel("Name").fill("Ada Lovelace");
  await page.getByLabel("Default workspace").selectOption({ index: 1 });
  const profile = page.locator("form").filter({ has: page.getByLabel("Default workspace") });
  await profile.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("Your account is changed.")).toBeVisible();
  const next = "another horse, another battery";
  await page.getByLabel("Current password").fill("not this one");
  await page.getByLabel("New password").fill(next);
  await page.getByRole("button", { name: "Change the password" }).click();
  await expect(page.getByText("The current password is wrong.")).toBeVisible();
  await page.getByLabel("Current password").fill(password);
  await page.getByLabel("New password").fill(next);
  await page.getByRole("button", { name: "Change the password" }).click();
  await expect(page.getByText("Your password is changed.")).toBeVisible();
  await page.reload();
  await expect(page.getByLabel("Name")).toHaveValue("Ada Lovelace");

  await elsewhere.context().clearCookies();
  await signIn(password);
  await expect(
    elsewhere.getByRole("alert").filter({ hasText: "The e-mail address or the password is wrong" }),
  ).toBeVisible();
  await signIn(next);
  await elsewhere.waitForURL(`**/${slug}`);
});

test("Opens every part of the settings by its link without layout shifts, and changes a workspace's name, description and currency", async ({
  page,
}) => {
  const { slug } = await signUp(page);
  await watchLayout(page);
  await page.goto(`/${slug}/settings`);
  const nav = page.getByRole("navigation", { name: "Settings" });
  await expect(nav.getByRole("link")).toHaveCount(parts.length);
  for (const [index, part] of parts.entries()) {
    await nav.getByRole("link").nth(index).click();
    await page.waitForURL(`**/${slug}/settings${part}`);
    await expect(nav.locator('[aria-current="page"]')).toHaveCount(1);
    await expect(page.getByRole("main").getByRole("heading", { level: 2 }).first()).toBeVisible();
    await expectStill(page);
  }

  await nav.getByRole("link").first().click();
  await page.waitForURL(`**/${slug}/settings`);
  await page.getByLabel("Name").fill("Acme Research");
  await page.getByLabel("Description").fill("What we spend.");
  await page.getByLabel("Currency").selectOption("EUR");
  await page.getByRole("button", { name: "Save" }).click();
  await expect(page.getByText("The workspace is changed.")).toBeVisible();
  await page.reload();
  await expect(page).toHaveTitle(/Acme Research/);
  await expect(page.getByLabel("Description")).toHaveValue("What we spend.");
  await expect(page.getByLabel("Currency")).toHaveValue("EUR");
});
