import type { z } from "zod";
import { ExactNumber } from "@/lib/contract/values/exact-number";

type Issue = { path: string; message: string };

/** An error whose message is written for users and can be shown as it is. */
export class Problem extends Error {
  override name = "Problem";
}

/** An error answer of the API. Its message is the answer's `error_description`. */
export class ApiError extends Problem {
  override name = "ApiError";
  constructor(
    /** HTTP status; 0 when the service could not be reached. */
    readonly status: number,
    /** The answer's `error`, such as `validation_failed`. */
    readonly code: string,
    message: string,
    readonly issues: Issue[],
  ) {
    super(message);
  }

  /** The message of each invalid field, by its path in the body: `conditions.features.0`. */
  get fieldErrors(): Record<string, string> {
    return Object.fromEntries(this.issues.map(({ path, message }) => [path, message]));
  }
}

/**
 * Calls the API as the signed-in user, whose session is in a cookie. The schemas are passed as types only, so that zod
 * stays out of the browser bundle:
 * `callApi<typeof membership, typeof createWorkspaceRequest>("POST", "/api/v1/workspaces", { name })`.
 * Numbers with more digits than a double holds are received and sent as ExactNumber.
 * @returns the answer's body; undefined when it is empty
 * @throws ApiError for every error answer, and with status 0 when there was no answer
 */
export async function callApi<Answer extends z.ZodType, Body extends z.ZodType = z.ZodType>(
  method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE",
  path: string,
  body?: z.input<Body>,
  signal?: AbortSignal,
): Promise<z.output<Answer>> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, {
      method,
      ...(body !== undefined && {
        body: JSON.stringify(body, writeExactNumber),
        headers: { "Content-Type": "application/json" },
      }),
      ...(signal && { signal }),
    });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw unreachable(0);
  }
  if (response.ok) return (text === "" ? undefined : JSON.parse(text, reviveExactNumber)) as z.output<Answer>;
  throw parseError(response.status, text);
}

/**
 * Checks with HEAD whether an answer of the API has changed. @param tag its last known ETag, as `W/"…"`
 * @returns its present ETag. @throws ApiError as `callApi`, with an empty message, because HEAD has no body
 */
export async function readTag(path: string, tag: string, signal: AbortSignal): Promise<string | null> {
  const headers = { "If-None-Match": tag };
  const answer = await fetch(path, { method: "HEAD", headers, cache: "no-store", signal });
  if (!answer.ok && answer.status !== 304) throw new ApiError(answer.status, "unavailable", "", []);
  return answer.headers.get("ETag");
}

/** @param status 0 for no answer, or the status of a proxy that cannot reach the service */
function unreachable(status: number): ApiError {
  return new ApiError(status, "unreachable", "Outlay cannot be reached. Try again in a moment.", []);
}

/** The error of an answer that is not `ok`. */
export async function readProblem(answer: Response): Promise<ApiError> {
  return parseError(answer.status, await answer.text().catch(() => ""));
}

function parseError(status: number, text: string): ApiError {
  try {
    const { error, error_description: message, issues = [] } = JSON.parse(text);
    return new ApiError(status, error, message, issues);
  } catch {
    if (status >= 502 && status <= 504) return unreachable(status);
    return new ApiError(status, "unavailable", "The service sent an unexpected answer. Try again.", []);
  }
}

/** A JSON reviver. Browsers pass it the number's text as `context.source` since 2025; older ones keep the double. */
function reviveExactNumber(_: string, value: unknown, context?: { source?: string }): unknown {
  if (typeof value !== "number" || context?.source === undefined) return value;
  const significant = context.source.replace(/e.*$/i, "").replace(/[^\d]/g, "").replace(/^0+/, "").length;
  return significant > 15 ? new ExactNumber(context.source) : value;
}

/** A JSON replacer that writes an ExactNumber with all its digits, if the browser has `JSON.rawJSON`. */
export function writeExactNumber(this: Record<string, unknown>, name: string, value: unknown): unknown {
  const original = this[name];
  const { rawJSON } = JSON as { rawJSON?: (text: string) => unknown };
  return original instanceof ExactNumber && rawJSON ? rawJSON(original.text) : value;
}
