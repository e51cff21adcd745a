import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";
import { sumExact } from "@/components/activity/exact";
import { exactText } from "@/components/amount";
import type { ActivityList } from "@/lib/contract/activity";
import type { Metrics } from "@/lib/contract/metrics";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { openAs, signUp, workspaceId } from "./accounts";
import { expect, test, type World } from "./fixtures";
import { expectStill, expectUsable, watchLayout } from "./page-checks";
import { expectDigits, readApi, recordSpend } from "./spend";

// Each test opens several pages and waits for live updates.
test.describe.configure({ timeout: 60_000 });

/** A key's client for a workspace. */
async function clientOf(world: World, slug: string) {
  const { secret } = await world.fixtures.key(await workspaceId(world, slug));
  return apiClient(world.service.baseUrl, secret);
}

const rowsOf = (page: Page) => page.getByRole("table", { name: "Activity" }).locator("[data-row]");

test("Sums the rows shown exactly where no total is kept", async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}/activity?period=all&q=answers`);
  const list = await readApi<ActivityList>(
    page,
    `/api/v1/workspaces/${slug}/activity?period=all&environment=live&q=answers&limit=50`,
  );
  expect(list.count).toBe(15);
  const sum = sumExact(list.activity.map(({ amount_usd: usd }) => exactText(usd)));
  await expectDigits(page, "shown_usd", [sum]);
  await page.goto(`/${slug}/activity?cost_status=unpriced`);
  await expect(rowsOf(page)).toHaveText(["ranker-7b · 500 input tokens"]);
});

test("Adds filters from a menu to the address, and removes them again", {
  tag: "@phone",
}, async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}/activity?period=all`);
  const all = await rowsOf(page).count();
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await page.getByRole("dialog", { name: "Filters" }).getByLabel("Project").selectOption({ label: "search" });
  await page.waitForURL((url) => url.searchParams.get("project") === "search");
  const chip = page.getByRole("link", { name: "Remove the filter Project: search" });
  await expect(chip).toBeVisible();
  await expect(rowsOf(page)).toHaveCount(15);
  await page.getByRole("dialog", { name: "Filters" }).getByLabel("Feature").selectOption({ label: "None" });
  await page.waitForURL((url) => url.searchParams.get("feature") === "");
  await expect(page.getByText("Nothing matches these filters")).toBeVisible();
  await page.goBack();
  await expect(rowsOf(page)).toHaveCount(15);
  await page.keyboard.press("Escape");
  await chip.click();
  await expect(rowsOf(page)).toHaveCount(all);
  await page.getByRole("searchbox", { name: /^Search label/ }).fill("hetzner");
  await page.keyboard.press("Enter");
  await page.waitForURL((url) => url.searchParams.get("q") === "hetzner");
  await expect(rowsOf(page)).toHaveText(["Hetzner"]);
});

