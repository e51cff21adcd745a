import { signUp, workspaceId } from "./accounts";
import { expect, test } from "./fixtures";
import { clientOf, expectDigits } from "./spend";

// Amounts that no double holds, read and sent by the browser itself.

const cost = "12345678.123456789012345678";
const quantity = "98765432109876.123456789";

/** A message as text: JSON.stringify would write doubles. */
const messageOf = (label: string, amount: string) =>
  `{"project":"checkout","source":"api","message":{"type":"usage","provider":"acme","unit_type":"requests","quantity":${quantity},"estimated_cost":${amount},"label":"${label}"}}`;

test("Keeps every digit of amounts that the browser fetches: a message, and further rows, each once, to the last", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  const { call } = await clientOf(world, slug);
  const amounts = Array.from({ length: 119 }, (_, index) => `${1000 + index}.123456789012345678`);
  const messages = amounts.map((amount, index) => messageOf(`row ${index}`, amount)).join(",");
  expect((await call("POST", "/api/v1/messages/batch", `{"messages":[${messages}]}`)).status).toBe(207);
  const { body } = await call("POST", "/api/v1/messages", messageOf("the one", cost));

  await page.goto(`/${slug}/activity`);
  const shown = page.locator('[data-figure="activity.amount_usd"]');
  const more = page.getByRole("button", { name: "Load more" });
  for (const count of [50, 100]) {
    await expect(shown).toHaveCount(count);
    await more.click();
  }
  await expect(shown).toHaveCount(120);
  await expect(more).toHaveCount(0);
  await expectDigits(page, "activity.amount_usd", [cost, ...amounts.reverse()]);

  await page.goto(`/${slug}/activity?message=${body.id}`);
  const sheet = page.getByRole("dialog");
  await expect(sheet.locator('[data-figure="message_usd"]')).toHaveAttribute("data-exact", cost);
  await expect(sheet.locator('[data-figure="message_usd"]')).toHaveText("$12,345,678.12");
  await expect(sheet.getByText("98,765,432,109,876.123456789 requests")).toBeVisible();
});

test("Keeps every digit of amounts that the browser sends: a budget, a key's limit, a price", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  const workspace = await workspaceId(world, slug);
  const stored = async (table: string, column: string) =>
    (
      await world.fixtures.sql.query(
        `select trim_scale(${column})::text as digits from public.${table} where workspace_id = $1`,
        [workspace],
      )
    ).rows.map(({ digits }) => digits);

  await page.goto(`/${slug}/budgets`);
  await page.getByRole("button", { name: "Set a budget" }).first().click();
  await page.getByLabel("How much per month?").fill("1,234,567.123456789012345678");
  await page.getByRole("button", { name: "Set the budget" }).click();
  await expectDigits(page, "amount", ["1234567.123456789012345678"]);
  expect(await stored("budgets", "amount")).toEqual(["1234567.123456789012345678"]);

  await page.goto(`/${slug}/keys`);
  await page.getByRole("button", { name: "Create a key" }).click();
  const sheet = page.getByRole("dialog", { name: "Create a key" });
  await sheet.getByLabel("What is its name?").fill("Exact");
  await sheet.getByLabel("How much per month?").fill("1234567.123456789012345678");
  await expect(sheet.getByRole("status")).toContainText("up to $1,234,567.123456789012345678 a month");
  await sheet.getByRole("button", { name: "Create the key" }).click();
  await page.getByRole("button", { name: "I have stored it" }).click();
  expect(await stored("api_keys", "monthly_limit")).toEqual(["1234567.123456789012345678"]);

  await page.goto(`/${slug}/settings/prices`);
  await page.getByRole("button", { name: "Set a price" }).first().click();
  const dialog = page.getByRole("dialog", { name: "Set a price" });
  await dialog.getByRole("textbox", { name: "Provider" }).fill("acme");
  await dialog.getByRole("textbox", { name: "Unit" }).fill("requests");
  await dialog.getByLabel("Price, US dollars").fill("1234.123456789012345678");
  await dialog.getByLabel("For", { exact: true }).selectOption("one unit");
  await dialog.getByRole("button", { name: "Set the price" }).click();
  await expect(dialog).toBeHidden();
  expect(await stored("prices", "rate")).toEqual(["1234.123456789012345678"]);
});
