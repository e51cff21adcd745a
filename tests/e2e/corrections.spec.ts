import { signUp } from "./accounts";
import { rowsOf } from "./activity-table";
import { expect, test, type World } from "./fixtures";
import { clientOf } from "./spend";

/** Records an expense with a key. */
async function recordExpense(world: World, slug: string, amount: number) {
  const client = await clientOf(world, slug);
  const message = { type: "expense", vendor: "Hetzner", amount, label: "Servers" };
  await client.post({ project: "checkout", source: "api", message });
}

test("Voids a cost with a reason; its row says so, and leads to the void and back", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  await recordExpense(world, slug, 12);
  await recordExpense(world, slug, 3);
  await page.goto(`/${slug}/activity`);
  await rowsOf(page).last().click();
  const sheet = page.getByRole("dialog", { name: "Servers" });
  await sheet.getByRole("button", { name: "Void…" }).click();
  const dialog = page.getByRole("dialog", { name: "Void this cost?" });
  await dialog.getByRole("button", { name: "Void", exact: true }).click();
  await expect(dialog.getByText("Is required.")).toBeVisible();
  await dialog.getByLabel("Reason").fill("Recorded twice.");
  await dialog.getByRole("button", { name: "Void", exact: true }).click();
  await expect(dialog).toBeHidden();
  await expect(sheet.getByText("This voids another cost")).toBeVisible();
  await expect(sheet.getByRole("heading", { level: 2, name: "Servers" })).toBeFocused();
  await sheet.getByRole("link", { name: "another cost" }).click();
  await expect(sheet.getByText("Recorded twice.")).toBeVisible();
  await expect(sheet.getByRole("button", { name: "Void…" })).toBeHidden();
  await page.keyboard.press("Escape");
  await expect(rowsOf(page)).toHaveText(["Servers", "Void: Servers", "Servers"]);
  await expect(page.getByRole("row").filter({ hasText: "Voided" })).toHaveCount(1);
  await expect(page.getByText("$3.00 in 1 message")).toBeVisible();
});

test("Undoes a void of one cost while its sheet is open, and records it again", async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordExpense(world, slug, 12);
  await page.goto(`/${slug}/activity`);
  await rowsOf(page).first().click();
  await page.getByRole("button", { name: "Void…" }).click();
  const dialog = page.getByRole("dialog", { name: "Void this cost?" });
  await expect(dialog.getByText("You can undo this for ten minutes.")).toBeVisible();
  await dialog.getByLabel("Reason").fill("Recorded twice.");
  await dialog.getByRole("button", { name: "Void", exact: true }).click();
  await expect(dialog).toBeHidden();
  // The sheet is still open, and modal: the notice is in it.
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("Undone. The cost is recorded again.")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(page.getByText("$12.00 in 1 message")).toBeVisible();
});

test("Corrects a cost in a form that begins with what was recorded", async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordExpense(world, slug, 12);
  await page.goto(`/${slug}/activity`);
  await rowsOf(page).first().click();
  await page.getByRole("button", { name: "Correct…" }).click();
  const dialog = page.getByRole("dialog", { name: "Correct this cost" });
  await expect(dialog.getByLabel("Paid to")).toHaveValue("Hetzner");
  await dialog.getByLabel("Amount").fill("13.50");
  await dialog.getByLabel("Reason").fill("The invoice says 13.50.");
  await dialog.getByRole("button", { name: "Correct", exact: true }).click();
  await expect(dialog).toBeHidden();
  const sheet = page.getByRole("dialog", { name: "Servers" });
  await expect(sheet.getByText("This corrects another cost: The invoice says 13.50.")).toBeVisible();
  await sheet.getByRole("link", { name: "another cost" }).click();
  await expect(sheet.getByRole("link", { name: "the corrected cost" })).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(rowsOf(page)).toHaveText(["Servers", "Void: Servers", "Servers"]);
});
