import type { Locator, Page } from "@playwright/test";
import { signUp, workspaceId } from "./accounts";
import { expect, test, type World } from "./fixtures";

/** A new user in a workspace with more projects than a list shows at once. */
async function withManyProjects(page: Page, world: World): Promise<string> {
  const { slug } = await signUp(page);
  await world.fixtures.sql.query(
    `insert into public.projects (workspace_id, slug, name)
     select $1, name, name from (select 'project-' || lpad(number::text, 2, '0') as name from generate_series(1, 40) as number) as names`,
    [await workspaceId(world, slug)],
  );
  return slug;
}

/** Whether the option named by `aria-activedescendant` is completely visible in its list. */
async function expectActiveInView(line: Locator): Promise<void> {
  await expect
    .poll(() =>
      line.evaluate((input) => {
        const option = document.getElementById(input.getAttribute("aria-activedescendant") ?? "");
        const list = option?.closest('[role="listbox"]');
        if (!option || !list) return "no option is active";
        const [inner, outer] = [option.getBoundingClientRect(), list.getBoundingClientRect()];
        return inner.top >= outer.top - 1 && inner.bottom <= outer.bottom + 1 ? "in view" : "out of view";
      }),
    )
    .toBe("in view");
}

/** Moves through a list by keyboard: down, around its end, and back. */
async function expectListFollows(page: Page, line: Locator): Promise<void> {
  const active = () => line.getAttribute("aria-activedescendant");
  await expectActiveInView(line);
  const first = await active();
  for (let step = 0; step < 25; step += 1) await page.keyboard.press("ArrowDown");
  await expect.poll(active).not.toBe(first);
  await expectActiveInView(line);
  for (let step = 0; step < 25; step += 1) await page.keyboard.press("ArrowUp");
  await expect.poll(active).toBe(first);
  await expectActiveInView(line);
  await page.keyboard.press("ArrowUp");
  await expect.poll(active).not.toBe(first);
  await expectActiveInView(line);
}

test("Keeps the active option of a combobox in view", { tag: "@phone" }, async ({ page, world }) => {
  const slug = await withManyProjects(page, world);
  await page.goto(`/${slug}/keys`);
  await page.getByRole("button", { name: "Create a key" }).click();
  const sheet = page.getByRole("dialog", { name: "Create a key" });
  await sheet.getByText("All but some").click();
  const line = sheet.getByLabel("Excluded projects");
  await line.click();
  await expect(sheet.getByRole("option")).toHaveCount(40);
  await expectListFollows(page, line);
  // Typing starts at the top again.
  await page.keyboard.press("ArrowUp");
  await page.keyboard.type("project");
  await expectActiveInView(line);
});

test("Keeps the active option of the command palette in view", async ({ page, world }) => {
  const slug = await withManyProjects(page, world);
  await page.goto(`/${slug}`);
  await page.keyboard.press("Control+k");
  const line = page.getByRole("combobox", { name: "Search pages, projects and actions" });
  await expect(page.getByRole("option", { name: "project-40" })).toHaveCount(1);
  await expectListFollows(page, line);
});
