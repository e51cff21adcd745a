import fc from "fast-check";
import { expect, test } from "vitest";
import { ServiceError } from "@/lib/errors";
import { countParts } from "./json-work";

const budget = { parts: 20, partsOfOne: 10, depth: 5 };

/** Counts a text's parts. @returns `read` if it is within the budget, otherwise the exceeded limit from the error */
function judge(text: string): string {
  try {
    countParts(text, budget);
    return "read";
  } catch (error) {
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code: "payload_too_large", status: 413 });
    return /at most (.*)\. Send/.exec((error as Error).message)?.[1] ?? "";
  }
}

const list = (length: number) => `[${Array(length).fill(0).join()}]`;

test.each([
  ["values in all", `[${list(9)},${list(9)}]`, `[${list(9)},${list(10)}]`, "20 values in all"],
  ["values in one list", list(10), list(11), "10 values in one list or object"],
  [
    "lists inside each other",
    "[".repeat(5) + "]".repeat(5),
    "[".repeat(6) + "]".repeat(6),
    "5 lists and objects inside each other",
  ],
])("Reads as many %s as the budget has, and not one more", (_, within, beyond, limit) => {
  expect(judge(within)).toBe("read");
  expect(judge(beyond)).toBe(limit);
});

/** The parts of a value: commas, lists and objects. */
function partsOf(value: unknown): number {
  if (typeof value !== "object" || value === null) return 0;
  const inner = Object.values(value);
  return 1 + Math.max(0, inner.length - 1) + inner.reduce((sum: number, one) => sum + partsOf(one), 0);
}

test("Counts no part of a text, whatever is in it", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const unlimited = { parts: 1e9, partsOfOne: 1e9, depth: 1e9 };
      expect(countParts(JSON.stringify(value), unlimited)).toBe(partsOf(value));
      expect(countParts(JSON.stringify(value, null, 2), unlimited)).toBe(partsOf(value));
    }),
  );
  const texts = ['"', "\\", '\\"', "[,{", '"]', "\\\\"];
  expect(countParts(JSON.stringify(texts), budget)).toBe(texts.length);
});

test("Reads any text to its end", () => {
  fc.assert(fc.property(fc.string(), (text) => void judge(text)));
  for (const text of ['"', '"\\', '["a', "]]]]", '"\\"']) expect(judge(text)).toBe("read");
});
