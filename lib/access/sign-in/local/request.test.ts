import { expect, test } from "vitest";
import { isStorable } from "./request";

const nested = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));

test.each([
  "",
  "Ada",
  "\\u0000 as six characters",
  "\ud83d\ude00",
  { a: [1, null, true, { b: "ü" }] },
  nested(16),
])("Accepts %j", (value) => {
  expect(isStorable(value)).toBe(true);
});

test.each([
  "\u0000",
  "\ud800",
  "\udc00 alone",
  { name: "\ud800" },
  { "\ud800": 1 },
  { a: [{ b: ["\u0000"] }] },
  nested(17),
])("Refuses %j", (value) => {
  expect(isStorable(value)).toBe(false);
});
