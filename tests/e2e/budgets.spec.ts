import type { APIRequestContext, Page } from "@playwright/test";
import type { z } from "zod";
import { exactText } from "@/components/figures/amount";
import type { budgetList } from "@/lib/contract/spend/budgets";
import type { Metrics } from "@/lib/contract/spend/metrics";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { workspaceId } from "./accounts";
import { expect, test, type World } from "./fixtures";
import { digitsIn, readPage } from "./html";
import { digitsOf, readApi, recordDailyUsage, signUpWithSpend } from "./spend";

type BudgetList = z.output<typeof budgetList>;

/** A new user with two months of spend, on their budgets page. */
async function openBudgets(page: Page, world: World): Promise<{ slug: string; workspace: string }> {
  const { slug } = await signUpWithSpend(page, world);
  await page.goto(`/${slug}/budgets`);
  return { slug, workspace: await workspaceId(world, slug) };
}

/** Creates a budget of a workspace for a feature, a provider or all spend. */
async function setBudget(
  { fixtures }: World,
  workspace: string,
  budget: { name: string; amount: string; type?: string; value?: string },
): Promise<void> {
  await fixtures.sql.query(
    "insert into public.budgets (workspace_id, name, scope_type, scope_value, amount) values ($1, $2, $3, $4, $5)",
    [workspace, budget.name, budget.type ?? "global", budget.value ?? null, budget.amount],
  );
}

/** A new user with two months of spend. */
async function withSpend(request: APIRequestContext, world: World) {
  const { slug } = await signUpWithSpend({ request }, world);
  return { slug, workspace: await workspaceId(world, slug) };
}

/** The HTML of a budget's card. */
function cardIn(html: string, name: string): string {
  const card = html.split("<section").find((section) => section.includes(`aria-label="${name}"`));
  if (!card) throw new Error(`There is no card of ${name}.`);
  return card;
}

const cardOf = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

test("Shows the API's figures, with the budgets closest to their limit first", async ({ request, world }) => {
  const { slug, workspace } = await withSpend(request, world);
  await setBudget(world, workspace, { name: "Wide", amount: "100000.000000000000000001" });
  await setBudget(world, workspace, { name: "Tight", amount: "10", type: "provider", value: "OpenAI" });
  await setBudget(world, workspace, { name: "Idle", amount: "10", type: "feature", value: "nothing" });
  const { budgets } = await readApi<BudgetList>({ request }, `/api/v1/workspaces/${slug}/budgets`);
  const sorted = ["Tight", "Wide", "Idle"].map((name) => budgets.find((each) => each.name === name));
  const { html, text } = await readPage(request, `/${slug}/budgets`);
  for (const field of ["spent", "amount", "remaining", "percent_used"] as const)
    expect(digitsIn(html, field), field).toEqual(digitsOf(sorted.map((each) => each?.[field] ?? Number.NaN)));
  expect(text).toContain("Provider OpenAI");
  expect(text).toContain("Nothing spent yet.");
});

test("Shows what reservations hold beside what is spent, on cards and in the table", async ({
  request,
  world,
}) => {
  const { slug, workspace } = await withSpend(request, world);
  await setBudget(world, workspace, { name: "Wide", amount: "100000" });
  await setBudget(world, workspace, { name: "Idle", amount: "10", type: "feature", value: "nothing" });
  const { secret } = await world.fixtures.key(workspace);
  const { message } = costMessage({ estimated_cost: 1.25 });
  const held = await apiClient(world.service.baseUrl, secret).call("POST", "/api/v1/reservations", {
    project: "checkout",
    message,
  });
  expect(held.status).toBe(201);
  for (const path of [`/${slug}/budgets`, `/${slug}/budgets?show=table`]) {
    const { html } = await readPage(request, path);
    expect(digitsIn(html, "held_usd"), path).toEqual(["1.25"]);
  }
});

