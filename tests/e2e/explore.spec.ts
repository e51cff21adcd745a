import { readFile } from "node:fs/promises";
import type { Page } from "@playwright/test";
import { subtractExact, sumExact } from "@/components/activity/exact";
import { exactText } from "@/components/amount";
import type { SpendAnswer, SpendQueryInput } from "@/lib/contract/spend-query";
import { parseJson } from "@/lib/http/json";
import { signUp } from "./accounts";
import { expect, test, type World } from "./fixtures";
import { expectUsable } from "./page-checks";
import { clientOf, digitsOf, figuresOf, signUpWithSpend } from "./spend";

const dayMs = 86_400_000;
const dayBefore = (now: number, days: number) => new Date(now - days * dayMs).toISOString().slice(0, 10);

/** A day as an English page writes it: "Nov 9, 2026". */
const formatDate = (day: string) =>
  new Intl.DateTimeFormat("en-US", { dateStyle: "medium", timeZone: "UTC" }).format(new Date(day));

/** Records expenses. */
async function recordCosts(
  world: World,
  slug: string,
  costs: { project: string; daysAgo: number; cost: number }[],
): Promise<void> {
  const client = await clientOf(world, slug);
  const messages = costs.map(({ project, daysAgo, cost }) => ({
    project,
    source: "api",
    message: {
      type: "expense",
      vendor: "Hetzner",
      amount: cost,
      occurred_at: new Date(Date.now() - daysAgo * dayMs).toISOString(),
    },
  }));
  expect((await client.post({ messages }, {}, "/batch")).status).toBe(207);
}

/** The API's answer to a query. */
async function queryApi(page: Page, slug: string, query: SpendQueryInput): Promise<SpendAnswer> {
  const answer = await page.request.post(`/api/v1/workspaces/${slug}/spend/query`, {
    data: query,
    headers: { origin: new URL(page.url()).origin },
  });
  expect(answer.status()).toBe(200);
  return parseJson(await answer.text()) as SpendAnswer;
}

const exact = (figure: SpendAnswer["totals"]["measured"] | undefined) => exactText(figure ?? 0);

