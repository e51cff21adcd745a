import { exactText } from "@/components/figures/amount";
import { sumExact } from "@/components/figures/exact";
import type { ActivityList } from "@/lib/contract/spend/activity";
import { costMessage } from "@/tests/helpers/client";
import { signUp } from "./accounts";
import { rowsOf } from "./activity-table";
import { expect, test } from "./fixtures";
import { attributesOf, readPage } from "./html";
import { clientOf, expectDigits, readApi, signUpWithSpend } from "./spend";

test("Sums the rows shown exactly where no total is kept", async ({ page, world }) => {
  const { slug } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}/activity?period=all&q=answers`);
  const list = await readApi<ActivityList>(
    page,
    `/api/v1/workspaces/${slug}/activity?period=all&environment=live&q=answers&limit=50`,
  );
  expect(list.count).toBe(15);
  const sum = sumExact(list.activity.map(({ amount_usd: usd }) => exactText(usd)));
  await expectDigits(page, "shown_usd", [sum]);
  await page.goto(`/${slug}/activity?cost_status=unpriced`);
  await expect(rowsOf(page)).toHaveText(["ranker-7b · 500 input tokens"]);
});

test("Adds filters from a menu to the address, and removes them again", async ({ page, world }) => {
  const { slug } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}/activity?period=all`);
  const all = await rowsOf(page).count();
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("dialog", { name: "Filters" }).getByLabel("Project").selectOption({ label: "search" });
  await page.waitForURL((url) => url.searchParams.get("project") === "search");
  const chip = page.getByRole("link", { name: "Remove the filter Project: search" });
  await expect(chip).toBeVisible();
  await expect(rowsOf(page)).toHaveCount(15);
  await page.getByRole("dialog", { name: "Filters" }).getByLabel("Feature").selectOption({ label: "None" });
  await page.waitForURL((url) => url.searchParams.get("feature") === "");
  await expect(page.getByText("Nothing matches these filters")).toBeVisible();
  await page.goBack();
  await expect(rowsOf(page)).toHaveCount(15);
  await page.keyboard.press("Escape");
  await chip.click();
  await expect(rowsOf(page)).toHaveCount(all);
  await page.getByRole("searchbox", { name: /^Search label/ }).fill("hetzner");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.searchParams.get("q") === "hetzner");
  await expect(rowsOf(page)).toHaveText(["Hetzner"]);
});

test("Shows a link's filters to everybody, and explains an invalid one", async ({ request, world }) => {
  const { slug } = await signUpWithSpend({ request }, world);
  const filtered = await readPage(request, `/${slug}/activity?period=all&provider=Hetzner`);
  expect(attributesOf(filtered.html, "aria-label", "Remove the filter Provider: Hetzner")).toHaveLength(1);
  expect(filtered.html.match(/\sdata-row[=\s>]/g)).toHaveLength(1);
  const invalid = await readPage(request, `/${slug}/activity?period=fortnight`);
  expect(invalid.text).toContain("This address is not valid");
  expect(invalid.html).toMatch(/<a [^>]*href="[^"]*period=month[^"]*"[^>]*>Show this month</);
});

test("Adds more rows below, each once, to the last", async ({ page, world }) => {
  const { slug } = await signUp(page);
  const client = await clientOf(world, slug);
  const messages = Array.from({ length: 120 }, (_, index) =>
    costMessage({ label: `Row ${index}`, occurred_at: "2026-01-05T00:00:00Z" }),
  );
  await client.post({ messages }, {}, "/batch");
  await page.goto(`/${slug}/activity?period=all`);
  await expect(rowsOf(page)).toHaveCount(50);
  await page.getByRole("button", { name: "Load more" }).click();
  await expect(rowsOf(page)).toHaveCount(100);
  await page.getByRole("button", { name: "Load more" }).click();
  await expect(rowsOf(page)).toHaveCount(120);
  await expect(page.getByRole("button", { name: "Load more" })).toHaveCount(0);
  expect(new Set(await rowsOf(page).allTextContents()).size).toBe(120);
});