test("Shows the API's forecast: the month's total and the day a budget runs out", async ({ page, world }) => {
  const { slug, workspace } = await openBudgets(page, world);
  await recordDailyUsage(world, slug, "100");
  const { totals, forecast_usd: whole } = await readApi<Metrics>(page, `/api/v1/workspaces/${slug}/metrics`);
  const spent = Number(exactText(totals.total_usd));
  const comesTo = whole === null ? spent : Number(exactText(whole));
  await setBudget(world, workspace, { name: "Lasts", amount: (comesTo * 2).toFixed(2) });
  await setBudget(world, workspace, { name: "Runs out", amount: ((spent + comesTo) / 2).toFixed(2) });
  await setBudget(world, workspace, { name: "Gone", amount: (spent / 2).toFixed(2) });
  await page.reload();
  const { budgets } = await readApi<BudgetList>(page, `/api/v1/workspaces/${slug}/budgets`);
  expect(budgets).toHaveLength(3);
  for (const { name, forecast, runs_out_on: day } of budgets) {
    const card = cardOf(page, name);
    // The overview and the budgets have the same forecast, to the last digit.
    expect(forecast, name).toEqual(whole);
    await expect(card.locator('[data-figure="forecast"]')).toHaveAttribute(
      "data-exact",
      exactText(whole ?? 0),
    );
    await expect(card.locator('[data-figure="forecast"]')).toHaveAttribute(
      "title",
      /median usage of the same weekdays/,
    );
    const words =
      day && new Date(day).toLocaleDateString("en-US", { day: "numeric", month: "short", timeZone: "UTC" });
    if (words) await expect(card).toContainText(`Expected to be used up on ${words}`);
    else await expect(card).not.toContainText("used up on");
    expect(day !== null, `whether ${name} is used up within the month`).toBe(name === "Runs out");
  }
});

test("Says in words what a budget's colour says", async ({ request, world }) => {
  const { slug, workspace } = await withSpend(request, world);
  const { totals } = await readApi<Metrics>({ request }, `/api/v1/workspaces/${slug}/metrics`);
  const spent = Number(exactText(totals.total_usd));
  await setBudget(world, workspace, { name: "Holds", amount: (spent * 100).toFixed(2) });
  await setBudget(world, workspace, { name: "Close", amount: (spent / 0.85).toFixed(2) });
  await setBudget(world, workspace, { name: "Gone", amount: (spent / 1.03).toFixed(2) });
  const { html, text } = await readPage(request, `/${slug}/budgets`);
  const textOf = (name: string) => cardIn(html, name).replaceAll(/<[^>]*>/g, "");
  expect(textOf("Gone")).toContain("Used up");
  expect(textOf("Gone")).toMatch(/\$[\d.,]+ over/);
  expect(textOf("Close")).toContain("Close to the limit");
  expect(textOf("Close")).toContain("85%");
  expect(textOf("Holds")).not.toContain("limit");
  expect(text).toContain("1 budget is used up: Gone (103%).");
});

