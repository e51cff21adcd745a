import { onTestFinished, vi } from "vitest";
import type { z } from "zod";
import { parsePart } from "@/lib/contract/values/parse-part";
import { ServiceError, validationFailed } from "@/lib/errors";
import { parseJson, writeJson } from "@/lib/http/json";

/** A call of a component. `body` is as the service reads it. */
export type Call = { method: string; path: string; query: URLSearchParams; body: unknown };

/** Answers a call with a body, or with the refusal that it throws. */
type Answer = (call: Call) => unknown;

/**
 * Answers the calls of components in place of the service until the test ends. Other endpoints cannot be reached.
 * @param answers by method and path: `GET /api/v1/me`
 * @returns the calls so far, in their order
 */
export function answerApi(answers: Record<string, Answer>): Call[] {
  const calls: Call[] = [];
  vi.stubGlobal("fetch", async (address: string, { method = "GET", body }: RequestInit = {}) => {
    const { pathname: path, searchParams: query } = new URL(address, "http://127.0.0.1:9");
    const call = { method, path, query, body: body ? parseJson(String(body)) : undefined };
    calls.push(call);
    const answer = answers[`${method} ${path}`];
    if (!answer) throw new TypeError("fetch failed");
    try {
      return respond(path.endsWith("/batch") ? 207 : 200, await answer(call));
    } catch (error) {
      if (!(error instanceof ServiceError)) throw error;
      return respond(error.status, describeError(error));
    }
  });
  onTestFinished(() => {
    vi.unstubAllGlobals();
  });
  return calls;
}

const respond = (status: number, body: unknown) =>
  new Response(writeJson(body), { status, headers: { "Content-Type": "application/json" } });

/** An error as the service writes it, for an answer of its own or for one of many messages. */
export const describeError = ({ code, message, fields }: ServiceError) => ({
  error: code,
  error_description: message,
  ...fields,
});

/** Reads a body by its schema as the service does. @throws ServiceError validation_failed */
export function readBody<Schema extends z.ZodType>(schema: Schema, body: unknown): z.output<Schema> {
  const read = parsePart(schema, body);
  if (read.ok) return read.value;
  throw validationFailed(read.issues);
}
