import { attribution } from "./conventions";
import type { Emitter } from "./emitter";

/**
 * Its one switch sends logs, metrics and traces together. The event of an answer says the most: output comes without
 * thoughts, and what tools read counts apart. `gen_ai.client.inference.operation.details` and its metrics repeat it.
 */
export const geminiCli: Emitter = {
  name: "gemini-cli",
  services: [/^gemini-cli/],
  scopes: [/^gemini-cli/],
  rules: [
    {
      signal: "logs",
      names: ["gemini_cli.api_response"],
      provider: "google",
      model: ["model"],
      tokens: {
        input: ["input_token_count"],
        cacheRead: ["cached_content_token_count"],
        output: ["output_token_count"],
        reasoning: ["thoughts_token_count"],
      },
      furtherInput: ["tool_token_count"],
      inputHasCache: true,
      outputHasReasoning: false,
      identity: { record: ["session.id", "prompt_id", "event.timestamp", "total_token_count"] },
      time: ["event.timestamp"],
      attribution,
    },
  ],
};
