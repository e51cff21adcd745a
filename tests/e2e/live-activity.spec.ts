import { costMessage } from "@/tests/helpers/client";
import { signUp } from "./accounts";
import { rowsOf } from "./activity-table";
import { expect, test } from "./fixtures";
import { clientOf } from "./spend";

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
