import { z } from "zod";
import type { Emitter, Rule } from "@/lib/sources/emitters/emitter";
import type { Gateway } from "./gateway";
import { cacheCreation, count, members, name, usd } from "./item-fields";

const answer = "response_body";
const ttl12h = "cache_write_tokens_details.ttl_12h_tokens";

const shared = {
  signal: "logs",
  provider: ["provider"],
  model: [`${answer}.model`, "model"],
  cost: { usd: ["metadata.cost"] },
  tier: [`${answer}.usage.speed`, `${answer}.usage.service_tier`, `${answer}.service_tier`],
  attribution: { user: ["user_id"], session: [], feature: [], project: [], tags: {} },
} as const;

/** The provider's id of the response, which other emitters of the call report too, and Helicone's own id of the request. */
const identity = (...response: string[]) => ({ response, record: ["request_id"] });

/** The forms in which providers report usage in an answer, the most specific first. */
const answers: readonly Rule[] = [
  {
    ...shared,
    where: { [`${answer}.object`]: ["response"] },
    tokens: {
      input: [`${answer}.usage.input_tokens`],
      cacheRead: [`${answer}.usage.input_tokens_details.cached_tokens`],
      cacheWrite: [`${answer}.usage.input_tokens_details.cache_write_tokens`],
      cacheWrite12h: [`${answer}.usage.input_tokens_details.${ttl12h}`],
      output: [`${answer}.usage.output_tokens`],
      reasoning: [`${answer}.usage.output_tokens_details.reasoning_tokens`],
    },
    inputHasCache: true,
    outputHasReasoning: true,
    identity: identity(`${answer}.id`),
  },
  {
    // Anthropic counts cached tokens separately from the input.
    ...shared,
    tokens: {
      input: [`${answer}.usage.input_tokens`],
      cacheRead: [`${answer}.usage.cache_read_input_tokens`],
      cacheWrite: [`${answer}.usage.cache_creation_input_tokens`],
      cacheWrite5m: [`${answer}.usage.cache_creation.ephemeral_5m_input_tokens`],
      cacheWrite1h: [`${answer}.usage.cache_creation.ephemeral_1h_input_tokens`],
      webSearches: [`${answer}.usage.server_tool_use.web_search_requests`],
      codeExecutions: [`${answer}.usage.server_tool_use.code_execution_requests`],
      output: [`${answer}.usage.output_tokens`],
    },
    inputHasCache: false,
    outputHasReasoning: true,
    identity: identity(`${answer}.id`),
  },
  {
    ...shared,
    tokens: {
      input: [`${answer}.usage.prompt_tokens`],
      cacheRead: [`${answer}.usage.prompt_tokens_details.cached_tokens`],
      cacheWrite: [`${answer}.usage.prompt_tokens_details.cache_write_tokens`],
      cacheWrite12h: [`${answer}.usage.prompt_tokens_details.${ttl12h}`],
      inputAudio: [`${answer}.usage.prompt_tokens_details.audio_tokens`],
      outputAudio: [`${answer}.usage.completion_tokens_details.audio_tokens`],
      output: [`${answer}.usage.completion_tokens`],
      reasoning: [`${answer}.usage.completion_tokens_details.reasoning_tokens`],
    },
    inputHasCache: true,
    outputHasReasoning: true,
    identity: identity(`${answer}.id`),
  },
  {
    ...shared,
    model: [`${answer}.modelVersion`, "model"],
    tokens: {
      input: [`${answer}.usageMetadata.promptTokenCount`],
      cacheRead: [`${answer}.usageMetadata.cachedContentTokenCount`],
      output: [`${answer}.usageMetadata.candidatesTokenCount`],
      reasoning: [`${answer}.usageMetadata.thoughtsTokenCount`],
    },
    inputHasCache: true,
    outputHasReasoning: false,
    identity: identity(`${answer}.responseId`),
  },
];

/** Helicone's own counts, for answers that were too long to be sent or have no counts. They do not separate cached tokens. */
const counts: Rule = {
  ...shared,
  tokens: { input: ["metadata.promptTokens"], output: ["metadata.completionTokens"] },
  inputHasCache: true,
  outputHasReasoning: true,
  identity: identity(),
};

const emitter: Emitter = { name: "helicone", rules: [...answers, counts] };

/** OpenAI's counts of tokens written to the cache. */
const cacheWrites = {
  cache_write_tokens: count,
  cache_write_tokens_details: members({ ttl_12h_tokens: count }),
};

const item = z.looseObject(
  {
    request_id: z
      .string("must be text: the id of the request")
      .min(1, "must be the id of the request")
      .max(200),
    model: name,
    provider: name,
    user_id: name,
    metadata: members({ promptTokens: count, completionTokens: count, cost: usd }),
    [answer]: z.preprocess(
      objectOf,
      members({
        usage: members({
          input_tokens: count,
          input_tokens_details: members({ cached_tokens: count, ...cacheWrites }),
          output_tokens: count,
          output_tokens_details: members({ reasoning_tokens: count }),
          cache_read_input_tokens: count,
          cache_creation_input_tokens: count,
          cache_creation: cacheCreation,
          server_tool_use: members({ web_search_requests: count, code_execution_requests: count }),
          prompt_tokens: count,
          prompt_tokens_details: members({
            cached_tokens: count,
            ...cacheWrites,
            audio_tokens: count,
          }),
          completion_tokens: count,
          completion_tokens_details: members({ reasoning_tokens: count, audio_tokens: count }),
        }),
        usageMetadata: members({
          promptTokenCount: count,
          cachedContentTokenCount: count,
          candidatesTokenCount: count,
          thoughtsTokenCount: count,
        }),
      }),
    ),
  },
  "must be an object",
);

/**
 * Helicone's webhook: one request and its answer, each cut if it is long. Only the id, model and usage of the answer are read. It does
 * not have the time of the call, so the call is dated when the webhook arrives.
 */
export const helicone: Gateway = { emitter, item };

/** An answer as an object, parsed if it is text; undefined if it is not JSON, for example because it was cut or streamed. */
function objectOf(answer: unknown): unknown {
  if (typeof answer !== "string") return isObject(answer) ? answer : undefined;
  try {
    const parsed: unknown = JSON.parse(answer);
    return isObject(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

const isObject = (value: unknown) => typeof value === "object" && value !== null && !Array.isArray(value);