test("Creates, follows, edits and deletes a project's budget, after a confirmation; sets one in euros that blocks, and a weekly one, which it raises until a day", async ({
  page,
  world,
}) => {
  const { slug } = await openBudgets(page, world);
  await expect(page.getByText("No budget yet")).toBeVisible();
  await page.getByRole("button", { name: "Set a budget" }).click();
  const dialog = page.getByRole("dialog", { name: "Set a budget" });
  await dialog.getByLabel("What does it cover?").selectOption("A project");
  await dialog.getByRole("combobox", { name: "Which project?" }).click();
  await dialog.getByRole("option", { name: "search", exact: true }).click();
  await dialog.getByLabel("How much per month?").fill("$1,250.50");
  await dialog.getByRole("button", { name: "Set the budget" }).click();
  await expect(dialog).toBeHidden();
  await expect(cardOf(page, "search")).toContainText("of $1,250.50");

  await page.getByRole("button", { name: "Actions for search" }).click();
  await page.getByRole("menuitem", { name: "Edit" }).click();
  const edit = page.getByRole("dialog", { name: "Edit search" });
  await edit.getByLabel("Name").fill("Search, hard line");
  await edit.getByLabel("How much per month?").fill("900");
  await edit.getByRole("button", { name: "Save" }).click();
  await expect(edit).toBeHidden();
  await expect(cardOf(page, "Search, hard line")).toContainText("of $900.00");

  await page.getByRole("button", { name: "Actions for Search, hard line" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  const question = page.getByRole("alertdialog");
  await expect(question).toContainText("Recorded costs stay.");
  await question.getByRole("button", { name: "Cancel" }).click();
  await cardOf(page, "Search, hard line").getByRole("link", { name: /^\$/ }).click();
  await page.waitForURL((url) => url.pathname === `/${slug}/activity`);
  expect(Object.fromEntries(new URL(page.url()).searchParams)).toEqual({
    period: "month",
    environment: "live",
    project: "search",
  });
  await page.goBack();
  await page.getByRole("button", { name: "Actions for Search, hard line" }).click();
  await page.getByRole("menuitem", { name: "Delete" }).click();
  await page.getByRole("alertdialog").getByRole("button", { name: "Delete" }).click();
  await expect(page.getByText("No budget yet")).toBeVisible();

  await test.step("a budget in euros says that it refuses what costs anything", async () => {
    await page.getByRole("button", { name: "Set a budget" }).click();
    await dialog.getByLabel("How much per month?").fill("1");
    await dialog.getByLabel("Currency").fill("eur");
    await dialog.getByLabel("What happens at the limit?").selectOption("It warns and refuses to record");
    await dialog.getByLabel("Name").fill("Hard");
    await dialog.getByRole("button", { name: "Set the budget" }).click();
    await expect(dialog).toBeHidden();
    await expect(cardOf(page, "Hard")).toContainText("(€1.00)");
    await expect(cardOf(page, "Hard")).toContainText("Refuses to record");
    await expect(cardOf(page, "Hard")).toContainText("It refuses to record costs until");
  });

  await test.step("a weekly budget in a time zone, with thresholds", async () => {
    await page.getByRole("button", { name: "Set a budget" }).click();
    const weekly = page.getByRole("dialog", { name: "Set a budget" });
    await weekly.getByLabel("How often does it reset?").selectOption("Every week");
    await weekly.getByLabel("How much per week?").fill("5000");
    await weekly.getByLabel("Alert at").fill("soon");
    await weekly.getByLabel("Name").fill("Berlin's week");
    await weekly.getByText("Days and time zone").click();
    await weekly.getByLabel("First day of the week").selectOption("Sunday");
    await weekly.getByRole("button", { name: "Set the budget" }).click();
    await expect(weekly.getByLabel("Alert at")).toHaveAccessibleDescription(/Must be shares or amounts/);
    await weekly.getByLabel("Alert at").fill("66%, $4,000");
    await weekly.getByRole("combobox", { name: "Time zone" }).fill("Berlin");
    await weekly.getByRole("option", { name: "Europe/Berlin" }).click();
    await weekly.getByRole("button", { name: "Set the budget" }).click();
    await expect(cardOf(page, "Berlin's week")).toContainText("All spend · a week, Europe/Berlin");

    await page.getByRole("button", { name: "Actions for Berlin's week" }).click();
    await page.getByRole("menuitem", { name: "Edit" }).click();
    const raised = page.getByRole("dialog", { name: "Edit Berlin's week" });
    await expect(raised.getByLabel("Alert at")).toHaveValue("66%, $4000");
    await raised.getByLabel("Raised limit").fill("9000");
    await raised.getByLabel("Raised through").fill("2999-01-01");
    await raised.getByRole("button", { name: "Save" }).click();
    await expect(cardOf(page, "Berlin's week")).toContainText("of $9,000.00");
    await expect(cardOf(page, "Berlin's week")).toContainText("then $5,000.00");
  });
});

test("Marks where the thresholds are and when they were reached, on cards and in the chart", async ({
  request,
  world,
}) => {
  const { slug, workspace } = await withSpend(request, world);
  // Its thresholds of 50 and 80% were reached before; that of 100% is reached by the next message.
  const { totals } = await readApi<Metrics>({ request }, `/api/v1/workspaces/${slug}/metrics`);
  const amount = (Number(exactText(totals.total_usd)) * 1.02).toFixed(2);
  await setBudget(world, workspace, { name: "All of it", amount });
  const { secret } = await world.fixtures.key(workspace);
  const usage = { type: "expense", vendor: "Hetzner", amount: Number(amount) };
  const answer = await apiClient(world.service.baseUrl, secret).post({
    project: "checkout",
    source: "api",
    message: usage,
  });
  expect(answer.status).toBe(201);
  const itemsOf = (html: string, label: string) => {
    const [list = ""] = new RegExp(`<[ou]l\\b[^>]*aria-label="${label}".*?</[ou]l>`, "s").exec(html) ?? [];
    return [...list.matchAll(/<li\b.*?<\/li>/gs)].map(([item]) => item.replaceAll(/<[^>]*>/g, ""));
  };
  const { html: budgets } = await readPage(request, `/${slug}/budgets`);
  expect(itemsOf(cardIn(budgets, "All of it"), "Thresholds")).toEqual([
    expect.stringMatching(/50%.*already reached when the budget was created/),
    expect.stringMatching(/80%.*already reached when the budget was created/),
    expect.stringMatching(/100%.*reached.*just now/),
  ]);
  const overview = await readPage(request, `/${slug}`);
  expect(itemsOf(overview.html, "Budget thresholds reached")).toEqual([
    expect.stringMatching(/: The budget All of it is used up$/),
  ]);
  expect(overview.text).toContain("Budget threshold reached");
  const sandbox = await readPage(request, `/${slug}?environment=test`);
  expect(itemsOf(sandbox.html, "Budget thresholds reached")).toEqual([]);
});
