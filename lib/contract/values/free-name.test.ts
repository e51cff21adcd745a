import { expect, test } from "vitest";
import { freeName } from "./free-name";

test.each([
  ["API key", [], "API key"],
  ["API key", ["API key"], "API key 2"],
  ["API key", ["API key 2", "API key"], "API key 3"],
  ["API key", ["API key 2"], "API key"],
])("Numbers the default name %j where %j are taken: %j", (wanted, taken, free) => {
  expect(freeName(wanted, taken)).toBe(free);
});

test("Cuts a long name so that its number fits, between characters", () => {
  const wanted = "😀".repeat(130);
  const first = freeName(wanted, []);
  expect([...first]).toHaveLength(120);
  expect(freeName(wanted, [first])).toBe(`${"😀".repeat(118)} 2`);
});
