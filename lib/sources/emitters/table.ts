import { aiSdk } from "./ai-sdk";
import { anthropicSdk, claudePlatform } from "./anthropic-sdk";
import { claudeCode } from "./claude-code";
import { codex } from "./codex";
import { copilot } from "./copilot";
import type { Emitter } from "./emitter";
import { geminiCli, qwenCode } from "./gemini-cli";
import { langfuse } from "./langfuse";
import { langSmith } from "./langsmith";
import { liteLlmOtel } from "./litellm";
import { openInference } from "./openinference";
import { openLlmetry } from "./openllmetry";
import { openRouter } from "./openrouter";

/**
 * The known emitters. A record belongs to the first that fits. Programs, which are recognised by their service name, come before
 * libraries, which may run inside these programs and are recognised by their scopes.
 */
export const emitters: readonly Emitter[] = [
  claudeCode,
  codex,
  geminiCli,
  qwenCode,
  copilot,
  openRouter,
  claudePlatform,
  anthropicSdk,
  liteLlmOtel,
  langSmith,
  aiSdk,
  langfuse,
  openInference,
  openLlmetry,
];
