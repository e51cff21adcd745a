import { type AiSdkUsage, type ProviderMetadata, readAiSdkUsage } from "./ai-sdk-usage.js";
import { ArrivedOutput } from "./arrived-output.js";
import type { CallOptions } from "./call-options.js";
import { reserveCall } from "./enforce.js";
import type { AskedCall } from "./estimate.js";
import type { Outlay } from "./outlay.js";
import { count, recordCall, tierOf } from "./record-call.js";
import { recordCutCall } from "./record-cut-call.js";

export type { CallOptions, EnforceOptions, Estimate } from "./call-options.js";

/** What the middleware reads of a model. */
type Model = { provider: string; modelId: string };

/** What the middleware reads of a result, or of a part of a stream. */
type Result = {
  usage?: AiSdkUsage | undefined;
  providerMetadata?: ProviderMetadata;
  response?: { id?: string | undefined; modelId?: string | undefined } | undefined;
  finishReason?: unknown;
};
type Part = Result & { type: string; id?: string; modelId?: string };

/** What the middleware reads of the options of a call, of a language or an embedding model. */
type Params = {
  maxOutputTokens?: unknown;
  values?: unknown;
  providerOptions?: { openai?: { serviceTier?: unknown }; anthropic?: { speed?: unknown } } | undefined;
  abortSignal?: AbortSignal | undefined;
};

/**
 * A middleware of the AI SDK for language and embedding models. Its shape is that of versions 5, 6 and 7 at once: they
 * differ in the types of what passes through, which the middleware hands on as it is.
 */
export type OutlayMiddleware = {
  // biome-ignore lint/suspicious/noExplicitAny: "v3" in version 6, "v4" in version 7, which TypeScript cannot join.
  readonly specificationVersion: any;
  wrapGenerate<R>(options: { doGenerate: () => PromiseLike<R>; model: Model; params?: object }): Promise<R>;
  wrapStream<R>(options: { doStream: () => PromiseLike<R>; model: Model; params?: object }): Promise<R>;
  wrapEmbed<R>(options: { doEmbed: () => PromiseLike<R>; model: Model; params?: object }): Promise<R>;
};

/**
 * A middleware for `wrapLanguageModel`, `wrapEmbeddingModel` and `wrapProvider` that records what each call of a model
 * uses: one message per step. Results, streams and errors pass unchanged. Nothing is recorded of a call that fails, nor
 * of a stream that ends without its usage, as one that the caller stops. With `enforce`, each call reserves first, and is refused with a
 * `BudgetExceededError` where a limit leaves no room; of such a stream, an estimate is recorded.
 *
 * ```ts
 * const model = wrapLanguageModel({ model: openai("gpt-4o"), middleware: outlayMiddleware(outlay) });
 * ```
 */
export function outlayMiddleware(outlay: Outlay, options: CallOptions = {}): OutlayMiddleware {
  /** @returns whether there was something to record */
  const record = (model: Model, result: Result, reservation: string | undefined): boolean => {
    try {
      const { usage, providerMetadata, response, finishReason } = result;
      const reason = (finishReason as { unified?: unknown } | undefined)?.unified ?? finishReason;
      if (!usage || reason === "error") return false;
      const named = nameModel(model, response?.modelId);
      const call = { ...named, responseId: response?.id, ...readAiSdkUsage(usage, providerMetadata) };
      return recordCall(outlay, call, options, reservation);
    } catch {
      // What goes wrong in recording must not reach the caller, whose call has succeeded.
      return false;
    }
  };
  /** Reserves, calls, and releases where the call fails or has nothing to record. Of a stream that stopped, it records an estimate. */
  const enforced = async <R>(
    model: Model,
    params: Params,
    run: (reservation: string | undefined, release: (arrived?: ArrivedOutput) => void) => Promise<R>,
  ): Promise<R> => {
    const reservation = await reserveCall(outlay, askedOf(model, params), options);
    const release = (arrived?: ArrivedOutput) => {
      if (!reservation || (arrived && recordCutCall(outlay, reservation, arrived, options))) return;
      void outlay.release(reservation.id);
    };
    try {
      return await run(reservation?.id, release);
    } catch (error) {
      release();
      throw error;
    }
  };
  return {
    specificationVersion: "v3",
    wrapGenerate: ({ doGenerate, model, params = {} }) =>
      enforced(model, params, async (reservation, release) => {
        const result = await doGenerate();
        if (!record(model, result as Result, reservation)) release();
        return result;
      }),
    wrapEmbed: ({ doEmbed, model, params = {} }) =>
      enforced(model, params, async (reservation, release) => {
        const result = await doEmbed();
        // A response of an embedding has headers and a body, but no id.
        if (!record(model, { ...(result as Result), response: undefined }, reservation)) release();
        return result;
      }),
    wrapStream: ({ doStream, model, params = {} }) =>
      enforced(model, params, async (reservation, release) => {
        const result = await doStream();
        let response: Result["response"];
        let isRecorded = false;
        const arrived = new ArrivedOutput();
        const { stream } = result as { stream: ReadableStream<Part> };
        const see = (part: Part) => {
          arrived.add(part);
          if (part.type === "response-metadata") response = part;
          // Before the caller sees it, so that a flush after the stream has it.
          if (part.type === "finish") isRecorded = record(model, { ...part, response }, reservation);
        };
        const end = () => {
          if (!isRecorded) release(arrived);
        };
        return { ...result, stream: watch(stream, see, end, (params as Params).abortSignal) };
      }),
  };
}

/**
 * The same stream. Calls `see` with each part before the caller gets it, and `end` once: at its end, after an error, or when the
 * caller stops.
 */
function watch(
  stream: ReadableStream<Part>,
  see: (part: Part) => void,
  end: () => void,
  signal: AbortSignal | undefined,
): ReadableStream<Part> {
  const source = stream.getReader();
  let hasEnded = false;
  const finish = () => {
    if (!hasEnded) end();
    hasEnded = true;
    signal?.removeEventListener("abort", finish);
  };
  // The caller may stop without reading on.
  signal?.addEventListener("abort", finish);
  return new ReadableStream<Part>(
    {
      async pull(controller) {
        try {
          const { done, value } = await source.read();
          if (!done) {
            see(value);
            return controller.enqueue(value);
          }
          finish();
          controller.close();
        } catch (error) {
          finish();
          controller.error(error);
        }
      },
      cancel(reason) {
        finish();
        return source.cancel(reason);
      },
    },
    { highWaterMark: 0 },
  );
}

function askedOf(model: Model, params: Params): AskedCall {
  const { abortSignal: _, ...request } = params;
  const { openai, anthropic } = params.providerOptions ?? {};
  return {
    ...nameModel(model, undefined),
    tier: tierOf(openai?.serviceTier, anthropic?.speed),
    request,
    mostOutput: count(params.maxOutputTokens) || undefined,
    hasOutput: params.values === undefined,
  };
}

/** Vercel's gateway names models `provider/model`; others have a provider such as `openai.responses`. */
function nameModel({ provider, modelId }: Model, answered: string | undefined) {
  const [, owner, name] = /^([^/]+)\/(.+)$/.exec(modelId) ?? [];
  if (provider === "gateway" && owner) return { provider: owner, model: name };
  return {
    provider: /vertex/i.test(provider) ? "google-vertex" : (provider.split(".")[0] ?? provider),
    model: answered ?? modelId,
  };
}
