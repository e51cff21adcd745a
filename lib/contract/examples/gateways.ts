import type { ExampleSet } from "./example-set";

const key = "0197f1f6-2f43-7d55-9d0e-0c2f8f7d4b11";

export const gatewayExamples: ExampleSet = {
  requests: {
    LiteLlmDelivery: {
      call: {
        summary: "A call of a model",
        value: [
          {
            id: "chatcmpl-C9f2Kq7Lw1Zp4Xs8Vb3N",
            call_type: "acompletion",
            status: "success",
            custom_llm_provider: "openai",
            model: "openai/gpt-4o-mini",
            endTime: 1795303258.711,
            prompt_tokens: 1200,
            completion_tokens: 34,
            response_cost: 0.0001254,
            cache_hit: null,
            request_tags: ["team:growth"],
            metadata: {
              user_api_key_team_alias: "growth",
              requester_metadata: { project: "checkout", feature: "search" },
              usage_object: { prompt_tokens_details: { cached_tokens: 1000 } },
            },
          },
        ],
      },
    },
    OpenRouterDelivery: {
      test: { summary: "A test of the connection", value: {} },
    },
    HeliconeDelivery: {
      call: {
        summary: "A call of a model",
        value: {
          request_id: "550e8400-e29b-41d4-a716-446655440000",
          model: "gpt-4o-mini",
          provider: "OPENAI",
          metadata: { promptTokens: 1200, completionTokens: 34 },
        },
      },
    },
    SigningSecret: {
      key: {
        summary: "The HMAC key of the webhook's page",
        value: { secret: "whk_5f1c3b0a9d8e7f6a5b4c3d2e1f0a9b8c" },
      },
    },
  },
  responses: {
    DeliveryResult: {
      recorded: 1,
      refused: 1,
      ignored: 1,
      results: [
        {
          index: 0,
          status: 201,
          id: "0197f1f6-2f43-7d55-9d0e-0c2f8f7d4b12",
          amount_usd: 0.0001254,
          project_id: "0197f1f6-2f43-7d55-9d0e-0c2f8f7d4b13",
          created_at: "2026-11-22T09:00:00.000Z",
          cost_status: "client",
          replayed: false,
        },
        {
          index: 1,
          status: 403,
          error: "feature_not_allowed",
          error_description: "This API key may not record usage of the feature chat.",
        },
        { index: 2, status: 200, ignored: "The record reports no usage of this call." },
      ],
    },
    SignedWebhook: { url: `https://outlay.example.com/api/v1/sources/helicone?key_id=${key}` },
  },
};
