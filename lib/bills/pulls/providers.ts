import type { PulledProvider } from "@/lib/contract/bills/pulled-providers";
import { anthropic } from "./anthropic";
import { cursor } from "./cursor";
import { github } from "./github";
import { openai } from "./openai";
import { openrouter } from "./openrouter";
import type { Provider } from "./provider";

/** The providers whose costs are pulled, by the names that statements have. */
export const providers: Readonly<Record<PulledProvider, Provider>> = {
  openai,
  anthropic,
  openrouter,
  cursor,
  github,
};
