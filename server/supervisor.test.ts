import { expect, test } from "vitest";
import { pauseBefore } from "./supervisor";

test("Pauses longer before each start of a worker that keeps ending, and not at all after a minute of serving", () => {
  const pauses: number[] = [];
  for (let turn = 0; turn < 9; turn += 1)
    pauses.push(pauseBefore(turn % 2 ? 59_999 : undefined, pauses.at(-1) ?? 0));
  expect(pauses).toEqual([100, 200, 400, 800, 1_600, 3_200, 6_400, 10_000, 10_000]);
  expect(pauseBefore(60_000, 10_000)).toBe(0);
  expect(pauseBefore(undefined, 0)).toBe(100);
});
