import type { Page } from "@playwright/test";
import { codeOf, earlyInStep } from "@/tests/helpers/authenticator";
import { fillSignIn, openAs, setRole, signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { expectUsable } from "./page-checks";

/** Sets up an authenticator in the open dialog or page. @returns its secret and the recovery codes */
async function setUp(page: Page): Promise<{ secret: string; codes: string[] }> {
  await page.getByRole("button", { name: "Continue" }).click();
  const secret = await page.getByLabel("secret", { exact: true }).inputValue();
  await expect(page.getByRole("img", { name: "QR code" })).toBeVisible();
  await earlyInStep();
  await page.getByRole("textbox", { name: "Code", exact: true }).fill("000000");
  await page.getByRole("button", { name: "Confirm the code" }).click();
  await expect(page.getByText("This code is wrong, or has been used.")).toBeVisible();
  await page.getByRole("textbox", { name: "Code", exact: true }).fill(codeOf(secret, -1));
  await page.getByRole("button", { name: "Confirm the code" }).press("Enter");
  const list = page.getByRole("list", { name: "Recovery codes" });
  await expect(list.getByRole("listitem")).toHaveCount(10);
  return { secret, codes: await list.getByRole("listitem").allInnerTexts() };
}

const signOut = async (page: Page) => {
  await page.context().clearCookies();
};

test("Asks for the code of an authenticator at sign-in, or once for a recovery code, until it is removed", async ({
  page,
}) => {
  const { slug, email } = await signUp(page);
  await page.goto(`/${slug}/settings/account`);
  await page.getByRole("button", { name: "Add an authenticator" }).click();
  const { secret, codes } = await setUp(page);
  const download = page.waitForEvent("download");
  await page.getByRole("link", { name: "Download" }).click();
  expect((await download).suggestedFilename()).toBe("outlay-recovery-codes.txt");
  await page.getByRole("button", { name: "I have stored them" }).click();
  await expect(page.getByText("10 of 10 are left.")).toBeVisible();

  await test.step("the code, without which no other page is accessible", async () => {
    await signOut(page);
    await page.goto(`/sign-in?next=/${slug}/keys`);
    await fillSignIn(page, email);
    await page.waitForURL("**/sign-in/code?**");
    await page.goto(`/${slug}`);
    await expect(page).toHaveURL(/\/sign-in\/code\?next=/);
    await page.goto(`/sign-in/code?next=/${slug}/keys`);
    const code = page.getByRole("textbox", { name: "Code", exact: true });
    await expect(code).toBeFocused();
    await expect(code).toHaveAttribute("autocomplete", "one-time-code");
    await code.fill("123 456");
    await code.press("Enter");
    await expect(page.getByRole("alert").filter({ hasText: "This code is wrong" })).toBeVisible();
    await code.fill(codeOf(secret));
    await code.press("Enter");
    await page.waitForURL(`**/${slug}/keys`);
  });

  await test.step("the page that asks for it signs out without it", async () => {
    await signOut(page);
    await page.goto("/sign-in");
    await fillSignIn(page, email);
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.waitForURL("**/sign-in");
  });

  await test.step("a recovery code, once", async () => {
    await fillSignIn(page, email);
    await page.getByRole("link", { name: "Use a recovery code" }).click();
    await page.getByLabel("Recovery code").fill("not one of them");
    await page.getByRole("button", { name: "Sign in" }).click();
    await expect(page.getByText("This is not one of your recovery codes")).toBeVisible();
    await expectUsable(page);
    await page.getByLabel("Recovery code").fill(codes[0] ?? "");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.waitForURL(`**/${slug}`);
    await page.goto(`/${slug}/settings/account`);
    await expect(page.getByText("9 of 10 are left.")).toBeVisible();
  });

  await test.step("new recovery codes", async () => {
    await page.getByRole("button", { name: "Create new codes" }).click();
    await page.getByRole("alertdialog").getByRole("button", { name: "Create new codes" }).click();
    const list = page.getByRole("list", { name: "Recovery codes" });
    await expect(list.getByRole("listitem")).toHaveCount(10);
    expect(await list.getByRole("listitem").allInnerTexts()).not.toContain(codes[1]);
    await page.getByRole("button", { name: "I have stored them" }).click();
  });

  await test.step("no code once the authenticator is removed, with its own", async () => {
    await page.getByRole("button", { name: "Remove Authenticator app" }).click();
    // The code of this step was used at the sign-in.
    await page.getByRole("textbox", { name: "Code", exact: true }).fill(codeOf(secret, 1));
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
    await expect(page.getByText("The authenticator is removed.")).toBeVisible();
    await expect(page.getByRole("heading", { name: "Recovery codes" })).toBeHidden();
    await signOut(page);
    await page.goto("/sign-in");
    await fillSignIn(page, email);
    await page.waitForURL(`**/${slug}`);
  });
});

test("Makes members of a workspace set up a second factor, admins first", async ({
  page,
  openPage,
  world,
}) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}/settings`);
  await expect(page.getByText("you would lock yourself out")).toBeVisible();
  await page.getByRole("link", { name: "your own account" }).click();
  await page.getByRole("button", { name: "Add an authenticator" }).click();
  await setUp(page);
  await page.getByRole("button", { name: "I have stored them" }).click();
  await expect(page.getByText("10 of 10 are left.")).toBeVisible();
  await page.goto(`/${slug}/settings`);
  await page.getByLabel("Require two-factor authentication").click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Require it" }).click();
  await expect(page.getByText("Two-factor authentication is now required.")).toBeVisible();
  await expect(page.getByLabel("Require two-factor authentication")).toBeChecked();

  const member = await openAs(openPage, world, slug, "member");
  await member.goto(`/${slug}/keys`);
  await expect(member).toHaveURL(/\/workspaces\/two-factor\?workspace=/);
  await expect(member.getByRole("heading", { level: 1 })).toContainText("requires two-factor authentication");
  await setUp(member);
  await member.getByRole("button", { name: "I have stored them. Open" }).click();
  await member.waitForURL(`**/${slug}`);

  const stranger = await openPage();
  const { email } = await signUp(stranger);
  await stranger.goto(`/workspaces/two-factor?workspace=${slug}`);
  await expect(stranger.getByRole("heading", { name: /requires/ })).toBeHidden();
  await setRole(world, slug, email, "viewer");
  await stranger.goto(`/${slug}`);
  await expect(stranger.getByRole("heading", { level: 1 })).toContainText("requires two-factor");
});
