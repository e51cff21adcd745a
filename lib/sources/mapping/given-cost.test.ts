import { expect, test } from "vitest";
import { parseDecimal, roundMoney, sum } from "@/lib/decimal";
import { withGivenCost } from "./given-cost";
import type { SourceRecord } from "./source-record";

const record = (provider: string, model: string, cost: string, isCostTrusted = true): SourceRecord => ({
  emitter: "litellm",
  isKnownEmitter: true,
  service: "",
  scope: "",
  occurredAt: "2026-11-22T09:00:00.000Z",
  provider,
  model,
  tokens: {},
  requestInput: undefined,
  tier: undefined,
  givenCostUsd: parseDecimal(cost),
  isCostTrusted,
  user: undefined,
  session: undefined,
  project: undefined,
  feature: undefined,
  tags: {},
  isIncluded: false,
  leftOut: [],
  offered: new Map(),
  keys: { own: [], outer: [], inner: [], within: [] },
  series: undefined,
  claims: [],
});
const lines = [
  { unitType: "input_tokens", quantity: parseDecimal("200") },
  { unitType: "cache_read_tokens", quantity: parseDecimal("1000") },
  { unitType: "output_tokens", quantity: parseDecimal("34") },
];
const shares = (one: SourceRecord) =>
  withGivenCost(one, lines).map(({ estimated_cost }) => estimated_cost?.text ?? "");

test("Divides a trusted cost as the price list would", () => {
  expect(shares(record("openai", "gpt-4o-mini", "0.0002508"))).toEqual(["0.00006", "0.00015", "0.0000408"]);
});

test("Divides it by quantities where the list lacks the model", () => {
  expect(shares(record("acme", "house-model", "1.234"))).toEqual(["0.2", "1", "0.034"]);
});

test.each(["0.1", "0.000000000000000001", "0.00012539999999999999", "7", "0"])(
  "Shares of %s sum to it exactly, and none is negative",
  (cost) => {
    const parts = shares(record("acme", "house-model", cost)).map(parseDecimal);
    expect(sum(parts).toString()).toBe(roundMoney(parseDecimal(cost)).toString());
    expect(parts.filter((part) => part.toString().startsWith("-"))).toEqual([]);
  },
);

test("Gives no cost that is not trusted", () => {
  const written = withGivenCost(record("openai", "gpt-4o-mini", "1", false), lines);
  expect(written.map((line) => "estimated_cost" in line)).toEqual([false, false, false]);
});
