import { attribution } from "./conventions";
import type { Emitter, Rule } from "./emitter";

const response: Rule = {
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
};

/** Why nothing is counted where the metrics come alone: of what they call input, nobody can say what the cache had. */
const repeats = (program: string, ...names: string[]) => [
  {
    signal: "metrics" as const,
    names,
    remedy: `${program} reports its tokens in its logs and again here; only the logs are counted. Send its logs too.`,
  },
];

/**
 * Its one switch sends logs, metrics and traces together. The event of an answer says the most: output comes without
 * thoughts, and what tools read counts apart. `gen_ai.client.inference.operation.details` and its metrics repeat it.
 */
export const geminiCli: Emitter = {
  name: "gemini-cli",
  services: [/^gemini-cli/],
  scopes: [/^gemini-cli/],
  rules: [response],
  repeats: repeats("Gemini CLI", "gemini_cli.token.usage", "gen_ai.client.token.usage"),
};

/**
 * Qwen Code began as a copy of Gemini CLI. It speaks OpenAI's protocol, whose output has the thoughts in it, to whoever its user
 * chose; the model tells whom.
 */
export const qwenCode: Emitter = {
  name: "qwen-code",
  services: [/^qwen-code/],
  scopes: [/^qwen-code/],
  rules: [
    {
      ...response,
      names: ["qwen-code.api_response"],
      provider: [],
      outputHasReasoning: true,
      identity: {
        response: ["response_id"],
        record: ["session.id", "prompt_id", "event.timestamp", "total_token_count"],
      },
    },
  ],
  repeats: repeats("Qwen Code", "qwen-code.token.usage", "gen_ai.client.token.usage"),
};
