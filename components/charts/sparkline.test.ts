import { expect, test } from "vitest";
import { toSparkline } from "./sparkline-shape";

const heights = (path: string) => [...path.matchAll(/[ML][\d.-]+,([\d.-]+)/g)].map(([, y]) => Number(y));

test("Draws values below zero below the axis, within the box", () => {
  const { line, area } = toSparkline([10, -10, 0]);
  expect(heights(line)).toEqual([3, 97, 50]);
  // The area ends at zero, which is above the lower end of the box.
  expect(area).toContain("L0,50Z");
});

test("Draws a line for a single value, and for nothing but zeros", () => {
  expect(toSparkline([5]).line).toBe("M0,3L100,3");
  expect(toSparkline([0, 0]).line).toBe("M0,97L100,97");
  expect(toSparkline([]).line).toBe("");
});
