import type { Locator, Page } from "@playwright/test";
import { openAs, signUp } from "./accounts";
import { expect, test, type World } from "./fixtures";
import { readPage } from "./html";

const notices = (page: Page) => page.getByRole("region", { name: "Notices" });

/** Calls the API as the page's user. */
async function call(
  page: Page,
  { service: { baseUrl } }: World,
  slug: string,
  path: string,
  body: unknown,
): Promise<Record<string, unknown>> {
  const answer = await page.request.post(`/api/v1/workspaces/${slug}${path}`, {
    headers: { origin: baseUrl },
    data: body,
  });
  expect(answer.status(), await answer.text()).toBe(201);
  return answer.json();
}

/** Answers the question of a dialog. */
async function confirm(page: Page, verb: string): Promise<void> {
  await page.getByRole("alertdialog").getByRole("button", { name: verb, exact: true }).click();
  await expect(page.getByRole("alertdialog")).toBeHidden();
}

/** What has the focus is in the page, and not the page as a whole. */
async function expectFocus(page: Page, place: Locator): Promise<void> {
  await expect(place).toBeFocused();
  await page.waitForLoadState("networkidle");
  await expect(place).toBeFocused();
}

/** The button that opens the menu of a row. */
function menuOf(page: Page, name: string): Locator {
  return page.getByRole("button", { name: `Actions for ${name}`, exact: true });
}

/**
 * Deletes the thing of a row through its menu, and waits until the row is gone: the rows below it move up then, and a click on what is
 * open beside one of them would miss it and close it.
 * @param verb the text of the menu item and of the button that confirms
 */
async function deleteFromMenu(page: Page, name: string, verb: string): Promise<void> {
  await menuOf(page, name).click();
  await page.getByRole("menuitem", { name: verb }).click();
  await confirm(page, verb);
  await expect(menuOf(page, name)).toHaveCount(0);
}

test("Says which budget was deleted, undoes it, and moves the focus to the next one", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  for (const name of ["Beta", "Alpha"])
    await call(page, world, slug, "/budgets", { name, scope_type: "global", amount: 5 });
  await page.goto(`/${slug}/budgets`);
  await deleteFromMenu(page, "Alpha", "Delete");
  await expectFocus(page, menuOf(page, "Beta"));
  await expect(menuOf(page, "Alpha")).toHaveCount(0);
  await expect(notices(page)).toContainText("The budget Alpha is deleted.");
  await notices(page).getByRole("button", { name: "Undo" }).click();
  await expect(menuOf(page, "Alpha")).toBeVisible();
  await expect(notices(page)).toContainText("The budget Alpha is back.");
  await deleteFromMenu(page, "Alpha", "Delete");
  await expectFocus(page, menuOf(page, "Beta"));
  await deleteFromMenu(page, "Beta", "Delete");
  // With the last row, the sentence above the list goes too. The focus moves to what the empty page offers.
  await expectFocus(page, page.getByRole("main").getByRole("button", { name: "Set a budget" }));
});

test("Leaves the focus in a menu that is open when the last notice goes", async ({ page, world }) => {
  const { slug } = await signUp(page);
  for (const name of ["Gamma", "Beta", "Alpha"])
    await call(page, world, slug, "/budgets", { name, scope_type: "global", amount: 5 });
  await page.goto(`/${slug}/budgets`);
  await deleteFromMenu(page, "Alpha", "Delete");
  await deleteFromMenu(page, "Beta", "Delete");
  await notices(page).getByRole("button", { name: "Undo" }).first().click();
  await expect(notices(page)).toContainText("is back.");
  await expect(page.getByRole("button", { name: /^Actions for / })).toHaveCount(2);
  await menuOf(page, "Gamma").click();
  const [first, last] = ["Edit", "Delete"].map((name) => page.getByRole("menuitem", { name }));
  await expect(first as Locator).toBeFocused();
  await page.keyboard.press("End");
  await expect(notices(page).getByRole("listitem")).toHaveCount(0, { timeout: 20_000 });
  await expect(last as Locator).toBeFocused();
});

test("Says which channel was deleted, undoes it, and keeps the focus in the list", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  for (const name of ["Ada", "Bo"]) await addChannel(world, slug, name);
  await page.goto(`/${slug}/alerts/rules`);
  await deleteFromMenu(page, "Ada", "Delete");
  await expectFocus(page, menuOf(page, "Bo"));
  await expect(notices(page)).toContainText("Ada is deleted.");
  await notices(page).getByRole("button", { name: "Undo" }).click();
  await expect(menuOf(page, "Ada")).toBeVisible();
  await deleteFromMenu(page, "Bo", "Delete");
  // There is no next one: the one before.
  await expectFocus(page, menuOf(page, "Ada"));
  await deleteFromMenu(page, "Ada", "Delete");
  await expectFocus(page, page.getByRole("region", { name: "Channels" }));
});