test("Shows a link's filters to everybody, and explains an invalid one", async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}/activity?period=all&provider=Hetzner`);
  await expect(page.getByRole("link", { name: "Remove the filter Provider: Hetzner" })).toBeVisible();
  await expect(rowsOf(page)).toHaveCount(1);
  await page.goto(`/${slug}/activity?period=fortnight`);
  await expect(page.getByText("This address is not valid")).toBeVisible();
  await page.getByRole("link", { name: "Show this month" }).click();
  await expect(rowsOf(page).first()).toBeVisible();
});

test("Adds more rows below, each once, to the last", async ({ page, world }) => {
  const { slug } = await signUp(page);
  const client = await clientOf(world, slug);
  const messages = Array.from({ length: 120 }, (_, index) =>
    costMessage({ label: `Row ${index}`, occurred_at: "2026-01-05T00:00:00Z" }),
  );
  await client.post({ messages }, {}, "/batch");
  await page.goto(`/${slug}/activity?period=all`);
  await expect(rowsOf(page)).toHaveCount(50);
  await page.getByRole("button", { name: "Load more" }).click();
  await expect(rowsOf(page)).toHaveCount(100);
  await page.getByRole("button", { name: "Load more" }).click();
  await expect(rowsOf(page)).toHaveCount(120);
  await expect(page.getByRole("button", { name: "Load more" })).toHaveCount(0);
  expect(new Set(await rowsOf(page).allTextContents()).size).toBe(120);
});

test("Puts new rows and their sum on top without a reload", async ({ page, world }) => {
  const { slug } = await signUp(page);
  const client = await clientOf(world, slug);
  await client.post(costMessage({ label: "First", estimated_cost: 1 }));
  await page.goto(`/${slug}/activity`);
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  await page.getByRole("switch", { name: "Live updates" }).check();
  await client.post(costMessage({ label: "Second", estimated_cost: 2.5 }));
  await expect(rowsOf(page)).toHaveText(["Second", "First"]);
  await expect(page.locator('[data-figure="totals.total_usd"]')).toHaveAttribute("data-exact", "3.5");
  await expect(page.getByText("1 new row: Second")).toBeAttached();
  expect(await page.evaluate(() => "isSamePage" in window)).toBe(true);
});

test("Keeps the rows being read in place until new ones are requested", async ({ page, world }) => {
  const { slug } = await signUp(page);
  const client = await clientOf(world, slug);
  await client.post(
    { messages: Array.from({ length: 40 }, (_, index) => costMessage({ label: `Row ${index}` })) },
    {},
    "/batch",
  );
  await page.goto(`/${slug}/activity`);
  await page.getByRole("switch", { name: "Live updates" }).check();
  const read = rowsOf(page).nth(25);
  await read.evaluate((row) => row.scrollIntoView({ block: "center" }));
  const [text, place] = [await read.textContent(), await read.boundingBox()];
  await client.post(costMessage({ label: "New" }));
  const show = page.getByRole("button", { name: "Show 1 new row" });
  await expect(show).toBeVisible();
  expect([await read.textContent(), await read.boundingBox()]).toEqual([text, place]);
  await show.click();
  await expect(rowsOf(page).first()).toHaveText("New");
  await expect(show).toHaveCount(0);
});

test("Requests nothing while hidden, and catches up when visible", async ({ page, world }) => {
  const { slug } = await signUp(page);
  const client = await clientOf(world, slug);
  await client.post(costMessage({ label: "First" }));
  await page.goto(`/${slug}/activity`);
  const asked: string[] = [];
  page.on("request", (request) => request.url().includes("/activity?") && asked.push(request.url()));
  await page.getByRole("switch", { name: "Live updates" }).check();
  await expect.poll(() => asked.length).toBeGreaterThan(1);
  const setHidden = (hidden: boolean) =>
    page.evaluate((value) => {
      Object.defineProperty(document, "hidden", { value, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, hidden);
  await setHidden(true);
  await page.waitForLoadState("networkidle");
  const before = asked.length;
  await client.post(costMessage({ label: "Meanwhile" }));
  // Longer than the interval of live updates: that nothing is requested can only be waited for.
  await page.waitForTimeout(2_500);
  expect(asked.length).toBe(before);
  await setHidden(false);
  await expect(rowsOf(page)).toHaveText(["Meanwhile", "First"]);
});

test("Opens a message's details by keyboard, with an address of their own", {
  tag: "@phone",
}, async ({ page, world }) => {
  const { slug } = await signUp(page);
  const client = await clientOf(world, slug);
  await client.post(costMessage({ estimated_cost: undefined, quantity: 1200, metadata: { run: "r-17" } }));
  await page.goto(`/${slug}/activity`);
  await rowsOf(page).first().focus();
  await page.keyboard.press("Enter");
  const sheet = page.getByRole("dialog", { name: "gpt-4o" });
  await expect(sheet.locator("[data-equation]")).toHaveText("1,200 × $0.0000025 = $0.003");
  await expect(sheet).toContainText("Price catalogue");
  await expect(sheet).toContainText("r-17");
  await expect(sheet).toContainText("Test key");
  await expectDigits(page, "message_usd", ["0.003"]);
  await expectUsable(page);
  const address = page.url();
  expect(new URL(address).searchParams.get("message")).toMatch(/^[0-9a-f-]{36}$/);
  await page.keyboard.press("Escape");
  await expect(sheet).toBeHidden();
  await expect(rowsOf(page).first()).toBeFocused();
  expect(new URL(page.url()).searchParams.has("message")).toBe(false);
  await page.goto(address);
  await expect(sheet).toBeVisible();
  await page.getByRole("link", { name: "checkout", exact: true }).click();
  await page.waitForURL((url) => url.searchParams.get("project") === "checkout");
  await expect(sheet).toBeHidden();
  await expect(rowsOf(page)).toHaveCount(1);
});

test("Shows a batch's lines, an allocation's two sides and a conversion's rate", async ({ page, world }) => {
  const { slug } = await signUp(page);
  const client = await clientOf(world, slug);
  const items = [
    { model: "gpt-4o", unit_type: "input_tokens", quantity: 1000 },
    { model: "gpt-4o", unit_type: "output_tokens", quantity: 100 },
  ];
  const post = (message: Record<string, unknown>) =>
    client.post({ project: "search", source: "api", message });
  await client.post(costMessage());
  await post({ type: "batch", provider: "openai", batch_id: "b-1", items });
  await post({ type: "allocation", from_project: "checkout", amount: 0.004, label: "Shared model" });
  await post({ type: "expense", vendor: "Hetzner", amount: 84, currency: "EUR" });
  await page.goto(`/${slug}/activity`);
  const open = async (label: RegExp) => {
    await rowsOf(page).filter({ hasText: label }).first().click();
    return page.getByRole("dialog");
  };
  const batch = await open(/b-1/);
  await expect(batch.locator("[data-equation]")).toHaveText([
    "1,000 × $0.0000025 = $0.0025",
    "100 × $0.00001 = $0.001",
  ]);
  await page.keyboard.press("Escape");
  const allocation = await open(/Shared model/);
  await expect(allocation.getByRole("region", { name: "Moved between projects" })).toContainText("checkout");
  await page.keyboard.press("Escape");
  const expense = await open(/Hetzner/);
  await expect(expense.locator("[data-equation]")).toHaveText(/^84 EUR × \$1\.\d+ = \$9\d/);
});

test("Unfolds a batch into its matching lines in place, by a click and by the keyboard", {
  tag: "@phone",
}, async ({ page, world }) => {
  const { slug } = await signUp(page);
  const client = await clientOf(world, slug);
  const line = { unit_type: "requests", quantity: 2, estimated_cost: 0.25 };
  const items = [
    { ...line, model: "fast", feature: "chat" },
    { ...line, model: "slow", feature: "search", estimated_cost: 0.5 },
    { unit_type: "requests", quantity: 3, model: "unheard-of" },
    ...Array.from({ length: 60 }, () => ({ ...line, model: "bulk", estimated_cost: 0.001 })),
  ];
  const message = { type: "batch", provider: "in-house", batch_id: "b-9", items };
  await client.post({ project: "search", source: "api", message });
  await client.post(costMessage());
  await page.goto(`/${slug}/activity`);
  const table = page.getByRole("table", { name: "Activity" });
  const toggle = table.getByRole("button", { name: /^63 lines of/ });
  const lines = table.locator("[data-line]");
  await expect(table.getByRole("button")).toHaveCount(1);
  await expect(toggle).toHaveAttribute("aria-expanded", "false");
  await toggle.click();
  await expect(toggle).toHaveAttribute("aria-expanded", "true");
  await expect(lines).toHaveCount(50);
  await expect(lines.first()).toContainText("fast · chat");
  await expect(lines.nth(2)).toContainText("No price yet");
  await page.mouse.move(0, 0);
  await expectUsable(page);
  await table.getByRole("button", { name: "Show all 63 lines" }).click();
  await expect(lines).toHaveCount(63);
  expect(new URL(page.url()).searchParams.has("message"), "the message is not opened").toBe(false);
  await toggle.focus();
  await page.keyboard.press("Enter");
  await expect(lines).toHaveCount(0);
  await page.keyboard.press("Space");
  await expect(lines).toHaveCount(50);

  await page.goto(`/${slug}/activity?feature=search`);
  await table.getByRole("button", { name: /^1 line of/ }).click();
  await expect(lines).toHaveCount(1);
  await expect(lines).toContainText("slow · search");
  await expectDigits(page, "line.amount_usd", ["0.5"]);
  await page.goto(`/${slug}/activity?feature=&model=unheard-of`);
  await table.getByRole("button", { name: /^1 line of/ }).click();
  await expect(lines).toContainText("unheard-of");
});

test("Hides a message of another workspace like one that does not exist", async ({
  page,
  openPage,
  world,
}) => {
  const { slug } = await signUp(page);
  const { secret } = await world.fixtures.key(await world.fixtures.workspace());
  const { body } = await apiClient(world.service.baseUrl, secret).post(costMessage());
  // A page of its own: the browser reports every 404 on the console, which must stay clean elsewhere.
  const viewer = await openAs(openPage, world, slug, "viewer");
  for (const id of [String(body.id), "0193a1b4-52c7-7d3a-8f10-4be2c6d90a51", "nonsense"]) {
    await viewer.goto(`/${slug}/activity?message=${id}`);
    await expect(viewer.getByText("There is no such message in this workspace.")).toBeVisible();
  }
});

test("Exports what is shown, all of its pages, in both formats", async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}/activity?period=all&type=usage`);
  const metrics = await readApi<Metrics>(page, `/api/v1/workspaces/${slug}/metrics?period=all&type=usage`);
  const save = async (format: RegExp) => {
    await page.getByRole("button", { name: "Export" }).click();
    const download = page.waitForEvent("download");
    await page.getByRole("menuitem", { name: format }).click();
    return readFileSync(await (await download).path(), "utf8")
      .trim()
      .split("\r\n");
  };
  const [header = "", ...rows] = await save(/^CSV/);
  const amountAt = header.split(",").indexOf("amount_usd");
  expect(rows).toHaveLength(metrics.totals.message_count);
  expect(sumExact(rows.map((row) => row.split(",")[amountAt] ?? ""))).toBe(
    exactText(metrics.totals.total_usd),
  );
  expect((await save(/^FOCUS/))[0]).toContain("BilledCost");
});

