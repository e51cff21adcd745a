import { type AnthropicUsage, readAnthropicUsage } from "./anthropic-usage.js";
import type { CallOptions } from "./call-options.js";
import { mostOutputOf } from "./estimate.js";
import type { Outlay } from "./outlay.js";
import { tierOf } from "./record-call.js";
import { type AnswerReader, type Recognise, wrapClient } from "./recording-fetch.js";

export type { CallOptions, EnforceOptions, Estimate } from "./call-options.js";

/**
 * A copy of a client of Anthropic's SDK that records what its messages use, streamed or not. It behaves as the original
 * does: the same methods, results and errors. Nothing is recorded of a call that fails. Of a stream that the caller
 * stops, what Anthropic reported until then is recorded: the input, and the latest count of the output.
 *
 * ```ts
 * const anthropic = wrapAnthropic(new Anthropic(), outlay, { feature: "support" });
 * ```
 * @throws TypeError where it is no client of the SDK
 */
export function wrapAnthropic<Client extends object>(
  client: Client,
  outlay: Outlay,
  options: CallOptions = {},
): Client {
  return wrapClient(client, outlay, options, recognise);
}

type Request = { model?: string; speed?: unknown; service_tier?: unknown };

const recognise: Recognise = ({ url, method, body }) => {
  if (method !== "POST" || !url.pathname.endsWith("/v1/messages")) return undefined;
  const request = (body ?? {}) as Request;
  const { model } = request;
  const tier = tierOf(request.speed, request.service_tier);
  const most = { mostOutput: mostOutputOf(request), hasOutput: true };
  return { reader: messageReader(model), asked: { provider: "anthropic", model, tier, request, ...most } };
};

type Message = { id?: string; model?: string; usage?: AnthropicUsage };
type Event = Message & { type?: string; message?: Message };

function messageReader(requested: string | undefined): AnswerReader {
  let message: Message = {};
  let hasFailed = false;
  let isComplete = false;
  return {
    read(data) {
      const event = data as Event;
      if (event.type === "message") message = event;
      else if (event.type === "message_start") message = event.message ?? {};
      else if (event.type === "message_delta") {
        // The counts are totals so far; those that do not change may be null.
        const reported = Object.entries(event.usage ?? {}).filter(([, value]) => value !== null);
        message = { ...message, usage: { ...message.usage, ...Object.fromEntries(reported) } };
      } else if (event.type === "error") hasFailed = true;
      else if (event.type === "message_stop") isComplete = true;
    },
    isComplete: () => isComplete,
    call() {
      const { id, model = requested, usage } = message;
      if (!usage || hasFailed) return undefined;
      return { provider: "anthropic", model, responseId: id, ...readAnthropicUsage(usage) };
    },
  };
}
