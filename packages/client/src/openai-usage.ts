import { count, type Line } from "./record-call.js";

type Details = { [name: string]: unknown } | null;

/** `usage` of chat completions, completions, responses and embeddings, which name the same counts differently. */
export type OpenAIUsage = {
  prompt_tokens?: unknown;
  completion_tokens?: unknown;
  input_tokens?: unknown;
  output_tokens?: unknown;
  total_tokens?: unknown;
  prompt_cache_hit_tokens?: unknown;
  prompt_tokens_details?: Details;
  completion_tokens_details?: Details;
  input_tokens_details?: Details;
  output_tokens_details?: Details;
};

/** Usage as lines. OpenAI's input includes what was cached, its output includes reasoning. */
export function readOpenAIUsage(usage: OpenAIUsage): { lines: Line[]; inputTokens: number } {
  const inputDetails = usage.prompt_tokens_details ?? usage.input_tokens_details;
  const outputDetails = usage.completion_tokens_details ?? usage.output_tokens_details;
  const input = count(usage.prompt_tokens ?? usage.input_tokens);
  const read = count(inputDetails?.cached_tokens ?? usage.prompt_cache_hit_tokens);
  const written = count(inputDetails?.cache_write_tokens);
  const kept = inputDetails?.cache_write_tokens_details as Details | undefined;
  const long = Math.min(written, count(kept?.ttl_12h_tokens));
  const audioInput = count(inputDetails?.audio_tokens);
  const reported = count(usage.completion_tokens ?? usage.output_tokens);
  const reasoning = count(outputDetails?.reasoning_tokens);
  const audioOutput = count(outputDetails?.audio_tokens);
  // xAI counts reasoning beside the output; only the total shows it.
  const isApart = count(usage.total_tokens) === input + reported + reasoning;
  const output = isApart ? reported : reported - reasoning;
  return {
    inputTokens: input,
    lines: [
      { unit_type: "input_tokens", quantity: input - read - written - audioInput },
      { unit_type: "cache_read_tokens", quantity: read },
      { unit_type: "cache_write_tokens", quantity: written - long },
      { unit_type: "cache_write_12h_tokens", quantity: long },
      { unit_type: "input_audio_tokens", quantity: audioInput },
      { unit_type: "output_tokens", quantity: output - audioOutput },
      { unit_type: "output_reasoning_tokens", quantity: reasoning },
      { unit_type: "output_audio_tokens", quantity: audioOutput },
    ],
  };
}

type Item = { type?: unknown; action?: { type?: unknown } | null };

/** The tools that OpenAI ran for a response and bills by the call. Of a web search, opening a page is free. */
export function readToolCalls(output: unknown): Line[] {
  const items = Array.isArray(output) ? (output as Item[]) : [];
  const searches = items.filter(
    ({ type, action }) => type === "web_search_call" && (action?.type ?? "search") === "search",
  );
  const files = items.filter(({ type }) => type === "file_search_call");
  return [
    { unit_type: "web_searches", quantity: searches.length },
    { unit_type: "storage_searches", quantity: files.length },
  ];
}
