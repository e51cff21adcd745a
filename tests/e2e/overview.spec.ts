import { signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { expectUsable } from "./page-checks";
import { expectDigits, figuresOf, recordSpend, unfoldAll } from "./spend";

test("what the chart is stacked by is chosen in place, kept in the address, and the sum stays", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}`);
  const chart = page.getByRole("figure", { name: "Spend by day" });
  await expect(chart.getByRole("link", { name: /^checkout/ })).toBeVisible();
  const before = await figuresOf(page, "series.points.total_usd");
  await page.getByRole("navigation", { name: "Stacked by" }).getByRole("link", { name: "Model" }).click();
  await page.waitForURL(`**/${slug}?by=model`);
  await expect(chart.getByRole("link", { name: /^gpt-4o / })).toBeVisible();
  await expect(chart.getByRole("link", { name: /^checkout/ })).toHaveCount(0);
  await expectDigits(page, "series.points.total_usd", before);
});

test("the keyboard reads the chart day by day, and a day leads to its rows", async ({ page, world }) => {
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

test("today's bar is drawn as unfinished, and no other", async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}`);
  const dashed = page.getByRole("figure").locator("rect[stroke-dasharray]");
  const places = async () => [
    ...new Set(
      await dashed.evaluateAll((bars) => bars.map((bar) => Math.floor(Number(bar.getAttribute("x"))))),
    ),
  ];
  // The chart is streamed: it may be on its way into its place.
  await expect.poll(places).toEqual([new Date().getUTCDate() - 1]);
});

test("the chart's figures and the rest of a breakdown, unfolded, can be used by everybody and widen no page", {
  tag: "@phone",
}, async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}`);
  await page.getByText("Show the figures").click();
  await expect(page.getByRole("columnheader", { name: "Period before" })).toBeVisible();
  await unfoldAll(page);
  await expectUsable(page);
});

test("test data is shown apart from live data", async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}`);
  await page.getByRole("navigation", { name: "Environment" }).getByRole("link", { name: "Test" }).click();
  await page.waitForURL(`**/${slug}?environment=test`);
  await expect(page.locator('[data-figure="totals.total_usd"]')).toHaveAttribute("data-exact", "0");
});

test("an empty workspace says how to record the first cost", async ({ page }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}`);
  await expect(page.getByText("Nothing was recorded here yet.")).toBeVisible();
});
