import fc from "fast-check";
import { expect, test } from "vitest";
import { sharesOf } from "./breakdown";

test("Gives shares of the total where nothing is below zero", () => {
  expect(sharesOf([30, 10], 40)).toEqual([0.75, 0.25]);
  // Tags: the same part of the total is counted for each tag.
  expect(sharesOf([40, 40], 40)).toEqual([1, 1]);
});

test("Gives shares of the sum without signs where a part is below zero, whatever the total is", () => {
  expect(sharesOf([60, -40], 20)).toEqual([0.6, -0.4]);
  expect(sharesOf([50, -50], 0)).toEqual([0.5, -0.5]);
  expect(sharesOf([-30, -10], -40)).toEqual([-0.75, -0.25]);
});

test("Gives no shares of nothing", () => {
  expect(sharesOf([0, 0], 0)).toEqual([null, null]);
});

test("Gives mixed parts shares that have their signs and together are the whole", () => {
  fc.assert(
    fc.property(fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1 }), (amounts) => {
      const shares = sharesOf([...amounts, -1], 0);
      expect(shares.reduce<number>((sum, share) => sum + Math.abs(share ?? 0), 0)).toBeCloseTo(1, 9);
      for (const [index, amount] of amounts.entries())
        expect(Math.sign(shares[index] ?? 0)).toBe(Math.sign(amount));
    }),
  );
});
