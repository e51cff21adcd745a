import { signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { expectUsable } from "./page-checks";
import { expectDigits, figuresOf, recordSpend, unfoldAll } from "./spend";

test("Changes the chart's stacking in place and in the address, with the same sum", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}`);
  const chart = page.getByRole("figure", { name: "Spend by day" });
  await expect(chart.getByRole("link", { name: /^checkout/ })).toBeVisible();
  let before: string[] = [];
  // The figures come into place after the chart.
  await expect
    .poll(async () => {
      before = await figuresOf(page, "series.points.total_usd");
      return before.length;
    })
    .toBeGreaterThan(0);
  await page.getByRole("navigation", { name: "Stacked by" }).getByRole("link", { name: "Model" }).click();
  await page.waitForURL(`**/${slug}?by=model`);
  await expect(chart.getByRole("link", { name: /^gpt-4o / })).toBeVisible();
  await expect(chart.getByRole("link", { name: /^checkout/ })).toHaveCount(0);
  await expectDigits(page, "series.points.total_usd", before);
});

test("Reads the chart day by day by keyboard, and links a day to its rows", async ({ page, world }) => {
  const { slug } = await signUp(page);
  const now = await recordSpend(world, slug);
  await page.goto(`/${slug}`);
  const today = new Date(now).toISOString().slice(0, 10);
  const day = new Date(now).getUTCDate();
  const crosshair = page.getByRole("slider", { name: "Spend by day" });
  await crosshair.focus();
  await page.keyboard.press("Home");
  for (let step = 1; step < day; step += 1) await page.keyboard.press("ArrowRight");
  await expect(crosshair).toHaveAttribute("aria-valuetext", /: \$\d/);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.pathname === `/${slug}/activity`);
  const { searchParams } = new URL(page.url());
  expect(Object.fromEntries(searchParams)).toEqual({
    period: "range",
    environment: "live",
    from: today,
    to: today,
  });
});

test("Draws only today's bar as unfinished", async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}`);
  const dashed = page.getByRole("figure").locator("rect[stroke-dasharray]");
  const places = async () => [
    ...new Set(
      await dashed.evaluateAll((bars) => bars.map((bar) => Math.floor(Number(bar.getAttribute("x"))))),
    ),
  ];
  // The chart is streamed and may not be in place yet.
  await expect.poll(places).toEqual([new Date().getUTCDate() - 1]);
});

test("Keeps unfolded figures and breakdowns accessible and within the page", {
  tag: "@phone",
}, async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}`);
  await page.getByText("Show the figures").click();
  await expect(page.getByRole("columnheader", { name: "Previous period" })).toBeVisible();
  await unfoldAll(page);
  await expectUsable(page);
});

test("Shows test data apart from live data", async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}`);
  await page.getByRole("navigation", { name: "Environment" }).getByRole("link", { name: "Test" }).click();
  await page.waitForURL(`**/${slug}?environment=test`);
  await expect(page.locator('[data-figure="totals.total_usd"]')).toHaveAttribute("data-exact", "0");
});

test("Says in an empty workspace how to record the first cost", async ({ page }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}`);
  await expect(page.getByText("Nothing is recorded here yet.")).toBeVisible();
});
