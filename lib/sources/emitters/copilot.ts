import { conventionRules } from "./conventions";
import type { Emitter } from "./emitter";

/**
 * Copilot Chat in VS Code and Copilot CLI write spans by the conventions; `invoke_agent` sums up the `chat` spans. They always send
 * metrics too, which arrive first at the end of a session and repeat the spans without the cached tokens. So metrics are ignored.
 */
export const copilot: Emitter = {
  name: "copilot",
  services: [/^copilot-chat/, /^github-copilot/, /^copilot-cli/],
  scopes: [/^github\.copilot/],
  rules: conventionRules.filter(({ signal }) => signal !== "metrics"),
};
