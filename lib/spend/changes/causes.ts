import { type CauseName, causeNames } from "@/lib/contract/spend/changes";
import {
  absolute,
  add,
  compare,
  type Decimal,
  divideMoney,
  isZero,
  multiply,
  parseDecimal,
  subtract,
  sum,
  zero,
} from "@/lib/decimal";
import { groupBy } from "@/lib/group-by";

/** What is spent on: usage, which is counted in lines, and costs that are not. */
export type CostKind = "usage" | "subscription" | "expense" | "allocation" | "bill_adjustment";

/** What a project spent on one model, or on one other kind of cost, in two ranges of days. `lines`: lines of usage. */
export type Segment = {
  project: string;
  model: string | null;
  kind: CostKind;
  now: { cost: Decimal; lines: number };
  before: { cost: Decimal; lines: number };
};

/** One cause: what it adds to the difference, in USD, and the names that add most, the largest first. */
export type Cause = { name: CauseName; amount: Decimal; parts: { name: string | null; amount: Decimal }[] };

/** The difference of two ranges and its causes, which sum to it exactly. `volume`: the lines of the usage compared. */
export type Explanation = {
  difference: Decimal;
  causes: Cause[];
  volume: { now: number; before: number };
};

const otherKinds = {
  subscription: "subscriptions",
  expense: "expenses",
  allocation: "allocations",
  bill_adjustment: "adjustments",
} as const;

/**
 * Explains the difference between two ranges. Projects with spend in only one of them are new or gone. For the others, usage is
 * split into volume, mix and price effects, by four figures:
 *
 * 1. the earlier cost;
 * 2. the earlier cost scaled to the later number of lines. Volume is 2 less 1;
 * 3. the later lines at the earlier cost per line of their model and project. Mix is 3 less 2;
 * 4. the later cost. Prices is 4 less 3: other prices, or longer calls.
 *
 * A model that a project did not use before counts in 3 at its later cost, so it changes the mix. Each step starts with the figure
 * that the step before ended with, so rounding cancels out and the causes sum to the difference exactly.
 */
export function splitDifference(segments: Segment[]): Explanation {
  const projects = groupBy(segments, ({ project }) => project);
  const has = (of: Segment[], when: "now" | "before") =>
    of.some((segment) => segment[when].lines > 0 || !isZero(segment[when].cost));
  const parts = new Map<CauseName, Map<string | null, Decimal>>(causeNames.map((name) => [name, new Map()]));
  const count = (name: CauseName, of: string | null, amount: Decimal) => {
    const counted = parts.get(name);
    counted?.set(of, add(counted.get(of) ?? zero, amount));
  };
  const usage: Segment[] = [];
  for (const [project, of] of projects) {
    const [isNow, wasBefore] = [has(of, "now"), has(of, "before")];
    for (const segment of of) {
      const change = subtract(segment.now.cost, segment.before.cost);
      if (!wasBefore) count("new_projects", project, change);
      else if (!isNow) count("gone_projects", project, change);
      else if (segment.kind === "usage") usage.push(segment);
      else count(otherKinds[segment.kind], project, change);
    }
  }
  const volume = {
    now: usage.reduce((lines, { now }) => lines + now.lines, 0),
    before: usage.reduce((lines, { before }) => lines + before.lines, 0),
  };
  for (const { model, project, now, before } of usage) {
    // If one of the ranges has no usage, there is no mix to compare.
    const scaled =
      volume.before === 0 || volume.now === 0
        ? now.cost
        : divideMoney(multiply(before.cost, parseDecimal(volume.now)), parseDecimal(volume.before));
    const atOldCost =
      before.lines === 0 || volume.now === 0
        ? now.cost
        : divideMoney(multiply(before.cost, parseDecimal(now.lines)), parseDecimal(before.lines));
    count("volume", project, subtract(scaled, before.cost));
    count("mix", model, subtract(atOldCost, scaled));
    count("prices", model, subtract(now.cost, atOldCost));
  }
  const causes = [...parts].map(([name, of]) => ({
    name,
    amount: sum(of.values()),
    parts: [...of]
      .map(([part, amount]) => ({ name: part, amount }))
      .filter(({ amount }) => !isZero(amount))
      .sort((a, b) => compare(absolute(b.amount), absolute(a.amount))),
  }));
  return {
    difference: subtract(
      sum(segments.map(({ now }) => now.cost)),
      sum(segments.map(({ before }) => before.cost)),
    ),
    causes: causes
      .filter(({ amount }) => !isZero(amount))
      .sort((a, b) => compare(absolute(b.amount), absolute(a.amount))),
    volume,
  };
}
