import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { exactText } from "@/components/figures/amount";
import type { Metrics } from "@/lib/contract/spend/metrics";
import { costMessage } from "@/tests/helpers/client";
import { signUp } from "./accounts";
import { expect, test, type World } from "./fixtures";
import { readPage } from "./html";
import { expectLight, expectStill, expectUsable, watchLayout } from "./page-checks";
import { clientOf, readApi } from "./spend";

/** The days of the figures that `recordMarch` records. */
const march = "period=range&from=2026-03-01&to=2026-03-20";

/**
 * Twenty days of two projects. On the 5th, 12,400 dollars are spent at once; on the 12th, more is allocated from one project to the
 * other than it spent that day.
 */
async function recordMarch(world: World, slug: string): Promise<void> {
  const key = await clientOf(world, slug);
  const at = (day: number) => `2026-03-${String(day).padStart(2, "0")}T12:00:00Z`;
  const usage = (project: string, day: number, cost: number) =>
    costMessage({ estimated_cost: cost, occurred_at: at(day) }, { project });
  const messages: unknown[] = Array.from({ length: 20 }, (_, index) => [
    usage("checkout", index + 1, 10 + (index % 4)),
    usage("search", index + 1, 5),
  ]).flat();
  messages.push({
    project: "search",
    source: "api",
    message: { type: "expense", vendor: "Hardware", amount: 12_400, occurred_at: at(5) },
  });
  const bulk = await key.post({ messages }, {}, "/batch");
  expect(bulk.status).toBe(207);
  const moved = await key.post({
    project: "search",
    source: "api",
    message: { type: "allocation", from_project: "checkout", amount: 30, occurred_at: at(12) },
  });
  expect(moved.status).toBe(201);
}

async function openMarch(page: Page, world: World, more = ""): Promise<string> {
  const { slug } = await signUp(page);
  await recordMarch(world, slug);
  await page.goto(`/${slug}?${march}${more}`);
  return slug;
}

const addressOf = (page: Page) => Object.fromEntries(new URL(page.url()).searchParams);

test("Chooses days of the overview by keyboard, in the address, and goes back; by dragging; and opens the rows of a day by a click", async ({
  page,
  world,
}) => {
  const slug = await openMarch(page, world, "&by=model");
  const chart = page.getByRole("slider", { name: "Spend by day" });
  await chart.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  await page.keyboard.press("Shift+ArrowRight");
  await expect(chart).toHaveAttribute("aria-valuetext", /Mar 2 – .*Mar 4: \$51\.00.*Press Enter/);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.searchParams.get("from") === "2026-03-02");
  expect(addressOf(page)).toEqual({ period: "range", from: "2026-03-02", to: "2026-03-04", by: "model" });
  // The chart has three days then, and keeps the focus.
  await expect(chart).toHaveAttribute("aria-valuemax", "3");
  await expect(chart).toBeFocused();
  await page.goBack();
  await expect(chart).toHaveAttribute("aria-valuemax", "20");
  expect(addressOf(page)).toMatchObject({ from: "2026-03-01", to: "2026-03-20" });

  await page.goto(`/${slug}?${march}`);
  const box = await chart.boundingBox();
  if (!box) throw new Error("The chart is not there.");
  const middleOf = (day: number) => box.x + (box.width * (day - 0.5)) / 20;
  await page.mouse.move(middleOf(7), box.y + 100);
  await page.mouse.down();
  await page.mouse.move(middleOf(10), box.y + 120, { steps: 4 });
  // The figures are the sums of the marked days: 12, 13, 10 and 11 dollars of one project, four times 5 of the other.
  const marked = page.getByText("Sat, Mar 7 – Tue, Mar 10").locator("../..");
  await expect(marked).toContainText(/\$66\.00.*search\$20\.00.*checkout\$46\.00/);
  await page.mouse.up();
  await page.waitForURL((url) => url.searchParams.get("from") === "2026-03-07");
  expect(addressOf(page)).toMatchObject({ from: "2026-03-07", to: "2026-03-10" });
  await expect(chart).toHaveAttribute("aria-valuemax", "4");
  const narrow = await chart.boundingBox();
  await page.mouse.click((narrow?.x ?? 0) + 10, (narrow?.y ?? 0) + 100);
  await page.waitForURL((url) => url.pathname === `/${slug}/activity`);
  expect(addressOf(page)).toMatchObject({ from: "2026-03-07", to: "2026-03-07" });
});

