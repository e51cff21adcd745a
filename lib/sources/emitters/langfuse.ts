import { attribution, conventionRules } from "./conventions";
import type { Attribution, Emitter, Rule } from "./emitter";

const usage = "langfuse.observation.usage_details";
const cost = "langfuse.observation.cost_details";

const own: Attribution = {
  ...attribution,
  user: ["user.id", "langfuse.user.id", "langfuse.trace.user_id", ...attribution.user],
  session: ["session.id", "langfuse.session.id", "langfuse.trace.session_id", ...attribution.session],
};

const shared = {
  signal: "traces",
  provider: ["gen_ai.provider.name", "gen_ai.system"],
  model: ["langfuse.observation.model.name", "gen_ai.response.model", "gen_ai.request.model"],
  cost: { usd: [`${cost}#total`], parts: [`${cost}#input`, `${cost}#output`] },
  identity: { response: ["gen_ai.response.id"] },
  attribution: own,
} as const;

/** Usage in OpenAI's format, whose input includes cached tokens. */
const asOpenAiAnswers: Rule = {
  ...shared,
  tokens: {
    input: [`${usage}#prompt_tokens`],
    cacheRead: [`${usage}#prompt_tokens_details.cached_tokens`],
    cacheWrite: [`${usage}#prompt_tokens_details.cache_write_tokens`],
    inputAudio: [`${usage}#prompt_tokens_details.audio_tokens`],
    outputAudio: [`${usage}#completion_tokens_details.audio_tokens`],
    output: [`${usage}#completion_tokens`],
    reasoning: [`${usage}#completion_tokens_details.reasoning_tokens`],
  },
  inputHasCache: true,
  outputHasReasoning: true,
};

/** The same for OpenAI's Responses API. Its names are also Anthropic's; only OpenAI has `input_tokens_details`. */
const asResponsesAnswer: Rule = {
  ...shared,
  requires: [`${usage}#input_tokens_details.cached_tokens`],
  tokens: {
    input: [`${usage}#input_tokens`],
    cacheRead: [`${usage}#input_tokens_details.cached_tokens`],
    cacheWrite: [`${usage}#input_tokens_details.cache_write_tokens`],
    output: [`${usage}#output_tokens`],
    reasoning: [`${usage}#output_tokens_details.reasoning_tokens`],
  },
  inputHasCache: true,
  outputHasReasoning: true,
};

/** Langfuse's own counts, which do not overlap. */
const generation: Rule = {
  ...shared,
  tokens: {
    input: [`${usage}#input`, `${usage}#input_tokens`],
    cacheRead: [
      `${usage}#input_cached_tokens`,
      `${usage}#cache_read_input_tokens`,
      `${usage}#input_cache_read`,
      `${usage}#input_cache_read_tokens`,
    ],
    cacheWrite: [
      `${usage}#cache_creation_input_tokens`,
      `${usage}#input_cache_creation`,
      `${usage}#input_cache_write_tokens`,
    ],
    cacheWrite5m: [
      `${usage}#cache_creation.ephemeral_5m_input_tokens`,
      `${usage}#input_cache_creation_5m`,
      `${usage}#ephemeral_5m_input_tokens`,
    ],
    cacheWrite1h: [
      `${usage}#cache_creation.ephemeral_1h_input_tokens`,
      `${usage}#input_cache_creation_1h`,
      `${usage}#ephemeral_1h_input_tokens`,
    ],
    webSearches: [`${usage}#server_tool_use.web_search_requests`],
    codeExecutions: [`${usage}#server_tool_use.code_execution_requests`],
    output: [`${usage}#output`, `${usage}#output_tokens`],
    reasoning: [`${usage}#output_reasoning_tokens`, `${usage}#output_reasoning`],
  },
  inputHasCache: false,
  outputHasReasoning: false,
};

/** Langfuse's SDKs. Observations other than generations have no usage. */
export const langfuse: Emitter = {
  name: "langfuse",
  scopes: [/^langfuse-sdk/],
  attributes: ["langfuse.observation.type"],
  rules: [
    asOpenAiAnswers,
    asResponsesAnswer,
    generation,
    ...conventionRules.map((rule) => ({ ...rule, attribution: own })),
  ],
};
