import { count, type ModelCall, tierOf } from "./record-call.js";

/** `usage` as Anthropic's API answers it. */
export type AnthropicUsage = {
  input_tokens?: unknown;
  output_tokens?: unknown;
  cache_read_input_tokens?: unknown;
  cache_creation_input_tokens?: unknown;
  cache_creation?: { ephemeral_5m_input_tokens?: unknown; ephemeral_1h_input_tokens?: unknown } | null;
  output_tokens_details?: { thinking_tokens?: unknown } | null;
  server_tool_use?: { web_search_requests?: unknown; code_execution_requests?: unknown } | null;
  service_tier?: unknown;
  speed?: unknown;
  iterations?: unknown;
};

/** Usage as lines. Anthropic counts uncached, read and written input tokens apart. */
export function readAnthropicUsage(usage: AnthropicUsage): Pick<ModelCall, "lines" | "inputTokens" | "tier"> {
  const input = count(usage.input_tokens);
  const read = count(usage.cache_read_input_tokens);
  const short = count(usage.cache_creation?.ephemeral_5m_input_tokens);
  const long = count(usage.cache_creation?.ephemeral_1h_input_tokens);
  const written = Math.max(count(usage.cache_creation_input_tokens), short + long);
  const output = count(usage.output_tokens);
  const thinking = Math.min(output, count(usage.output_tokens_details?.thinking_tokens));
  return {
    inputTokens: input + read + written,
    tier: tierOf(usage.speed, usage.service_tier),
    lines: [
      { unit_type: "input_tokens", quantity: input },
      { unit_type: "cache_read_tokens", quantity: read },
      { unit_type: "cache_write_5m_tokens", quantity: short },
      { unit_type: "cache_write_1h_tokens", quantity: long },
      { unit_type: "cache_write_tokens", quantity: written - short - long },
      { unit_type: "output_tokens", quantity: output - thinking },
      { unit_type: "output_reasoning_tokens", quantity: thinking },
      { unit_type: "web_searches", quantity: count(usage.server_tool_use?.web_search_requests) },
      { unit_type: "code_executions", quantity: count(usage.server_tool_use?.code_execution_requests) },
      ...compactions(usage).flatMap((compaction) => readAnthropicUsage(compaction).lines),
    ],
  };
}

/** Compacting a conversation is billed too, but not in the sums of `usage`. */
function compactions({ iterations }: AnthropicUsage): AnthropicUsage[] {
  return Array.isArray(iterations) ? iterations.filter((iteration) => iteration?.type === "compaction") : [];
}
