import type { PulledProvider } from "@/lib/contract/bills/pulled-providers";
import { anthropic } from "./anthropic";
import { cursor } from "./cursor";
import { github } from "./github";
import type { Limiter } from "./limiter";
import { openai } from "./openai";
import { openrouter } from "./openrouter";

/** The providers whose limits can follow budgets. */
export const limiters: Readonly<Record<PulledProvider, Limiter>> = {
  openai,
  anthropic,
  openrouter,
  cursor,
  github,
};
