import { expect, test } from "vitest";
import { indexAfterKey } from "./arrow-keys";

test("Arrow keys move one item and go round the ends of a list that wraps", () => {
  const move = (key: string, index: number) => indexAfterKey(key, index, 3, { wraps: true });
  expect([move("ArrowDown", 0), move("ArrowDown", 2), move("ArrowUp", 0)]).toEqual([1, 0, 2]);
  expect([move("ArrowDown", -1), move("ArrowUp", -1)]).toEqual([0, 2]);
  expect([move("Home", 1), move("ArrowRight", 1), move("a", 1)]).toEqual([undefined, undefined, undefined]);
});

test("A list that does not wrap leaves the key to the browser at its ends", () => {
  const move = (key: string, index: number) =>
    indexAfterKey(key, index, 3, { axis: "horizontal", hasEnds: true });
  expect([move("ArrowRight", 2), move("ArrowLeft", 0)]).toEqual([undefined, undefined]);
  expect([move("Home", 2), move("End", 0), move("ArrowLeft", 2)]).toEqual([0, 2, 1]);
  expect(indexAfterKey("End", -1, 0, { hasEnds: true })).toBeUndefined();
});
