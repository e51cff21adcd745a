import type { TellingProvider } from "@/lib/contract/bills/provider-telemetry";
import { anthropic } from "./anthropic";
import { openrouter } from "./openrouter";
import type { Teller } from "./teller";

/** The providers that send their telemetry to an address that they are given. */
export const tellers: Readonly<Record<TellingProvider, Teller>> = { anthropic, openrouter };
