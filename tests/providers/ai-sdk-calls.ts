import { createAnthropic } from "@ai-sdk/anthropic";
import { createAnthropic as createAnthropic5 } from "@ai-sdk/anthropic-5";
import { createAnthropic as createAnthropic6 } from "@ai-sdk/anthropic-6";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAI as createOpenAI5 } from "@ai-sdk/openai-5";
import { createOpenAI as createOpenAI6 } from "@ai-sdk/openai-6";
import * as ai from "ai";
import * as ai5 from "ai-5";
import * as ai6 from "ai-6";

/** The SDK's versions with their providers. The calls are written in the types of the newest. */
export type Version = {
  ai: typeof ai;
  createOpenAI: typeof createOpenAI;
  createAnthropic: typeof createAnthropic;
};
export const versions = {
  5: { ai: ai5, createOpenAI: createOpenAI5, createAnthropic: createAnthropic5 },
  6: { ai: ai6, createOpenAI: createOpenAI6, createAnthropic: createAnthropic6 },
  7: { ai, createOpenAI, createAnthropic },
} as unknown as Record<string, Version>;

type Wrap = (model: Parameters<typeof ai.wrapLanguageModel>[0]["model"]) => ai.LanguageModel;

/** The models of a mock's address, each wrapped. */
export function modelsOf({ createOpenAI, createAnthropic }: Version, url: string, wrap: Wrap) {
  const openai = createOpenAI({ baseURL: `${url}/v1`, apiKey: "k" });
  const anthropic = createAnthropic({ baseURL: `${url}/v1`, apiKey: "k" });
  return {
    "OpenAI's responses": (model = "gpt-4o") => wrap(openai.responses(model)),
    "OpenAI's chat completions": (model = "gpt-4o") => wrap(openai.chat(model)),
    "Anthropic's messages": (model = "claude-sonnet-4-6") => wrap(anthropic(model)),
  };
}

export async function generate({ ai }: Version, model: ai.LanguageModel, prompt: string) {
  const { text, usage, finishReason, response } = await ai.generateText({ model, prompt, maxRetries: 0 });
  return { text, usage, finishReason, id: response.id };
}

/** Streams a text. @returns the parts that the caller sees, without what differs from call to call */
export async function stream({ ai }: Version, model: ai.LanguageModel, prompt: string) {
  const result = ai.streamText({ model, prompt, maxRetries: 0, onError: () => {} });
  const parts: unknown[] = [];
  for await (const part of result.fullStream) {
    const { type, text } = part as { type: string; text?: string };
    parts.push({ type, text });
  }
  return parts;
}

/** Streams a text. @returns the error that it tells */
export async function streamError({ ai }: Version, model: ai.LanguageModel, prompt: string) {
  let told: unknown;
  const onError = ({ error }: { error: unknown }) => {
    told = error;
  };
  for await (const _ of ai.streamText({ model, prompt, maxRetries: 0, onError }).textStream);
  return told;
}

/** Starts a stream and stops reading after the first text. */
export async function stopEarly({ ai }: Version, model: ai.LanguageModel, prompt: string) {
  const controller = new AbortController();
  const { textStream } = ai.streamText({ model, prompt, abortSignal: controller.signal, onError: () => {} });
  for await (const _ of textStream) break;
  controller.abort();
}

export async function embed(version: Version, url: string, middleware: ai.EmbeddingModelMiddleware) {
  const model = version
    .createOpenAI({ baseURL: `${url}/v1`, apiKey: "k", fetch: decodedEmbeddings })
    .embedding("text-embedding-3-small");
  const wrapped = version.ai.wrapEmbeddingModel({ model, middleware });
  return version.ai.embed({ model: wrapped, value: "a" });
}

/** The mock's vectors are in base64, which the provider of the AI SDK does not ask for. */
const decodedEmbeddings: typeof fetch = async (...request) => {
  const answer = await (await fetch(...request)).json();
  for (const item of answer.data) item.embedding = [0.5, -0.25, 1];
  return Response.json(answer);
};
