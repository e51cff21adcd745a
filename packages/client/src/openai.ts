import type { CallOptions } from "./call-options.js";
import { type AskedCall, mostOutputOf } from "./estimate.js";
import { type OpenAIUsage, readOpenAIUsage, readToolCalls } from "./openai-usage.js";
import type { Outlay } from "./outlay.js";
import { tierOf } from "./record-call.js";
import { type AnswerReader, type Recognise, wrapClient } from "./recording-fetch.js";

export type { CallOptions, EnforceOptions, Estimate } from "./call-options.js";

/** Settings of `wrapOpenAI`. */
export type OpenAIOptions = CallOptions & {
  /**
   * Whether to ask for the usage of streamed chat completions (`stream_options.include_usage`) where the caller does not.
   * The caller does not see it. Default `true`; `false` for servers that refuse the field, whose streams are then not
   * recorded.
   */
  includeUsage?: boolean | undefined;
};

/**
 * A copy of a client of OpenAI's SDK that records what its chat completions, completions, responses and embeddings use,
 * streamed or not. It behaves as the original does: the same methods, results and errors. Nothing is recorded of a call
 * that fails, nor of a stream that the caller stops: OpenAI reports the usage at its end. With `enforce`, an estimate of
 * a stream that stops is recorded.
 *
 * ```ts
 * const openai = wrapOpenAI(new OpenAI(), outlay, { feature: "search" });
 * ```
 * @throws TypeError where it is no client of the SDK, version 5 or newer
 */
export function wrapOpenAI<Client extends object>(
  client: Client,
  outlay: Outlay,
  options: OpenAIOptions = {},
): Client {
  return wrapClient(client, outlay, options, recogniser(options.includeUsage ?? true));
}

/** Whom other hosts that speak OpenAI's protocol belong to. */
const providersByHost: [suffix: string, provider: string][] = [
  [".azure.com", "azure"],
  [".microsoft.com", "azure"],
  ["openrouter.ai", "openrouter"],
  ["deepseek.com", "deepseek"],
  ["groq.com", "groq"],
  ["mistral.ai", "mistral"],
  ["x.ai", "x-ai"],
  ["together.xyz", "together"],
  ["together.ai", "together"],
  ["fireworks.ai", "fireworks"],
  ["cerebras.ai", "cerebras"],
  ["perplexity.ai", "perplexity"],
  ["googleapis.com", "google"],
  ["anthropic.com", "anthropic"],
];

function providerOf({ hostname }: URL): string {
  const isOf = (suffix: string) => hostname === suffix || hostname.endsWith(`.${suffix.replace(/^\./, "")}`);
  return providersByHost.find(([suffix]) => isOf(suffix))?.[1] ?? "openai";
}

type Request = {
  model?: string;
  stream?: unknown;
  stream_options?: { include_usage?: unknown } | null;
  service_tier?: unknown;
};

const recogniser =
  (includeUsage: boolean): Recognise =>
  ({ url, method, body }) => {
    const request = (body ?? {}) as Request;
    const provider = providerOf(url);
    const { pathname } = url;
    const [, fetchedId] = /\/responses\/([^/]+)$/.exec(pathname) ?? [];
    if (method === "GET" && fetchedId) return { reader: responseReader(provider, request, true), fetchedId };
    if (method !== "POST") return undefined;
    const isEmbedding = pathname.endsWith("/embeddings");
    const asked: AskedCall = {
      ...{ provider, model: request.model, tier: tierOf(request.service_tier), request },
      ...{ mostOutput: mostOutputOf(request), hasOutput: !isEmbedding },
    };
    if (pathname.endsWith("/responses")) return { reader: responseReader(provider, request, false), asked };
    if (!isEmbedding && !pathname.endsWith("/completions")) return undefined;
    const asks = includeUsage && request.stream === true && request.stream_options?.include_usage !== true;
    const reader = completionReader(provider, request);
    if (!asks) return { reader, asked };
    const stream_options = { ...request.stream_options, include_usage: true };
    return {
      reader: { ...reader, rewrite: withoutUsage },
      body: JSON.stringify({ ...request, stream_options }),
      asked,
    };
  };

type Answer = {
  id?: string;
  model?: string;
  usage?: OpenAIUsage | null;
  error?: unknown;
  choices?: unknown[];
  status?: string;
  background?: boolean | null;
  output?: unknown;
  service_tier?: unknown;
};

/** Reads completions and embeddings: one answer, or chunks of which one has the usage. */
function completionReader(provider: string, request: Request): AnswerReader {
  let answer: Answer = {};
  return {
    read: (data) => {
      answer = { ...answer, ...withoutNulls(data as Answer) };
    },
    isComplete: () => Boolean(answer.usage),
    call: () => toCall(provider, request, answer),
  };
}

/**
 * Reads responses: one answer, or events of which the last has it whole.
 * @param isFetched a response that was made before. Only those made in the background report their usage then for the first time.
 */
function responseReader(provider: string, request: Request, isFetched: boolean): AnswerReader {
  let answer: Answer = {};
  return {
    read(data) {
      const { response = data } = data as { response?: unknown };
      answer = response as Answer;
    },
    isComplete: () => Boolean(answer.usage),
    unfinishedId: () =>
      answer.background && /^(queued|in_progress)$/.test(answer.status ?? "") ? answer.id : undefined,
    call() {
      if (answer.status === "failed" || (isFetched && !answer.background)) return undefined;
      return toCall(provider, request, answer);
    },
  };
}

function toCall(provider: string, request: Request, answer: Answer) {
  const { id, model = request.model, usage, error, output, service_tier } = answer;
  if (!usage || error) return undefined;
  const { lines, inputTokens } = readOpenAIUsage(usage);
  const tier = tierOf(service_tier);
  return { provider, model, responseId: id, tier, inputTokens, lines: [...lines, ...readToolCalls(output)] };
}

/** An event without the usage that the caller has not asked for; nothing where it has only that. */
function withoutUsage(event: string, data: unknown): string {
  const { usage, ...chunk } = data as Answer;
  if (usage === undefined) return event;
  if (usage && chunk.choices?.length === 0) return "";
  // Some servers report it with the last choice, asked or not.
  return usage ? event : `data: ${JSON.stringify(chunk)}\n\n`;
}

const withoutNulls = (answer: Answer): Answer =>
  Object.fromEntries(Object.entries(answer).filter(([, value]) => value !== null));
