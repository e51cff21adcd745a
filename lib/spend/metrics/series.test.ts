import fc from "fast-check";
import { expect, test } from "vitest";
import { exactText } from "@/components/figures/amount";
import { add, type Decimal, parseDecimal, sum, toText, zero } from "@/lib/decimal";
import type { BucketRow, Slice } from "./metrics-queries";
import { toSeries } from "./series";

const now = Date.parse("2026-03-10T12:00:00Z");
const range = { from: "2026-03-01", until: "2026-03-04" };
const scope = { bucket: "day", groupBy: "project", maxGroups: 8 } as const;
const slice = (name: string, amount: string): Slice => ({
  dimension: "project",
  reference: name,
  name,
  amount,
  messages: "1",
});
const row = (day: number, place: number | null, parts: Partial<BucketRow>): BucketRow => ({
  bucket: `2026-03-0${day}`,
  place,
  amount: "0",
  allocated_in: "0",
  allocated_out: "0",
  below_zero: "0",
  ...parts,
});
const seriesOf = (rows: BucketRow[], slices: Slice[]) =>
  toSeries(scope, { range, before: undefined, rows, earlier: [] }, slices, now);
const layersOf = (rows: BucketRow[], slices: Slice[]) =>
  seriesOf(rows, slices).layers.map(({ kind, name, total_usd: total }) => [kind, name, exactText(total)]);

test("Shows what was allocated as layers of their own, and what each project spent itself", () => {
  const rows = [
    row(1, 0, { amount: "60", allocated_out: "-40" }),
    row(1, 1, { amount: "45", allocated_in: "40" }),
    row(2, 0, { amount: "10" }),
  ];
  expect(layersOf(rows, [slice("a", "70"), slice("b", "45")])).toEqual([
    ["value", "a", "110"],
    ["value", "b", "5"],
    ["allocated_in", null, "40"],
    ["allocated_out", null, "-40"],
  ]);
});

test("Has a layer that is empty in one of two currencies in both, so that all days are converted", () => {
  const slices = [slice("a", "0"), slice("b", "3")];
  // An allocation and its reversal sum to zero in USD, but their days have different rates.
  const rows = [row(1, 0, { amount: "0" }), row(1, 1, { amount: "3" })];
  const alike = [row(1, 0, { amount: "0.5", allocated_in: "0.5" }), row(1, 1, { amount: "2.5" })];
  const kindsOf = (own: BucketRow[], other: BucketRow[]) =>
    toSeries(
      scope,
      { range, before: undefined, rows: own, earlier: [], alike: other },
      slices,
      now,
    ).layers.map(({ kind, value }) => [kind, value]);
  expect(kindsOf(rows, alike)).toEqual(kindsOf(alike, rows));
  expect(kindsOf(rows, alike)).toContainEqual(["allocated_in", null]);
  expect(layersOf(rows, slices).map(([kind]) => kind)).toEqual(["value", "value"]);
});

test("Leaves out a group that is nothing but allocations", () => {
  const rows = [
    row(1, 0, { amount: "0", allocated_in: "40", allocated_out: "-40" }),
    row(1, 1, { amount: "3" }),
  ];
  expect(layersOf(rows, [slice("allocation", "0"), slice("usage", "3")]).map(([kind]) => kind)).toEqual([
    "value",
    "allocated_in",
    "allocated_out",
  ]);
});

test("Shows what is below zero among the rest beside the rest", () => {
  const slices = Array.from({ length: 12 }, (_, index) => slice(`p${index}`, String(12 - index)));
  const rows = [row(1, null, { amount: "7", below_zero: "-3" })];
  expect(layersOf(rows, slices).slice(-2)).toEqual([
    ["rest", null, "10"],
    ["rest_below_zero", null, "-3"],
  ]);
});

const cents = fc.integer({ min: 0, max: 1_000_000 }).map((amount) => parseDecimal(`${amount}e-2`));
const negative = (amount: Decimal) => parseDecimal(`-${toText(amount)}`);

test("Splits each bucket into layers that sum to it, whatever its groups have", () => {
  const bucketRow = fc
    .record({
      day: fc.integer({ min: 1, max: 3 }),
      place: fc.option(fc.nat(6)),
      own: cents,
      isBelow: fc.boolean(),
      into: cents,
      out: cents,
    })
    .map(({ day, place, own, isBelow, into, out }) => {
      const spent = isBelow ? negative(own) : own;
      return row(day, place, {
        amount: toText(sum([spent, into, negative(out)])),
        allocated_in: toText(into),
        allocated_out: toText(negative(out)),
        below_zero: isBelow ? toText(spent) : "0",
      });
    });
  fc.assert(
    fc.property(fc.array(bucketRow, { maxLength: 30 }), (rows) => {
      const slices = Array.from({ length: 10 }, (_, index) => slice(`p${index}`, "1"));
      const { points, layers } = seriesOf(rows, slices);
      for (const point of points) {
        const ofRows = rows
          .filter(({ bucket }) => bucket === point.from)
          .map(({ amount }) => parseDecimal(amount));
        expect(exactText(point.total_usd)).toBe(toText(sum(ofRows)));
        const ofLayers = point.layers_usd.reduce(
          (all: Decimal, amount) => add(all, parseDecimal(exactText(amount))),
          zero,
        );
        expect(toText(ofLayers)).toBe(toText(sum(ofRows)));
        expect(point.layers_usd).toHaveLength(layers.length);
      }
    }),
  );
});
