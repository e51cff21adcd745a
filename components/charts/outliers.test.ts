import fc from "fast-check";
import { expect, test } from "vitest";
import { cutDomain, findCut, findLimit } from "./outliers";
import { extentOf } from "./series";

const days = (...values: number[]) => [{ name: "a", colour: "red", values }];

test("Cuts a day that is many times above the others, and says which", () => {
  const series = days(10, 12, 9, 12_400, 11, 14, 8);
  const cut = findCut(series, "stacked");
  expect(cut).toEqual({ limit: 14, beyond: [3], beyondInLine: [] });
  const [min, max] = cutDomain(
    extentOf(series, "stacked"),
    cut ?? { limit: 0, beyond: [], beyondInLine: [] },
  );
  expect(min).toBe(0);
  expect(max).toBeGreaterThan(14);
  expect(max).toBeLessThan(28);
});

test("Cuts a day that is many times below zero", () => {
  const series = days(10, 12, 9, -9_000, 11, 14, 8);
  const cut = findCut(series, "stacked");
  expect(cut?.beyond).toEqual([3]);
  const [min] = cutDomain(extentOf(series, "stacked"), cut ?? { limit: 0, beyond: [], beyondInLine: [] });
  expect(min).toBeLessThan(-14);
  expect(min).toBeGreaterThan(-28);
});

test("Cuts what is compared with, too, so that one old day does not flatten the chart", () => {
  expect(findCut(days(10, 12, 9, 11), "stacked", [9, 5_000, 12, null])).toMatchObject({
    beyond: [],
    beyondInLine: [1],
  });
});

test("Cuts neither weekly charges, nor few bars, nor lines and shares", () => {
  const weekly = Array.from({ length: 28 }, (_, day) => (day % 7 === 0 ? 100 : 10));
  expect(findLimit(weekly)).toBeUndefined();
  expect(findLimit([1, 1, 1, 1_000])).toBeUndefined();
  expect(findLimit([0, 0, 0, 0, 0, 0, 1_000])).toBeUndefined();
  expect(findCut(days(1, 1, 1, 1, 1, 1_000), "lines")).toBeUndefined();
  expect(findCut(days(1, 1, 1, 1, 1, 1_000), "share")).toBeUndefined();
});

test("Cuts none of the latest two bars, as in spend that grows fast, but an earlier one beside them", () => {
  const growing = [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6, 7, 7, 8, 8, 9, 9];
  expect(findCut(days(...growing, 400, 500, 0, 0), "stacked")).toBeUndefined();
  expect(findCut(days(...growing, 7, 500), "stacked")).toBeUndefined();
  expect(findCut(days(...growing, 500, 7, 8), "stacked")).toMatchObject({ limit: 9, beyond: [18] });
  expect(findCut(days(9_000, ...growing, 500, 7), "stacked")).toMatchObject({ limit: 500, beyond: [0] });
  // Bars of names are in no order of time.
  expect(findCut(days(...growing, 7, 500), "stacked", [], false)).toMatchObject({ beyond: [19] });
});

test("Cuts a day and what takes it back, one on each side of zero", () => {
  expect(findCut(days(10, 12, 9, 12_400, -8_000, 14, 11), "stacked")).toMatchObject({
    limit: 14,
    beyond: [3, 4],
  });
});

test("Cuts at most one bar in ten on each side, each more than five times all others", () => {
  fc.assert(
    fc.property(
      fc.array(
        fc.oneof(fc.integer({ min: -100, max: 100 }), fc.integer({ min: -1_000_000, max: 1_000_000 })),
        { maxLength: 100 },
      ),
      (values) => {
        const limit = findLimit(values);
        if (limit === undefined) return;
        const sizes = values.map(Math.abs);
        const beyond = sizes.filter((size) => size > limit);
        const most = Math.max(1, Math.floor(values.filter((value) => value !== 0).length / 10));
        expect(beyond.length).toBeGreaterThan(0);
        expect(values.filter((value) => value > limit).length).toBeLessThanOrEqual(most);
        expect(values.filter((value) => value < -limit).length).toBeLessThanOrEqual(most);
        expect(Math.min(...beyond)).toBeGreaterThan(5 * limit);
        expect(sizes).toContain(limit);
      },
    ),
  );
});
