import { conventionRules } from "./conventions";
import type { Emitter } from "./emitter";

/**
 * Copilot Chat in VS Code and Copilot CLI write spans by the conventions; `invoke_agent` sums up the `chat` spans. Their one
 * switch sends metrics too, which leave first at the end of a session and repeat the spans without what was cached.
 */
export const copilot: Emitter = {
  name: "copilot",
  services: [/^copilot-chat/, /^github-copilot/, /^copilot-cli/],
  scopes: [/^github\.copilot/],
  rules: conventionRules.filter(({ signal }) => signal !== "metrics"),
};
