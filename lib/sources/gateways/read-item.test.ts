import { expect, test } from "vitest";
import { heliconeCall, liteLlmCall } from "@/tests/helpers/gateways";
import type { Gateway, Item } from "./gateway";
import { helicone } from "./helicone";
import { liteLlm } from "./litellm";
import { readItem } from "./read-item";

/** An item of a gateway and the record that is read from it. Tokens and cost are decimal text. */
type Row = [string, Gateway, Item, object];

const counts = { input: "200", cacheRead: "1000", output: "34", reasoning: "10" };
const { usage_object: usage, ...nobody } = liteLlmCall().metadata;

const rows: Row[] = [
  [
    "LiteLLM's call",
    liteLlm,
    liteLlmCall(),
    {
      provider: "openai",
      model: "gpt-4o-mini",
      tokens: counts,
      cost: "0.00012539999999999999",
      isCostTrusted: true,
      project: "checkout",
      feature: "search",
      tags: { team: "growth" },
    },
  ],
  [
    "LiteLLM's call of Anthropic, whose parts may be more than the whole",
    liteLlm,
    liteLlmCall({
      custom_llm_provider: "anthropic",
      model: "claude-sonnet-4-5",
      prompt_tokens: 200,
      metadata: { usage_object: { cache_read_input_tokens: 1000, cache_creation_input_tokens: 300 } },
    }),
    { provider: "anthropic", tokens: { input: "200", cacheRead: "1000", cacheWrite: "300", output: "34" } },
  ],
  [
    "LiteLLM's split of what was written to the cache, its searches and its tier",
    liteLlm,
    liteLlmCall({
      custom_llm_provider: "anthropic",
      model: "claude-sonnet-4-5",
      metadata: {
        usage_object: {
          prompt_tokens_details: {
            cached_tokens: 500,
            cache_creation_tokens: 300,
            cache_creation_token_details: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
          },
          server_tool_use: { web_search_requests: 2 },
          service_tier: "priority",
        },
      },
    }),
    {
      tier: "priority",
      tokens: {
        input: "400",
        cacheRead: "500",
        cacheWrite: "300",
        cacheWrite5m: "100",
        cacheWrite1h: "200",
        webSearches: "2",
      },
    },
  ],
  [
    "LiteLLM's tokens of images",
    liteLlm,
    liteLlmCall({
      metadata: {
        usage_object: {
          prompt_tokens_details: { cached_tokens: 0, image_tokens: 800 },
          completion_tokens_details: { image_tokens: 20 },
        },
      },
    }),
    { tokens: { input: "1200", inputImage: "800", output: "34", outputImage: "20" } },
  ],
  [
    "LiteLLM's call without details",
    liteLlm,
    liteLlmCall({ metadata: null }),
    { tokens: { input: "1200", output: "34" } },
  ],
  [
    "LiteLLM's user, by e-mail before an id",
    liteLlm,
    liteLlmCall({ metadata: { ...nobody, usage_object: usage, user_api_key_user_email: "ada@example.com" } }),
    { user: "ada@example.com" },
  ],
  [
    "LiteLLM's project, before its team, in the place of a service",
    liteLlm,
    liteLlmCall({ metadata: { user_api_key_project_alias: "Shop", user_api_key_team_alias: "Growth" } }),
    { service: "Shop", project: undefined, tags: { team: "growth" } },
  ],
  ["LiteLLM's cost of 0 that is no price", liteLlm, liteLlmCall({ response_cost: 0 }), { cost: undefined }],
  [
    "LiteLLM's cost that failed",
    liteLlm,
    liteLlmCall({ response_cost: 3, response_cost_failure_debug_info: { error_str: "no such model" } }),
    { cost: undefined },
  ],
  ["LiteLLM's hit of its cache", liteLlm, liteLlmCall({ response_cost: 0, cache_hit: true }), { cost: "0" }],
  [
    "Helicone's call of OpenAI",
    helicone,
    heliconeCall(),
    {
      provider: "openai",
      tokens: counts,
      cost: "0.0015",
      isCostTrusted: false,
      user: "user-123",
      occurredAt: undefined,
    },
  ],
  [
    "Helicone's call of Anthropic, with what was written for an hour, in fast mode",
    helicone,
    heliconeCall({
      provider: "ANTHROPIC",
      response_body: {
        id: "msg_01",
        model: "claude-opus-5-5",
        usage: {
          input_tokens: 200,
          cache_read_input_tokens: 1000,
          cache_creation_input_tokens: 300,
          cache_creation: { ephemeral_5m_input_tokens: 0, ephemeral_1h_input_tokens: 300 },
          output_tokens: 34,
          service_tier: "standard",
          speed: "fast",
        },
      },
    }),
    { tier: "fast", tokens: { cacheWrite: "300", cacheWrite1h: "300" } },
  ],
  ...(["prompt", "input"] as const).map(
    (name): Row => [
      `Helicone's call of OpenAI, with what was written for 12 hours, in ${name}_tokens_details`,
      helicone,
      heliconeCall({
        response_body: {
          ...(name === "input" && { object: "response" }),
          id: "resp_01",
          model: "gpt-5.6-sol",
          usage: {
            [`${name}_tokens`]: 1200,
            [`${name}_tokens_details`]: {
              cached_tokens: 500,
              cache_write_tokens: 300,
              cache_write_tokens_details: { ttl_12h_tokens: 100 },
            },
            [name === "input" ? "output_tokens" : "completion_tokens"]: 34,
          },
        },
      }),
      { tokens: { input: "400", cacheRead: "500", cacheWrite: "300", cacheWrite12h: "100", output: "34" } },
    ],
  ),
  [
    "Helicone's call whose answer is already an object",
    helicone,
    heliconeCall({ response_body: JSON.parse(heliconeCall().response_body) }),
    { tokens: counts },
  ],
];

test.each(rows)("Reads %s", (_, gateway, item, expected) => {
  const parsed = gateway.item.safeParse(item);
  expect(parsed.error?.issues).toBeUndefined();
  const record = readItem(gateway, parsed.data ?? {});
  const tokens = Object.fromEntries(
    Object.entries(record?.tokens ?? {}).map(([kind, count]) => [kind, count.toString()]),
  );
  expect({ ...record, tokens, cost: record?.givenCostUsd?.toString() }).toMatchObject(expected);
});

test.each([
  [
    "LiteLLM's failed call",
    liteLlm,
    liteLlmCall({ prompt_tokens: 0, completion_tokens: 0, response_cost: 0, metadata: {} }),
  ],
  ["Helicone's call without usage", helicone, heliconeCall({ response_body: "{}", metadata: {} })],
] as [string, Gateway, Item][])("Reads nothing of %s", (_, gateway, item) => {
  expect(readItem(gateway, item)).toBeUndefined();
});
