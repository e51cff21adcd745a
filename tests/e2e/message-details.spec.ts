import { costMessage } from "@/tests/helpers/client";
import { signUp } from "./accounts";
import { rowsOf } from "./activity-table";
import { expect, test } from "./fixtures";
import { clientOf, expectDigits } from "./spend";

test("Opens a message's details by keyboard, with an address of their own", async ({ page, world }) => {
  const { slug } = await signUp(page);
  const client = await clientOf(world, slug);
  await client.post(costMessage({ estimated_cost: undefined, quantity: 1200, metadata: { run: "r-17" } }));
  await page.goto(`/${slug}/activity`);
  await rowsOf(page).first().focus();
  await page.keyboard.press("Enter");
  const sheet = page.getByRole("dialog", { name: "gpt-4o" });
  await expect(sheet.locator("[data-equation]")).toHaveText("1,200 × $0.0000025 = $0.003");
  await expect(sheet).toContainText("Price catalogue");
  await expect(sheet).toContainText("r-17");
  await expect(sheet).toContainText("Test key");
  await expectDigits(page, "message_usd", ["0.003"]);
  const address = page.url();
  expect(new URL(address).searchParams.get("message")).toMatch(/^[0-9a-f-]{36}$/);
  await page.keyboard.press("Escape");
  await expect(sheet).toBeHidden();
  await expect(rowsOf(page).first()).toBeFocused();
  expect(new URL(page.url()).searchParams.has("message")).toBe(false);
  await page.goto(address);
  await expect(sheet).toBeVisible();
  await page.getByRole("link", { name: "checkout", exact: true }).click();
  await page.waitForURL((url) => url.searchParams.get("project") === "checkout");
  await expect(sheet).toBeHidden();
  await expect(rowsOf(page)).toHaveCount(1);
});

test("Shows a batch's lines, an allocation's two sides and a conversion's rate", async ({ page, world }) => {
  const { slug } = await signUp(page);
  const client = await clientOf(world, slug);
  const items = [
    { model: "gpt-4o", unit_type: "input_tokens", quantity: 1000 },
    { model: "gpt-4o", unit_type: "output_tokens", quantity: 100 },
  ];
  const post = (message: Record<string, unknown>) =>
    client.post({ project: "search", source: "api", message });
  await client.post(costMessage());
  await post({ type: "batch", provider: "openai", batch_id: "b-1", items });
  await post({ type: "allocation", from_project: "checkout", amount: 0.004, label: "Shared model" });
  await post({ type: "expense", vendor: "Hetzner", amount: 84, currency: "EUR" });
  await page.goto(`/${slug}/activity`);
  const open = async (label: RegExp) => {
    await rowsOf(page).filter({ hasText: label }).first().click();
    return page.getByRole("dialog");
  };
  const batch = await open(/b-1/);
  await expect(batch.locator("[data-equation]")).toHaveText([
    "1,000 × $0.0000025 = $0.0025",
    "100 × $0.00001 = $0.001",
  ]);
  await page.keyboard.press("Escape");
  const allocation = await open(/Shared model/);
  await expect(allocation.getByRole("region", { name: "Moved between projects" })).toContainText("checkout");
  await page.keyboard.press("Escape");
  const expense = await open(/Hetzner/);
  await expect(expense.locator("[data-equation]")).toHaveText(/^84 EUR × \$1\.\d+ = \$9\d/);
});
