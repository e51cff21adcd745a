import { z } from "zod";
import { instant, projectSlug, uuid } from "@/lib/contract/values/fields";
import type { PulledProvider } from "./pulled-providers";

/** The providers that send their telemetry to an address that they are given. `program`, `source`: of the source that is made for it. */
export const telemetryProviders = {
  anthropic: { program: "claude-platform", source: "Claude platform" },
  openrouter: { program: "openrouter", source: "OpenRouter Broadcast" },
} as const satisfies Partial<Record<PulledProvider, { program: string; source: string }>>;
export type TelemetryProvider = keyof typeof telemetryProviders;

/** Whether a provider sends its telemetry to an address that it is given. */
export const sendsTelemetry = (provider: PulledProvider): provider is TelemetryProvider =>
  provider in telemetryProviders;

export const telemetryStates = [
  "none",
  "unreachable",
  "registering",
  "refused",
  "failed",
  "registered",
  "test_awaited",
  "receiving",
  "failing",
  "disabled",
  "gone",
] as const;
export type TelemetryState = (typeof telemetryStates)[number];

export const providerTelemetry = z
  .object({
    state: z.enum(telemetryStates).meta({
      description:
        "`none`: not registered. `unreachable`: it cannot be, because the provider cannot reach the service; `problem` says what to do. `registering`: the provider is being asked. `refused`: the provider refused the registration. `failed`: the registration did not end; register again. `registered`: nothing has arrived yet. `test_awaited`: the provider has sent a test, which has not arrived yet. `receiving`. `failing`: the provider cannot deliver. `disabled`, `gone`: it was disabled or removed at the provider.",
    }),
    problem: z
      .string()
      .nullable()
      .meta({ description: "What is wrong, in the provider's own words where it said it." }),
    source_id: uuid
      .nullable()
      .meta({ description: "The source, whose key the provider sends with; null where there is none." }),
    received_at: instant
      .nullable()
      .meta({ description: "When something last arrived, to the minute; null while nothing has." }),
    checked_at: instant
      .nullable()
      .meta({ description: "When its state at the provider was last read: once a day, and when asked for." }),
    registered_at: instant.nullable(),
    registered_by: z.string().nullable().meta({ description: "The address of who registered it." }),
  })
  .meta({ id: "ProviderTelemetry" });
export type ProviderTelemetry = z.output<typeof providerTelemetry>;

export const registerTelemetryRequest = z
  .strictObject({
    project: projectSlug.optional().meta({
      description: "The project of calls that name none. It can be changed in the settings of the source.",
    }),
  })
  .meta({ id: "RegisterTelemetryRequest" });
export type RegisterTelemetryRequest = z.output<typeof registerTelemetryRequest>;

/** What becomes of the destination at the provider when the registration ends here. */
export const destinationEnd = z.enum(["remove", "leave"]).default("remove").meta({
  description:
    "What becomes of the telemetry destination at the provider: `remove`, or `leave` where it cannot be removed. Its key here is revoked either way.",
});
export type DestinationEnd = z.output<typeof destinationEnd>;

export const removeTelemetryQuery = z.strictObject({ destination: destinationEnd });
