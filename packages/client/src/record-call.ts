import type { CallOptions } from "./call-options.js";
import type { UsageMessage } from "./contract.generated.js";
import type { Outlay } from "./outlay.js";

/** Tokens or requests of one kind. `unit_type` is the API's. Lines of 0 are left out. */
export type Line = { unit_type: string; quantity: number };

type ServiceTier = NonNullable<UsageMessage["service_tier"]>;

/**
 * One call of a model. `tier`: how the provider served it, where that changes its price. `responseId` is the provider's id of the answer; `inputTokens` are all that the request had,
 * cached ones included, by which some models are priced.
 */
export type ModelCall = {
  provider: string;
  model: string | undefined;
  responseId: string | undefined;
  tier: ServiceTier | undefined;
  lines: Line[];
  inputTokens: number;
};

/** The service gives the same key to a report of the same answer by an exporter of OpenTelemetry. */
const responsePrefix = "otel:response:";
/** Local servers number their answers (`chatcmpl-123`); only a longer id is known to be of one answer. */
const minIdLength = 20;
const maxIdLength = 120;

/**
 * Records a call of a model once: with the answer's id as its key, so that a gateway or an exporter that reports the same
 * call counts it once. Records nothing without usage.
 * @param reservationId the reservation of the call
 * @returns whether there was something to record
 */
export function recordCall(
  outlay: Outlay,
  call: ModelCall,
  options: CallOptions,
  reservationId: string | undefined,
): boolean {
  const lines = call.lines.filter(({ quantity }) => quantity > 0);
  if (lines.length === 0) return false;
  outlay.record(toMessage({ ...call, lines }, options), {
    project: options.project,
    reservationId,
    ...keyOf(call.responseId),
  });
  return true;
}

/** The idempotency key of an answer, by the provider's id of it; none for an id that may be of several. */
function keyOf(id = "") {
  const isUnique = id.length >= minIdLength && id.length <= maxIdLength;
  return isUnique ? { idempotencyKey: `${responsePrefix}${id}`, mayExist: true } : {};
}

/** The message of a call: a line for each kind of token. */
function toMessage(
  { provider, model, tier, lines, inputTokens }: ModelCall,
  options: CallOptions,
): UsageMessage {
  return {
    type: "usage",
    provider: options.provider ?? provider,
    model: model || undefined,
    feature: options.feature,
    user: options.user,
    tags: options.tags,
    request_input_tokens: inputTokens || undefined,
    service_tier: tier,
    lines,
  };
}

const pricedTiers: readonly unknown[] = [
  "batch",
  "flex",
  "priority",
  "fast",
  "ultrafast",
] satisfies ServiceTier[];

/** The first of a provider's words for how it served a call that changes its price: undefined for the standard. */
export const tierOf = (...reported: unknown[]) =>
  reported.find((word): word is ServiceTier => pricedTiers.includes(word));

/** A count of a provider's answer: 0 where it is missing or no number. */
export const count = (value: unknown) => (typeof value === "number" && value > 0 ? value : 0);
