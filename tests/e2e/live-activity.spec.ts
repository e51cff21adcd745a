import { costMessage } from "@/tests/helpers/client";
import { signUp } from "./accounts";
import { rowsOf } from "./activity-table";
import { expect, test } from "./fixtures";
import { clientOf } from "./spend";

test("Puts new rows and their sum on top without a reload, and keeps rows that are being read in place until new ones are requested", async ({
  page,
  world,
}) => {
  const { slug } = await signUp(page);
  const client = await clientOf(world, slug);
  await client.post(
    { messages: Array.from({ length: 40 }, (_, index) => costMessage({ label: `Row ${index}` })) },
    {},
    "/batch",
  );
  await page.goto(`/${slug}/activity`);
  await page.evaluate(() => Object.assign(window, { isSamePage: true }));
  await page.getByRole("switch", { name: "Show new rows at once" }).check();
  await client.post(costMessage({ label: "First", estimated_cost: 2.5 }));
  await expect(rowsOf(page).first()).toHaveText("First");
  await expect(page.locator('[data-figure="totals.total_usd"]')).toHaveAttribute("data-exact", "2.9");
  await expect(page.getByText("1 new row: First")).toBeAttached();

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
  expect(await page.evaluate(() => "isSamePage" in window)).toBe(true);
});
