import type { Page } from "@playwright/test";
import { toNumber } from "@/components/figures/amount";
import type { Metrics } from "@/lib/contract/spend/metrics";
import type { Project } from "@/lib/contract/spend/projects";
import { shippedRate } from "@/tests/helpers/ledger/shipped-rates";
import { expect, test } from "./fixtures";
import { attributesOf, readPage } from "./html";
import { expectStill, expectWithin, watchLayout } from "./page-checks";
import { dayBefore, originOf, querySpend, readApi, signUpWithSpend } from "./spend";

test.use({ locale: "de-DE" });

/** Sets the base currency of a workspace, and how its member wants to see amounts. */
async function showIn(
  page: Pick<Page, "request">,
  slug: string,
  currency: string,
  shown: "usd" | "base" | "both",
) {
  const origin = await originOf(page);
  const change = async (path: string, data: object) => {
    const answer = await page.request.patch(path, { data, headers: { origin } });
    expect(answer.status()).toBe(200);
  };
  await change(`/api/v1/workspaces/${slug}`, { base_currency: currency });
  await change("/api/v1/me", { shown_currency: shown });
}

/** Asks for a page as a German browser does. */
const german = { "accept-language": "de-DE,de;q=0.9" };

const plain = (text: string | null) => (text ?? "").replaceAll(/[\u00a0\u202f]/gu, " ");
const inGerman = (amount: number, currency: string) =>
  plain(new Intl.NumberFormat("de-DE", { style: "currency", currency }).format(amount));

const pagesOf = (slug: string) =>
  [
    "",
    "/activity",
    "/projects",
    "/projects/checkout",
    "/explore",
    "/budgets",
    "/keys",
    "/settings/prices",
  ].map((path) => `/${slug}${path}`);

test("Writes numbers, dates and amounts as a German browser does, the same on the server and in the browser", async ({
  page,
  world,
}) => {
  const { slug } = await signUpWithSpend(page, world);
  const { totals } = await readApi<Metrics>(page, `/api/v1/workspaces/${slug}/metrics?period=last_30_days`);
  const total = inGerman(toNumber(totals.total_usd), "USD");
  const { html: sent } = await readPage(page.request, `/${slug}?period=last_30_days`, german);
  expect(plain(sent).includes(`>${total}<`), "the server writes it").toBe(true);
  // If the browser renders other text than the server, the console shows an error, and the test fails.
  await page.goto(`/${slug}?period=last_30_days`);
  await expect(page.locator('[data-figure="totals.total_usd"]').first()).toHaveText(
    total.replace(" ", "\u00a0"),
  );
  // The test of amounts in EUR opens each of them in a browser.
  for (const path of pagesOf(slug)) {
    const { html } = await readPage(page.request, path, german);
    const texts = html
      .slice(html.indexOf("<main"))
      .split(/<[^>]*>/)
      .map(plain);
    expect(texts.length, path).toBeGreaterThan(50);
    expect(
      texts.filter((text) => /\$\d|\d,\d{3}\b(?!,)|\d\.\d\d \$/.test(text)),
      path,
    ).toEqual([]);
  }
});

