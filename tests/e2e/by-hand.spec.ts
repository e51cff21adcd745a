import { rowsOf } from "./activity-table";
import { expect, test } from "./fixtures";
import { expectDigits, signUpWithSpend } from "./spend";

test("Adds a cost by hand once, with errors beside their fields, and usage to the last digit", async ({
  page,
  world,
}) => {
  const { slug } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}/activity`);
  await page.getByRole("button", { name: "Add a cost" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a cost" });
  await dialog.getByLabel("Project").fill("checkout");
  await dialog.getByRole("option", { name: /^checkout/ }).click();
  await dialog.getByLabel("Paid to").fill("Figma");
  await dialog.getByLabel("Amount").fill("twelve");
  await dialog.getByRole("button", { name: "Record" }).click();
  await expect(dialog.getByLabel("Amount")).toHaveAccessibleDescription("Must be a number.");
  await dialog.getByLabel("Amount").fill("12.34");
  await dialog.getByLabel("Currency").fill("JPY");
  await dialog.getByRole("button", { name: "Record" }).click();
  await expect(dialog.getByLabel("Amount")).toHaveAccessibleDescription(/^Amounts in JPY have no decimals/);
  await dialog.getByLabel("Currency").fill("USD");
  await dialog.getByRole("button", { name: "Record" }).dblclick();
  await expect(dialog).toBeHidden();
  await expect(rowsOf(page).first()).toHaveText("Figma");
  await expect(page.locator('[data-figure="activity.amount_usd"]').first()).toHaveAttribute(
    "data-exact",
    "12.34",
  );
  await page.goto(`/${slug}/activity?source=manual`);
  await expect(rowsOf(page)).toHaveText(["Figma"]);
  await page.getByRole("button", { name: "Add a cost" }).click();
  await dialog.getByText("Usage", { exact: true }).click();
  await dialog.getByLabel("Project").fill("lab");
  await dialog.getByRole("option", { name: /lab/ }).click();
  await dialog.getByLabel("Provider").fill("in-house");
  await dialog.getByLabel("Quantity").fill("3");
  await dialog.getByLabel("Unit").fill("requests");
  await dialog.getByLabel("Cost in USD").fill("0.123456789012345678");
  await dialog.getByRole("button", { name: "Record" }).click();
  await expect(rowsOf(page)).toHaveCount(2);
  await expectDigits(page, "activity.amount_usd", ["0.123456789012345678", "12.34"]);
});
