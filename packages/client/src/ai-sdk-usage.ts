import { type AnthropicUsage, readAnthropicUsage } from "./anthropic-usage.js";
import { count, type ModelCall, tierOf } from "./record-call.js";

type Counts = { [kind: string]: unknown };

/** `usage` of a model of the AI SDK: plain counts up to version 5, counts by kind since version 6. */
export type AiSdkUsage = {
  inputTokens?: unknown;
  outputTokens?: unknown;
  totalTokens?: unknown;
  cachedInputTokens?: unknown;
  reasoningTokens?: unknown;
  /** Of an embedding. */
  tokens?: unknown;
  raw?: unknown;
};

/** What a provider adds to a result, by its name. */
export type ProviderMetadata = { [provider: string]: { [field: string]: unknown } | undefined } | undefined;

type Usage = Pick<ModelCall, "lines" | "inputTokens" | "tier">;

/** Usage as lines. What Anthropic itself said has more kinds than the AI SDK: cache writes for 5 minutes and an hour. */
export function readAiSdkUsage(usage: AiSdkUsage, metadata: ProviderMetadata): Usage {
  const raw = (metadata?.anthropic?.usage ?? usage.raw) as AnthropicUsage | undefined;
  if (raw?.cache_creation_input_tokens !== undefined) return readAnthropicUsage(raw);
  if (usage.tokens !== undefined) return toLines({ input: count(usage.tokens) });
  const read = typeof usage.inputTokens === "object" ? readByKind(usage) : readPlain(usage, metadata);
  return { ...read, tier: tierOf(metadata?.openai?.serviceTier, metadata?.azure?.serviceTier) };
}

function readByKind(usage: AiSdkUsage): Usage {
  const input = (usage.inputTokens ?? {}) as Counts;
  const output = (usage.outputTokens ?? {}) as Counts;
  const [read, written, reasoning] = [input.cacheRead, input.cacheWrite, output.reasoning].map(count) as [
    number,
    number,
    number,
  ];
  return toLines({
    input: count(input.noCache ?? count(input.total) - read - written),
    read,
    written,
    output: count(output.total ?? count(output.text) + reasoning) - reasoning,
    reasoning,
  });
}

/** In versions up to 5, providers differ in whether the input includes what was cached, and the output reasoning. */
function readPlain(usage: AiSdkUsage, metadata: ProviderMetadata): Usage {
  const input = count(usage.inputTokens);
  const output = count(usage.outputTokens);
  const read = count(usage.cachedInputTokens);
  const reasoning = count(usage.reasoningTokens);
  const bedrock = metadata?.bedrock?.usage as Counts | undefined;
  const written = count(bedrock?.cacheWriteInputTokens ?? metadata?.anthropic?.cacheCreationInputTokens);
  const isCachedApart = metadata?.anthropic !== undefined || metadata?.bedrock !== undefined;
  const isReasoningApart = reasoning > 0 && count(usage.totalTokens) === input + output + reasoning;
  return toLines({
    input: isCachedApart ? input : input - read,
    read,
    written,
    output: isReasoningApart ? output : output - reasoning,
    reasoning,
  });
}

function toLines({ input = 0, read = 0, written = 0, output = 0, reasoning = 0 }): Usage {
  return {
    inputTokens: input + read + written,
    tier: undefined,
    lines: [
      { unit_type: "input_tokens", quantity: input },
      { unit_type: "cache_read_tokens", quantity: read },
      { unit_type: "cache_write_tokens", quantity: written },
      { unit_type: "output_tokens", quantity: output },
      { unit_type: "output_reasoning_tokens", quantity: reasoning },
    ],
  };
}
