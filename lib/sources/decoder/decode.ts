import type { StoredSource } from "@/lib/keys/api-key";
import type { Decoded } from "@/lib/sources/decoded";
import { openRouter } from "@/lib/sources/emitters/openrouter";
import { helicone } from "@/lib/sources/gateways/helicone";
import { liteLlm } from "@/lib/sources/gateways/litellm";
import { readDelivery } from "@/lib/sources/gateways/read-delivery";
import { mapExport } from "@/lib/sources/mapping/map-export";
import { offeredNames } from "@/lib/sources/mapping/source-settings";
import type { Signal } from "@/lib/sources/otlp/entry";
import { type Encoding, readExport } from "@/lib/sources/otlp/read-export";

/** The format of a body, and the settings of its source. OpenRouter sends an OTLP export of traces in JSON. */
export type Form =
  | { name: "otlp"; signal: Signal; encoding: Encoding; settings: StoredSource | null }
  | { name: "openrouter" | "litellm" | "helicone"; settings: StoredSource | null };

/** A delivery of a gateway has calls only. */
const nothingElse = { spans: [], remarks: [], refused: [], leftOut: [] };

/** Decodes the body of an emitter or a gateway. Pure. @throws ServiceError validation_failed, invalid_json, payload_too_large */
export function decodeBody(form: Form, bytes: Uint8Array): Decoded {
  const { settings } = form;
  if (form.name === "litellm") return { items: readDelivery(liteLlm, bytes, settings), ...nothingElse };
  if (form.name === "helicone") return { items: readDelivery(helicone, bytes, settings), ...nothingElse };
  const isOtlp = form.name === "otlp";
  const { signal, encoding } = isOtlp ? form : ({ signal: "traces", encoding: "json" } as const);
  const read = readExport(signal, encoding, bytes, offeredNames(settings));
  const { records, ...rest } = mapExport(read, settings, isOtlp ? undefined : () => openRouter);
  return { items: records, ...rest };
}