test("Explores spend by two dimensions, from the chart to the rows, and keeps it in the address", async ({
  page,
  world,
}) => {
  const { slug } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}`);
  await page.getByRole("link", { name: "Explore" }).click();
  await expect(page.getByRole("heading", { name: "Explore", level: 1 })).toBeVisible();
  await expect(page.getByRole("slider", { name: /^Cost by day/ })).toBeVisible();

  await page.getByRole("combobox", { name: "By", exact: true }).selectOption({ label: "Model" });
  await page.waitForURL((url) => url.searchParams.get("by") === "model");
  const series = page.getByRole("list", { name: "Series" });
  const model = series.getByRole("button", { name: /^gpt-4o \$/ });
  await expect(model).toHaveAttribute("aria-pressed", "true");
  await model.click();
  await expect(model).toHaveAttribute("aria-pressed", "false");
  await expect.poll(() => new URL(page.url()).searchParams.get("hide")).toBe("gpt-4o");

  await page.getByRole("combobox", { name: "And by" }).selectOption({ label: "Project" });
  await page.waitForURL((url) => url.searchParams.get("over") === "project");
  await page.getByRole("radio", { name: "Pivot" }).check({ force: true });
  await page.waitForURL((url) => url.searchParams.get("show") === "pivot");
  const pivot = page.getByRole("region", { name: "Pivot" });
  const row = pivot.getByRole("row", { name: /^gpt-4o \$/ });
  await expectUsable(page);
  await row.getByRole("link").first().click();
  await page.waitForURL((url) => url.pathname === `/${slug}/activity`);
  const { searchParams } = new URL(page.url());
  expect(searchParams.get("model")).toBe("gpt-4o");
  expect(searchParams.get("period")).toBe("range");
});

test("Saves a view, opens it by its link, and downloads what it shows", async ({ page, world }) => {
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
});

test("Zooms into a range that the keyboard marks", async ({ page, world }) => {
  const { slug } = await signUpWithSpend(page, world);
  const today = new Date().toISOString().slice(0, 10);
  await page.goto(`/${slug}/explore?period=range&from=2026-01-01&to=${today}&over=month`);
  const chart = page.getByRole("slider", { name: /^Cost by month/ });
  await chart.focus();
  await page.keyboard.press("Home");
  await page.keyboard.press("Shift+ArrowRight");
  await expect(chart).toHaveAttribute("aria-valuetext", /January 2026 to February 2026/);
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.searchParams.get("to") === "2026-02-28");
  expect(new URL(page.url()).searchParams.get("from")).toBe("2026-01-01");
  await expect(page.getByText("Nothing was recorded for this")).toBeVisible();
});

test("Says what is wrong with an address or a query that is refused", async ({ page }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}/explore?by=colour`);
  await expect(page.getByText("This address is not valid")).toBeVisible();
  await expect(page.getByText(/^by must be one of project, /)).toBeVisible();
  await page.goto(`/${slug}/explore?over=colour`);
  await expect(page.getByText(/^over must be one of project, /)).toBeVisible();
  await page.goto(`/${slug}/explore?not.colour=red`);
  await expect(page.getByText(/^not\.colour must be one of project, /)).toBeVisible();
  await page.goto(`/${slug}/explore?by=model&over=day&period=range&from=2024-01-01&to=2026-11-01&top=50`);
  await expect(page.getByText("This query is too broad")).toBeVisible();
  await expect(page.getByText(/smaller top/)).toBeVisible();
  await page.getByRole("link", { name: "Show this month" }).click();
  await page.waitForURL(`**/${slug}/explore*`);
  await expect(page.getByText("Nothing was recorded for this")).toBeVisible();
});

test("Shows all time by month, and keeps the controls where a query is refused", async ({ page, world }) => {
  const { slug } = await signUpWithSpend(page, world);
  await recordCosts(world, slug, [{ project: "research", daysAgo: 1_200, cost: 7.25 }]);
  await page.goto(`/${slug}/explore?period=all`);
  await expect(page.getByRole("slider", { name: /^Cost by month/ })).toBeVisible();
  const part = page.getByRole("combobox", { name: "And by" });
  await part.selectOption({ label: "Day" });
  await expect(page.getByText(/^This would make \d+ cells/)).toBeVisible();
  await expectUsable(page);
  await part.selectOption({ label: "Week" });
  await expect(page.getByRole("slider", { name: /^Cost by week/ })).toBeVisible();
});

test("Shows this month instead of a refused query, whatever range was last chosen", async ({ page }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}/explore?period=month`);
  await page.getByRole("button", { name: /^Period: / }).click();
  const kept = page.waitForResponse((answer) => answer.request().method() === "PATCH");
  await page.getByRole("link", { name: "All time" }).click();
  expect((await kept).status()).toBe(200);
  for (const address of ["explore?by=colour", "activity?type=colour"]) {
    await page.goto(`/${slug}/${address}`);
    await page.getByRole("link", { name: "Show this month" }).click();
    await page.waitForURL((url) => url.searchParams.get("period") === "month");
    await expect(page.getByRole("button", { name: /^Period: / })).not.toHaveAccessibleName(
      "Period: All time",
    );
  }
});

test("Begins all time at the workspace's first day with a cost", async ({ page, world }) => {
  const { slug, now } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}/explore?period=all`);
  const answer = page.getByRole("region", { name: "Answer" });
  await expect(answer).toContainText(`${formatDate(dayBefore(now, 44))} – ${formatDate(dayBefore(now, 0))}`);
  const { totals } = await queryApi(page, slug, { from: dayBefore(now, 1_000), to: dayBefore(now, 0) });
  await expect(answer.locator("p > span").first()).toHaveAttribute("title", exact(totals.measured));
  await expect(page.getByText(/^Explore shows at most/)).toHaveCount(0);
  await expectUsable(page);
});

