import { describe, expect, test } from "vitest";
import { parseDecimal, zero } from "@/lib/decimal";
import { unlimitedKey } from "@/tests/helpers/unlimited-key";
import type { ApiKey } from "./api-key";
import {
  type BlockingBudget,
  type BlockingPeriod,
  budgetExceeded,
  mayReadBudget,
  resetOf,
} from "./blocking-budgets";

const november = { starts: Date.UTC(2026, 10, 1), ends: Date.UTC(2026, 11, 1) };

const budget = (columns: Partial<BlockingBudget> = {}): BlockingBudget => ({
  id: "budget",
  workspace_id: "workspace",
  name: "All",
  scope_type: "global",
  scope_key: "",
  time_zone: "UTC",
  counts_from: 0,
  counts_until: null,
  periods: [],
  ...columns,
});
const period: BlockingPeriod = {
  from: "2026-11-01",
  until: "2026-12-01",
  startsAt: november.starts,
  endsAt: november.ends,
  limit: parseDecimal("10"),
  spent: parseDecimal("10"),
  held: zero,
  isPresent: true,
};

describe("A budget that is used up resets", () => {
  test.each([
    ["with its period, where it has no end", null, november.ends],
    ["with its period, where it ends later", Date.UTC(2027, 0, 1), november.ends],
    ["at its own end, where that is earlier", Date.UTC(2026, 10, 21), Date.UTC(2026, 10, 21)],
  ])("%s", (_, until, expected) => {
    const ending = budget({ counts_until: until });
    expect(resetOf(ending, period)).toBe(expected);
    const refusal = budgetExceeded(true, ending, period, parseDecimal("10"));
    expect(refusal.fields).toMatchObject({ resets_at: new Date(expected).toISOString() });
    expect(refusal.message).toContain(`It resets at ${new Date(expected).toISOString()}.`);
  });
});

describe("The figures of a budget are told", () => {
  const reader: ApiKey = { ...unlimitedKey, permissions: ["log_usage", "read_summaries"] };
  const all = budget();
  const ofProject = budget({ scope_type: "project", scope_key: "checkout" });
  const ofUser = budget({ scope_type: "user", scope_key: "anna" });
  test.each<[string, Partial<ApiKey>, boolean[]]>([
    ["of all to a key that reads everything", {}, [true, true, true]],
    ["of none without the permission", { permissions: ["log_usage"] }, [false, false, false]],
    [
      "not of all to a key of one project",
      { project: { id: "p", slug: "checkout" } as ApiKey["project"] },
      [false, true, false],
    ],
    [
      "not of all to a key with a list of projects",
      { conditions: { project_slugs: ["checkout"] } },
      [false, true, false],
    ],
    [
      "not of all to a key that may not read some projects",
      { conditions: { deny_project_slugs: ["secret"] } },
      [false, true, false],
    ],
    ["of its people to a key of people", { conditions: { users: ["anna"] } }, [false, false, true]],
    ["of nobody to a key of other people", { conditions: { users: ["ben"] } }, [false, false, false]],
  ])("%s", (_, key, told) => {
    expect([all, ofProject, ofUser].map((each) => mayReadBudget({ ...reader, ...key }, each))).toEqual(told);
  });
});
