import { costMessage } from "@/tests/helpers/client";
import { signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { attributesOf, digitsIn, readPage } from "./html";
import { expectStill, watchLayout } from "./page-checks";
import { clientOf, expectDigits, figuresOf, recordSpend, signUpWithSpend } from "./spend";

test("Changes the chart's stacking in place and in the address, with the same sum, reads it day by day by keyboard, and links a day to its rows", async ({
  page,
  world,
}) => {
  const { slug, now } = await signUpWithSpend(page, world);
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

test("Draws only today's bar as unfinished", async ({ request, world }) => {
  const { slug } = await signUpWithSpend({ request }, world);
  const { html } = await readPage(request, `/${slug}`);
  const dashed = [...html.matchAll(/<rect\b[^>]*stroke-dasharray[^>]*>/g)].map(([bar]) =>
    Math.floor(Number(/\sx="([^"]+)"/.exec(bar)?.[1])),
  );
  expect([...new Set(dashed)]).toEqual([new Date().getUTCDate() - 1]);
});

test("Shows test data apart from live data, and says in an empty workspace how to record the first cost", async ({
  request,
  world,
}) => {
  const { slug } = await signUp({ request });
  expect((await readPage(request, `/${slug}`)).text).toContain("Nothing is recorded here yet.");
  await recordSpend(world, slug);
  const live = await readPage(request, `/${slug}`);
  expect(digitsIn(live.html, "totals.total_usd")).not.toEqual(["0"]);
  expect(attributesOf(live.html, "href", `/${slug}?environment=test`)).toHaveLength(1);
  const sandbox = await readPage(request, `/${slug}?environment=test`);
  expect(digitsIn(sandbox.html, "totals.total_usd")).toEqual(["0"]);
});

test("Shows a new cost within two seconds, by small conditional requests, and asks nothing while hidden", async ({
  page,
  world,
}) => {
  const { slug } = await signUpWithSpend(page, world);
  const client = await clientOf(world, slug);
  await watchLayout(page);
  const answers: { status: number; body: number }[] = [];
  page.on("response", async (response) => {
    if (!new URL(response.url()).pathname.endsWith("/metrics")) return;
    const body = Number(response.headers()["content-length"] ?? 0);
    answers.push({ status: response.status(), body });
  });
  await page.goto(`/${slug}`);
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  // The tag of the page is that of its figures, so the first answers are that nothing has changed.
  await expect.poll(() => answers.length).toBeGreaterThan(1);
  expect(new Set(answers.map(({ status, body }) => `${status} ${body}`))).toEqual(new Set(["304 0"]));
  const total = page.locator('[data-figure="totals.total_usd"]').first();
  const before = Number(await total.getAttribute("data-exact"));
  const record = (cost: number) => client.post(costMessage({ model: "gpt-4o", estimated_cost: cost }));
  const sentAt = Date.now();
  expect((await record(2.5)).status).toBe(201);
  await expect(total).toHaveAttribute("data-exact", String(before + 2.5));
  const tookMs = Date.now() - sentAt;
  test.info().annotations.push({ type: "shown after", description: `${tookMs} ms` });
  expect(await page.evaluate(() => "isSamePage" in window)).toBe(true);
  await expectStill(page);
  const setHidden = (hidden: boolean) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "visibilityState", {
        value: value ? "hidden" : "visible",
        configurable: true,
      });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  await setHidden(true);
  await page.waitForLoadState("networkidle");
  const asked = answers.length;
  await record(1);
  // Longer than the interval: that nothing is requested can only be waited for.
  await page.waitForTimeout(2_500);
  expect(answers.length).toBe(asked);
  await setHidden(false);
  await expect(total).toHaveAttribute("data-exact", String(before + 3.5));
});

test("Names the parameter of an address that is not valid, and what is shown instead", async ({
  request,
  world,
}) => {
  const { slug } = await signUpWithSpend({ request }, world);
  for (const [path, name, shown] of [
    ["?by=colour", "by", "project"],
    ["?environment=foo", "environment", "live"],
    ["/projects/checkout?by=colour", "by", "model"],
    ["/spend/model?name=gpt-4o&by=model", "by", "project"],
    ["/spend/user?environment=foo", "environment", "live"],
  ]) {
    const { text } = await readPage(request, `/${slug}${path}`);
    expect(text, path).toMatch(
      new RegExp(`not valid: ?${name} must be one of: ${shown}, .*The page shows ${name}=${shown}`),
    );
  }
  expect((await readPage(request, `/${slug}?by=model&environment=live`)).text).not.toContain("not valid");
});
