import { describe, expect, test } from "vitest";
import { parseDecimal, toText } from "@/lib/decimal";
import { priceFromCatalogue } from "./catalogue";
import { type Dispute, findDisputes } from "./disputes";
import { allModelsOfSecondCatalogue } from "./second-catalogue/second-catalogue";

const today = new Date("2026-11-22T12:00:00Z");

const perMillion = ({ unitType, applied, other }: Dispute) =>
  `${unitType} ${Number(applied.rate) * 1e6} / ${Number(other.rate) * 1e6}`;

describe("Two catalogues", () => {
  test("Disagree about a price where they differ by 10% or more", () => {
    const found = findDisputes("together", "meta-llama/Llama-3.3-70B-Instruct-Turbo");
    expect(found.map(perMillion)).toEqual(["input_tokens 0.88 / 1.04", "output_tokens 0.88 / 1.04"]);
    expect(found[0]?.applied.source).toBe("genai-prices 0.1.8");
    expect(found[0]?.other.source).toMatch(/^litellm /);
  });

  test("Disagree about a region's price and that without one, which differ by exactly 10%", () => {
    expect(findDisputes("aws", "anthropic.claude-opus-4-8").map(perMillion)).toContain(
      "input_tokens 5.5 / 5",
    );
    expect(findDisputes("aws", "us.anthropic.claude-opus-4-8")).toEqual([]);
  });

  test("Disagree about one kind of token, and agree about the others", () => {
    expect(findDisputes("azure", "phi-4-mini-instruct").map(perMillion)).toEqual([
      "output_tokens 0.35 / 0.3",
    ]);
  });

  test.each([
    ["the same price", "openai", "gpt-5"],
    ["a price of its own in only one of them", "openai", "gpt-4"],
    ["prices by the hour, one of which agrees", "deepseek", "deepseek-v4-pro"],
    ["an unknown model", "openai", "gpt-99"],
    ["an unknown provider", "acme", "gpt-4o"],
  ])("Agree with %s", (_, provider, model) => expect(findDisputes(provider, model)).toEqual([]));

  test("Agree about our corrections of the first one", () => {
    expect(findDisputes("deepseek", "deepseek-chat")).toEqual([]);
  });

  test("Find a dispute under every name of the model", () => {
    const model = "meta-llama/Llama-3.3-70B-Instruct-Turbo";
    expect(findDisputes("together_ai", `together_ai/${model}`)).toHaveLength(2);
    expect(findDisputes("Together AI", model.toLowerCase())).toHaveLength(2);
  });

  test("Never leave the applied price to chance: it is what usage costs, for every model", () => {
    const wrong: string[] = [];
    let disputes = 0;
    for (const { provider, model } of allModelsOfSecondCatalogue()) {
      for (const { unitType, applied, other } of findDisputes(provider, model)) {
        disputes++;
        const priced = priceFromCatalogue({
          provider,
          model,
          unitType,
          quantity: parseDecimal(1),
          occurredAt: today,
        });
        const cost = priced.status === "priced" ? toText(priced.amount) : priced.reason;
        const ratio = Number(applied.rate) / Number(other.rate);
        // Prices by the hour are shown at the hour that comes nearest to the other catalogue.
        if (cost !== applied.rate && provider !== "deepseek") wrong.push(`${provider}/${model} ${unitType}`);
        if (ratio < 1.0999 && ratio > 1 / 1.0999) wrong.push(`${provider}/${model} ${unitType}: ${ratio}`);
      }
    }
    expect(disputes).toBeGreaterThan(20);
    expect(wrong).toEqual([]);
  });
});
