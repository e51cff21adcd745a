import { attribution } from "./conventions";
import type { Emitter, Rule } from "./emitter";

const shared = {
  provider: "anthropic",
  model: ["model"],
  inputHasCache: false,
  outputHasReasoning: true,
  tier: ["speed"],
  attribution,
} as const;

const request: Rule = {
  ...shared,
  signal: "logs",
  names: ["api_request", "claude_code.api_request"],
  tokens: {
    input: ["input_tokens"],
    cacheRead: ["cache_read_tokens"],
    cacheWrite: ["cache_creation_tokens"],
    // Since a version between 2.1.197 and 2.1.330.
    cacheWrite5m: ["cache_creation_5m_tokens"],
    cacheWrite1h: ["cache_creation_1h_tokens"],
    output: ["output_tokens"],
  },
  cost: { micros: ["cost_usd_micros"], usd: ["cost_usd"] },
  identity: {
    request: ["request_id"],
    // The sequence restarts if a session is resumed in another process.
    record: ["session.id", "event.sequence", "event.timestamp"],
  },
  time: ["event.timestamp"],
};

const tokens: Rule = {
  ...shared,
  signal: "metrics",
  names: ["claude_code.token.usage"],
  kind: {
    attribute: "type",
    kinds: { input: "input", output: "output", cacheRead: "cacheRead", cacheCreation: "cacheWrite" },
  },
  identity: {},
};

/** Claude Code. Its log events report each request; its metrics report the same usage as sums. */
export const claudeCode: Emitter = {
  name: "claude-code",
  services: [/^claude-code/],
  scopes: [/^com\.anthropic\.claude_code/],
  rules: [request, tokens],
};
