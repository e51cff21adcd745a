import { exactText } from "@/components/amount";
import type { Metrics } from "@/lib/contract/metrics";
import { signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { whenStreamed } from "./page-checks";
import { digitsOf, figuresOf, readApi, recordSpend } from "./spend";

const dimensions = ["project", "model", "feature", "provider"] as const;

test("every figure of the overview is the API's, to the last digit", async ({ page, world }) => {
  test.setTimeout(90_000);
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  for (const period of ["month", "week", "quarter", "year", "all"]) {
    await page.goto(period === "month" ? `/${slug}` : `/${slug}?period=${period}`);
    await page.getByText("Show the figures").click();
    const metrics = await readApi<Metrics>(page, `/api/v1/workspaces/${slug}/metrics?period=${period}`);
    const { totals, previous, series, forecast_usd: forecast } = metrics;
    const shows = async (name: string, digits: string[]) =>
      expect(await figuresOf(page, name), name).toEqual(digits);
    await shows("totals.total_usd", digitsOf([totals.total_usd]));
    await shows("totals.message_count", [String(totals.message_count)]);
    await shows("totals.unpriced_count", [String(totals.unpriced_count)]);
    await shows("previous.totals.total_usd", previous ? digitsOf([previous.totals.total_usd]) : []);
    for (const dimension of dimensions) {
      await shows(`by_${dimension}`, digitsOf(metrics[`by_${dimension}`].map(({ total_usd }) => total_usd)));
    }
    await shows("series.points.total_usd", digitsOf(series.points.map(({ total_usd }) => total_usd)));
    await shows(
      "series.points.amounts_usd",
      digitsOf(series.points.flatMap(({ amounts_usd }) => amounts_usd)),
    );
    // These two move with the clock: the answer is a moment later than the page.
    const [shownForecast] = await figuresOf(page, "forecast_usd");
    expect(shownForecast === undefined).toBe(forecast === null);
    if (forecast) expect(Number(shownForecast) / Number(exactText(forecast))).toBeCloseTo(1, 2);
    const [shownBefore] = await figuresOf(page, "previous.to_point_usd");
    if (previous) expect(Number(shownBefore)).toBeCloseTo(Number(exactText(previous.to_point_usd)), 1);
  }
});

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
  expect(await figuresOf(page, "series.points.total_usd")).toEqual(before);
});

test("the keyboard reads the chart day by day, and a day leads to its rows", async ({ page, world }) => {
  const { slug } = await signUp(page);
  const now = await recordSpend(world, slug);
  await page.goto(`/${slug}`);
  await page.waitForLoadState("networkidle");
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
  await whenStreamed(page);
  const places = await dashed.evaluateAll((bars) =>
    bars.map((bar) => Math.floor(Number(bar.getAttribute("x")))),
  );
  expect(new Set(places)).toEqual(new Set([new Date().getUTCDate() - 1]));
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
  await signUp(page);
  await expect(page.getByText("Nothing was recorded here yet.")).toBeVisible();
});
