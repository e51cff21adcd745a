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
 * The known emitters; the first that fits a record is its own. Programs come before libraries, because a program is told by
 * its service's name, and libraries inside it would be told by their scopes.
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