test("Shows amounts in the workspace's currency, marked as converted, without moving the page", {
  tag: "@phone",
}, async ({ page, world }) => {
  const { slug } = await signUpWithSpend(page, world);
  await showIn(page, slug, "EUR", "base");
  const { converted: inEur } = await readApi<Metrics>(
    page,
    `/api/v1/workspaces/${slug}/metrics?period=last_30_days&currency=EUR`,
  );
  const converted = `≈ ${inGerman(toNumber(inEur?.totals.total ?? 0), "EUR")}`;
  const { html: sent } = await readPage(page.request, `/${slug}?period=last_30_days`, german);
  expect(plain(sent).includes(`>${converted}<`), "the server writes it").toBe(true);
  await watchLayout(page);
  await page.goto(`/${slug}?period=last_30_days`);
  const total = page.locator('[data-figure="totals.total_usd"]').first();
  expect(plain(await total.textContent())).toBe(converted);
  await expect(total).toHaveAttribute("title", /^Converted at each day's rate; recorded as [\d,]+\s\$$/);
  await expectStill(page);
  await expect(page.getByTestId("conversion-note")).toContainText("30.10.2026");
  for (const path of pagesOf(slug)) {
    await page.goto(path);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    await expectWithin(page);
  }
});

test("Shows both currencies beside each other, USD alone by choice, and the locale that a person chooses, on every device", async ({
  page,
  world,
}) => {
  const { slug } = await signUpWithSpend(page, world);
  await showIn(page, slug, "JPY", "both");
  await page.goto(`/${slug}?period=last_30_days`);
  const total = page.locator('[data-figure="totals.total_usd"]').first();
  await expect(total).toHaveText(/^[\d.]+,\d\d\s\$ ≈ [\d.]+\s¥$/);
  await page.goto(`/${slug}/settings/account`);
  await page.getByLabel("Amounts", { exact: true }).selectOption("usd");
  await page.getByRole("button", { name: "Save" }).nth(1).click();
  await expect(page.getByText("Your account is changed.")).toBeVisible();
  await page.goto(`/${slug}?period=last_30_days`);
  await expect(total).toHaveText(/^[\d.]+,\d\d\s\$$/);
  await expect(page.getByTestId("conversion-note")).toHaveCount(0);
  await page.goto(`/${slug}/settings/account`);
  await page.getByLabel("Numbers and dates").selectOption("en-US");
  await page.getByRole("button", { name: "Save" }).nth(1).click();
  await expect(page.getByText("Your account is changed.")).toBeVisible();
  // The page is made anew for the locale, and still says so.
  await expect(page.getByRole("button", { name: "Save" }).nth(1)).toBeEnabled();
  await expect(page.getByText("Your account is changed.")).toBeVisible();
  await page.goto(`/${slug}`);
  await expect(total).toHaveText(/^\$[\d,]+\.\d\d$/);
});

/** The days that are explored, with their costs by project in EUR. */
async function readExplored(page: Page, slug: string, now: number) {
  const [from, to] = [dayBefore(now, 40), dayBefore(now, 0)];
  const query = { from, to, currency: "EUR" };
  const { rows, totals, converted } = await querySpend(page, slug, {
    ...query,
    group_by: ["project", "week"],
  });
  return {
    address: `/${slug}/explore?period=range&from=${from}&to=${to}&over=week`,
    total: toNumber(converted?.totals.cost ?? 0),
    totalUsd: toNumber(totals.cost_usd),
    rows: rows.groups.map(({ name }, place) => ({ name, cost: toNumber(converted?.rows[place]?.cost ?? 0) })),
  };
}

test("Explores spend in the workspace's currency: chart, axis, table and pivot, marked, with USD on hover", async ({
  page,
  world,
}) => {
  const { slug, now } = await signUpWithSpend(page, world);
  await showIn(page, slug, "EUR", "base");
  const { address, total, totalUsd, rows } = await readExplored(page, slug, now);
  // Each day has its rate; all of them are near that of the last one known.
  const { rate } = shippedRate("EUR", dayBefore(now, 0));
  expect(Math.abs((total * Number(rate)) / totalUsd - 1)).toBeLessThan(0.1);
  await page.goto(address);
  const answer = page.getByRole("region", { name: "Answer" });
  const title = /^Converted at each day's rate; recorded as [\d,]+\s\$$/;
  const whole = answer.locator("p > span").first();
  expect(plain(await whole.textContent())).toBe(`≈ ${inGerman(total, "EUR")}`);
  await expect(whole).toHaveAttribute("title", title);
  const series = page.getByRole("list", { name: "Series" });
  for (const { name, cost } of rows)
    await expect
      .poll(async () => plain(await series.textContent()))
      .toContain(`${name}≈ ${inGerman(cost, "EUR")}`);
  const chart = page.getByRole("slider", { name: /^Cost by week/ });
  await chart.focus();
  await page.keyboard.press("Home");
  await expect(chart).toHaveAttribute("aria-valuetext", /≈ [\d.]+,\d\d\s€/);
  await expect(page.locator("svg[data-chart] text", { hasText: "€" }).first()).toBeAttached();
  await expect(answer).not.toContainText("$");
  for (const show of ["table", "pivot"]) {
    await page.goto(`${address}&show=${show}`);
    await expect(answer.locator("table")).toBeVisible();
    const cells = answer.locator("td a, td span").filter({ hasText: "€" });
    await expect(cells.first()).toHaveAttribute("title", title);
    await expect(answer).not.toContainText("$");
  }
  // Counts are of no currency.
  await page.goto(`${address}&measure=messages&show=pivot`);
  await expect(answer.locator("table")).toBeVisible();
  await expect(answer).not.toContainText("≈");

  await test.step("shares of it", async () => {
    await page.goto(`${address}&chart=share`);
    await expect(page.locator("svg[data-chart] text", { hasText: /^100\s%$/ })).toBeAttached();
    await expect(page.locator("svg[data-chart] text", { hasText: /^100%$/ })).toHaveCount(0);
  });

  await test.step("both currencies, drawn in USD", async () => {
    await showIn(page, slug, "JPY", "both");
    await page.goto(address);
    const both = answer.locator("p > span").first();
    await expect(both).toHaveText(/^[\d.]+,\d\d\s\$ \(≈ [\d.]+\s¥\)$/);
    await expect(both).toHaveAttribute("title", /^Converted at each day's rate; recorded as [\d,]+\s\$$/);
    await expect(page.locator("svg[data-chart] text", { hasText: "$" }).first()).toBeAttached();
    await expect(page.getByRole("list", { name: "Series" })).not.toContainText("¥");
  });
});

test("Lists projects in the workspace's currency, each day of the month at its rate", async ({
  request,
  world,
}) => {
  const { slug } = await signUpWithSpend({ request }, world);
  await showIn({ request }, slug, "EUR", "base");
  const { projects } = await readApi<{ projects: Project[] }>(
    { request },
    `/api/v1/workspaces/${slug}/projects`,
  );
  expect(projects.length).toBe(3);
  const { by_project: slices, converted } = await readApi<Metrics>(
    { request },
    `/api/v1/workspaces/${slug}/metrics?currency=EUR`,
  );
  const { html } = await readPage(request, `/${slug}/projects`, german);
  for (const { slug: project } of projects) {
    const inEur = converted?.by_project[slices.findIndex(({ value }) => value === project)] ?? 0;
    const [figure] = attributesOf(html, "data-figure", `${project}.range_usd`);
    expect(plain(figure?.title ?? "")).toMatch(/^Converted at each day's rate; recorded as [\d,]+ \$$/);
    const [, text = ""] = new RegExp(`data-figure="${project}\\.range_usd"[^>]*>([^<]*)<`).exec(html) ?? [];
    expect(plain(text)).toBe(`≈ ${inGerman(toNumber(inEur), "EUR")}`);
  }
});

test("Writes rules of alerts as a German browser does", async ({ request, world }) => {
  const { slug } = await signUpWithSpend({ request }, world);
  const alerts = await readPage(request, `/${slug}/alerts/rules`, german);
  // What fired is told in the words of the alert, which are the same for everybody.
  const rules = alerts.text.slice(alerts.text.indexOf(" Rules "));
  expect(rules).toMatch(/at least [\d.]+ \$ more/);
  expect(rules).not.toMatch(/\$\d/);
});
