import { z } from "zod";
import type { Emitter } from "@/lib/sources/emitters/emitter";
import type { Gateway, Item } from "./gateway";
import { cacheCreation, count, members, name, seconds, usd } from "./item-fields";

const usage = "metadata.usage_object";
const writes = `${usage}.prompt_tokens_details.cache_creation_token_details`;

/** The paths where clients of LiteLLM can name what a call is for: the request's metadata, its spend logs' metadata, and its tags. */
const fromMetadata = (...names: string[]) =>
  names.flatMap((one) => [
    `metadata.requester_metadata.${one}`,
    `metadata.spend_logs_metadata.${one}`,
    `request_tags.${one}`,
  ]);

/**
 * LiteLLM's StandardLoggingPayload, one for each call (litellm/types/utils.py, 1.106). Its counts overlap as OpenAI's do, whichever
 * provider was called. `id` is the id of the response that the caller received.
 */
const emitter: Emitter = {
  name: "litellm",
  isCostTrusted: true,
  rules: [
    {
      signal: "logs",
      provider: ["custom_llm_provider"],
      model: ["model"],
      tokens: {
        input: ["prompt_tokens", `${usage}.prompt_tokens`],
        cacheRead: [`${usage}.prompt_tokens_details.cached_tokens`, `${usage}.cache_read_input_tokens`],
        cacheWrite: [
          `${usage}.prompt_tokens_details.cache_creation_tokens`,
          `${usage}.cache_creation_input_tokens`,
        ],
        cacheWrite5m: [
          `${writes}.ephemeral_5m_input_tokens`,
          `${usage}.cache_creation.ephemeral_5m_input_tokens`,
        ],
        cacheWrite1h: [
          `${writes}.ephemeral_1h_input_tokens`,
          `${usage}.cache_creation.ephemeral_1h_input_tokens`,
        ],
        inputAudio: [`${usage}.prompt_tokens_details.audio_tokens`],
        inputImage: [`${usage}.prompt_tokens_details.image_tokens`],
        outputAudio: [`${usage}.completion_tokens_details.audio_tokens`],
        outputImage: [`${usage}.completion_tokens_details.image_tokens`],
        webSearches: [
          `${usage}.server_tool_use.web_search_requests`,
          `${usage}.prompt_tokens_details.web_search_requests`,
        ],
        output: ["completion_tokens", `${usage}.completion_tokens`],
        reasoning: [`${usage}.completion_tokens_details.reasoning_tokens`],
      },
      inputHasCache: true,
      outputHasReasoning: true,
      tier: [`${usage}.speed`, `${usage}.service_tier`],
      cost: { usd: ["response_cost"] },
      identity: { response: ["id"] },
      attribution: {
        user: ["metadata.user_api_key_user_email", "metadata.user_api_key_user_id", "end_user"],
        session: [...fromMetadata("session_id"), "session_id"],
        feature: fromMetadata("feature"),
        project: fromMetadata("project"),
        tags: {
          team: [...fromMetadata("team"), "metadata.user_api_key_team_alias"],
          cost_center: fromMetadata("cost_center"),
          department: fromMetadata("department"),
        },
      },
    },
  ],
};

const item = z.looseObject(
  {
    id: z.string("must be text: the id of the call").min(1, "must be the id of the call"),
    model: name,
    custom_llm_provider: name,
    prompt_tokens: count,
    completion_tokens: count,
    response_cost: usd,
    startTime: seconds,
    endTime: seconds,
    cache_hit: z.boolean("must be true or false").nullish(),
    request_tags: z.array(z.unknown(), "must be a list").nullish(),
    metadata: members({
      requester_metadata: members({}),
      spend_logs_metadata: members({}),
      usage_object: members({
        prompt_tokens: count,
        completion_tokens: count,
        cache_read_input_tokens: count,
        cache_creation_input_tokens: count,
        cache_creation: cacheCreation,
        server_tool_use: members({ web_search_requests: count }),
        prompt_tokens_details: members({
          cached_tokens: count,
          cache_creation_tokens: count,
          cache_creation_token_details: cacheCreation,
          audio_tokens: count,
          image_tokens: count,
          web_search_requests: count,
        }),
        completion_tokens_details: members({
          reasoning_tokens: count,
          audio_tokens: count,
          image_tokens: count,
        }),
      }),
    }),
  },
  "must be an object",
);

export const liteLlm: Gateway = {
  emitter,
  item,
  unfold: (item) => ({ ...item, request_tags: tagsOf(item.request_tags) }),
  attribute: (name) => [name, ...fromMetadata(name), `metadata.${name}`],
  endedAt: (item) => numberAt(item.endTime) ?? numberAt(item.startTime),
  service: ({ metadata }) => {
    const { user_api_key_project_alias: project, user_api_key_team_alias: team } = (metadata ?? {}) as Item;
    return [project, team].find((alias): alias is string => typeof alias === "string" && alias !== "");
  },
  cost: ({ response_cost_failure_debug_info: failure, response_cost: cost, cache_hit: isHit }) => {
    if (failure !== undefined && failure !== null) return "unknown";
    if (isHit === true && cost === 0) return "free";
    // The cost may be 0 because LiteLLM does not know the price; a free model looks the same.
    return "as reported";
  },
};

function numberAt(value: unknown): number | undefined {
  return typeof value === "number" ? value : undefined;
}

/** `["team:growth", "nightly"]` → `{ team: "growth" }` */
function tagsOf(tags: unknown): Record<string, string> {
  const pairs = (Array.isArray(tags) ? tags : []).flatMap((tag) => {
    const [, key, value] = (typeof tag === "string" && /^([^:=]{1,64})[:=](.+)$/.exec(tag)) || [];
    return key === undefined || value === undefined ? [] : [[key.trim(), value.trim()] as const];
  });
  return Object.fromEntries(pairs);
}
