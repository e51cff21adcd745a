import { describe, expect, test } from "vitest";
import { parsePart } from "@/lib/contract/values/parse-part";
import { ingestRequest } from "./message";

const line = { unit_type: "input_tokens", quantity: 200 };

function parse(message: object) {
  return parsePart(ingestRequest, {
    project: "checkout",
    source: "api",
    message: { type: "usage", ...message },
  });
}

function issues(message: object) {
  const read = parse(message);
  return read.ok ? [] : read.issues.map(({ path, message: text }) => `${path}: ${text}`);
}

describe("A usage", () => {
  test("Is one line, or has lines", () => {
    expect(parse({ provider: "openai", ...line }).ok).toBe(true);
    expect(parse({ provider: "openai", lines: [line] }).ok).toBe(true);
    expect(parse({ provider: "openai", lines: Array(20).fill(line) }).ok).toBe(true);
  });

  test("Needs one of the two, and says so beside what else is wrong", () => {
    expect(issues({ provider: "openai" })).toEqual([
      "message.unit_type: is required unless lines is given",
      "message.quantity: is required unless lines is given",
    ]);
    expect(issues({ quantity: 0 })).toEqual([
      "message.provider: is required",
      "message.quantity: must be greater than 0",
      "message.unit_type: is required unless lines is given",
    ]);
  });

  test("Has not both", () => {
    expect(issues({ provider: "openai", ...line, lines: [line], estimated_cost: 1 })).toEqual([
      "message.unit_type: cannot be set together with lines; set it on each line",
      "message.quantity: cannot be set together with lines; set it on each line",
      "message.estimated_cost: cannot be set together with lines; set it on each line",
    ]);
  });

  test("Has 1 to 20 lines, each checked", () => {
    expect(issues({ provider: "openai", lines: [] })).toEqual(["message.lines: must have at least 1 line"]);
    expect(issues({ provider: "openai", lines: Array(21).fill(line) })).toEqual([
      "message.lines: must have at most 20 lines",
    ]);
    expect(
      issues({ provider: "openai", lines: [line, { unit_type: "output_tokens", quantity: -1 }] }),
    ).toEqual(["message.lines.1.quantity: must be greater than 0"]);
    expect(issues({ provider: "openai", lines: [{ ...line, feature: "search" }] })).toEqual([
      "message.lines.0.feature: is not a field here; check the spelling",
    ]);
  });

  test("Takes null for what is not given", () => {
    expect(parse({ provider: "openai", ...line, lines: null }).ok).toBe(true);
    expect(parse({ provider: "openai", unit_type: null, quantity: null, lines: [line] }).ok).toBe(true);
  });
});
