import { expect, test } from "vitest";
import { toText } from "@/lib/decimal";
import type { Bucket } from "./bucket";
import { ProviderFailure } from "./provider";
import { pullExports } from "./pull-exports";

const row = (day: string, usd: string) =>
  `${usd},USD,1,${day}T00:00:00Z,${day}T01:00:00Z,AWS,AI and Machine Learning`;
const focus = (...rows: string[]) =>
  [
    "BilledCost,BillingCurrency,BillingAccountId,ChargePeriodStart,ChargePeriodEnd,ProviderName,ServiceCategory",
    ...rows,
  ].join("\n");

/** A bucket of files by name; the earlier, the older. Counts what is read. */
function bucketOf(files: Record<string, string>): Bucket & { reads: string[] } {
  const reads: string[] = [];
  return {
    reads,
    list: async () =>
      Object.keys(files).map((name, index) => ({ name, changedAt: `2026-11-01T00:00:0${index}Z` })),
    read: async (name) => {
      reads.push(name);
      return Buffer.from(files[name] ?? "");
    },
  };
}

async function pulled(bucket: Bucket, from: string, until: string) {
  const days: [string, string[]][] = [];
  for await (const page of pullExports(bucket, { from, until }))
    days.push(
      ...page.map(({ day, rows }): [string, string[]] => [day, rows.map(({ amount }) => toText(amount))]),
    );
  return days;
}

test("reads of each month what its last manifest names, in order, and no month outside the range", async () => {
  const data = (month: string, name: string) => `e/data/BILLING_PERIOD=${month}/${name}`;
  const bucket = bucketOf({
    [data("2026-10", "a.csv")]: focus(
      row("2026-10-02", "1"),
      row("2026-10-01", "2"),
      row("2026-11-01", "0.5"),
    ),
    [data("2026-10", "b.csv")]: focus(row("2026-10-02", "4")),
    [data("2026-10", "gone.csv")]: focus(row("2026-10-02", "99")),
    [data("2026-09", "a.csv")]: focus(row("2026-09-30", "8")),
    [data("2026-07", "a.csv")]: focus(row("2026-07-30", "16")),
    "e/metadata/BILLING_PERIOD=2026-10/e-Manifest.json": JSON.stringify({
      dataFiles: ["a.csv", "b.csv"].map((name) => `s3://bucket/${data("2026-10", name)}`),
    }),
  });
  expect(await pulled(bucket, "2026-09-15", "2026-10-31")).toEqual([
    ["2026-09-30", ["8"]],
    // What a month's file bills on a day of another month is of its first day.
    ["2026-10-01", ["2", "0.5"]],
    ["2026-10-02", ["1", "4"]],
  ]);
  expect(bucket.reads.filter((name) => /07|gone/.test(name))).toEqual([]);
});

test("does not sum exports of several formats, which bill the same money", async () => {
  const cur = [
    "line_item_usage_start_date,line_item_usage_end_date,line_item_unblended_cost,line_item_line_item_type,line_item_usage_type,line_item_product_code,line_item_currency_code",
    "2026-10-01T00:00:00Z,2026-10-02T00:00:00Z,1,Usage,USE1-Nova-input-tokens,AmazonBedrock,USD",
  ].join("\n");
  const bucket = bucketOf({ "e/a.csv": focus(row("2026-10-01", "1")), "e/b.csv": cur });
  await expect(pulled(bucket, "2026-10-01", "2026-11-01")).rejects.toThrow(/several formats/);
});

test("says which file is wrong, and that a manifest names a file that is not there", async () => {
  const failure = (files: Record<string, string>) => pulled(bucketOf(files), "2026-10-01", "2026-11-01");
  await expect(
    failure({ "e/a.csv": focus("1,EUR,1,2026-10-01T00:00:00Z,2026-10-02T00:00:00Z,AWS,") }),
  ).rejects.toThrow(/^e\/a\.csv: .*EUR/);
  const manifest = JSON.stringify({ blobs: [{ blobName: "e/gone.csv" }] });
  await expect(failure({ "e/20261001-20261031/run/manifest.json": manifest })).rejects.toThrow(
    ProviderFailure,
  );
});
