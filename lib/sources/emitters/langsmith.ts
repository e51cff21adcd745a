import { attribution, inferenceSpan } from "./conventions";
import type { Attribution, Emitter } from "./emitter";

/**
 * The attributes that have details of LangChain's counts: as JSON in the metadata, as attributes of their own, or as a dictionary in
 * Python's notation.
 */
const details = (part: "input" | "output", ...names: string[]) =>
  names.flatMap((name) => [
    `langsmith.metadata.usage_metadata#${part}_token_details.${name}`,
    `langsmith.usage_metadata#${part}_token_details.${name}`,
    `langsmith.metadata.usage_metadata.${part}_token_details.${name}`,
    `gen_ai.usage.${part}_token_details#${name}`,
  ]);

const metadata = (...names: string[]) => names.map((name) => `langsmith.metadata.${name}`);

const own: Attribution = {
  user: [...metadata("user_id", "user_email", "user"), ...attribution.user],
  session: [...metadata("session_id", "thread_id", "conversation_id"), ...attribution.session],
  feature: [...metadata("feature"), ...attribution.feature],
  project: [...metadata("project"), ...attribution.project],
  tags: {
    ...attribution.tags,
    team: [...metadata("team"), "team"],
    cost_center: [...metadata("cost_center"), "cost_center"],
    department: [...metadata("department"), "department"],
  },
};

/** LangSmith's OpenTelemetry export of LangChain and LangGraph (0.15). Spans of chains repeat the counts of their calls. */
export const langSmith: Emitter = {
  name: "langsmith",
  scopes: [/^langsmith/],
  attributes: ["langsmith.span.kind"],
  rules: [
    {
      ...inferenceSpan,
      where: { "langsmith.span.kind": ["llm", "embedding"] },
      provider: ["langsmith.metadata.ls_provider", "gen_ai.provider.name", "gen_ai.system"],
      model: ["gen_ai.response.model", "gen_ai.request.model", "langsmith.metadata.ls_model_name"],
      tokens: {
        ...inferenceSpan.tokens,
        // For OpenAI's service tiers, the names of the parts begin with the tier.
        cacheRead: details("input", "cache_read", "flex_cache_read", "priority_cache_read"),
        cacheWrite: details("input", "cache_creation", "cache_write"),
        cacheWrite5m: details("input", "ephemeral_5m_input_tokens"),
        cacheWrite1h: details("input", "ephemeral_1h_input_tokens"),
        inputAudio: details("input", "audio"),
        outputAudio: details("output", "audio"),
        reasoning: details("output", "reasoning", "flex_reasoning", "priority_reasoning"),
      },
      tier: [...details("input", "flex", "priority"), ...(inferenceSpan.tier ?? [])],
      attribution: own,
    },
  ],
};
