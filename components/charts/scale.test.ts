import fc from "fast-check";
import { expect, test } from "vitest";
import { coloursByName, projectColour } from "./colours";
import { fromTop, makeScale, stack } from "./scale";

/** Dollars down to a millionth. */
const amount = fc.integer({ min: -1e12, max: 1e12 }).map((millionths) => millionths / 1e6);

test("Fits every value and zero on the scale, with a few lines at round numbers", () => {
  fc.assert(
    fc.property(fc.array(amount, { maxLength: 40 }), (values) => {
      const { min, max, ticks } = makeScale(values);
      for (const value of [0, ...values]) {
        // A chart is drawn in floats: a hair's breadth over the edge is none.
        expect(fromTop(value, { min, max, ticks })).toBeGreaterThanOrEqual(-1e-9);
        expect(fromTop(value, { min, max, ticks })).toBeLessThanOrEqual(100 + 1e-9);
      }
      expect(ticks.length).toBeGreaterThan(1);
      expect(ticks.length).toBeLessThan(9);
    }),
  );
});

test("Draws a bar as high as the sum of its amounts, wherever its parts are", () => {
  fc.assert(
    fc.property(
      fc.array(fc.double({ min: 0.01, max: 1e6, noNaN: true }), { minLength: 1, maxLength: 8 }),
      (amounts) => {
        const total = amounts.reduce((sum, each) => sum + each, 0);
        const scale = makeScale([total]);
        const height = stack(amounts, scale).reduce((sum, piece) => sum + piece.height, 0);
        expect(height).toBeCloseTo(100 - fromTop(total, scale), 6);
      },
    ),
  );
});

test("Draws negative amounts below zero", () => {
  const scale = makeScale([10, -10]);
  const [up, down] = stack([5, -5], scale);
  expect(up).toMatchObject({ group: 0, top: 25, height: 25 });
  expect(down).toMatchObject({ group: 1, top: 50, height: 25 });
});

test("Keeps a project's colour when other projects are added", () => {
  const before = ["checkout", "search"];
  for (const slug of before) {
    expect(projectColour(slug, [...before, "later"])).toBe(projectColour(slug, before));
  }
});

test("Gives names shown together different colours while there are enough", () => {
  const names = ["gpt-4o", "gpt-4o-mini", "claude", "haiku", "opus", "llama", "mistral", "qwen"];
  expect(new Set(coloursByName(names).values()).size).toBe(8);
});
