import type { Project } from "@/lib/contract/projects";
import { openAs, signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { readApi, signUpWithSpend } from "./spend";

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

test("Shows a viewer the same figures without buttons", async ({ page, openPage, world }) => {
  const { slug } = await signUpWithSpend(page, world);
  const viewer = await openAs(openPage, world, slug, "viewer");
  await viewer.goto(`/${slug}/projects/checkout`);
  await expect(viewer.locator('[data-figure="totals.total_usd"]')).toBeVisible();
  await expect(viewer.getByRole("button", { name: /^Actions for/ })).toHaveCount(0);
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
