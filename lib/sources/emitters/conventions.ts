import type { Attribution, Emitter, Rule } from "./emitter";

/*
 * The GenAI semantic conventions of OpenTelemetry, in every version that emitters still send. None of the names is stable.
 */

/** The attributes that many emitters use for the user, session, feature, project and tags of a record. */
export const attribution: Attribution = {
  user: ["user.email", "user.account_id", "user.account_uuid", "enduser.id", "user.id", "installation.id"],
  session: ["session.id", "gen_ai.conversation.id", "conversation.id"],
  feature: ["outlay.feature", "feature"],
  project: ["outlay.project", "project"],
  tags: {
    team: ["team", "team.name"],
    cost_center: ["cost_center", "cost.center"],
    department: ["department"],
    deployment: ["deployment.environment.name", "deployment.environment"],
  },
};

/** Operations that are not calls of a model. Spans of agents and workflows sum up the calls inside them. */
const notInference = [
  "invoke_agent",
  "create_agent",
  "invoke_workflow",
  "execute_tool",
  "fetch_response",
  "plan",
  "retrieval",
  "create_memory",
  "create_memory_store",
  "delete_memory",
  "delete_memory_store",
  "search_memory",
  "update_memory",
  "upsert_memory",
];

const shared = {
  provider: ["gen_ai.provider.name", "gen_ai.system", "llm.provider", "llm.system"],
  model: ["gen_ai.response.model", "gen_ai.request.model", "llm.response.model_name", "llm.model_name"],
  inputHasCache: true,
  outputHasReasoning: true,
  tier: [
    "anthropic.usage.speed",
    "anthropic.response.service_tier",
    "openai.response.service_tier",
    "gen_ai.openai.response.service_tier",
    "gen_ai.response.service_tier",
  ],
  attribution,
} as const;

/** The span of one call of a model. */
export const inferenceSpan: Rule = {
  ...shared,
  signal: "traces",
  except: {
    "gen_ai.operation.name": notInference,
    "openinference.span.kind": ["AGENT", "CHAIN", "TOOL", "RETRIEVER", "RERANKER", "GUARDRAIL", "EVALUATOR"],
    "traceloop.span.kind": ["workflow", "task", "agent", "tool"],
  },
  tokens: {
    input: [
      "gen_ai.usage.input_tokens",
      "gen_ai.usage.prompt_tokens",
      "llm.usage.prompt_tokens",
      "llm.token_count.prompt",
    ],
    output: [
      "gen_ai.usage.output_tokens",
      "gen_ai.usage.completion_tokens",
      "llm.usage.completion_tokens",
      "llm.token_count.completion",
    ],
    cacheRead: [
      "gen_ai.usage.cache_read.input_tokens",
      "gen_ai.usage.cache_read_input_tokens",
      "gen_ai.usage.input_tokens.cached",
      "gen_ai.usage.cached_tokens",
      "llm.usage.cache_read_input_tokens",
      "llm.token_count.prompt_details.cache_read",
    ],
    cacheWrite: [
      "gen_ai.usage.cache_write.input_tokens",
      "gen_ai.usage.cache_creation.input_tokens",
      "gen_ai.usage.cache_creation_input_tokens",
      "llm.usage.cache_creation_input_tokens",
      "llm.token_count.prompt_details.cache_write",
    ],
    cacheWrite5m: ["anthropic.usage.cache_creation.ephemeral_5m_input_tokens"],
    cacheWrite1h: ["anthropic.usage.cache_creation.ephemeral_1h_input_tokens"],
    inputAudio: ["gen_ai.usage.audio.input_tokens", "llm.token_count.prompt_details.audio"],
    inputImage: ["gen_ai.usage.image.input_tokens"],
    outputAudio: ["gen_ai.usage.audio.output_tokens", "llm.token_count.completion_details.audio"],
    outputImage: ["gen_ai.usage.image.output_tokens"],
    webSearches: ["anthropic.usage.server_tool_use.web_search_requests"],
    codeExecutions: ["anthropic.usage.server_tool_use.code_execution_requests"],
    reasoning: [
      "gen_ai.usage.reasoning.output_tokens",
      "gen_ai.usage.reasoning_tokens",
      "gen_ai.usage.output_tokens.reasoning",
      "llm.usage.reasoning_tokens",
      "llm.token_count.completion_details.reasoning",
    ],
  },
  cost: {
    usd: ["gen_ai.usage.cost.amount", "gen_ai.usage.total_cost", "gen_ai.usage.cost", "llm.cost.total"],
    // Proposed for the conventions (open-telemetry/semantic-conventions-genai, pull request 443).
    currency: ["gen_ai.usage.cost.currency"],
    givenBy: ["gen_ai.usage.cost.source"],
  },
  identity: { response: ["gen_ai.response.id"], request: ["anthropic.request.id"] },
};

/** The event with the same attributes as the span, for emitters that write logs. */
const inferenceEvent: Rule = {
  ...inferenceSpan,
  signal: "logs",
  time: ["event.timestamp"],
};

/**
 * Counters and histograms, for emitters that send neither spans nor events of calls. Tokens from the cache are also counted in the input,
 * and a point does not show which calls they belong to. So the counters of the cache are ignored, and its tokens count as input.
 */
const inferenceMetrics: readonly Rule[] = (
  [
    [
      "gen_ai.client.token.usage",
      {
        attribute: "gen_ai.token.type",
        kinds: { input: "input", prompt: "input", output: "output", completion: "output" },
      },
    ],
    ["gen_ai.client.inference.usage.input_tokens", "input"],
    ["gen_ai.client.inference.usage.output_tokens", "output"],
  ] as const
).map(
  ([name, kind]): Rule => ({
    ...shared,
    signal: "metrics",
    names: [name],
    except: { "gen_ai.operation.name": notInference },
    kind,
    identity: {},
  }),
);

export const conventionRules: readonly Rule[] = [inferenceSpan, inferenceEvent, ...inferenceMetrics];

/** All programs that are not in the table. */
export const unknownEmitter: Emitter = { name: "opentelemetry", rules: conventionRules };