test("Shows the current month for all time of a workspace without costs", async ({ page }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}/explore?period=all&over=day&top=50`);
  await expect(page.getByText("Nothing was recorded for this")).toBeVisible();
});

test("Says from which day on all time is shown where the history is longer, and leads to earlier days", async ({
  page,
  world,
}) => {
  const { slug, now } = await signUpWithSpend(page, world);
  await recordCosts(world, slug, [{ project: "research", daysAgo: 1_200, cost: 7.25 }]);
  await page.goto(`/${slug}/explore?period=all`);
  await expect(
    page.getByText(`costs are shown from ${formatDate(dayBefore(now, 1_099))} on`, { exact: false }),
  ).toBeVisible();
  await expect(page.getByText(`The first cost is of ${formatDate(dayBefore(now, 1_200))}.`)).toBeVisible();
  await expectUsable(page);
  await page.getByRole("link", { name: /^show / }).click();
  await page.waitForURL((url) => url.searchParams.get("to") === dayBefore(now, 1_100));
  expect(new URL(page.url()).searchParams.get("from")).toBe(dayBefore(now, 1_200));
  const answer = page.getByRole("region", { name: "Answer" });
  await expect(answer.locator("p > span").first()).toHaveAttribute("title", "7.25");
});

test("Compares the total and each row with the days before, so that the changes of the rows sum to the total's", async ({
  page,
  world,
}) => {
  const { slug, now } = await signUpWithSpend(page, world);
  await recordCosts(world, slug, [
    { project: "atlas", daysAgo: 2, cost: 3.125 },
    { project: "borealis", daysAgo: 12, cost: 40.5 },
  ]);
  const days = { from: dayBefore(now, 9), to: dayBefore(now, 0) };
  const before = { from: dayBefore(now, 19), to: dayBefore(now, 10) };
  const range = `period=range&from=${days.from}&to=${days.to}&over=none&show=table`;
  for (const { by, measure, top } of [
    { by: "project", measure: "cost", top: 8 },
    { by: "project", measure: "messages", top: 3 },
    { by: "model", measure: "cost", top: 3 },
    { by: "model", measure: "tokens", top: 8 },
  ] as const) {
    await page.goto(`/${slug}/explore?${range}&by=${by}&measure=${measure}&top=${top}`);
    await expect(page.locator('[data-figure="change.total"]')).toBeVisible();
    const shown = await queryApi(page, slug, { ...days, group_by: [by], measure, top });
    const earlier = await queryApi(page, slug, { ...before, group_by: [by], measure, top: 50 });
    const total = subtractExact(exact(shown.totals.measured), exact(earlier.totals.measured));
    const listed = shown.rows.groups.filter((group) => !group.is_rest);
    const earlierOf = ({ value }: (typeof listed)[number]) =>
      exact(earlier.rows.groups.find((group) => group.value === value)?.measured);
    const changes = listed.map((group) => subtractExact(exact(group.measured), earlierOf(group)));
    const rest = subtractExact(total, sumExact(changes));
    const hasRest = listed.length < shown.rows.groups.length;
    const about = `${measure} by ${by}`;
    const expected = [...changes, ...(hasRest ? [rest] : [])];
    await expect
      .poll(async () => (await figuresOf(page, "change")).sort(), about)
      .toEqual([...expected].sort());
    expect(await figuresOf(page, "change.total"), about).toEqual([total]);
    expect(await figuresOf(page, "change.gone"), about).toEqual(hasRest || Number(rest) === 0 ? [] : [rest]);
    await page.getByRole("radio", { name: "Pivot" }).check({ force: true });
    await expect.poll(() => figuresOf(page, "change"), about).toEqual([...expected, total]);
  }
  await page.goto(`/${slug}/explore?${range}`);
  const { totals } = await queryApi(page, slug, {
    ...before,
    filters: [{ field: "project", values: ["borealis"] }],
  });
  await expect(page.getByText(/ 1 project is not listed, /)).toBeVisible();
  expect(await figuresOf(page, "change.gone")).toEqual([`-${digitsOf([totals.cost_usd])[0]}`]);
  await expect(page.getByRole("row", { name: /^atlas/ }).locator('[data-figure="change"]')).toHaveText("new");
  await expectUsable(page);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).click();
  const csv = await readFile(await (await download).path(), "utf8");
  expect(csv).toContain("atlas,3.125,3.125,1");
  await page.getByRole("radio", { name: "Pivot" }).check({ force: true });
  await expect(page.getByRole("region", { name: "Pivot" })).toBeVisible();
  const pivotDownload = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).click();
  const pivot = await readFile(await (await pivotDownload).path(), "utf8");
  expect(pivot).toContain("Project,Total,Change\r\n");
  expect(pivot).toContain("atlas,3.125,3.125\r\n");
});

test("Compares with chosen days or nothing, and keeps it when something else is chosen", async ({
  page,
  world,
}) => {
  const { slug, now } = await signUpWithSpend(page, world);
  const days = { from: dayBefore(now, 9), to: dayBefore(now, 0) };
  const before = { from: dayBefore(now, 39), to: dayBefore(now, 30) };
  const compared = `compare=range&compare_from=${before.from}&compare_to=${before.to}`;
  await page.goto(`/${slug}/explore?period=range&from=${days.from}&to=${days.to}&${compared}&show=table`);
  const change = page.locator('[data-figure="change.total"]');
  const totalOf = async (range: typeof days) => exact((await queryApi(page, slug, range)).totals.measured);
  const expected = subtractExact(await totalOf(days), await totalOf(before));
  await expect(change).toHaveAttribute("data-exact", expected);
  await expect(change).toContainText("Today is not over.");
  await expect(page.getByRole("columnheader", { name: "Change of project" })).toBeVisible();
  await page.getByRole("combobox", { name: "By", exact: true }).selectOption({ label: "Model" });
  await expect(page.getByRole("columnheader", { name: "Change of model" })).toBeVisible();
  await expect(change).toHaveAttribute("data-exact", expected);
  await page.goto(page.url().replace(`to=${days.to}`, `to=${dayBefore(now, 1)}`));
  await expect(change).toContainText("against");
  await expect(change).not.toContainText("Today");
  const empty = `compare_from=${dayBefore(now, 900)}&compare_to=${dayBefore(now, 890)}`;
  for (const show of ["table", "pivot"]) {
    await page.goto(
      `/${slug}/explore?period=range&from=${days.from}&to=${days.to}&compare=range&${empty}&show=${show}`,
    );
    await expect(page.getByText(/^Nothing was recorded in /)).toBeVisible();
    await expect(page.getByRole("columnheader", { name: "Project" })).toBeVisible();
    await expect(page.getByRole("columnheader", { name: /^Change/ })).toHaveCount(0);
  }
  await page.goto(
    `/${slug}/explore?period=range&from=${days.from}&to=${days.to}&${compared.replace(before.from, "2020-01-01")}&show=table`,
  );
  await expect(page.getByText(/^This is not compared with .* at most 1,100 days\.$/)).toBeVisible();
  await expect(change).toHaveCount(0);
  await page.getByRole("button", { name: /^Compared with: / }).click();
  await page.getByRole("link", { name: "Nothing" }).click();
  await page.waitForURL((url) => url.searchParams.get("compare") === "none");
  await expect(page.getByText(/^This is not compared with/)).toHaveCount(0);
  await expect(page.getByRole("columnheader", { name: /^Change/ })).toHaveCount(0);
  await expect(page.getByRole("columnheader", { name: "Cost" })).toBeVisible();
});
