import fc from "fast-check";
import { expect, test } from "vitest";
import { add, parseDecimal, subtract, sum, toText, zero } from "@/lib/decimal";
import { type CostKind, type Segment, splitDifference } from "./causes";

const amount = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 20n }), fc.integer({ min: 0, max: 18 }))
  .map(([digits, decimals]) => {
    const text = digits.toString().padStart(decimals + 1, "0");
    return parseDecimal(decimals === 0 ? text : `${text.slice(0, -decimals)}.${text.slice(-decimals)}`);
  });
const side = fc.oneof(
  fc.constant({ cost: zero, lines: 0 }),
  fc.record({ cost: amount, lines: fc.integer({ min: 1, max: 1_000_000 }) }),
);
const segment: fc.Arbitrary<Segment> = fc
  .record({
    project: fc.constantFrom("a", "b", "c", "d"),
    model: fc.constantFrom("x", "y", "z", null),
    kind: fc.constantFrom<CostKind[]>(
      "usage",
      "usage",
      "usage",
      "expense",
      "subscription",
      "allocation",
      "bill_adjustment",
    ),
    now: side,
    before: side,
  })
  .map((made) => {
    if (made.kind === "usage") return made;
    const flip = ({ cost }: { cost: Segment["now"]["cost"] }) => ({
      cost: made.kind === "allocation" ? subtract(zero, cost) : cost,
      lines: 0,
    });
    return { ...made, now: flip(made.now), before: flip(made.before) };
  });

test("Gives causes that sum to the difference exactly, and parts that sum to their cause", () => {
  fc.assert(
    fc.property(fc.array(segment, { maxLength: 30 }), (segments) => {
      const { difference, causes } = splitDifference(segments);
      expect(toText(sum(causes.map((cause) => cause.amount)))).toBe(toText(difference));
      const costs = (when: "now" | "before") => sum(segments.map((each) => each[when].cost));
      expect(toText(add(costs("before"), difference))).toBe(toText(costs("now")));
      for (const cause of causes)
        expect(toText(sum(cause.parts.map((part) => part.amount)))).toBe(toText(cause.amount));
    }),
    { numRuns: 500 },
  );
});

const usage = (project: string, model: string, before: [number, string], now: [number, string]): Segment => ({
  project,
  model,
  kind: "usage",
  before: { lines: before[0], cost: parseDecimal(before[1]) },
  now: { lines: now[0], cost: parseDecimal(now[1]) },
});
const causesOf = (segments: Segment[]) =>
  Object.fromEntries(splitDifference(segments).causes.map(({ name, amount }) => [name, toText(amount)]));

test("Tells more usage, another mix and other prices apart", () => {
  expect(causesOf([usage("a", "x", [10, "10"], [20, "20"])])).toEqual({ volume: "10" });
  expect(causesOf([usage("a", "x", [10, "10"], [10, "15"])])).toEqual({ prices: "5" });
  expect(
    causesOf([usage("a", "cheap", [10, "10"], [0, "0"]), usage("a", "dear", [10, "90"], [20, "180"])]),
  ).toEqual({ mix: "80" });
  expect(
    causesOf([usage("a", "x", [10, "10"], [10, "10"]), usage("a", "new", [0, "0"], [10, "30"])]),
  ).toEqual({
    volume: "10",
    mix: "20",
  });
});

test("Counts projects that began or ended apart from everything else", () => {
  expect(causesOf([usage("old", "x", [5, "7"], [0, "0"]), usage("new", "x", [0, "0"], [9, "11"])])).toEqual({
    new_projects: "11",
    gone_projects: "-7",
  });
  const expense = (project: string, before: string, now: string): Segment => ({
    project,
    model: null,
    kind: "expense",
    before: { lines: 0, cost: parseDecimal(before) },
    now: { lines: 0, cost: parseDecimal(now) },
  });
  expect(causesOf([expense("a", "5", "8"), usage("a", "x", [0, "0"], [3, "3"])])).toEqual({
    expenses: "3",
    volume: "3",
  });
});