async function addChannel({ fixtures }: World, slug: string, name: string): Promise<void> {
  await fixtures.sql.query(
    `with added as (
       insert into public.alert_channels (workspace_id, name, kind, target)
       select id, $2, 'webhook', 'hooks.example.com' from public.workspaces where slug = $1 returning workspace_id, id
     )
     insert into private.channel_secrets (workspace_id, channel_id, address, signing_secret)
     select workspace_id, id, 'https://hooks.example.com/', 'whsec_0123456789abcdef' from added`,
    [slug, name],
  );
}

test("Says which view was deleted, undoes it, and keeps the focus in the list", async ({ page, world }) => {
  const { slug } = await signUp(page);
  for (const name of ["Models", "People"])
    await call(page, world, slug, "/views", { name, query: "by=model" });
  await page.goto(`/${slug}/explore`);
  await page.getByRole("button", { name: "Views" }).click();
  const bin = (name: string) => page.getByRole("button", { name: `Delete the view ${name}` });
  await bin("Models").click();
  await confirm(page, "Delete");
  await expectFocus(page, bin("People"));
  await expect(notices(page)).toContainText("The view Models is deleted.");
  await notices(page).getByRole("button", { name: "Undo" }).click();
  await expect(notices(page)).toContainText("The view Models is back.");
  await page.getByRole("button", { name: "Views" }).click();
  await expect(page.getByRole("link", { name: "Models" })).toBeVisible();
  for (const name of ["Models", "People"]) {
    await bin(name).click();
    await confirm(page, "Delete");
    await expect(bin(name)).toHaveCount(0);
  }
  await expectFocus(page, page.getByRole("heading", { name: "Saved views" }));
});

test("Says which invitation was revoked, undoes it, moves the focus to the next one, and refuses the link of a revoked one", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  let link = "";
  for (const email of ["bo@example.com", "ann@example.com"])
    link = String((await call(page, world, slug, "/invitations", { role: "viewer", email })).link);
  await page.goto(`/${slug}/settings/members`);
  const revoke = (email: string) => page.getByRole("button", { name: `Revoke the invitation for ${email}` });
  await revoke("ann@example.com").click();
  await confirm(page, "Revoke");
  await expectFocus(page, revoke("bo@example.com"));
  await expect(notices(page)).toContainText("The invitation for ann@example.com is revoked.");
  await notices(page).getByRole("button", { name: "Undo" }).click();
  await expect(revoke("ann@example.com")).toBeVisible();
  for (const email of ["ann@example.com", "bo@example.com"]) {
    await revoke(email).click();
    await confirm(page, "Revoke");
    await expect(revoke(email)).toHaveCount(0);
  }
  await page.waitForLoadState("networkidle");
  await expect(page.locator("#members")).toBeFocused();
  const { text } = await readPage(page.request, new URL(link).pathname);
  expect(text).toContain("This invitation is no longer valid");
});

test("Says what cannot be undone, and moves the focus, for keys and members", async ({
  page,
  world,
  openPage,
}) => {
  const { slug } = await signUp(page);
  for (const name of ["One", "Two"])
    await call(page, world, slug, "/api-keys", { name, permissions: ["log_usage"] });
  await page.goto(`/${slug}/keys`);
  await menuOf(page, "Two").click();
  await page.getByRole("menuitem", { name: "Revoke" }).click();
  await expect(page.getByRole("alertdialog")).toContainText("This cannot be undone.");
  await confirm(page, "Revoke");
  await expectFocus(page, menuOf(page, "One"));
  await expect(notices(page)).toContainText("Two is revoked.");
  await expect(notices(page).getByRole("button", { name: "Undo" })).toHaveCount(0);

  for (const role of ["member", "viewer"]) await openAs(openPage, world, slug, role);
  await page.goto(`/${slug}/settings/members`);
  const roles = page.getByRole("button", { name: /^Role of / });
  await roles.first().click();
  await page.getByRole("menuitem", { name: "Remove from the workspace" }).click();
  await expect(page.getByRole("alertdialog")).toContainText("This cannot be undone");
  await confirm(page, "Remove");
  await expect(roles).toHaveCount(1);
  await expectFocus(page, roles);
});
