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

/** Metrics are not counted even if they come alone, because they do not show how much of the input was cached. */
const repeats = (program: string, ...names: string[]) => [
  {
    signal: "metrics" as const,
    names,
    remedy: `${program} reports its tokens in its logs and again here; only the logs are counted. Send its logs too.`,
  },
];

/**
 * Gemini CLI sends logs, metrics and traces together. The event of an answer is the most detailed: its output excludes thoughts, and the
 * input of tools is counted separately. `gen_ai.client.inference.operation.details` and the metrics repeat it.
 */
export const geminiCli: Emitter = {
  name: "gemini-cli",
  services: [/^gemini-cli/],
  scopes: [/^gemini-cli/],
  rules: [response],
  repeats: repeats("Gemini CLI", "gemini_cli.token.usage", "gen_ai.client.token.usage"),
};

/**
 * Qwen Code is a fork of Gemini CLI. It uses OpenAI's protocol, whose output includes the thoughts, with a provider of the user's choice,
 * which is found by the model.
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
