// Compiles only if the wrapped clients have the types of the unwrapped ones, and the middleware fits every version.
import Anthropic from "@anthropic-ai/sdk";
import { Outlay } from "@outlay/client";
import { outlayMiddleware } from "@outlay/client/ai-sdk";
import { wrapAnthropic } from "@outlay/client/anthropic";
import { wrapOpenAI } from "@outlay/client/openai";
import {
  type EmbeddingModelMiddleware,
  type LanguageModelMiddleware,
  wrapLanguageModel,
  wrapProvider,
} from "ai";
import type * as ai5 from "ai-5";
import type * as ai6 from "ai-6";
import OpenAI, { AzureOpenAI } from "openai";
import OpenAI5 from "openai-5";
import OpenAI6 from "openai-6";

const outlay = new Outlay({ url: "http://127.0.0.1" });
export const clients: [OpenAI5, OpenAI6, OpenAI, AzureOpenAI, Anthropic] = [
  wrapOpenAI(new OpenAI5(), outlay),
  wrapOpenAI(new OpenAI6(), outlay),
  wrapOpenAI(new OpenAI(), outlay, { feature: "search", enforce: { estimate: () => ({ usd: 1 }) } }),
  wrapOpenAI(new AzureOpenAI(), outlay),
  wrapAnthropic(new Anthropic(), outlay, { project: "checkout", provider: undefined, enforce: true }),
];

const middleware = outlayMiddleware(outlay);
export const language: [ai5.LanguageModelMiddleware, ai6.LanguageModelMiddleware, LanguageModelMiddleware] = [
  middleware,
  middleware,
  middleware,
];
export const embedding: [ai6.EmbeddingModelMiddleware, EmbeddingModelMiddleware] = [middleware, middleware];
export { wrapLanguageModel, wrapProvider };

// @ts-expect-error A client is needed to send with.
wrapOpenAI(new OpenAI());
// @ts-expect-error There is no such setting.
wrapOpenAI(new OpenAI(), outlay, { features: "search" });
// @ts-expect-error The copy has the methods of the original, no others.
wrapAnthropic(new Anthropic(), outlay).chat;
