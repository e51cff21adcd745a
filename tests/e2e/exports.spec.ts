import { readFileSync } from "node:fs";
import { exactText } from "@/components/figures/amount";
import { sumExact } from "@/components/figures/exact";
import type { Metrics } from "@/lib/contract/spend/metrics";
import { expect, test } from "./fixtures";
import { readApi, signUpWithSpend } from "./spend";

test("Exports what is shown, all of its pages, in both formats", async ({ page, world }) => {
  const { slug } = await signUpWithSpend(page, world);
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