test("Cuts the axis at a day far beyond the others; hides series, shows what was allocated apart, and sums the figures to the days' totals", async ({
  page,
  world,
}) => {
  const slug = await openMarch(page, world);
  const figure = page.getByRole("figure", { name: "Spend by day" });
  const drawing = figure.locator("svg[data-chart]");
  await expect(figure.getByText("1 day goes beyond the axis: $12,415.00 on Thu, Mar 5.")).toBeVisible();
  await expect(drawing).not.toContainText("$10K");
  await expect(drawing.locator("[data-break]")).toHaveCount(1);
  await figure.getByRole("button", { name: "Show the full scale" }).click();
  await expect(drawing).toContainText("$10K");
  await expect(drawing.locator("[data-break]")).toHaveCount(0);
  await expect(figure.getByText("1 day goes far beyond the others")).toBeVisible();
  await figure.getByRole("button", { name: "Cut the axis" }).click();
  await expect(drawing).not.toContainText("$10K");

  const series = figure.getByRole("list", { name: "Series" });
  await expect(series.getByRole("link", { name: /^Allocated in \$30/ })).toBeVisible();
  await expect(series.getByRole("link", { name: /^Allocated out −\$30/ })).toHaveAttribute(
    "href",
    /type=allocation/,
  );
  const chart = page.getByRole("slider", { name: "Spend by day" });
  await chart.focus();
  await page.keyboard.press("Home");
  const checkout = series.getByRole("button", { name: "checkout" });
  await expect(checkout).toHaveAttribute("aria-pressed", "true");
  await checkout.click();
  await expect(checkout).toHaveAttribute("aria-pressed", "false");
  await chart.focus();
  await page.keyboard.press("Home");
  await expect(chart).toHaveAttribute("aria-valuetext", "Sun, Mar 1: search $5.00");
  await checkout.click();
  await chart.focus();
  await page.keyboard.press("Home");
  await expect(chart).toHaveAttribute("aria-valuetext", "Sun, Mar 1: $15.00");

  const download = page.waitForEvent("download");
  await figure.getByRole("button", { name: "CSV" }).click();
  const csv = await readFile(await (await download).path(), "utf8");
  const [head, ...lines] = csv.trimEnd().split("\r\n");
  expect(head).toBe(
    'Day,search,checkout,Allocated in,Allocated out,Total,"Previous period: Feb 9 – 28, 2026"',
  );
  expect(lines).toHaveLength(20);
  expect(lines[11]).toBe("2026-03-12,5,13,30,-30,18,0");
  const { series: answered } = await readApi<Metrics>(page, `/api/v1/workspaces/${slug}/metrics?${march}`);
  expect(lines.map((line) => line.split(",").at(-2))).toEqual(
    answered.points.map((point) => exactText(point.total_usd)),
  );

  const picture = page.waitForEvent("download");
  await figure.getByRole("button", { name: "PNG" }).click();
  const bytes = await readFile(await (await picture).path());
  expect(bytes.subarray(1, 4).toString()).toBe("PNG");
  // As wide as the chart with its axis, twice as large.
  const shown = await figure.locator("svg[data-chart]").boundingBox();
  expect(bytes.readUInt32BE(16)).toBe(Math.floor(((shown?.width ?? 0) + 64) * 2));
});

test("Is complete, light, still and accessible, with negative days and a cut axis", {
  tag: "@phone",
}, async ({ page, world }) => {
  const slug = await openMarch(page, world);
  await watchLayout(page);
  const opened = await page.goto(`/${slug}?${march}`);
  await expect(page.getByRole("slider", { name: "Spend by day" })).toBeVisible();
  await expectStill(page);
  await expectLight(page, opened);
  await page.getByText("Show the figures").click();
  await expect(page.getByRole("columnheader", { name: "Allocated out" })).toBeVisible();
  await expectUsable(page);
});

test("Draws the chart without scripts, and says which days the line shows", async ({ request, world }) => {
  const { slug } = await signUp({ request });
  await recordMarch(world, slug);
  const { html, text } = await readPage(request, `/${slug}?${march}`);
  expect(html).toContain("data-chart");
  expect(text).toContain("1 day goes beyond the axis");
  expect(html.match(/<path fill="var\(--chart-[^"]+" d="M/g)?.length).toBeGreaterThan(2);
  expect(text).toContain("Previous period: Feb 9 – 28, 2026");
  for (const [compare, days] of [
    ["last_year", "Same days last year: Mar 1 – 20, 2025"],
    ["range&compare_from=2026-01-01&compare_to=2026-01-31", "Chosen days: January 2026"],
  ])
    expect((await readPage(request, `/${slug}?${march}&compare=${compare}`)).text).toContain(days);
  const alone = await readPage(request, `/${slug}?${march}&compare=none`);
  expect(alone.html).toContain("data-chart");
  expect(alone.text).not.toMatch(/(Previous period|Same days last year|Chosen days): /);
});

test("Shows a project's own spend beside what was taken from it, with shares that have a sign", async ({
  request,
  world,
}) => {
  const { slug } = await signUp({ request });
  await recordMarch(world, slug);
  const { html, text } = await readPage(
    request,
    `/${slug}/projects/checkout?period=range&from=2026-03-12&to=2026-03-12`,
  );
  expect(text).toMatch(/ gpt-4o \$13/);
  expect(text).toMatch(/ Allocated out −\$30/);
  expect(text).toContain("percentages are of all amounts without their signs");
  const rows = [...html.matchAll(/<li\b.*?<\/li>/gs)].map(([row]) => row.replaceAll(/<[^>]*>/g, " "));
  expect(rows).toContainEqual(expect.stringMatching(/gpt-4o.* 30%/s));
  expect(rows).toContainEqual(expect.stringMatching(/Expenses and other costs.* −70%/s));
});
