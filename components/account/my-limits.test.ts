import { expect, test } from "vitest";
import { limitsOf } from "./my-limits";

type Keys = Parameters<typeof limitsOf>[0];
type Budgets = Parameters<typeof limitsOf>[2];

const key = (id: string, more: object = {}) => ({
  id,
  name: id,
  status: "active",
  spent: 4,
  monthly_limit: null,
  ...more,
});
const budget = (id: string, spent: number, more: object = {}) => ({
  ...{
    id,
    name: id,
    period: "month",
    spent,
    amount: 10,
    blocks: false,
    scope: { type: "global", value: null },
  },
  ...more,
});
const limits = (keys: object[], covering: Record<string, string[]>, budgets: object[]) =>
  limitsOf(
    keys as unknown as Keys,
    new Map(Object.entries(covering).map(([id, ids]) => [id, ids.map((each) => ({ id: each }))])) as never,
    budgets as unknown as Budgets,
    "ada@example.com",
  ).map(({ id, kind, used }) => [kind, id, used]);

test("Lists each budget once that counts a key in use, and the limits of these keys, the most used first", () => {
  const keys = [
    key("a", { monthly_limit: 5 }),
    key("b"),
    key("gone", { status: "revoked", monthly_limit: 5 }),
  ];
  const covering = { a: ["all", "one"], b: ["all"], gone: ["other"] };
  expect(limits(keys, covering, [budget("all", 9), budget("one", 1), budget("other", 10)])).toEqual([
    ["budget", "all", 0.9],
    ["key", "a", 0.8],
    ["budget", "one", 0.1],
  ]);
});

test("Lists the budgets of the person, however their address is written, and nobody else's", () => {
  const of = (value: string) => ({ scope: { type: "user", value } });
  expect(
    limits([], {}, [budget("mine", 5, of("Ada@Example.com")), budget("theirs", 5, of("bob@example.com"))]),
  ).toEqual([["budget", "mine", 0.5]]);
});

test("A limit of 0 is used up", () => {
  expect(limits([key("a", { monthly_limit: 0, spent: 0 })], {}, [])).toEqual([["key", "a", 1]]);
});

test("Says exactly what is left, also where voids took back more than was spent", () => {
  const left = (spent: string) =>
    limitsOf([key("a", { monthly_limit: "0.3", spent })] as unknown as Keys, new Map(), [], "")[0]?.left;
  expect(left("0.1")).toBe("0.2");
  expect(left("-0.1")).toBe("0.4");
  expect(left("0")).toBe("0.3");
  expect(left("0.35")).toBe("-0.05");
});
