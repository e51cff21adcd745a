import { signUp } from "./accounts";
import { rowsOf } from "./activity-table";
import { expect, test } from "./fixtures";
import { clientOf } from "./spend";

test("Selects rows by mouse and keyboard, moves and voids them after a preview, and undoes it", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  const client = await clientOf(world, slug);
  for (const [amount, project] of [
    [5, "search"],
    [1, "checkout"],
    [2, "checkout"],
    [3, "checkout"],
    [4, "checkout"],
  ] as const) {
    const message = { type: "expense", vendor: "Hetzner", amount, label: `Server ${amount}` };
    await client.post({ project, source: "api", message });
  }
  await page.goto(`/${slug}/activity`);
  const bar = page.getByRole("region", { name: "Selected rows" });
  const box = (amount: number) => page.getByRole("checkbox", { name: `Select Server ${amount}` });
  await expect(rowsOf(page)).toHaveText(["Server 4", "Server 3", "Server 2", "Server 1", "Server 5"]);

  await box(4).check();
  await box(2).click({ modifiers: ["Shift"] });
  await expect(bar).toContainText("3 rows selected · $9.00");
  await expect(page.getByRole("dialog"), "a click on a checkbox opens nothing").toHaveCount(0);
  await box(3).uncheck();
  await bar.getByRole("button", { name: "Move…" }).click();
  const move = page.getByRole("dialog", { name: "Move to another project" });
  await move.getByLabel("Project").fill("search");
  await move.getByRole("option", { name: "search" }).click();
  const preview = move.getByRole("region", { name: "What changes" });
  await expect(preview).toContainText("2 costs of $6.00, which stays the same.");
  await expect(preview.getByRole("row").filter({ hasText: "checkout" })).toContainText("$10.00$4.00");
  await expect(preview.getByRole("row").filter({ hasText: "search" })).toContainText("$5.00$11.00");
  await move.getByLabel("Reason").fill("They are of the search.");
  await move.getByRole("button", { name: "Move 2 costs" }).click();
  await expect(move).toBeHidden();
  await expect(bar).toBeHidden();
  await expect(page.getByText("Moved 2 costs.")).toBeVisible();
  await page.goto(`/${slug}/activity?project=search`);
  await expect(page.getByText("$11.00 in 3 messages")).toBeVisible();

  // The keyboard alone: Server 2 and 4 are the first two rows.
  await rowsOf(page).first().focus();
  await page.keyboard.press("Shift+ArrowDown");
  await expect(bar).toContainText("2 rows selected · $6.00");
  await page.keyboard.press("x");
  await expect(bar).toContainText("1 row selected");
  await page.keyboard.press("x");
  await bar.getByRole("button", { name: "Void…" }).focus();
  await page.keyboard.press("Enter");
  const dialog = page.getByRole("dialog", { name: "Void these costs" });
  await expect(dialog.getByText("2 costs: $6.00 becomes $0.00.")).toBeVisible();
  await dialog.getByLabel("Reason").focus();
  await page.keyboard.type("Recorded twice.");
  await dialog.getByRole("button", { name: "Void 2 costs" }).focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("$5.00 in 1 message")).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("Undone. Every total is as it was before.")).toBeVisible();
  await expect(page.getByText("$11.00 in 3 messages")).toBeVisible();
});
