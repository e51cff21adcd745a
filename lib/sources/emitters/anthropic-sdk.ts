import { attribution, conventionRules, inferenceSpan } from "./conventions";
import type { Emitter } from "./emitter";

/** Anthropic's own SDKs, which write a span for each request by the conventions. They do not report the fast mode. */
export const anthropicSdk: Emitter = {
  name: "anthropic-sdk",
  scopes: [/^com\.anthropic\.sdk/],
  rules: conventionRules,
};

/**
 * Anthropic's own export of an organization's calls (platform.claude.com, Settings, OpenTelemetry). If an SDK reports the same call, it
 * has the same id.
 */
export const claudePlatform: Emitter = {
  name: "claude-platform",
  services: [/^claude-platform$/],
  scopes: [/^com\.anthropic\.claude-platform/],
  rules: [
    {
      ...inferenceSpan,
      attribution: {
        ...attribution,
        session: ["anthropic.session.id", ...attribution.session],
        tags: {
          ...attribution.tags,
          workspace: ["anthropic.workspace.id", "anthropic.organization.workspace.id"],
        },
      },
    },
  ],
};
