import type { Metrics } from "@/lib/contract/spend/metrics";
import { expect, test } from "./fixtures";
import { digitsIn, readPage } from "./html";
import { digitsOf, expectDigits, readApi, signUpWithSpend } from "./spend";

const monthBefore = (ms: number, months: number) => {
  const date = new Date(ms);
  const first = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months, 1);
  const last = Date.UTC(date.getUTCFullYear(), date.getUTCMonth() - months + 1, 0);
  const name = new Intl.DateTimeFormat("en-US", { month: "long", year: "numeric", timeZone: "UTC" }).format(
    first,
  );
  const day = (at: number) => new Date(at).toISOString().slice(0, 10);
  return { name, from: day(first), to: day(last) };
};

test("Opens last month with the arrow, and the months before it, each compared with the one before", async ({
  page,
  world,
}) => {
  const { slug, now } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}`);
  await expect(page.getByRole("button", { name: `Period: ${monthBefore(now, 0).name}` })).toBeVisible();
  await page.getByRole("link", { name: /^Earlier/ }).click();
  await page.waitForURL((url) => url.searchParams.get("period") === "last_month");
  const last = await readApi<Metrics>(page, `/api/v1/workspaces/${slug}/metrics?period=last_month`);
  await expectDigits(page, "totals.total_usd", digitsOf([last.totals.total_usd]));
  await expect(
    page.getByRole("button", { name: `Compared with: ${monthBefore(now, 2).name}` }),
  ).toBeVisible();
  await page.getByRole("link", { name: /^Earlier/ }).click();
  const { name, from, to } = monthBefore(now, 2);
  await page.waitForURL((url) => url.searchParams.get("from") === from && url.searchParams.get("to") === to);
  await expect(page.getByRole("button", { name: `Period: ${name}` })).toBeVisible();
  await page.getByRole("link", { name: /^Later/ }).click();
  await page.waitForURL((url) => url.searchParams.get("period") === "last_month");
  await expect(page.getByRole("button", { name: `Period: ${monthBefore(now, 1).name}` })).toBeVisible();
  await page.getByRole("link", { name: /^Later/ }).click();
  await expect(page.getByRole("button", { name: `Period: ${monthBefore(now, 0).name}` })).toBeVisible();
  await expect(page.getByRole("link", { name: /^Later/ })).toHaveCount(0);
});

test("Chooses any days in the calendar by keyboard, and the same days of last year to compare with", async ({
  page,
  world,
}) => {
  const { slug, now } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}`);
  await page.getByRole("button", { name: /^Period: / }).click();
  const dialog = page.getByRole("dialog", { name: "Period" });
  await dialog.getByRole("button", { name: "Go to the Previous Month" }).click();
  const { from } = monthBefore(now, 1);
  const dayButton = (day: number) => dialog.getByRole("gridcell").getByText(String(day), { exact: true });
  await dayButton(10).focus();
  await page.keyboard.press("Enter");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("ArrowRight");
  await page.keyboard.press("Enter");
  await dialog.getByRole("button", { name: "Show" }).click();
  const days = { from: `${from.slice(0, 8)}10`, to: `${from.slice(0, 8)}12` };
  await page.waitForURL(
    ({ searchParams }) => searchParams.get("from") === days.from && searchParams.get("to") === days.to,
  );
  const path = `/api/v1/workspaces/${slug}/metrics?from=${days.from}&to=${days.to}`;
  const shown = await readApi<Metrics>(page, path);
  await expectDigits(page, "totals.total_usd", digitsOf([shown.totals.total_usd]));
  await page.getByRole("button", { name: /^Compared with: / }).click();
  await page.getByRole("link", { name: "The same period last year" }).click();
  await page.waitForURL((url) => url.searchParams.get("compare") === "last_year");
  const compared = await readApi<Metrics>(page, `${path}&compare=last_year`);
  await expectDigits(page, "previous.totals.total_usd", digitsOf([compared.previous?.totals.total_usd ?? 0]));
});

test("Keeps a chosen period in the browser on every page, and in the address", async ({ page, world }) => {
  const { slug } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}`);
  await page.getByRole("button", { name: /^Period: / }).click();
  await page.getByRole("link", { name: "Last 30 days" }).click();
  await page.waitForURL((url) => url.searchParams.get("period") === "last_30_days");
  for (const path of ["", "/activity", "/projects", "/projects/checkout"].map((end) => `/${slug}${end}`)) {
    await page.goto(path);
    await expect(page.getByRole("button", { name: "Period: Last 30 days" })).toBeVisible();
    await page.waitForURL((url) => url.searchParams.get("period") === "last_30_days");
  }
  // An address that names a period wins.
  await page.goto(`/${slug}?period=week`);
  await expect(page.getByRole("button", { name: "Period: This week" })).toBeVisible();
});

test("Says which part of an address's range is wrong, and shows this month", async ({ request, world }) => {
  const { slug } = await signUpWithSpend({ request }, world);
  const expectText = async (path: string, text: string) =>
    expect((await readPage(request, `/${slug}${path}`)).text, path).toContain(text);
  for (const path of ["", "/projects/checkout"])
    await expectText(`${path}?from=2026-11-10&to=2026-11-01`, "to must not be before from.");
  for (const path of ["", "/activity", "/settings/audit"])
    await expectText(`${path}?period=fortnight`, "period must be one of: day, week, month, ");
  await expectText("/activity?type=gift", "type must be one of: usage, ");
  await expectText("/projects?from=2026-11-10&to=2026-11-01", "to must not be before from.");
  await expectText("?from=2026-11-10", "to is required with period=range.");
  const month = await readApi<Metrics>({ request }, `/api/v1/workspaces/${slug}/metrics`);
  const { html } = await readPage(request, `/${slug}?from=2026-11-10`);
  expect(digitsIn(html, "totals.total_usd")).toEqual(digitsOf([month.totals.total_usd]));
});
