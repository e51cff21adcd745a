import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { signUpUser } from "@/tests/helpers/client";
import { fillSignIn, password, setRole, signUp, workspaceId } from "./accounts";
import { expect, test } from "./fixtures";
import { readPage } from "./html";
import { signUpWithSpend } from "./spend";

test.use({ mayBeRefused: true });

/** Types what is expected into the open dialog, with a password, and sends it by the keyboard. */
async function confirm(page: Page, label: string, typed: string, secret = password): Promise<void> {
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel(label).fill(typed);
  await dialog.getByLabel("Your password").fill(secret);
  await dialog.getByLabel("Your password").press("Enter");
}

test("Exports a whole workspace as an archive, deletes it by its name, tells its members, and undoes it", async ({
  page,
  openPage,
  world,
}) => {
  const { slug } = await signUpWithSpend(page, world);
  const guest = await openPage();
  const member = await signUp(guest, "Grace");
  await setRole(world, slug, member.email, "member");

  await page.goto(`/${slug}/settings`);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Export everything" }).click();
  const file = await download;
  expect(file.suggestedFilename()).toMatch(new RegExp(`^${slug}-\\d{4}-\\d\\d-\\d\\d\\.zip$`));
  const bytes = await readFile(await file.path());
  // A ZIP ends with its directory.
  expect(bytes.subarray(0, 4).toString("latin1")).toBe("PK\u0003\u0004");
  expect(bytes.includes(Buffer.from("manifest.json"))).toBe(true);
  expect(bytes.includes(Buffer.from("PK\u0005\u0006", "latin1"))).toBe(true);
  const name = await page.getByLabel("Name").inputValue();
  await page.getByRole("button", { name: "Delete workspace" }).click();
  await confirm(page, "Name of the workspace", "another name");
  await expect(page.getByRole("dialog").getByText(`Must be ${name}.`)).toBeVisible();
  await confirm(page, "Name of the workspace", name, "not my password");
  await expect(page.getByRole("dialog").getByRole("alert")).toHaveText("The password is wrong.");
  await confirm(page, "Name of the workspace", name);
  await page.waitForURL(/\/workspaces\/deleted/);
  await expect(page.getByRole("heading", { name: `${name} was deleted` })).toBeVisible();

  await guest.goto(`/${slug}`);
  await guest.waitForURL(/\/workspaces\/deleted/);
  await expect(guest.getByText(/Will be erased/)).toBeVisible();
  await expect(guest.getByRole("button", { name: /Undo/ })).toHaveCount(0);
  await guest.getByRole("link", { name: /^Open / }).click();
  await guest.getByRole("button", { name: /switch workspace/ }).click();
  await expect(guest.getByRole("menuitem", { name: "Deleted workspaces" })).toBeVisible();

  await page.getByRole("button", { name: `Undo the deletion of ${name}` }).click();
  await page.waitForURL(`**/${slug}`);
  await expect(page.locator('[data-figure="totals.total_usd"]')).toBeVisible();
  await guest.goto(`/${slug}`);
  await expect(guest.locator('[data-figure="totals.total_usd"]')).toBeVisible();
});

test("Deletes an account, which signing in undoes", async ({ page, world }) => {
  const { slug, email } = await signUp(page);
  await page.goto(`/${slug}/settings/account`);
  const data = await page.request.get("/api/v1/me/export");
  expect((await data.json()).profile.email).toBe(email);
  await page.getByRole("button", { name: "Delete account" }).click();
  await confirm(page, "Your e-mail address", email);
  await page.waitForURL(/\/sign-in/);
  // Tokens have whole seconds.
  const id = await workspaceId(world, slug);
  await expect
    .poll(async () => {
      const { rows } = await world.fixtures.sql.query(
        "select deleted_at < now() - interval '1 s' as is_past from public.workspaces where id = $1",
        [id],
      );
      return rows[0].is_past;
    })
    .toBe(true);
  await fillSignIn(page, email);
  await page.waitForURL(`**/${slug}`);
});

test("Names the workspaces that are in the way of deleting an account", async ({ request, world }) => {
  const { slug } = await signUp({ request });
  const { email } = await signUpUser(world.service.baseUrl);
  await setRole(world, slug, email, "member");
  const { text, html } = await readPage(request, `/${slug}/settings/account`);
  expect(text).toContain("You are the only owner of workspaces with other members.");
  expect(text).not.toContain("Delete account");
  expect(html).toMatch(new RegExp(`<a [^>]*href="/${slug}/settings"[^>]*>Ada&#x27;s workspace`));
});
