import { type AiSdkUsage, type ProviderMetadata, readAiSdkUsage } from "./ai-sdk-usage.js";
import type { Outlay } from "./outlay.js";
import { type CallOptions, recordCall } from "./record-call.js";

export type { CallOptions } from "./record-call.js";

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

/**
 * A middleware of the AI SDK for language and embedding models. Its shape is that of versions 5, 6 and 7 at once: they
 * differ in the types of what passes through, which the middleware hands on as it is.
 */
export type OutlayMiddleware = {
  // biome-ignore lint/suspicious/noExplicitAny: "v3" in version 6, "v4" in version 7, which TypeScript cannot join.
  readonly specificationVersion: any;
  wrapGenerate<R>(options: { doGenerate: () => PromiseLike<R>; model: Model }): Promise<R>;
  wrapStream<R>(options: { doStream: () => PromiseLike<R>; model: Model }): Promise<R>;
  wrapEmbed<R>(options: { doEmbed: () => PromiseLike<R>; model: Model }): Promise<R>;
};

/**
 * A middleware for `wrapLanguageModel`, `wrapEmbeddingModel` and `wrapProvider` that records what each call of a model
 * uses: one message per step. Results, streams and errors pass unchanged. Nothing is recorded of a call that fails, nor
 * of a stream that ends without its usage, as one that the caller stops.
 *
 * ```ts
 * const model = wrapLanguageModel({ model: openai("gpt-4o"), middleware: outlayMiddleware(outlay) });
 * ```
 */
export function outlayMiddleware(outlay: Outlay, options: CallOptions = {}): OutlayMiddleware {
  const record = (model: Model, result: Result) => {
    try {
      const { usage, providerMetadata, response, finishReason } = result;
      const reason = (finishReason as { unified?: unknown } | undefined)?.unified ?? finishReason;
      if (!usage || reason === "error") return;
      const named = nameModel(model, response?.modelId);
      const call = { ...named, responseId: response?.id, ...readAiSdkUsage(usage, providerMetadata) };
      recordCall(outlay, call, options);
    } catch {
      // What goes wrong in recording must not reach the caller, whose call has succeeded.
    }
  };
  return {
    specificationVersion: "v3",
    async wrapGenerate({ doGenerate, model }) {
      const result = await doGenerate();
      record(model, result as Result);
      return result;
    },
    async wrapEmbed({ doEmbed, model }) {
      const result = await doEmbed();
      // A response of an embedding has headers and a body, but no id.
      record(model, { ...(result as Result), response: undefined });
      return result;
    },
    async wrapStream({ doStream, model }) {
      const result = await doStream();
      let response: Result["response"];
      const watch = new TransformStream<Part, Part>({
        transform(part, controller) {
          if (part.type === "response-metadata") response = part;
          // Before the caller sees it, so that a flush after the stream has it.
          if (part.type === "finish") record(model, { ...part, response });
          controller.enqueue(part);
        },
      });
      const { stream } = result as { stream: ReadableStream<Part> };
      return { ...result, stream: stream.pipeThrough(watch) };
    },
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
