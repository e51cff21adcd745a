import { providers } from "@/lib/bills/pulls/providers";
import {
  type ProviderTelemetry,
  sendsTelemetry,
  type TelemetryProvider,
  type TelemetryState,
} from "@/lib/contract/bills/provider-telemetry";
import type { PulledProvider } from "@/lib/contract/bills/pulled-providers";
import { toInstant } from "@/lib/contract/values/instant";
import { receivingAddress } from "./receiving-address";

/** What is stored of the registration of an account; the whole is null where there is none. */
export type TelemetryColumns = {
  telemetry_id: string | null;
  telemetry_key_id: string | null;
  telemetry_state: string | null;
  telemetry_problem: string | null;
  telemetry_tested_at: Date | null;
  telemetry_checked_at: Date | null;
  telemetry_created_at: Date | null;
  telemetry_created_by: string | null;
  /** Whether the provider was asked longer ago than it may take to answer. */
  telemetry_is_stale: boolean | null;
  key_used_at: Date | null;
  key_revoked_at: Date | null;
};

/** The registration of an account; null for providers that send no telemetry. */
export function toTelemetry(provider: string, row: TelemetryColumns): ProviderTelemetry | null {
  if (!(provider in providers) || !sendsTelemetry(provider as PulledProvider)) return null;
  const instantOf = (at: Date | null) => (at === null ? null : toInstant(at.getTime()));
  const hasEnded = row.telemetry_state === "refused" || row.telemetry_state === "failed";
  return {
    ...standingOf(provider as TelemetryProvider, row),
    source_id: hasEnded ? null : row.telemetry_key_id,
    received_at: hasEnded ? null : instantOf(row.key_used_at),
    checked_at: instantOf(row.telemetry_checked_at),
    registered_at: instantOf(row.telemetry_created_at),
    registered_by: row.telemetry_created_by,
  };
}

function standingOf(
  provider: TelemetryProvider,
  row: TelemetryColumns,
): { state: TelemetryState; problem: string | null } {
  const { telemetry_state: state, telemetry_problem: problem } = row;
  if (state === null) {
    const address = receivingAddress(provider);
    return "problem" in address
      ? { state: "unreachable", problem: address.problem }
      : { state: "none", problem: null };
  }
  if (state === "registering")
    return row.telemetry_is_stale
      ? { state: "failed", problem: "The service ended while the provider was asked." }
      : { state: "registering", problem: null };
  if (state === "registered") {
    if (row.key_revoked_at !== null)
      return { state: "failing", problem: "The key of its source was revoked, so nothing is received." };
    if (row.key_used_at !== null) return { state: "receiving", problem };
    return { state: row.telemetry_tested_at === null ? "registered" : "test_awaited", problem };
  }
  return { state: state as TelemetryState, problem };
}
