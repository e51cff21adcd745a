import type { Metrics } from "@/lib/contract/metrics";
import type { Project } from "@/lib/contract/projects";
import { setRole, signUp } from "./accounts";
import { expect, test } from "./fixtures";
import { digitsOf, figuresOf, readApi, recordSpend } from "./spend";

test("every figure of the projects is the API's, to the last digit", async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}/projects`);
  await expect(page.getByRole("link", { name: "checkout" })).toBeVisible();
  const { projects } = await readApi<{ projects: Project[] }>(page, `/api/v1/workspaces/${slug}/projects`);
  expect(projects).toHaveLength(3);
  for (const project of projects) {
    expect(await figuresOf(page, `${project.slug}.month_usd`)).toEqual(digitsOf([project.month_usd]));
    expect(await figuresOf(page, `${project.slug}.month_message_count`)).toEqual([
      String(project.month_message_count),
    ]);
  }
  await page.getByRole("link", { name: "checkout" }).click();
  await expect(page.getByRole("heading", { level: 1, name: "checkout" })).toBeVisible();
  const metrics = await readApi<Metrics>(
    page,
    `/api/v1/workspaces/${slug}/metrics?project=checkout&group_by=model`,
  );
  expect(await figuresOf(page, "totals.total_usd")).toEqual(digitsOf([metrics.totals.total_usd]));
  for (const dimension of ["model", "feature", "provider", "key"] as const) {
    const totals = metrics[`by_${dimension}`].map(({ total_usd }) => total_usd);
    expect(await figuresOf(page, `by_${dimension}`)).toEqual(digitsOf(totals));
  }
});

test("a project is renamed, archived, and taken back by undo", async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}/projects/checkout`);
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

test("Escape closes a dialog and gives the focus back", async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
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

test("a viewer sees the same figures without the buttons", async ({ page, world }) => {
  const { slug, email } = await signUp(page);
  const owner = await (
    await page.context().browser()?.newContext({ baseURL: world.service.baseUrl })
  )?.newPage();
  if (!owner) throw new Error("The browser is gone.");
  const team = await signUp(owner, "Grace");
  await owner.context().close();
  await recordSpend(world, team.slug);
  await setRole(world, team.slug, email, "viewer");
  expect(team.slug).not.toBe(slug);
  await page.goto(`/${team.slug}/projects/checkout`);
  await expect(page.locator('[data-figure="totals.total_usd"]')).toBeVisible();
  await expect(page.getByRole("button", { name: /^Actions for/ })).toHaveCount(0);
});

test("a project that is none has the page of nothing", async ({ page }) => {
  const { slug } = await signUp(page);
  const response = await page.request.get(`/${slug}/projects/nope`);
  expect(response.status()).toBe(404);
});
