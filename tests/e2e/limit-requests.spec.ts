import { workspaceId } from "./accounts";
import { expect, test } from "./fixtures";
import { originOf, signUpWithSpend } from "./spend";

test("Asks for more of a key's limit from its sheet, approves it, and ends the raise", async ({
  page,
  world,
}) => {
  const { slug } = await signUpWithSpend(page, world);
  const workspace = await workspaceId(world, slug);
  const made = await page.request.post(`/api/v1/workspaces/${slug}/api-keys`, {
    headers: { origin: await originOf(page) },
    data: { name: "Nightly jobs", permissions: ["log_usage"], monthly_limit: 40 },
  });
  expect(made.status()).toBe(201);
  await page.goto(`/${slug}/keys`);
  const openSheet = async () => {
    await page.getByRole("button", { name: /Nightly jobs/ }).click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    return page.getByRole("dialog", { name: "Edit Nightly jobs" });
  };
  const link = (await openSheet()).getByRole("link", { name: "Ask for a higher limit until a day" });
  await expect(link).toBeVisible();
  await link.click();
  const form = page.getByRole("form", { name: "Ask for more" });
  await expect(form.getByLabel("Which limit?")).toHaveValue(/.{36}/);
  await expect(form).toContainText("The limit is $40.00.");
  await form.getByLabel("How much more?").fill("25%");
  await form.getByLabel("What is it for?").fill("Backfill");
  await form.getByRole("button", { name: "Ask for more" }).click();
  const waiting = page.getByRole("list", { name: "Waiting" });
  await expect(waiting).toContainText("asks for $10.00 more of the monthly limit of the key Nightly jobs");
  await expect(waiting.getByRole("button", { name: "Withdraw" })).toBeVisible();
  await expect(waiting.getByRole("listitem")).toBeFocused();

  // As if somebody else had asked.
  await world.fixtures.sql.query(
    "update public.budget_requests set requested_by = null where workspace_id = $1",
    [workspace],
  );
  await page.reload();
  await waiting.getByRole("button", { name: "Approve" }).click();
  await expect(page.getByText("The limit is raised.")).toBeVisible();
  await expect(page.getByRole("list", { name: "Decided" }).getByRole("listitem")).toBeFocused();

  await page.goto(`/${slug}/keys`);
  await expect(page.getByRole("row", { name: /Nightly jobs/ })).toContainText("of $50.00");
  const raised = await openSheet();
  await expect(raised).toContainText("The limit is $50.00 through");
  await raised.getByRole("button", { name: "End the raise" }).click();
  await expect(raised.getByRole("link", { name: "Ask for a higher limit until a day" })).toBeVisible();
  await page.goto(`/${slug}/me`);
  await expect(page.getByRole("list", { name: "Limits" })).toContainText("of $40.00");
  await expect(
    page.getByRole("list", { name: "Limits" }).getByRole("link", { name: "Ask for more" }),
  ).toBeVisible();
});
