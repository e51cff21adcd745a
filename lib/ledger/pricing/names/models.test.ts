import { describe, expect, test } from "vitest";
import { parseDecimal, toText } from "@/lib/decimal";
import { priceFromCatalogue } from "@/lib/ledger/pricing/catalogue";
import { findInFirstCatalogue } from "@/lib/ledger/pricing/first-catalogue";
import { allModelsOfSecondCatalogue } from "@/lib/ledger/pricing/second-catalogue/second-catalogue";
import { candidates, nameRules } from "./models";
import { canBeSameModel } from "./same-model";

const occurredAt = new Date("2026-06-01T12:00:00Z");

/** USD per million input tokens with the matched model, or the reason why there is no price. */
function inputPrice(provider: string, model: string): string {
  const line = { provider, model, unitType: "input_tokens", quantity: parseDecimal(1e6), occurredAt };
  const priced = priceFromCatalogue(line);
  return priced.status === "priced"
    ? `${toText(priced.amount)} ${priced.price.provider}/${priced.price.model}`
    : priced.reason;
}

test.each(nameRules.map((rule) => [rule.example[0], rule.example[1], rule] as const))(
  "Reads %s as %s",
  (from, to, { pattern, to: replacement, of: [provider = "openai"] = [], means }) => {
    expect(from.replace(pattern, replacement)).toBe(to);
    expect(candidates(provider, from)).toContainEqual({ provider: means ?? provider, model: to });
  },
);