test.describe("A second export", () => {
  test.use({ mayBeRefused: true });

  test("Is refused during another one, with the reason", { tag: "@phone" }, async ({ page, world }) => {
    const { slug, email } = await signUp(page);
    await recordSpend(world, slug);
    await world.fixtures.sql.query(
      `select private.hold_export((select id from public.profiles where email = $1), gen_random_uuid(), 60)`,
      [email],
    );
    await page.goto(`/${slug}/activity?period=all`);
    await page.getByRole("button", { name: "Export" }).click();
    await page.getByRole("menuitem", { name: /^CSV/ }).click();
    await expect(page.getByText("Another export of yours is still running.")).toBeVisible();
    await expectUsable(page);
  });
});

test("Adds a cost by hand once, with errors beside their fields", {
  tag: "@phone",
}, async ({ page, world }) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}/activity`);
  await page.getByRole("button", { name: "Add a cost" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a cost" });
  await dialog.getByLabel("Project").fill("checkout");
  await dialog.getByRole("option", { name: /^checkout/ }).click();
  await dialog.getByLabel("Paid to").fill("Figma");
  await dialog.getByLabel("Amount").fill("twelve");
  await dialog.getByRole("button", { name: "Record" }).click();
  await expect(dialog.getByLabel("Amount")).toHaveAccessibleDescription("Must be a number.");
  await expectUsable(page);
  await dialog.getByLabel("Amount").fill("12.34");
  await dialog.getByLabel("Currency").fill("JPY");
  await dialog.getByRole("button", { name: "Record" }).click();
  await expect(dialog.getByLabel("Amount")).toHaveAccessibleDescription(/^Amounts in JPY have no decimals/);
  await dialog.getByLabel("Currency").fill("USD");
  await dialog.getByRole("button", { name: "Record" }).dblclick();
  await expect(dialog).toBeHidden();
  await expect(rowsOf(page).first()).toHaveText("Figma");
  await expect(page.locator('[data-figure="activity.amount_usd"]').first()).toHaveAttribute(
    "data-exact",
    "12.34",
  );
  await page.goto(`/${slug}/activity?source=manual`);
  await expect(rowsOf(page)).toHaveText(["Figma"]);
});

test("Adds usage by hand to the last digit", async ({ page }) => {
  const { slug } = await signUp(page);
  await page.goto(`/${slug}/activity`);
  await page.getByRole("button", { name: "Add a cost" }).click();
  const dialog = page.getByRole("dialog", { name: "Add a cost" });
  await dialog.getByText("Usage", { exact: true }).click();
  await dialog.getByLabel("Project").fill("lab");
  await dialog.getByRole("option", { name: /lab/ }).click();
  await dialog.getByLabel("Provider").fill("in-house");
  await dialog.getByLabel("Quantity").fill("3");
  await dialog.getByLabel("Unit").fill("requests");
  await dialog.getByLabel("Cost in USD").fill("0.123456789012345678");
  await dialog.getByRole("button", { name: "Record" }).click();
  await expect(rowsOf(page)).toHaveCount(1);
  await expectDigits(page, "totals.total_usd", ["0.123456789012345678"]);
});

test("Shows a viewer the same rows and the export, and no forbidden actions", async ({
  page,
  openPage,
  world,
}) => {
  const { slug } = await signUp(page);
  await recordSpend(world, slug);
  const viewer = await openAs(openPage, world, slug, "viewer");
  await viewer.goto(`/${slug}/activity`);
  await expect(rowsOf(viewer).first()).toBeVisible();
  await expect(viewer.getByRole("button", { name: "Export" })).toBeVisible();
  await expect(viewer.getByRole("button", { name: "Add a cost" })).toHaveCount(0);
  await expect(viewer.getByRole("link", { name: "Import" })).toHaveCount(0);
  await viewer.goto(`/${slug}/activity/import`);
  await expect(viewer.getByText("Viewers cannot record costs")).toBeVisible();
});

test("Is accessible with its menus open, empty and full, without layout shifts", {
  tag: "@phone",
}, async ({ page, world }) => {
  const { slug } = await signUp(page);
  await watchLayout(page);
  await page.goto(`/${slug}/activity`);
  await expect(page.getByText("Nothing was recorded in this period")).toBeVisible();
  await expectStill(page);
  await expectUsable(page);
  await recordSpend(world, slug);
  await page.goto(`/${slug}/activity?period=all&project=checkout`);
  await page.getByRole("button", { name: "Filter", exact: true }).click();
  await expect(page.getByRole("dialog", { name: "Filters" })).toBeVisible();
  await expectUsable(page);
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Export" }).click();
  await expect(page.getByRole("menuitem", { name: /^CSV/ })).toBeFocused();
  await expectUsable(page);
  await page.keyboard.press("Escape");
  await expectStill(page);
});
