import { describe, expect, test } from "vitest";
import { parseDecimal, toText } from "@/lib/decimal";
import { priceFromCatalogue } from "./catalogue";
import { corrections } from "./corrections";
import { findInFirstCatalogue } from "./first-catalogue";
import { findInSecondCatalogue } from "./second-catalogue/second-catalogue";

function price(provider: string, model: string, unit: string, at: string) {
  const quantity = parseDecimal(1e6);
  const priced = priceFromCatalogue({ provider, model, unitType: unit, quantity, occurredAt: new Date(at) });
  return priced.status === "priced" ? `${toText(priced.amount)} by ${priced.price.version}` : priced.reason;
}

describe("A corrected price", () => {
  test.each([
    ["2025-09-04T23:59:59.999Z", "0.135 by genai-prices 0.1.8"],
    ["2025-09-05T00:00:00Z", "0.57 by correction of 2025-09-05"],
    ["2025-09-28T23:59:59.999Z", "0.57 by correction of 2025-09-05"],
    ["2025-09-29T00:00:00Z", "0.28 by correction of 2025-09-29"],
    ["2026-06-01T17:00:00Z", "0.28 by correction of 2025-09-29"],
  ])("Holds from its day on: deepseek-chat at %s costs %s", (at, expected) => {
    expect(price("deepseek", "deepseek-chat", "input_tokens", at)).toBe(expected);
    expect(price("deepseek", "deepseek/deepseek-chat", "input_tokens", at)).toBe(expected);
  });

  test("Names its source and its day", () => {
    for (const { source, readOn, models, prices } of corrections) {
      expect(source).not.toBe("");
      expect(readOn).toMatch(/^\d{4}-\d{2}-\d{2}$/);
      expect(models).toEqual(models.map((model) => model.toLowerCase()));
      expect(prices).toHaveProperty("input_mtok");
    }
  });

  // Otherwise it would hide the price of a newer catalogue.
  test("Of a retired model contradicts no catalogue", () => {
    const contradictions: string[] = [];
    for (const { provider, models, prices } of corrections.filter(({ from }) => from === undefined)) {
      for (const model of models) {
        const names = [{ provider, model }];
        const tables = [
          ...findInFirstCatalogue(names).map((match) => match.pricesAt(new Date("2026-11-22"))?.prices),
          findInSecondCatalogue(names)?.prices,
        ];
        for (const [key, listed] of Object.entries(prices)) {
          if (tables.some((table) => table?.[key] !== undefined && table[key] !== listed))
            contradictions.push(`${provider}/${model} ${key}`);
        }
      }
    }
    expect(contradictions).toEqual([]);
  });
});