describe("One model under many names", () => {
  const sonnet = "3 anthropic/claude-sonnet-4-5";
  const regional = "3.3 aws/regional.anthropic.claude-sonnet-4-5-20250929-v1:0";
  test.each([
    ["anthropic", "claude-sonnet-4-5-20250929", sonnet],
    ["anthropic", "claude-sonnet-4-5@20250929", sonnet],
    ["anthropic", "claude-sonnet-4-5-latest", sonnet],
    ["anthropic", "claude-sonnet-4-5[1m]", sonnet],
    ["anthropic.messages", "anthropic/claude-sonnet-4.5", sonnet],
    ["anthropic", "claude-4-5-sonnet-20250929", sonnet],
    ["litellm", "anthropic/claude-sonnet-4-5", sonnet],
    ["vercel", "anthropic/claude-sonnet-4.5", sonnet],
    ["anthropic", "claude-opus-4-8[1m]", "5 anthropic/claude-opus-4-8"],
    ["anthropic", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", regional],
    ["aws.bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", regional],
    ["aws.bedrock", "bedrock/us.anthropic.claude-sonnet-4-5-20250929-v1:0", regional],
    [
      "amazon-bedrock",
      "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-sonnet-4-5-20250929-v1:0",
      regional,
    ],
    [
      "aws.bedrock",
      "arn:aws:bedrock:us-east-1:123456789012:application-inference-profile/abc",
      "unknown_model",
    ],
    ["gcp.vertex_ai", "claude-sonnet-4-5@20250929", "3 google/claude-sonnet-4-5"],
    ["gcp.gen_ai", "gemini-2.5-pro", "1.25 google/gemini-2.5-pro"],
    ["google.generative-ai", "models/gemini-2.5-pro", "1.25 google/gemini-2.5-pro"],
    ["vertex_ai", "publishers/google/models/gemini-2.5-flash", "0.3 google/gemini-2.5-flash"],
    ["openrouter", "anthropic/claude-sonnet-4.5", "3 openrouter/anthropic/claude-sonnet-4.5"],
    ["openrouter", "anthropic/claude-4.5-sonnet-20250929", "3 openrouter/anthropic/claude-sonnet-4.5"],
    ["openrouter", "openai/gpt-4o:nitro", "2.5 openrouter/openai/gpt-4o"],
    ["openrouter", "openai/gpt-4o:online", "2.5 openrouter/openai/gpt-4o"],
    ["openrouter", "qwen/qwq-32b:free", "0 openrouter/qwen/qwq-32b:free"],
    ["qwen", "qwen/qwq-32b:free", "unknown_provider"],
    ["openai", "gpt-4o-2024-08-06", "2.5 openai/gpt-4o"],
    // The first catalogue matches these to another model, or has another provider's price.
    ["groq", "openai/gpt-oss-safeguard-20b", "0.075 groq/openai/gpt-oss-safeguard-20b"],
    ["anthropic", "claude-sonnet-5-5", "2 anthropic/claude-sonnet-5-5"],
    ["azure.ai.inference", "deepseek-v3.2", "0.58 azure/deepseek-v3.2"],
    ["anthropic", "claude-sonnet-5-7", "unknown_model"],
    // A separate version with twice the price.
    ["openai", "gpt-4o-2024-05-13", "5 openai/gpt-4o-2024-05-13"],
    ["azure.ai.openai", "gpt-4o-2024-08-06", "2.5 azure/gpt-4o"],
    ["azure", "azure/gpt-4o", "2.5 azure/gpt-4o"],
    ["azure", "global/gpt-4o", "2.5 azure/gpt-4o"],
    ["azure", "azure/global-standard/gpt-4o", "2.5 azure/gpt-4o"],
    ["azure", "azure/eu/gpt-4o", "2.75 azure/eu/gpt-4o"],
    // A data zone without a geography: the prices of the two geographies differ for some models.
    ["azure", "datazone/gpt-4o", "unknown_model"],
    ["azure", "my-deployment", "unknown_model"],
    // DeepSeek has no model with this name, only `deepseek-v4-flash` and `deepseek-v4-pro`.
    ["deepseek", "deepseek-v4", "unknown_model"],
    ["x_ai", "xai/grok-4.3", "1.25 x-ai/grok-4.3"],
    ["mistral_ai", "mistral/mistral-large-latest", inputPrice("mistral", "mistral-large-latest")],
    [
      "together_ai",
      "meta-llama/Llama-3.3-70B-Instruct-Turbo",
      "0.88 together/meta-llama/Llama-3.3-70B-Instruct-Turbo",
    ],
    [
      "togetherai",
      "together_ai/meta-llama/Llama-3.3-70B-Instruct-Turbo",
      "0.88 together/meta-llama/Llama-3.3-70B-Instruct-Turbo",
    ],
    ["fireworks_ai", "accounts/fireworks/models/gpt-oss-120b", "0.15 fireworks/gpt-oss-120b"],
    ["fireworks", "gpt-oss-120b", "0.15 fireworks/gpt-oss-120b"],
    ["cerebras", "cerebras/gpt-oss-120b", "0.35 cerebras/gpt-oss-120b"],
    ["openai", "ft:gpt-4o-2024-08-06:acme::9xYz", "3.75 openai/ft:gpt-4o"],
  ])("%s %s: %s", (provider, model, expected) => expect(inputPrice(provider, model)).toBe(expected));
});

describe("Another model", () => {
  test.each([
    ["gpt-4o", "gpt-4o-mini"],
    ["gpt-5", "gpt-5-nano"],
    ["claude-sonnet-4", "claude-sonnet-4-5"],
    ["claude-sonnet-5", "claude-sonnet-5-5"],
    ["gemini-2.5-flash", "gemini-2.5-flash-lite"],
    ["gemini-1.5-flash", "gemini-1.5-flash-8b"],
    ["gpt-oss-20b", "gpt-oss-120b"],
    ["amazon.titan-embed-text-v1", "amazon.titan-embed-text-v2:0"],
    ["gpt-realtime-2", "gpt-realtime-2.1"],
  ])("%s is not %s", (a, b) => expect(canBeSameModel(a, b)).toBe(false));

  test.each([
    ["claude-sonnet-4-5", "claude-sonnet-4.5-20250929"],
    ["us.anthropic.claude-sonnet-5", "regional.anthropic.claude-sonnet-5-v1:0"],
    ["gpt-4o", "gpt-4o-2024-08-06"],
  ])("%s can be %s", (a, b) => expect(canBeSameModel(a, b)).toBe(true));

  test("Never lends its price to a name that only resembles it, for any model and variant", () => {
    const crossed: string[] = [];
    let asked = 0;
    for (const { provider, model } of allModelsOfSecondCatalogue()) {
      for (const variant of ["-mini", "-nano", "-lite", "-pro", "-fast", "-7", ".7", "-9b"]) {
        asked++;
        const name = `${model}${variant}`;
        const line = {
          provider,
          model: name,
          unitType: "input_tokens",
          quantity: parseDecimal(1),
          occurredAt,
        };
        const priced = priceFromCatalogue(line);
        if (priced.status === "unpriced") continue;
        const matched = priced.price.model ?? "";
        const names = candidates(provider, name);
        const isListed =
          names.some((each) => each.model.toLowerCase() === matched) ||
          findInFirstCatalogue(names).some(({ isExact }) => isExact);
        if (!isListed && !canBeSameModel(name, matched)) crossed.push(`${provider}/${name} → ${matched}`);
      }
    }
    expect(asked).toBeGreaterThan(15_000);
    expect(crossed).toEqual([]);
  });
});
