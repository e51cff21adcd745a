import type { Page } from "@playwright/test";
import { fillSignIn, mailTo, password, signUp } from "./accounts";
import { expect, test } from "./fixtures";

const address = (page: Page) => page.getByRole("region", { name: "E-mail address" });

test("Changes an address once both the present and the new one have confirmed it", async ({
  page,
  openPage,
  world,
}) => {
  const { slug, email } = await signUp(page);
  const wanted = `new-${email}`;
  await page.goto(`/${slug}/settings/account`);
  await address(page).getByLabel("New e-mail address").fill(wanted);
  await page.getByRole("button", { name: "Change the address" }).click();
  await expect(address(page)).toContainText(`the one to ${email}, your present address`);
  await expect(address(page)).toContainText(`the one to ${wanted}`);
  await page.getByRole("button", { name: "Send both again" }).click();
  await expect(address(page)).toContainText("Both mails are sent again");

  // The present address confirms in this browser, the new one in another without a session.
  await page.goto((await mailTo(world, email)).link);
  await expect(page).toHaveURL(/settings\/account\?address=half/);
  await expect(address(page)).toContainText("One of the two addresses is confirmed.");
  await expect(page.getByText(`You are signed in as ${email}.`)).toBeVisible();
  const elsewhere = await openPage();
  await elsewhere.goto((await mailTo(world, wanted)).link);
  await expect(elsewhere.getByText("Your e-mail address is changed.")).toBeVisible();
  await page.goto(`/${slug}/settings/account`);
  await expect(page.getByText(`You are signed in as ${wanted}.`)).toBeVisible();
  await expect(address(page)).not.toContainText("once the links in both mails");
  await fillSignIn(elsewhere, wanted);
  await elsewhere.waitForURL(/settings\/account/);
});

test("Changes a password by a mailed code without the present one", async ({ page, openPage, world }) => {
  const { slug, email } = await signUp(page);
  await page.goto(`/${slug}/settings/account`);
  await page.getByRole("button", { name: "Use a code by mail" }).click();
  await expect(page.getByText(`We sent a code to ${email}.`)).toBeVisible();
  const { code } = await mailTo(world, email);
  const next = "another horse, another battery";
  const change = async (typed: string) => {
    await page.getByLabel("Code from the mail").fill(typed);
    await page.getByLabel("New password").fill(next);
    await page.getByRole("button", { name: "Change the password" }).click();
  };
  await change(code === "000000" ? "000001" : "000000");
  await expect(page.getByText("This code is wrong or has expired")).toBeVisible();
  await change(code);
  await expect(page.getByText("Your password is changed.")).toBeVisible();
  const elsewhere = await openPage();
  await elsewhere.goto("/sign-in");
  await fillSignIn(elsewhere, email, password);
  await expect(
    elsewhere.getByRole("alert").filter({ hasText: "The e-mail address or the password is wrong" }),
  ).toBeVisible();
  await fillSignIn(elsewhere, email, next);
  await elsewhere.waitForURL(`**/${slug}`);
});
