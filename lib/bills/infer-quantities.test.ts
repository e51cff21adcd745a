import { expect, test } from "vitest";
import { parseDecimal, toText } from "@/lib/decimal";
import { inferQuantities } from "./infer-quantities";
import type { BilledFact } from "./statements";

const fact = (more: Partial<BilledFact> & { usd: string }): BilledFact => ({
  ...{ line: null, model: "claude-opus-4-1", unit: "input_tokens", tier: null, key: null, quantity: null },
  amount: parseDecimal(more.usd),
  list: parseDecimal(more.usd),
  ...more,
});
const inferred = (...facts: BilledFact[]) =>
  inferQuantities("anthropic", "2026-10-05", facts).map(({ quantity }) => quantity && toText(quantity));

test("Tokens that a bill leaves out follow from its amounts before discounts and the list prices", () => {
  const discounted = fact({ usd: "1.2", list: parseDecimal("1.5") });
  const written = fact({ unit: "cache_write_1h_tokens", usd: "1.2" });
  const batch = fact({ unit: "output_tokens", tier: "batch", usd: "0.45" });
  const search = fact({ model: null, unit: "web_searches", usd: "0.26" });
  expect(inferred(discounted, written, batch, search)).toEqual(["100000", "40000", null, null]);
});

test.each([
  [
    "one amount of the model comes to no whole number",
    [fact({ usd: "1.5" }), fact({ key: "a", usd: "1.1234567" })],
  ],
  ["its price depends on the length of the context", [fact({ model: "claude-sonnet-4-5", usd: "1.5" })]],
  ["the bill says nothing before discounts", [fact({ usd: "1.5", list: null })]],
  ["they are of a tier", [fact({ usd: "1.5", tier: "priority" })]],
  ["no list price is known", [fact({ model: "claude-of-tomorrow", usd: "1.5" })]],
])("They stay open where %s", (_, facts) => {
  expect(inferred(...facts)).toEqual(facts.map(() => null));
});
