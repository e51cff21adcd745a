import { conventionRules } from "./conventions";
import type { Emitter } from "./emitter";

/** Copilot Chat in VS Code and Copilot CLI write spans by the conventions; `invoke_agent` sums up the `chat` spans. */
export const copilot: Emitter = {
  name: "copilot",
  services: [/^copilot-chat/, /^github-copilot/, /^copilot-cli/],
  rules: conventionRules,
};
