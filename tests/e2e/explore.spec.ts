import { readFile } from "node:fs/promises";
import { rangeCookie } from "@/components/filters/range-memory";
import { signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { attributesOf, readPage } from "./html";
import { dayBefore, exact, querySpend, recordCosts, signUpWithSpend } from "./spend";

const english = new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone: "UTC" });
/** A day as an English page writes it: "Nov 9, 2026". */
const formatDate = (day: string) => english.format(new Date(day));
/** Some days as an English page writes them: "Oct 10 – Nov 24, 2026". */
const formatDays = (from: string, to: string) =>
  english.formatRange(new Date(from), new Date(to)).replaceAll(/\s*–\s*/g, " – ");

test("Explores spend by two dimensions, from the chart to the rows, and keeps it in the address", async ({
  page,
  world,
}) => {
  const { slug } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}`);
  await page.getByRole("link", { name: "Explore" }).click();
  await expect(page.getByRole("heading", { name: "Explore", level: 1 })).toBeVisible();
  await expect(page.getByRole("slider", { name: /^Cost by day/ })).toBeVisible();

  await page.getByRole("combobox", { name: "Group by" }).selectOption({ label: "Model" });
  await page.waitForURL((url) => url.searchParams.get("by") === "model");
  const series = page.getByRole("list", { name: "Series" });
  const model = series.getByRole("button", { name: /^gpt-4o \$/ });
  await expect(model).toHaveAttribute("aria-pressed", "true");
  await model.click();
  await expect(model).toHaveAttribute("aria-pressed", "false");
  await expect.poll(() => new URL(page.url()).searchParams.get("hide")).toBe("gpt-4o");

  await page.getByRole("combobox", { name: "Then by" }).selectOption({ label: "Project" });
  await page.waitForURL((url) => url.searchParams.get("over") === "project");
  await page.getByRole("radio", { name: "Pivot" }).check({ force: true });
  await page.waitForURL((url) => url.searchParams.get("show") === "pivot");
  const pivot = page.getByRole("region", { name: "Pivot" });
  const row = pivot.getByRole("row", { name: /^gpt-4o \$/ });
  await row.getByRole("link").first().click();
  await page.waitForURL((url) => url.pathname === `/${slug}/activity`);
  const { searchParams } = new URL(page.url());
  expect(searchParams.get("model")).toBe("gpt-4o");
  expect(searchParams.get("period")).toBe("range");
});

test("Saves a view, opens it by its link, and downloads what it shows; zooms into a range that the keyboard marks", async ({
  page,
  world,
}) => {
  const { slug } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}/explore?by=project&over=none&show=table`);
  await page.getByRole("button", { name: "Views" }).click();
  await page.getByRole("textbox", { name: "Name of the view" }).fill("Projects");
  await page.getByRole("checkbox", { name: "Share with the workspace" }).check();
  await page.getByRole("button", { name: "Save this view" }).click();
  const link = page.getByRole("list", { name: "Saved views" }).getByRole("link", { name: /Projects/ });
  await expect(link).toBeVisible();
  await page.goto(`/${slug}/explore`);
  await page.getByRole("button", { name: "Views" }).click();
  await link.click();
  await page.waitForURL((url) => url.searchParams.get("show") === "table");

  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).click();
  const csv = await readFile(await (await download).path(), "utf8");
  expect(csv.split("\r\n")[0]).toBe("Project,Cost,Change,Messages");
  expect(csv).toContain("checkout");

  await page.getByRole("radio", { name: "Chart" }).check({ force: true });
  await expect(page.getByRole("slider", { name: /^Cost/ })).toBeVisible();
  const picture = page.waitForEvent("download");
  await page.getByRole("button", { name: "PNG" }).click();
  const bytes = await readFile(await (await picture).path());
  expect(bytes.subarray(1, 4).toString()).toBe("PNG");
  expect(bytes.length).toBeGreaterThan(2_000);

  await test.step("zooms into a range that the keyboard marks", async () => {
    const today = new Date().toISOString().slice(0, 10);
    await page.goto(`/${slug}/explore?period=range&from=2026-01-01&to=${today}&over=month`);
    const chart = page.getByRole("slider", { name: /^Cost by month/ });
    await chart.focus();
    await page.keyboard.press("Home");
    await page.keyboard.press("Shift+ArrowRight");
    await expect(chart).toHaveAttribute("aria-valuetext", /January 2026 – February 2026/);
    await page.keyboard.press("Enter");
    await page.waitForURL((url) => url.searchParams.get("to") === "2026-02-28");
    expect(new URL(page.url()).searchParams.get("from")).toBe("2026-01-01");
    await expect(page.getByText("Nothing was recorded for this")).toBeVisible();
  });
});

