import type { TelemetryProvider } from "@/lib/contract/bills/provider-telemetry";
import { anthropic } from "./anthropic";
import { openrouter } from "./openrouter";
import type { Registrar } from "./registrar";

/** The providers that send their telemetry to an address that they are given. */
export const registrars: Readonly<Record<TelemetryProvider, Registrar>> = { anthropic, openrouter };
