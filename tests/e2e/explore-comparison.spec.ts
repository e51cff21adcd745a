import { readFile } from "node:fs/promises";
import { subtractExact, sumExact } from "@/components/figures/exact";
import { expect, test } from "./fixtures";
import { digitsIn, readPage } from "./html";
import { dayBefore, digitsOf, exact, figuresOf, querySpend, recordCosts, signUpWithSpend } from "./spend";

test("Compares the total and each row with the days before, so that the changes of the rows sum to the total's", async ({
  page,
  world,
}) => {
  const { slug, now } = await signUpWithSpend(page, world);
  await recordCosts(world, slug, [
    { project: "atlas", daysAgo: 2, cost: 3.125 },
    { project: "borealis", daysAgo: 12, cost: 40.5 },
  ]);
  const days = { from: dayBefore(now, 9), to: dayBefore(now, 0) };
  const before = { from: dayBefore(now, 19), to: dayBefore(now, 10) };
  const range = `period=range&from=${days.from}&to=${days.to}&over=none&show=table`;
  for (const { by, measure, top } of [
    { by: "project", measure: "cost", top: 8 },
    { by: "project", measure: "messages", top: 3 },
    { by: "model", measure: "cost", top: 3 },
    { by: "model", measure: "tokens", top: 8 },
  ] as const) {
    const address = `/${slug}/explore?${range}&by=${by}&measure=${measure}&top=${top}`;
    const { html: table } = await readPage(page.request, address);
    const { html: pivot } = await readPage(page.request, address.replace("show=table", "show=pivot"));
    const shown = await querySpend(page, slug, { ...days, group_by: [by], measure, top });
    const earlier = await querySpend(page, slug, { ...before, group_by: [by], measure, top: 50 });
    const total = subtractExact(exact(shown.totals.measured), exact(earlier.totals.measured));
    const listed = shown.rows.groups.filter((group) => !group.is_rest);
    const earlierOf = ({ value }: (typeof listed)[number]) =>
      exact(earlier.rows.groups.find((group) => group.value === value)?.measured);
    const changes = listed.map((group) => subtractExact(exact(group.measured), earlierOf(group)));
    const rest = subtractExact(total, sumExact(changes));
    const hasRest = listed.length < shown.rows.groups.length;
    const about = `${measure} by ${by}`;
    const expected = [...changes, ...(hasRest ? [rest] : [])];
    expect(digitsIn(table, "change").sort(), about).toEqual([...expected].sort());
    expect(digitsIn(table, "change.total"), about).toEqual([total]);
    expect(digitsIn(table, "change.gone"), about).toEqual(hasRest || Number(rest) === 0 ? [] : [rest]);
    expect(digitsIn(pivot, "change"), about).toEqual([...expected, total]);
  }
  await page.goto(`/${slug}/explore?${range}`);
  const { totals } = await querySpend(page, slug, {
    ...before,
    filters: [{ field: "project", values: ["borealis"] }],
  });
  await expect(page.getByText(/ 1 project is not listed, /)).toBeVisible();
  expect(await figuresOf(page, "change.gone")).toEqual([`-${digitsOf([totals.cost_usd])[0]}`]);
  await expect(page.getByRole("row", { name: /^atlas/ }).locator('[data-figure="change"]')).toHaveText("new");
  const download = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).click();
  const csv = await readFile(await (await download).path(), "utf8");
  expect(csv).toContain("atlas,3.125,3.125,1");
  await page.getByRole("radio", { name: "Pivot" }).check({ force: true });
  await expect(page.getByRole("region", { name: "Pivot" })).toBeVisible();
  const pivotDownload = page.waitForEvent("download");
  await page.getByRole("button", { name: "CSV" }).click();
  const pivot = await readFile(await (await pivotDownload).path(), "utf8");
  expect(pivot).toContain("Project,Total,Change\r\n");
  expect(pivot).toContain("atlas,3.125,3.125\r\n");
});

test("Compares with chosen days or nothing, and keeps it when something else is chosen", async ({
  page,
  world,
}) => {
  const { slug, now } = await signUpWithSpend(page, world);
  const days = { from: dayBefore(now, 9), to: dayBefore(now, 0) };
  const before = { from: dayBefore(now, 39), to: dayBefore(now, 30) };
  const compared = `compare=range&compare_from=${before.from}&compare_to=${before.to}`;
  await page.goto(`/${slug}/explore?period=range&from=${days.from}&to=${days.to}&${compared}`);
  const change = page.locator('[data-figure="change.total"]');
  const totalOf = async (range: typeof days) => exact((await querySpend(page, slug, range)).totals.measured);
  const expected = subtractExact(await totalOf(days), await totalOf(before));
  await expect(change).toHaveAttribute("data-exact", expected);
  await expect(change).toContainText(/ against .*, \d{1,2}:\d\d [AP]M\./);
  await expect(
    page.getByRole("table", { name: "Summary" }).getByRole("columnheader", { name: "Change" }),
  ).toBeVisible();
  await page.getByRole("combobox", { name: "Group by" }).selectOption({ label: "Model" });
  await expect(page.getByRole("columnheader", { name: "Model" })).toBeVisible();
  await expect(change).toHaveAttribute("data-exact", expected);
  await page.goto(page.url().replace(`to=${days.to}`, `to=${dayBefore(now, 1)}`));
  await expect(change).toContainText("against");
  await expect(change).not.toContainText(/\d:\d\d/);
  await page.goto(page.url().replace(`compare_from=${before.from}`, "compare_from=2020-01-01"));
  await expect(page.getByText(/^This is not compared with .* at most 1,100 days\.$/)).toBeVisible();
  await expect(change).toHaveCount(0);
  await page.getByRole("button", { name: /^Compared with: / }).click();
  await page.getByRole("link", { name: "Nothing" }).click();
  await page.waitForURL((url) => url.searchParams.get("compare") === "none");
  await expect(page.getByText(/^This is not compared with/)).toHaveCount(0);
  await expect(page.getByRole("columnheader", { name: /^Change/ })).toHaveCount(0);
  await expect(page.getByRole("columnheader", { name: "Cost" })).toBeVisible();
});

test("Shows no column of changes where nothing was recorded in the days compared with", async ({
  request,
  world,
}) => {
  const { slug, now } = await signUpWithSpend({ request }, world);
  const compared = `compare=range&compare_from=${dayBefore(now, 900)}&compare_to=${dayBefore(now, 890)}`;
  for (const show of ["table", "pivot"]) {
    const path = `/${slug}/explore?period=month&${compared}&show=${show}`;
    const { text, html } = await readPage(request, path);
    expect(text, show).toContain(" Nothing was recorded in ");
    const heads = [...html.matchAll(/<th\b.*?<\/th>/gs)].map(([head]) => head.replaceAll(/<[^>]*>/g, ""));
    expect(heads, show).toContain("Project");
    expect(heads.filter((head) => head.startsWith("Change"))).toEqual([]);
  }
});
