import { sumExact } from "@/components/activity/exact";
import { exactText } from "@/components/figures/amount";
import type { ActivityList } from "@/lib/contract/spend/activity";
import { costMessage } from "@/tests/helpers/client";
import { openAs, signUp } from "./accounts";
import { rowsOf } from "./activity-table";
import { expect, test } from "./fixtures";
import { expectStill, expectUsable, watchLayout } from "./page-checks";
import { clientOf, expectDigits, readApi, recordSpend, signUpWithSpend } from "./spend";

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

test("Adds filters from a menu to the address, and removes them again", {
  tag: "@phone",
}, async ({ page, world }) => {
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

test("Shows a link's filters to everybody, and explains an invalid one", async ({ page, world }) => {
  const { slug } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}/activity?period=all&provider=Hetzner`);
  await expect(page.getByRole("link", { name: "Remove the filter Provider: Hetzner" })).toBeVisible();
  await expect(rowsOf(page)).toHaveCount(1);
  await page.goto(`/${slug}/activity?period=fortnight`);
  await expect(page.getByText("This address is not valid")).toBeVisible();
  await page.getByRole("link", { name: "Show this month" }).click();
  await expect(rowsOf(page).first()).toBeVisible();
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

test("Shows a viewer the same rows and the export, and no forbidden actions", async ({
  page,
  openPage,
  world,
}) => {
  const { slug } = await signUpWithSpend(page, world);
  const viewer = await openAs(openPage, world, slug, "viewer");
  await viewer.goto(`/${slug}/activity`);
  await expect(rowsOf(viewer).first()).toBeVisible();
  await expect(viewer.getByRole("button", { name: "Export" })).toBeVisible();
  await expect(viewer.getByRole("button", { name: "Add a cost" })).toHaveCount(0);
  await expect(viewer.getByRole("link", { name: "Import" })).toHaveCount(0);
  await viewer.goto(`/${slug}/activity/import`);
  await expect(viewer.getByText("Viewers cannot record costs")).toBeVisible();
});

test("Is accessible with its menus open, empty and full, without layout shifts", {
  tag: "@phone",
}, async ({ page, world }) => {
  const { slug } = await signUp(page);
  await watchLayout(page);
  await page.goto(`/${slug}/activity`);
  await expect(page.getByText("Nothing was recorded in this period")).toBeVisible();
  await expectStill(page);
  await expectUsable(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}/activity?period=all&project=checkout`);
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await expect(page.getByRole("dialog", { name: "Filters" })).toBeVisible();
  await expectUsable(page);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Export" }).click();
  await expect(page.getByRole("menuitem", { name: /^CSV/ })).toBeFocused();
  await expectUsable(page);
  await page.keyboard.press("Escape");
  await expectStill(page);
});
