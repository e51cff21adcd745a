import { readFile } from "node:fs/promises";
import { parse } from "csv-parse/sync";
import { signUp, workspaceId } from "./accounts";
import { expect, test } from "./fixtures";
import { readPage } from "./html";

test("Pages, searches and orders the whole audit log, never one page of it, and says that a CSV is of this page", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  const headers = { origin: world.service.baseUrl };
  const path = `/api/v1/workspaces/${slug}`;
  const made = await page.request.post(`${path}/budgets`, {
    data: { name: "All of it", scope_type: "global", amount: 500 },
    headers,
  });
  expect(made.status()).toBe(201);
  // 51 changes since, and the latest by a request.
  await world.fixtures.sql.query(
    `insert into public.audit_log (workspace_id, at, actor_id, actor_email, action, subject, after)
     select a.workspace_id, now() - (51 - n) * interval '1 microsecond', a.actor_id, a.actor_email, 'workspace.changed',
       'workspace ' || a.workspace_id, jsonb_build_object('name', 'Ada''s workspace', 'description', 'Version ' || n)
     from public.audit_log as a cross join generate_series(0, 50) as n
     where a.workspace_id = $1 and a.action = 'budget.created'`,
    [await workspaceId(world, slug)],
  );
  await page.request.patch(path, { data: { description: "Version 51" }, headers });
  await page.goto(`/${slug}/settings/audit`);
  const table = page.getByRole("table", { name: "Changes" });
  const changes = table.getByRole("row").filter({ hasText: "Ada" });
  await expect(changes).toHaveCount(50);
  // The headings sort nothing: they would sort this page alone.
  await expect(table.locator("th button")).toHaveCount(0);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV of this page" }).click();
  const [heads = [], first = [], ...rest] = parse(
    await readFile(await (await download).path(), "utf8"),
  ) as string[][];
  expect(heads.slice(0, 3)).toEqual(["Change", "Who", "E-mail address"]);
  expect(first.slice(0, 2)).toEqual(["Ada changed the workspace Ada's workspace", "Ada"]);
  expect(first).toContainEqual(expect.stringContaining("Version 51"));
  expect(rest).toHaveLength(49);

  // What is searched for stands on the second page.
  await expect(changes.filter({ hasText: "set the budget" })).toHaveCount(0);
  const search = page.getByRole("searchbox", { name: "Search names and ids of what was changed" });
  await search.fill("ALL OF");
  await search.press("Enter");
  await page.waitForURL((url) => url.searchParams.get("q") === "ALL OF");
  await expect(changes).toHaveCount(1);
  await expect(changes).toContainText("set the budget All of it");
  await page.getByRole("link", { name: "Remove the filter Text: ALL OF" }).click();
  await expect(changes).toHaveCount(50);
  await page.getByRole("link", { name: "Show older" }).click();
  await expect(page.getByText("Ada set the budget All")).toBeVisible();
  await expect(page.getByRole("link", { name: "Show older" })).toHaveCount(0);

  await page.getByRole("link", { name: "Oldest first" }).click();
  await page.waitForURL((url) => url.searchParams.get("order") === "oldest");
  await expect(changes.first()).not.toContainText("changed the workspace");
  await page.getByRole("link", { name: "Show newer" }).click();
  await page.waitForURL((url) => url.searchParams.has("cursor"));
  await expect(changes.last()).toContainText("changed the workspace");
});

test("Shows who changed what on which days, before and after, and leads from a change to others like it", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  const headers = { origin: world.service.baseUrl };
  const path = `/api/v1/workspaces/${slug}`;
  const ids: string[] = [];
  for (const name of ["One", "Two"]) {
    const made = await page.request.post(`${path}/budgets`, {
      data: { name, scope_type: "global", amount: 500 },
      headers,
    });
    ids.push((await made.json()).id);
  }
  await page.request.patch(`${path}/budgets/${ids[0]}`, { data: { amount: 750 }, headers });
  await page.goto(`/${slug}/settings/audit`);
  const changes = page.getByRole("table", { name: "Changes" }).locator("tbody").getByRole("row");
  await page.getByRole("button", { name: "Anybody" }).click();
  await page.getByRole("menuitem", { name: "Keys and the service" }).click();
  await expect(changes).toHaveCount(1);
  await expect(changes).toContainText("as owner");
  await page.getByRole("button", { name: "Keys and the service" }).click();
  await page.getByRole("menuitem", { name: "Ada" }).click();
  await expect(page.getByRole("button", { name: "Ada", exact: true })).toBeVisible();
  await page.getByRole("button", { name: "All changes" }).click();
  await page.getByRole("menuitem", { name: "Budgets" }).click();
  await expect(changes).toHaveCount(3);
  await changes.first().getByText("changed the budget One").click();
  await expect(changes.first()).toContainText("Amount, USD");
  await expect(changes.first().locator("del")).toHaveText("500");
  await expect(changes.first().locator("ins")).toHaveText("750");
  await changes.nth(1).getByText("set the budget Two").click();
  await changes.nth(1).getByRole("link", { name: "All changes of this" }).click();
  await page.waitForURL((url) => url.searchParams.has("subject") && !url.searchParams.has("kind"));
  await expect(changes).toHaveCount(1);
  await page.getByRole("link", { name: "Clear filters" }).click();
  await page.getByRole("button", { name: "Period: All time" }).click();
  await page.getByRole("dialog", { name: "Period" }).getByRole("link", { name: "Last month" }).click();
  await expect(page.getByText("No changes match these filters")).toBeVisible();
  // The other pages show the range that they showed before.
  await page.goto(`/${slug}`);
  await expect(page.getByRole("button", { name: /^Period: / })).not.toHaveAccessibleName(/All time/);
  for (const query of ["from=2026-13-01&to=2026-12-01", "cursor=nonsense"]) {
    const { text } = await readPage(page.request, `/${slug}/settings/audit?${query}`);
    expect(text, query).toContain("This address is not valid");
  }
});