test("Says what is wrong with an address or a query that is refused", async ({ request }) => {
  const { slug } = await signUp({ request });
  for (const [query, ...texts] of [
    ["by=colour", "This address is not valid", " by must be one of project, "],
    ["over=colour", " over must be one of project, "],
    ["measure=foo", "This address is not valid", " measure must be one of: cost, messages, "],
    ["not.colour=red", " not.colour must be one of project, "],
    [
      "by=model&over=day&period=range&from=2024-01-01&to=2026-11-01&top=50",
      "This query is too broad",
      "smaller top",
    ],
  ]) {
    const { text, html } = await readPage(request, `/${slug}/explore?${query}`);
    for (const each of texts) expect(text, query).toContain(each);
    expect(html, query).toMatch(/<a [^>]*href="[^"]*period=month[^"]*"[^>]*>Show this month</);
  }
  const empty = await readPage(request, `/${slug}/explore?period=all&over=day&top=50`);
  expect(empty.text, "all time without costs is this month").toContain("Nothing was recorded for this");
});

test("Shows all time by month, and keeps the controls where a query is refused", async ({ page, world }) => {
  const { slug } = await signUpWithSpend(page, world);
  await recordCosts(world, slug, [{ project: "research", daysAgo: 1_200, cost: 7.25 }]);
  await page.goto(`/${slug}/explore?period=all`);
  await expect(page.getByRole("slider", { name: /^Cost by month/ })).toBeVisible();
  const part = page.getByRole("combobox", { name: "Then by" });
  await part.selectOption({ label: "Day" });
  await expect(page.getByText(/^This would make \d+ cells/)).toBeVisible();
  await part.selectOption({ label: "Week" });
  await expect(page.getByRole("slider", { name: /^Cost by week/ })).toBeVisible();
});

test("Shows this month instead of a refused query, whatever range was last chosen", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  await page.context().addCookies([{ name: rangeCookie, value: "all.none", url: world.service.baseUrl }]);
  const { request } = page;
  for (const address of ["explore?by=colour", "activity?type=colour"]) {
    const { html } = await readPage(request, `/${slug}/${address}`);
    const [, href = ""] = /<a [^>]*href="([^"]*)"[^>]*>Show this month</.exec(html) ?? [];
    const shown = await readPage(request, href.replaceAll("&amp;", "&"));
    expect(shown.html, address).toContain('aria-label="Period: ');
    expect(shown.html, address).not.toContain('aria-label="Period: All time"');
  }
});

test("Begins all time at the workspace's first day with a cost", async ({ request, world }) => {
  const { slug, now } = await signUpWithSpend({ request }, world);
  const { text, html } = await readPage(request, `/${slug}/explore?period=all`);
  expect(text).toContain(formatDays(dayBefore(now, 44), dayBefore(now, 0)));
  const days = { from: dayBefore(now, 1_000), to: dayBefore(now, 0) };
  const { totals } = await querySpend({ request }, slug, days);
  expect(attributesOf(html, "title", exact(totals.measured)).length).toBeGreaterThan(0);
  expect(text).not.toContain("Explore shows at most");
});

test("Says from which day on all time is shown where the history is longer, and leads to earlier days", async ({
  request,
  world,
}) => {
  const { slug, now } = await signUpWithSpend({ request }, world);
  await recordCosts(world, slug, [{ project: "research", daysAgo: 1_200, cost: 7.25 }]);
  const { text, html } = await readPage(request, `/${slug}/explore?period=all`);
  expect(text).toContain(`costs are shown from ${formatDate(dayBefore(now, 1_099))} on`);
  expect(text).toContain(`The first cost occurred on ${formatDate(dayBefore(now, 1_200))}.`);
  const [, href = ""] = /<a [^>]*href="([^"]*)"[^>]*>show /.exec(html) ?? [];
  const earlier = new URL(href.replaceAll("&amp;", "&"), "http://outlay");
  expect(earlier.searchParams.get("from")).toBe(dayBefore(now, 1_200));
  expect(earlier.searchParams.get("to")).toBe(dayBefore(now, 1_100));
  const there = await readPage(request, earlier.pathname + earlier.search);
  expect(attributesOf(there.html, "title", "7.25").length).toBeGreaterThan(0);
});

test("Begins all time with billed history, as the overview does, unless it is left out", async ({
  request,
  world,
}) => {
  const { slug, now } = await signUpWithSpend({ request }, world);
  const first = dayBefore(now, 200);
  const added = await request.post(`/api/v1/workspaces/${slug}/bills`, {
    headers: { origin: world.service.baseUrl },
    data: { name: "old.csv", content: `day,provider,amount\n${first},mistral,41.5` },
  });
  expect(added.status(), await added.text()).toBe(201);
  const { text } = await readPage(request, `/${slug}/explore?period=all`);
  const overview = await readPage(request, `/${slug}?period=all`);
  const [total = ""] = /\$[\d,.]+(?= in all)/.exec(overview.text) ?? [];
  expect(text).toContain(`${total} cost`);
  expect(text).toContain(formatDays(first, dayBefore(now, 0)));
  const without = await readPage(request, `/${slug}/explore?period=all&history=off`);
  expect(without.text).not.toContain(formatDays(first, dayBefore(now, 0)));
});
