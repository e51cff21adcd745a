import { attribution, inferenceSpan } from "./conventions";
import type { Attribution, Emitter } from "./emitter";

/** A dictionary of the request, which LiteLLM writes in Python's notation. */
const usage = "metadata.usage_object";
const fromMetadata = (name: string) => [
  `metadata.requester_metadata#${name}`,
  `metadata.spend_logs_metadata#${name}`,
  `litellm.metadata.${name}`,
];

const own: Attribution = {
  user: [
    "metadata.user_api_key_user_email",
    "metadata.user_api_key_user_id",
    "metadata.user_api_key_end_user_id",
    "llm.user",
    "litellm.end_user.id",
    ...attribution.user,
  ],
  session: [...fromMetadata("session_id"), ...attribution.session],
  feature: [...fromMetadata("feature"), ...attribution.feature],
  project: [...fromMetadata("project"), ...attribution.project],
  tags: {
    ...attribution.tags,
    team: [...fromMetadata("team"), "metadata.user_api_key_team_alias", "litellm.team.alias", "team"],
    cost_center: [...fromMetadata("cost_center"), "cost_center"],
    department: [...fromMetadata("department"), "department"],
  },
};

/**
 * LiteLLM's callback `otel` (1.109, both of its versions). Its counts overlap as OpenAI's do, whichever provider was called. Answers from
 * LiteLLM's own cache cost nothing and are not counted.
 */
export const liteLlmOtel: Emitter = {
  name: "litellm",
  isCostTrusted: true,
  scopes: [/^litellm$/],
  attributes: ["gen_ai.cost.total_cost", "litellm.cost.total"],
  rules: [
    {
      ...inferenceSpan,
      except: { ...inferenceSpan.except, "litellm.cache_hit": ["true", "True"] },
      tokens: {
        ...inferenceSpan.tokens,
        cacheRead: [
          "gen_ai.usage.cache_read.input_tokens",
          `${usage}#prompt_tokens_details.cached_tokens`,
          `${usage}#cache_read_input_tokens`,
        ],
        cacheWrite: [
          "gen_ai.usage.cache_creation.input_tokens",
          `${usage}#prompt_tokens_details.cache_creation_tokens`,
          `${usage}#cache_creation_input_tokens`,
        ],
        cacheWrite5m: [
          `${usage}#prompt_tokens_details.cache_creation_token_details.ephemeral_5m_input_tokens`,
        ],
        cacheWrite1h: [
          `${usage}#prompt_tokens_details.cache_creation_token_details.ephemeral_1h_input_tokens`,
        ],
        inputAudio: [`${usage}#prompt_tokens_details.audio_tokens`],
        inputImage: [`${usage}#prompt_tokens_details.image_tokens`],
        outputAudio: [`${usage}#completion_tokens_details.audio_tokens`],
        outputImage: [`${usage}#completion_tokens_details.image_tokens`],
        webSearches: [
          `${usage}#server_tool_use.web_search_requests`,
          `${usage}#prompt_tokens_details.web_search_requests`,
        ],
        reasoning: [`${usage}#completion_tokens_details.reasoning_tokens`],
      },
      tier: [`${usage}#speed`, `${usage}#service_tier`, ...(inferenceSpan.tier ?? [])],
      cost: { usd: ["gen_ai.cost.total_cost", "litellm.cost.total"] },
      attribution: own,
    },
  ],
  repeats: [
    {
      signal: "metrics",
      names: ["gen_ai.client.token.usage"],
      remedy: "LiteLLM reports its tokens in its spans and again here; only the spans are counted.",
    },
  ],
};
