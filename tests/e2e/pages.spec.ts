import { signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { expectLight, expectStill, expectUsable, watchLayout } from "./page-checks";
import { recordSpend } from "./spend";

/** The pages of a workspace, by their address under it. */
const pages = [
  "",
  "/activity",
  "/projects",
  "/projects/checkout",
  "/keys",
  "/budgets",
  "/connections",
  "/settings",
];

test("every page of a workspace can be used by everybody, loads little, and stands still", async ({
  page,
  world,
}) => {
  test.setTimeout(240_000);
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await watchLayout(page);
  for (const path of [...pages.map((each) => `/${slug}${each}`), "/workspaces/new"]) {
    await test.step(path.replace(slug, "workspace"), async () => {
      await page.goto(path);
      await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
      await expectStill(page);
      await expectUsable(page);
      await expectLight(page, path);
    });
  }
});

test("pages stand still while one goes from one to the next", async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await watchLayout(page);
  await page.goto(`/${slug}`);
  for (const heading of ["Projects", "Overview"]) {
    const menu = page.getByRole("button", { name: "Menu" });
    if (await menu.isVisible()) await menu.click();
    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: heading }).click();
    await expect(page.getByRole("heading", { level: 1, name: heading })).toBeVisible();
    await expectStill(page);
  }
});
