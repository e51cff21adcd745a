import { conventionRules } from "./conventions";
import type { Emitter } from "./emitter";

/** Anthropic's own SDKs, which write a span for each request by the conventions. */
export const anthropicSdk: Emitter = {
  name: "anthropic-sdk",
  scopes: [/^com\.anthropic\.sdk/],
  rules: conventionRules,
};
