import { randomUUID } from "node:crypto";
import { ServiceError } from "@/lib/errors";
import type { RateStatus } from "@/lib/keys/decide";
import { reportFailure } from "@/lib/log";
import { metrics } from "@/lib/metrics";
import { writeJson } from "./json";
import { encodeStream, type StreamedBody } from "./streamed";

/** An id of one request: in its log lines, in every answer's X-Request-Id and in every error body. */
export function newRequestId(): string {
  return `req_${randomUUID()}`;
}

const always = {
  "Content-Type": "application/json; charset=utf-8",
  "Cache-Control": "no-store",
  // Nothing that somebody recorded is ever run for a page or a script.
  "X-Content-Type-Options": "nosniff",
};

/** A JSON response. Plain header objects, because the self-hosted server writes those without a copy. */
export function jsonResponse(
  body: unknown,
  status: number,
  requestId: string,
  headers: Record<string, string> = {},
): Response {
  return new Response(writeJson(body), {
    status,
    headers: { ...always, "X-Request-Id": requestId, ...headers },
  });
}

/** A response that is sent while it is being made, for a browser to save. */
export function streamResponse(
  body: StreamedBody,
  mediaType: string,
  requestId: string,
  headers: Record<string, string> = {},
): Response {
  return new Response(encodeStream(body), {
    status: 200,
    headers: {
      ...always,
      "Content-Type": mediaType,
      "Content-Disposition": `attachment; filename="${body.fileName}"`,
      "X-Request-Id": requestId,
      ...headers,
    },
  });
}

/**
 * The one encoder of errors. A ServiceError is sent as it is; anything else is logged with its request id and sent as
 * an `internal_error` that tells nothing of the inside.
 */
export function errorResponse(
  error: unknown,
  requestId: string,
  headers: Record<string, string> = {},
): Response {
  const known = error instanceof ServiceError ? error : undefined;
  metrics.refusals.inc({ code: known?.code ?? "internal_error" });
  if (!known || known.status >= 500) reportFailure(error, "A request failed.", { request_id: requestId });
  const sent =
    known ??
    new ServiceError(
      "internal_error",
      "Something went wrong on our side. The request_id helps us find out what.",
    );
  const body = { error: sent.code, error_description: sent.message, ...sent.fields, request_id: requestId };
  return jsonResponse(body, sent.status, requestId, { ...headers, ...sent.headers });
}

/** The rate of a key as the IETF draft's fields have it (draft-ietf-httpapi-ratelimit-headers). */
export function rateHeaders(rate: RateStatus | null): Record<string, string> {
  if (!rate) return {};
  return {
    "RateLimit-Policy": `"key";q=${rate.limit};w=60`,
    RateLimit: `"key";r=${rate.remaining};t=${Math.ceil(rate.resetMs / 1000)}`,
  };
}
