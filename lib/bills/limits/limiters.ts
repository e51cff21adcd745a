import type { LimitableProvider } from "@/lib/contract/bills/limit-kinds";
import { anthropic } from "./anthropic";
import { cursor } from "./cursor";
import { github } from "./github";
import type { Limiter } from "./limiter";
import { openai } from "./openai";
import { openrouter } from "./openrouter";

/** The providers whose limits can follow budgets. */
export const limiters: Readonly<Record<LimitableProvider, Limiter>> = {
  openai,
  anthropic,
  openrouter,
  cursor,
  github,
};
