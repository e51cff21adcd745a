import { expect, test } from "vitest";
import { readByOffset } from "./read-by-offset";

test("Reads page after page until one is empty", async () => {
  const list = ["a", "b", "c", "d", "e"];
  const offsets: string[] = [];
  const all = await readByOffset(async (offset) => {
    offsets.push(offset);
    return { data: list.slice(Number(offset), Number(offset) + 2) };
  });
  expect(all).toEqual(list);
  expect(offsets).toEqual(["0", "2", "4", "5"]);
});

test("Ends where a provider ignores the offset", async () => {
  expect(await readByOffset(async () => ({ data: ["a", "b"] }))).toEqual(["a", "b"]);
});
