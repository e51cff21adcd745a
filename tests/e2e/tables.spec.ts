import type { Locator, Page } from "@playwright/test";
import { signUp, workspaceId } from "./accounts";
import { expect, test, type World } from "./fixtures";
import { expectLight, expectStill, expectUsable, watchLayout } from "./page-checks";

/** Costs whose nearest doubles are equal in part, with the project of each. The names are in three scripts. */
const costs: [slug: string, name: string, usd: string][] = [
  ["first", "Zoë’s search", "8.500000000000000001"],
  ["second", "مشروع الدفع بالبطاقة", "8.500000000000000002"],
  ["third", "検索", "8.5"],
  ["fourth", "=cmd()", "0.000000001"],
  ["fifth", "checkout 10", "900000000000.25"],
  ["sixth", "checkout 2", "12"],
];

/** A new user in a workspace whose projects cost that, and others that cost nothing. */
async function withProjects(page: Page, world: World, others = 4): Promise<string> {
  const { slug } = await signUp(page);
  const id = await workspaceId(world, slug);
  await world.fixtures.sql.query(
    `insert into public.projects (workspace_id, slug, name)
     select $1::uuid, slug, name from unnest($2::text[], $3::text[]) as named (slug, name)
     union all
     select $1::uuid, 'other-' || number, 'Other ' || lpad(number::text, 4, '0') from generate_series(1, $4) as number`,
    [id, costs.map(([each]) => each), costs.map(([, name]) => name), others],
  );
  const { secret } = await world.fixtures.key(id);
  const messages = costs.map(
    ([project, , usd]) =>
      `{"project":"${project}","source":"api","message":{"type":"usage","provider":"p","model":"m","unit_type":"calls","quantity":1,"estimated_cost":${usd}}}`,
  );
  const answer = await fetch(`${world.service.baseUrl}/api/v1/messages/batch`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: `{"messages":[${messages.join(",")}]}`,
  });
  expect(answer.status).toBe(207);
  return slug;
}

const headingOf = (table: Locator, name: string) => table.getByRole("columnheader", { name, exact: true });
const sortBy = (table: Locator, name: string) => headingOf(table, name).getByRole("button").click();
/** The names in the first column, in the order that is shown. */
const namesIn = (table: Locator) =>
  table.locator("tbody tr[data-index] td:first-child bdi").allTextContents();

test("Remembers columns and density after a reload, from the first paint on, and for one person", async ({
  page,
  world,
}) => {
  const slug = await withProjects(page, world);
  await page.goto(`/${slug}/projects`);
  const table = page.getByRole("table", { name: "Projects" });
  const rowHeight = async () => (await table.locator("tr[data-index]").first().boundingBox())?.height ?? 0;
  const comfortable = await rowHeight();
  await page.getByRole("button", { name: "View" }).click();
  const menu = page.getByRole("dialog", { name: "View" });
  await expect(menu.getByRole("checkbox", { name: "Project", exact: true })).toHaveCount(0);
  await menu.getByRole("checkbox", { name: "Messages" }).uncheck();
  await menu.getByText("Compact").click();
  await expect(headingOf(table, "Messages")).toHaveCount(0);
  await expect.poll(rowHeight).toBeLessThan(comfortable);
  await page.keyboard.press("Escape");

  await watchLayout(page);
  const opened = await page.goto(`/${slug}/projects`);
  await expect(headingOf(table, "Last occurred")).toBeVisible();
  await expect(headingOf(table, "Messages")).toHaveCount(0);
  expect(await rowHeight()).toBeLessThan(comfortable);
  await expectStill(page);
  await expectLight(page, opened);
  expect(await opened?.text(), "the server renders the choice").not.toContain('data-sort="messages"');

  // Another table has a view of its own, and another person in this browser has theirs.
  await page.goto(`/${slug}/keys`);
  await expect(page.getByRole("table", { name: "Keys in use" })).toHaveAttribute(
    "data-density",
    "comfortable",
  );
  await page.context().clearCookies({ name: /^(?!outlay_tables$)/ });
  const other = await withProjects(page, world);
  await page.goto(`/${other}/projects`);
  await expect(headingOf(table, "Messages")).toBeVisible();
});

test("Renders the rows of a long list that are near the window, and reaches all by keyboard and search", {
  tag: "@phone",
}, async ({ page, world }) => {
  const slug = await withProjects(page, world, 994);
  await watchLayout(page);
  await page.goto(`/${slug}/projects`);
  const table = page.getByRole("table", { name: "Projects" });
  const rows = table.locator("tr[data-index]");
  await expect(table).toHaveAttribute("aria-rowcount", "1001");
  // The page is as high as with all rows.
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollHeight)).toBeGreaterThan(30_000);
  await expect.poll(() => rows.count()).toBeLessThan(120);
  await expect(rows.first()).toHaveAttribute("aria-rowindex", "2");
  await expectStill(page);
  await expectUsable(page);
  await sortBy(table, "Project");
  // On a slow processor, the rows before the last one are rendered and measured after it has the focus.
  const processor = await page.context().newCDPSession(page);
  await processor.send("Emulation.setCPUThrottlingRate", { rate: 6 });
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("End");
  const last = table.locator("tr[data-index='999']");
  await expect(last).toHaveAttribute("aria-rowindex", "1001");
  await expect(last.getByRole("link")).toBeFocused();
  await expect(last).toBeInViewport();
  expect(await rows.count()).toBeLessThan(120);
  await processor.send("Emulation.setCPUThrottlingRate", { rate: 1 });
  // The row with the focus stays, and the arrow keys go on from it.
  await page.evaluate(() => window.scrollTo(0, 0));
  await expect(rows.first()).toBeInViewport();
  await expect(last.getByRole("link")).toBeFocused();
  await page.keyboard.press("ArrowUp");
  await expect(table.locator("tr[data-index='998'] a")).toBeFocused();
  await expect(table.locator("tr[data-index='998']")).toBeInViewport();
  await page.getByRole("searchbox", { name: "Search projects" }).fill("other 0777");
  await expect(page.getByRole("main").getByRole("status")).toHaveText("1 of 1,000 projects");
  await expect.poll(() => namesIn(table)).toEqual(["Other 0777"]);
  await expect(table).not.toHaveAttribute("aria-rowcount");
});

test("Shows budgets as a table, in which the most used is first", async ({ page, world }) => {
  const slug = await withProjects(page, world);
  for (const [project, amount] of [
    ["first", 10],
    ["second", 9],
    ["sixth", 100],
  ]) {
    const answer = await page.request.post(`/api/v1/workspaces/${slug}/budgets`, {
      data: { scope_type: "project", scope_value: project, amount },
      headers: { origin: world.service.baseUrl },
    });
    expect(answer.status()).toBe(201);
  }
  await page.goto(`/${slug}/budgets`);
  await expect(page.getByRole("region", { name: /مشروع/ })).toBeVisible();
  await page.getByRole("link", { name: "Table" }).click();
  const table = page.getByRole("table", { name: "Budgets" });
  await expect(headingOf(table, "Used")).toHaveAttribute("aria-sort", "descending");
  const names = await namesIn(table);
  expect(names).toHaveLength(3);
  expect(names[0]).toContain("مشروع");
  await sortBy(table, "Spent");
  await expect.poll(async () => (await namesIn(table))[0]).toContain("checkout 2");
});
