import { exactText } from "@/components/figures/amount";
import { sumExact } from "@/components/figures/exact";
import type { ActivityList } from "@/lib/contract/spend/activity";
import { rowsOf } from "./activity-table";
import { expect, test } from "./fixtures";
import { attributesOf, digitsIn, readPage } from "./html";
import { readApi, signUpWithSpend } from "./spend";

test("Sums the rows shown exactly where no total is kept", async ({ request, world }) => {
  const { slug } = await signUpWithSpend({ request }, world);
  const { html } = await readPage(request, `/${slug}/activity?period=all&q=answers`);
  const list = await readApi<ActivityList>(
    { request },
    `/api/v1/workspaces/${slug}/activity?period=all&environment=live&q=answers&limit=50`,
  );
  expect(list.count).toBe(15);
  const sum = sumExact(list.activity.map(({ amount_usd: usd }) => exactText(usd)));
  expect(digitsIn(html, "shown_usd")).toEqual([sum]);
  const unpriced = await readPage(request, `/${slug}/activity?cost_status=unpriced`);
  expect(unpriced.text).toContain("ranker-7b · 500 input tokens");
  expect(unpriced.html.match(/\sdata-row[=\s>]/g)).toHaveLength(1);
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
