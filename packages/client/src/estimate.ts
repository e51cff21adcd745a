import type { CallOptions, Estimate } from "./call-options.js";
import type { UsageMessage } from "./contract.generated.js";
import { count, type Line, type ModelCall } from "./record-call.js";

/** A call that is about to be made. `mostOutput`: the maximum of output tokens in all answers, if the request states one. */
export type AskedCall = Pick<ModelCall, "provider" | "model" | "tier"> & {
  /** The model's input: the body of the request, or the prompt. */
  request: unknown;
  mostOutput: number | undefined;
  /** Whether the model answers with tokens at all; embeddings do not. */
  hasOutput: boolean;
};

/**
 * Tokens are counted as half the bytes of the request's JSON. Prose has 3 to 5 bytes a token, code and other scripts 2 to 3; random
 * letters may have fewer than 2.
 */
const bytesPerToken = 2;
/** More tokens than the largest image has at OpenAI and Anthropic, except with OpenAI's detail `original`. */
const tokensPerImage = 5000;

/**
 * The message of a reservation: the maximum usage of a call. Undefined if the call needs no reservation.
 * @param estimate the caller's own figures; null if the call needs no reservation
 */
export function toMostUsage(
  asked: AskedCall,
  options: CallOptions,
  estimate: Estimate | null | undefined,
  maxOutputTokens: number,
): UsageMessage | undefined {
  if (estimate === null) return undefined;
  const common = {
    type: "usage" as const,
    provider: options.provider ?? asked.provider,
    model: asked.model || undefined,
    feature: options.feature,
    user: options.user,
    tags: options.tags,
    service_tier: asked.tier,
  };
  if (estimate?.usd !== undefined)
    return { ...common, unit_type: "requests", quantity: 1, estimated_cost: estimate.usd };
  const output = asked.hasOutput ? (estimate?.outputTokens ?? asked.mostOutput ?? maxOutputTokens) : 0;
  const input = estimateInput(asked, estimate?.inputTokens);
  const lines = [input, { unit_type: "output_tokens", quantity: Math.ceil(output) }];
  return {
    ...common,
    request_input_tokens: input.quantity || undefined,
    lines: lines.filter(({ quantity }) => quantity > 0),
  };
}

/** Estimates the input of a call, for which the provider has reported none. @param known its tokens, if the caller knows them */
export function estimateInput(asked: AskedCall, known: number | undefined): Line {
  const { tokens, text } = countInput(asked.request);
  return { unit_type: inputUnitOf(asked, text), quantity: Math.ceil(known ?? tokens) };
}

/** Anthropic bills what is written to its cache at more than the input's price. */
function inputUnitOf({ provider }: AskedCall, text: string): string {
  if (provider !== "anthropic" || !/"cache_?control"/i.test(text)) return "input_tokens";
  return /"ttl":"1h"/.test(text) ? "cache_write_1h_tokens" : "cache_write_5m_tokens";
}

/** The estimated input tokens of a request, and its JSON without images and binary data. */
function countInput(request: unknown): { tokens: number; text: string } {
  let images = 0;
  let bytes = 0;
  const text =
    JSON.stringify(request, function (this: Record<string, unknown>, name, value) {
      // `value` is the result of `toJSON`, which Node's buffers have; this is the buffer itself.
      const original = this[name];
      if (ArrayBuffer.isView(original)) {
        bytes += original.byteLength;
        return null;
      }
      if (!isImage(value)) return value;
      images += 1;
      return null;
    }) ?? "";
  bytes += new TextEncoder().encode(text).length;
  return { tokens: images * tokensPerImage + Math.ceil(bytes / bytesPerToken), text };
}

/** Parts of a prompt: `image_url`, `input_image` and `image` of the providers, and files of the AI SDK. */
function isImage(value: unknown): boolean {
  const { type, mediaType } = (value ?? {}) as { type?: unknown; mediaType?: unknown };
  return /^(image_url|input_image|image)$/.test(String(type)) || String(mediaType).startsWith("image/");
}

/** The most output tokens that a body of OpenAI's or Anthropic's API allows, for all the answers it asks for. */
export function mostOutputOf(body: unknown): number | undefined {
  const asked = (body ?? {}) as Record<string, unknown>;
  const most = count(asked.max_completion_tokens ?? asked.max_output_tokens ?? asked.max_tokens);
  return most > 0 ? most * Math.max(1, count(asked.n), count(asked.best_of)) : undefined;
}
