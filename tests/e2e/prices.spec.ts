import type { z } from "zod";
import type { priceList } from "@/lib/contract/ledger/prices";
import type { Metrics } from "@/lib/contract/spend/metrics";
import { signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { clientOf, digitsOf, expectDigits, readApi, signUpWithSpend } from "./spend";

test("Prices unpriced usage, previews the amount, and updates it in place", async ({ page, world }) => {
  const { slug } = await signUpWithSpend(page, world);
  const path = `/api/v1/workspaces/${slug}/metrics?period=all`;
  const before = await readApi<Metrics>(page, path);
  expect(before.totals.unpriced_count).toBe(1);
  await page.goto(`/${slug}/settings/prices`);
  await expectDigits(page, "quantity", ["500"]);
  await page.getByRole("button", { name: "Set price of ranker-7b, input_tokens" }).click();
  const dialog = page.getByRole("dialog", { name: "Set a price" });
  await expect(dialog.getByLabel("Provider", { exact: true })).toHaveValue("in-house");
  await dialog.getByLabel("Price, US dollars", { exact: true }).fill("cheap");
  await dialog.getByRole("button", { name: "Set the price" }).click();
  await expect(dialog.getByLabel("Price, US dollars", { exact: true })).toHaveAccessibleDescription(
    /Must be an amount/,
  );
  await dialog.getByLabel("Price, US dollars", { exact: true }).fill("2,500");
  await expect(dialog.getByRole("status")).toHaveText("The usage without a price will cost $1.25.");
  await dialog.getByRole("button", { name: "Set the price" }).click();
  await expect(page.getByText("All recorded usage has a price.")).toBeVisible({ timeout: 20_000 });
  await expect(page.getByText("1 of 1 messages changed")).toBeVisible({ timeout: 20_000 });
  await expectDigits(page, "change_usd", ["1.25"]);
  await expect(page.getByRole("row").filter({ hasText: "ranker-7b" })).toContainText("$2,500.00 a million");
  const { prices } = await readApi<z.output<typeof priceList>>(page, `/api/v1/workspaces/${slug}/prices`);
  await expectDigits(page, "rate", digitsOf(prices.map(({ rate }) => rate)));
  const after = await readApi<Metrics>(page, path);
  expect(after.totals.unpriced_count).toBe(0);
});

test("Shows both prices of a dispute, and settles it with one click", async ({ page, world }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}/settings/prices`);
  await expect(page.getByText("All recorded usage has a price.")).toBeVisible();
  await expect(page.getByText("Disputed prices")).toHaveCount(0);
  const client = await clientOf(world, slug);
  const model = "meta-llama/Llama-3.3-70B-Instruct-Turbo";
  const usage = { type: "usage", provider: "together", model, unit_type: "input_tokens", quantity: 1e6 };
  const answer = await client.post({
    project: "shop",
    source: "api",
    message: usage,
  });
  expect(answer.body.amount_usd).toBe(0.88);
  await page.reload();
  const disputes = page.getByRole("list", { name: "Disputed prices" });
  await expect(disputes.getByText("last used")).toHaveCount(2);
  const path = `/api/v1/workspaces/${slug}/prices`;
  const { disputed } = await readApi<z.output<typeof priceList>>(page, path);
  await expectDigits(page, "applied.rate", digitsOf(disputed.map(({ applied }) => applied.rate)));
  await expectDigits(page, "other.rate", digitsOf(disputed.map(({ other }) => other.rate)));
  const use = page.getByRole("button", { name: `Use $1.04 a million for ${model}, input_tokens` });
  await use.focus();
  await page.keyboard.press("Enter");
  await expect(page.getByText("The price is set.")).toBeVisible();
  await expect(disputes.getByText("last used")).toHaveCount(1);
  await expect(page.getByRole("row").filter({ hasText: model })).toContainText("$1.04 a million");
  await expect(page.getByText("1 of 1 messages changed")).toBeVisible({ timeout: 20_000 });
  const { repricings } = await readApi<z.output<typeof priceList>>(page, path);
  expect(digitsOf(repricings.map(({ change_usd: usd }) => usd)).sort()).toEqual(["0", "0.16"]);
  await expectDigits(page, "change_usd", digitsOf(repricings.map(({ change_usd: usd }) => usd)));
});
