import type { ArrivedOutput } from "./arrived-output.js";
import type { CallOptions } from "./call-options.js";
import type { ReservedCall } from "./enforce.js";
import { estimateInput } from "./estimate.js";
import type { Outlay } from "./outlay.js";
import { recordCall } from "./record-call.js";

/** The most tags of a message. */
const maxTags = 10;

/**
 * Records a call whose stream stopped before the provider reported its usage: the provider bills what it has generated. The input is estimated as for the reservation, the output by what arrived; the tag `usage:estimated` marks it, also in place of a tag `usage` of the caller, where ten tags leave room.
 * @returns whether the answer had begun
 */
export function recordCutCall(
  outlay: Outlay,
  { id: reservationId, asked, inputTokens: known }: ReservedCall,
  arrived: ArrivedOutput,
  options: CallOptions,
): boolean {
  const { tokens, id: responseId, model = asked.model } = arrived;
  if (tokens === undefined) return false;
  const input = estimateInput(asked, known);
  const tags = { ...options.tags, usage: "estimated" };
  const marked = Object.keys(tags).length > maxTags ? options : { ...options, tags };
  const lines = [input, { unit_type: "output_tokens", quantity: tokens }];
  const { provider, tier } = asked;
  const call = { provider, model, tier, responseId, lines, inputTokens: input.quantity };
  return recordCall(outlay, call, marked, reservationId);
}
