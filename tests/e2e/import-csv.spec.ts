import type { Page } from "@playwright/test";
import { exactText } from "@/components/figures/amount";
import type { Metrics } from "@/lib/contract/spend/metrics";
import { signUp, workspaceId } from "./accounts";
import { expect, test, type World } from "./fixtures";
import { expectLight } from "./page-checks";
import { readApi } from "./spend";

const header = "Date,Project,Provider,Model Name,Unit,Tokens,Cost USD,Team";
const good = [
  "2026-11-02,checkout,openai,gpt-4o,input_tokens,120000,0.300000000000000001,web",
  "2026-11-03,checkout,openai,gpt-4o,output_tokens,8000,0.08,web",
  "2026-11-05,search,anthropic,claude-sonnet-4-5,input_tokens,51000,0.153,data",
];
const bad = [
  "2026-11-03,Search Team,openai,gpt-4o,output_tokens,8000,0.08,web",
  "2026-11-04,search,anthropic,claude-sonnet-4-5,input_tokens,-5,0.10,data",
];

/** Opens the import with a file of these lines. */
async function chooseFile(page: Page, slug: string, lines: string[]): Promise<void> {
  await page.goto(`/${slug}/activity/import`);
  await page.getByLabel(/^Choose a CSV file/).setInputFiles({
    name: "costs.csv",
    mimeType: "text/csv",
    buffer: Buffer.from(lines.join("\n")),
  });
}

async function countMessages(world: World, slug: string): Promise<number> {
  const { rows } = await world.fixtures.sql.query(
    "select count(*)::int as count from public.messages where workspace_id = $1",
    [await workspaceId(world, slug)],
  );
  return rows[0].count;
}

const totalOf = async (page: Page, slug: string) =>
  exactText((await readApi<Metrics>(page, `/api/v1/workspaces/${slug}/metrics?period=all`)).totals.total_usd);

test("Guesses columns, lists the rows to be refused, records nothing before confirmation, and finds nothing new in the file imported again", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  await expectLight(page, await page.goto(`/${slug}/activity/import`));
  await expect(page.getByText("Choose a CSV file, or drop it here")).toBeVisible();
  await chooseFile(page, slug, [header, ...good, ...bad]);
  await expect(page.getByLabel("Field of the column Tokens")).toHaveValue("quantity");
  await expect(page.getByLabel("Field of the column Model Name")).toHaveValue("model");
  await expect(page.getByLabel("Field of the column Team")).toHaveValue("");
  await expect(page.getByRole("region", { name: "Preview of the first rows" })).toContainText(
    "openai · gpt-4o · 120000 input_tokens",
  );
  await expect(page.getByRole("button", { name: "Check the rows" })).toBeDisabled();
  await page.getByLabel("Project names").selectOption({ label: "Refuse these rows" });
  await page.getByRole("button", { name: "Check the rows" }).click();
  await expect(page.getByText("3 rows would be recorded, 2 rows would be refused.")).toBeVisible();
  const refused = page.getByRole("region", { name: "Refused rows" }).getByRole("row");
  await expect(refused.nth(1)).toHaveText(/^5\s*project\s*must be a slug/);
  await expect(refused.nth(2)).toHaveText(/^6\s*quantity\s*must be greater than 0/);
  expect(await countMessages(world, slug)).toBe(0);
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "Save these rows" }).click();
  expect((await download).suggestedFilename()).toBe("costs.refused.csv");
  await page.getByRole("button", { name: "Record 3 rows" }).click();
  await expect(page.getByText("3 rows recorded, 2 rows refused.")).toBeVisible();
  expect(await countMessages(world, slug)).toBe(3);
  expect(await totalOf(page, slug)).toBe("0.533000000000000001");
  await page.getByRole("link", { name: "Show imported rows" }).click();
  await expect(page.getByRole("table", { name: "Activity" }).locator("[data-row]")).toHaveCount(3);

  await chooseFile(page, slug, [header, ...good, ...bad]);
  await page.getByLabel("Project names").selectOption({ label: "Refuse these rows" });
  await page.getByRole("button", { name: "Check the rows" }).click();
  await expect(page.getByRole("heading", { name: "There is nothing to record" })).toBeVisible();
  await expect(
    page.getByText("0 rows would be recorded, 3 rows had been recorded before, 2 rows would be refused."),
  ).toBeVisible();
  await expect(page.getByRole("button", { name: /^Record/ })).toHaveCount(0);
  expect(await countMessages(world, slug)).toBe(3);
});

