import { type ApiErrorBody, BudgetExceededError, OutlayError } from "./errors.js";
import type { Fetch, OutlayOptions } from "./options.js";

/** An answer of the service: its status, its parsed body, and how long it asks to wait, in milliseconds. */
export type Answer = { status: number; body: unknown; retryAfterMs: number };

/** Statuses of a service, or of a proxy in front of it, that cannot answer at the moment; 0 for a failed connection. */
const passing = new Set([0, 408, 425, 429, 502, 503, 504]);

/** Whether a request that failed with this status is worth a retry. */
export const isPassing = (status: number) => passing.has(status);

/** Sends a JSON body to a path behind `/api/v1`. */
export type Post = (
  path: string,
  body: string,
  request?: AbortController,
  keepalive?: boolean,
  method?: "POST" | "DELETE",
) => Promise<Answer>;

/**
 * A function that sends to the service. It never rejects: where no answer comes within `timeoutMs`, or the request is
 * aborted, it answers with status 0 and the error as the body.
 */
export function connect({ url, apiKey, timeoutMs = 30_000, fetch }: OutlayOptions): Post {
  const endpoint = `${url.replace(/\/+$/, "")}/api/v1`;
  const headers = {
    "Content-Type": "application/json",
    // The service counts what this client reports, for the page Sources.
    "Outlay-Client": "js",
    ...(apiKey && { Authorization: `Bearer ${apiKey}` }),
  };
  // Called as a function, because the platform's own refuses to be a method of something else.
  const send: Fetch = (...request) => (fetch ?? globalThis.fetch)(...request);
  return async (path, body, request = new AbortController(), keepalive = false, method = "POST") => {
    const timer = setTimeout(() => request.abort(), timeoutMs);
    const { signal } = request;
    try {
      const response = await send(endpoint + path, {
        ...{ method, headers, body, signal },
        ...(keepalive && { keepalive }),
      });
      const { status } = response;
      const answer = parse(await response.text());
      return { status, body: answer, retryAfterMs: readRetryAfter(response.headers.get("retry-after")) };
    } catch (error) {
      return { status: 0, body: error, retryAfterMs: 0 };
    } finally {
      clearTimeout(timer);
    }
  };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Reads `Retry-After`: seconds or a date (RFC 9110, 10.2.3). @returns milliseconds */
function readRetryAfter(value: string | null): number {
  if (!value) return 0;
  const seconds = Number(value);
  return Math.max(0, Number.isNaN(seconds) ? Date.parse(value) - Date.now() || 0 : seconds * 1000);
}

/** The error of an answer, or of one message's part of a bulk answer. */
export function toError(status: number, body: unknown): OutlayError {
  const { error, error_description } = (body ?? {}) as Partial<ApiErrorBody>;
  if (typeof error === "string") {
    const Refusal = status === 402 ? BudgetExceededError : OutlayError;
    return new Refusal(error, String(error_description), status, body as ApiErrorBody);
  }
  return status === 0
    ? new OutlayError("unreachable", "The service did not answer.", 0, undefined, { cause: body })
    : new OutlayError(
        "unexpected_answer",
        `The answer (status ${status}) did not come from Outlay. Check \`url\`.`,
        status,
      );
}

/** How long to wait after this many failures: twice as long each time, up to `maxMs`, half of it by chance. */
export function backoffMs(failures: number, maxMs = 30_000): number {
  return Math.min(maxMs, 500 * 2 ** Math.min(failures - 1, 16)) * (0.5 + Math.random() / 2);
}
