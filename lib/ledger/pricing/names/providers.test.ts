import { describe, expect, test } from "vitest";
import { matchModel } from "@/lib/ledger/pricing/catalogue-match";
import { findFirstProvider } from "@/lib/ledger/pricing/first-catalogue";
import { hasProvider } from "@/lib/ledger/pricing/second-catalogue/second-catalogue";
import { allProviderNames, isGateway, providerId } from "./providers";

describe("Names of providers", () => {
  // Names in OpenTelemetry's conventions, the AI SDK, LiteLLM, models.dev and OpenInference.
  test.each([
    ["gcp.gen_ai", "google"],
    ["gcp.gemini", "google"],
    ["gcp.vertex_ai", "google"],
    ["google.generative-ai", "google"],
    ["google.vertex.chat", "google"],
    ["vertex.anthropic.messages", "google"],
    ["vertex_ai", "google"],
    ["openai.chat", "openai"],
    ["openai.responses", "openai"],
    ["anthropic.messages", "anthropic"],
    ["azure.ai.openai", "azure"],
    ["azure.ai.inference", "azure"],
    ["azure-openai.chat", "azure"],
    ["azure_openai", "azure"],
    ["aws.bedrock", "aws"],
    ["amazon-bedrock", "aws"],
    ["bedrock_converse", "aws"],
    ["x_ai", "x-ai"],
    ["xai", "x-ai"],
    ["xAI.chat", "x-ai"],
    ["mistral_ai", "mistral"],
    ["mistralai", "mistral"],
    ["moonshot_ai", "moonshotai"],
    ["together_ai", "together"],
    ["togetherai", "together"],
    ["Together AI", "together"],
    ["fireworks_ai", "fireworks"],
    ["cerebras", "cerebras"],
    ["OpenRouter", "openrouter"],
    ["dashscope", "alibaba"],
  ])("%s is %s", (name, id) => expect(providerId(name)).toBe(id));

  test("Each lead to a provider that a catalogue has", () => {
    const lost = allProviderNames().filter(([, id]) => findFirstProvider(id) !== id && !hasProvider(id));
    expect(lost).toEqual([]);
  });

  test("Name nobody where they are not in the table", () => {
    expect(providerId("acme")).toBeUndefined();
    expect(providerId("")).toBeUndefined();
    expect(providerId("constructor")).toBeUndefined();
    // The provider is not guessed from the model, because unpriced usage is noticed and a wrong price is not.
    expect(matchModel("acme", "claude-sonnet-4-5")).toBe("unknown_provider");
    expect(matchModel("constructor", "claude-sonnet-4-5")).toBe("unknown_provider");
    expect(matchModel("openai", "claude-sonnet-4-5")).toBe("unknown_model");
    expect(matchModel("openai", "anthropic/claude-sonnet-4.5")).toBe("unknown_model");
  });

  test("Of gateways with list prices give way to the provider before the model", () => {
    expect(isGateway("vercel")).toBe(true);
    expect(isGateway("openrouter")).toBe(false);
    expect(matchModel("vercel", "acme/claude-sonnet-4-5")).toBe("unknown_provider");
    expect(matchModel("litellm", "anthropic/claude-sonnet-4-5")).toBe(
      matchModel("anthropic", "claude-sonnet-4-5"),
    );
    expect(matchModel("litellm", "gpt-4o")).not.toBeTypeOf("string");
  });
});