test("Resumes an interrupted import and records every row once", async ({ page, world }) => {
  const { slug } = await signUp(page);
  const rows = Array.from(
    { length: 2_500 },
    (_, row) => `2026-11-02,checkout,openai,gpt-4o,input_tokens,${row + 1},0.001,web`,
  );
  await chooseFile(page, slug, [header, ...rows]);
  await page.getByRole("button", { name: "Check the rows" }).click();
  await expect(page.getByRole("button", { name: "Record 2,500 rows" })).toBeVisible({ timeout: 20_000 });
  const bulk = `**/api/v1/workspaces/${slug}/messages/batch`;
  let posts = 0;
  await page.route(bulk, async (route) => {
    posts += 1;
    const refusal = { error: "permission_denied", error_description: "Cut off." };
    if (posts === 1) await route.continue();
    else await route.fulfill({ status: 200, json: refusal });
  });
  await page.getByRole("button", { name: "Record 2,500 rows" }).click();
  await expect(page.getByRole("heading", { name: "The import did not finish" })).toBeVisible();
  expect(await countMessages(world, slug)).toBe(1_000);
  await page.unroute(bulk);
  await page.getByRole("button", { name: "Continue" }).click();
  await expect(page.getByText("1,500 rows recorded, 1,000 rows had been recorded before.")).toBeVisible({
    timeout: 20_000,
  });
  expect(await countMessages(world, slug)).toBe(2_500);
  expect(await totalOf(page, slug)).toBe("2.5");
});

test("Asks how a European file is written where that is not certain, and shows what comes of it", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  await chooseFile(page, slug, [
    "Datum;Projekt;Lieferant;Betrag;Währung",
    "03/04/2026;Team Süd;Hetzner;1.234;EUR",
    "05/04/2026;Team Süd;Figma;2.000;EUR",
  ]);
  await expect(page.getByLabel("Field of the column Datum")).toHaveValue("occurred_at");
  await expect(page.getByLabel("Field of the column Währung")).toHaveValue("currency");
  await expect(page.getByLabel("Field of the column Betrag")).toHaveValue("amount");
  await page.getByLabel("Field of the column Lieferant").selectOption("vendor");
  await page.getByLabel("Field of the column Projekt").selectOption("project");
  const check = page.getByRole("button", { name: "Check the rows" });
  await expect(page.getByText("“1.234” can be read in two ways.", { exact: false })).toBeVisible();
  await expect(check).toBeDisabled();
  await page.getByLabel("Numbers").selectOption({ label: "As 1.234,56: 1.234 is 1234" });
  await expect(check).toBeDisabled();
  await page.getByLabel("Dates").selectOption({ label: "As day first: 03/04/2026 is 2026-04-03" });
  await expect(check).toBeDisabled();
  await page.getByLabel("Project names").selectOption({ label: "Use the projects shown below" });
  const preview = page.getByRole("region", { name: "Preview of the first rows" });
  await expect(preview).toContainText("team-sud");
  await expect(preview).toContainText("1234 EUR");
  await check.click();
  await page.getByRole("button", { name: "Record 2 rows" }).click();
  await expect(page.getByText("2 rows recorded.")).toBeVisible();
  const { rows } = await world.fixtures.sql.query(
    `select original_amount::text as amount, to_char(occurred_at at time zone 'UTC', 'YYYY-MM-DD') as day
     from public.messages where workspace_id = $1 order by day`,
    [await workspaceId(world, slug)],
  );
  expect(rows).toEqual([
    { amount: "1234", day: "2026-04-03" },
    { amount: "2000", day: "2026-04-05" },
  ]);
});

test("Reads a file that was chosen before the page's scripts ran", async ({ page }) => {
  const { slug } = await signUp(page);
  let runScripts = () => {};
  const chosen = new Promise<void>((resolve) => {
    runScripts = resolve;
  });
  await page.route("**/_next/static/**/*.js", async (route) => {
    await chosen;
    await route.continue();
  });
  await page.goto(`/${slug}/activity/import`, { waitUntil: "commit" });
  await page.getByLabel(/^Choose a CSV file/).setInputFiles({
    name: "costs.csv",
    mimeType: "text/csv",
    buffer: Buffer.from([header, ...good].join("\n")),
  });
  runScripts();
  await expect(page.getByLabel("Field of the column Tokens")).toHaveValue("quantity");
});
