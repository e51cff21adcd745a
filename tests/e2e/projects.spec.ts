import type { Page } from "@playwright/test";
import { exactText } from "@/components/figures/amount";
import type { Metrics } from "@/lib/contract/spend/metrics";
import type { Project } from "@/lib/contract/spend/projects";
import { signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { readPage } from "./html";
import { dayBefore, expectDigits, readApi, signUpWithSpend } from "./spend";

/** Waits until the list shows each project with what the metrics of a range say. */
async function expectListLike(page: Page, slug: string, query: string): Promise<void> {
  const metrics = await readApi<Metrics>(page, `/api/v1/workspaces/${slug}/metrics?${query}`);
  for (const project of ["checkout", "search", "research"]) {
    const slice = metrics.by_project.find(({ value }) => value === project);
    await expectDigits(page, `${project}.range_usd`, [exactText(slice?.total_usd ?? 0)], query);
    await expect(page.locator(`[data-figure="${project}.range_message_count"]`)).toHaveAttribute(
      "data-exact",
      String(slice?.message_count ?? 0),
    );
  }
}

test("Opens, renames and archives a project, and undoes it", async ({ page, world }) => {
  const { slug } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}/projects`);
  await page.getByRole("link", { name: "checkout" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "checkout" })).toBeVisible();
  const actions = page.getByRole("button", { name: /^Actions for/ });
  await actions.click();
  await page.getByRole("menuitem", { name: "Rename" }).click();
  const name = page.getByRole("dialog").getByLabel("Name");
  await expect(name).toBeFocused();
  await name.fill("Checkout, v2");
  await page.getByRole("button", { name: "Rename" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "Checkout, v2" })).toBeVisible();
  await expect(page.getByRole("dialog")).toBeHidden();

  await actions.click();
  await page.getByRole("menuitem", { name: "Archive" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Archive" }).click();
  await expect(page.getByText("Archived", { exact: true })).toBeVisible();
  await page.getByRole("button", { name: "Undo" }).click();
  await expect(page.getByText("Archived", { exact: true })).toBeHidden();
  const { projects } = await readApi<{ projects: Project[] }>(page, `/api/v1/workspaces/${slug}/projects`);
  expect(projects.find((project) => project.slug === "checkout")).toMatchObject({
    name: "Checkout, v2",
    archived_at: null,
  });
});

test("Closes a dialog with Escape and returns the focus", async ({ page, world }) => {
  const { slug } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}/projects/checkout`);
  const actions = page.getByRole("button", { name: /^Actions for/ });
  await actions.focus();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("dialog")).toBeVisible();
  await page.keyboard.press("Escape");
  await expect(page.getByRole("dialog")).toBeHidden();
  await expect(actions).toBeFocused();
});

test("Lists projects in the range of the address, with what the metrics of that range say", async ({
  page,
  world,
}) => {
  const { slug, now } = await signUpWithSpend(page, world);
  const day = (daysAgo: number) => dayBefore(now, daysAgo);
  await page.goto(`/${slug}/projects`);
  await expectListLike(page, slug, "period=month");
  const table = page.getByRole("table", { name: "Projects" });
  await expect(table.getByRole("columnheader", { name: "By day" })).toBeVisible();

  await page.getByRole("link", { name: /^Earlier/ }).click();
  await page.waitForURL((url) => url.searchParams.get("period") === "last_month");
  await expectListLike(page, slug, "period=last_month");
  await page.getByRole("link", { name: /^Later/ }).click();
  await page.waitForURL((url) => url.searchParams.get("period") === "month");
  await expectListLike(page, slug, "period=month");

  // A project keeps the range, and leads back to it.
  const days = `from=${day(9)}&to=${day(8)}`;
  await page.goto(`/${slug}/projects?${days}`);
  await expectListLike(page, slug, days);
  const isOfDays = (url: URL) =>
    url.searchParams.get("from") === day(9) && url.searchParams.get("to") === day(8);
  await page.getByRole("link", { name: "search", exact: true }).click();
  await page.waitForURL((url) => url.pathname === `/${slug}/projects/search` && isOfDays(url));
  await page.getByRole("main").getByRole("link", { name: "Projects" }).click();
  await page.waitForURL((url) => url.pathname === `/${slug}/projects` && isOfDays(url));

  await page.goto(`/${slug}/projects?period=all`);
  await expectListLike(page, slug, "period=all");
  await expect(table.getByRole("columnheader", { name: "By month" })).toBeVisible();
});

test("Lists projects in the range that the person chose last, and keeps the one chosen here", async ({
  page,
  world,
}) => {
  const { slug } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}/projects`);
  await page.getByRole("button", { name: /^Period: / }).click();
  const kept = page.waitForResponse(
    (answer) => answer.url().endsWith("/api/v1/me") && answer.request().method() === "PATCH",
  );
  await page.getByRole("link", { name: "Last 30 days" }).click();
  expect((await kept).status()).toBe(200);
  await expectListLike(page, slug, "period=last_30_days");
  for (const path of [`/${slug}`, `/${slug}/projects`]) {
    await page.goto(path);
    await expect(page.getByRole("button", { name: "Period: Last 30 days" })).toBeVisible();
    await page.waitForURL((url) => url.searchParams.get("period") === "last_30_days");
  }
  await expectListLike(page, slug, "period=last_30_days");
});

test("Says that nothing was spent in a range, and lists the projects", async ({ request, world }) => {
  const { slug } = await signUpWithSpend({ request }, world);
  const { text } = await readPage(request, `/${slug}/projects?from=2020-02-03&to=2020-02-09`);
  expect(text).toContain("Nothing was spent from Feb 3, 2020 to Feb 9, 2020.");
  expect(text).toContain(" checkout ");
});

test.describe("Without such a page", () => {
  test.use({ mayBeRefused: true });

  test("Shows the not-found page for an unknown project, with a title and a way back", async ({ page }) => {
    const { slug } = await signUp(page);
    const response = await page.goto(`/${slug}/projects/nope`);
    expect(response?.status()).toBe(404);
    await expect(page.getByRole("heading", { name: "Not found", level: 1 })).toBeVisible();
    await expect(page).toHaveTitle("Not found · Outlay");
    await page.getByRole("link", { name: "Go to the overview" }).click();
    await expect(page).toHaveURL(`/${slug}`);
  });
});
