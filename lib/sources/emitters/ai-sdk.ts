import { attribution, conventionRules } from "./conventions";
import type { Attribution, Emitter, Rule } from "./emitter";

/** Names from the metadata of a call's telemetry settings. `functionId` is used as the feature. */
const own: Attribution = {
  user: [
    "ai.telemetry.metadata.userId",
    "ai.telemetry.metadata.user_id",
    "ai.settings.context.userId",
    ...attribution.user,
  ],
  session: [
    "ai.telemetry.metadata.sessionId",
    "ai.telemetry.metadata.session_id",
    "ai.settings.context.sessionId",
    ...attribution.session,
  ],
  feature: [
    "ai.telemetry.metadata.feature",
    "ai.settings.context.feature",
    "ai.telemetry.functionId",
    "gen_ai.agent.name",
    ...attribution.feature,
  ],
  project: ["ai.telemetry.metadata.project", ...attribution.project],
  tags: { ...attribution.tags, team: ["ai.telemetry.metadata.team", "team"] },
};

const metadata = "ai.response.providerMetadata";

/** Counts in Anthropic's answer for which the AI SDK has no attributes of its own. */
const anthropicDetails = {
  cacheWrite5m: [`${metadata}#anthropic.usage.cache_creation.ephemeral_5m_input_tokens`],
  cacheWrite1h: [`${metadata}#anthropic.usage.cache_creation.ephemeral_1h_input_tokens`],
  webSearches: [`${metadata}#anthropic.usage.server_tool_use.web_search_requests`],
  codeExecutions: [`${metadata}#anthropic.usage.server_tool_use.code_execution_requests`],
};

/** Only these spans are calls of a model. Their parents, such as `ai.generateText`, have the sums of them. */
const providerCall: Rule = {
  signal: "traces",
  where: {
    "ai.operationId": [
      "ai.generateText.doGenerate",
      "ai.streamText.doStream",
      "ai.generateObject.doGenerate",
      "ai.streamObject.doStream",
      "ai.embed.doEmbed",
      "ai.embedMany.doEmbed",
    ],
  },
  provider: ["gen_ai.system", "gen_ai.provider.name", "ai.model.provider"],
  model: ["gen_ai.response.model", "ai.response.model", "gen_ai.request.model", "ai.model.id"],
  tokens: {
    input: [
      "ai.usage.inputTokens",
      "ai.usage.promptTokens",
      "ai.usage.tokens",
      "gen_ai.usage.input_tokens",
      "gen_ai.usage.prompt_tokens",
    ],
    cacheRead: ["ai.usage.inputTokenDetails.cacheReadTokens", "ai.usage.cachedInputTokens"],
    cacheWrite: ["ai.usage.inputTokenDetails.cacheWriteTokens"],
    output: [
      "ai.usage.outputTokens",
      "ai.usage.completionTokens",
      "gen_ai.usage.output_tokens",
      "gen_ai.usage.completion_tokens",
    ],
    reasoning: ["ai.usage.outputTokenDetails.reasoningTokens", "ai.usage.reasoningTokens"],
    ...anthropicDetails,
  },
  tier: [
    `${metadata}#anthropic.usage.speed`,
    `${metadata}#anthropic.usage.service_tier`,
    `${metadata}#openai.serviceTier`,
    `${metadata}#azure.serviceTier`,
  ],
  inputHasCache: true,
  outputHasReasoning: true,
  identity: { response: ["gen_ai.response.id", "ai.response.id"] },
  attribution: own,
};

/** From version 6 on, the count of input tokens comes with its parts and includes them. */
const withParts: Rule = { ...providerCall, requires: ["ai.usage.inputTokenDetails.noCacheTokens"] };

/**
 * Version 5 gives each provider's own counts: Anthropic's input does not include the cache, and the spans of `generateText` do not have
 * the cached tokens at all. The counts of Anthropic's own answer are in another attribute.
 */
const anthropicAnswer: Rule = {
  ...providerCall,
  requires: [`${metadata}#anthropic.usage.input_tokens`],
  tokens: {
    input: [`${metadata}#anthropic.usage.input_tokens`],
    cacheRead: [`${metadata}#anthropic.usage.cache_read_input_tokens`],
    cacheWrite: [`${metadata}#anthropic.usage.cache_creation_input_tokens`],
    output: [`${metadata}#anthropic.usage.output_tokens`],
    ...anthropicDetails,
  },
  inputHasCache: false,
};

/** The counts of Gemini's own answer, whose output does not include the thoughts. */
const geminiAnswer: Rule = {
  ...providerCall,
  requires: [`${metadata}#google.usageMetadata.promptTokenCount`],
  tokens: {
    input: [`${metadata}#google.usageMetadata.promptTokenCount`],
    cacheRead: [`${metadata}#google.usageMetadata.cachedContentTokenCount`],
    output: [`${metadata}#google.usageMetadata.candidatesTokenCount`],
    reasoning: [`${metadata}#google.usageMetadata.thoughtsTokenCount`],
  },
  furtherInput: [`${metadata}#google.usageMetadata.toolUsePromptTokenCount`],
  outputHasReasoning: false,
};

/** The AI SDK of Vercel. Versions up to 6, and its legacy telemetry, use `ai.*` names; version 7 uses the conventions' names. */
export const aiSdk: Emitter = {
  name: "ai-sdk",
  scopes: [/^ai$/, /^gen_ai$/, /^@ai-sdk\//],
  attributes: ["ai.operationId"],
  rules: [
    withParts,
    anthropicAnswer,
    geminiAnswer,
    providerCall,
    // Other operations of the SDK are parents of calls, or not calls of a model.
    ...conventionRules.map((rule) => ({
      ...rule,
      attribution: own,
      except: {
        ...rule.except,
        "ai.operationId": [
          "ai.generateText",
          "ai.streamText",
          "ai.generateObject",
          "ai.streamObject",
          "ai.embed",
          "ai.embedMany",
          "ai.toolCall",
          "ai.rerank",
        ],
      },
    })),
  ],
};
