import { attribution } from "./conventions";
import type { Emitter } from "./emitter";

const remedy =
  "Codex reports its tokens in its logs and again here; only the logs are counted. Set `exporter` in `[otel]` of its configuration.";

/** Codex. Its logs have a record for each answer. Its metrics and traces repeat the counts without the conversation. */
export const codex: Emitter = {
  name: "codex",
  services: [/^codex/],
  scopes: [/^codex/],
  rules: [
    {
      signal: "logs",
      names: ["codex.sse_event"],
      where: { "event.kind": ["response.completed"] },
      provider: "openai",
      model: ["model", "slug"],
      tokens: {
        input: ["input_token_count"],
        cacheRead: ["cached_token_count"],
        cacheWrite: ["cache_write_token_count"],
        output: ["output_token_count"],
        reasoning: ["reasoning_token_count"],
      },
      inputHasCache: true,
      outputHasReasoning: true,
      identity: {
        record: ["conversation.id", "event.timestamp", "input_token_count", "output_token_count"],
      },
      time: ["event.timestamp"],
      attribution: { ...attribution, session: ["conversation.id"] },
    },
  ],
  repeats: [
    { signal: "metrics", names: ["codex.turn.token_usage"], remedy },
    { signal: "traces", names: ["handle_responses"], remedy },
  ],
};
