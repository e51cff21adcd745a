import { randomUUID } from "node:crypto";
import { ServiceError } from "@/lib/errors";
import type { RateStatus } from "@/lib/keys/decide";
import { reportFailure } from "@/lib/log";
import { metrics } from "@/lib/metrics";
import { writeJson } from "./json";
import type { PreparedFile } from "./prepared-file";
import { encodeStream, type StreamedBody } from "./streamed";

/** A new request id. It is in the request's log lines, in X-Request-Id and in every error body. */
export function newRequestId(): string {
  return `req_${randomUUID()}`;
}

const always = {
  "Content-Type": "application/json; charset=utf-8",
  "Cache-Control": "no-store",
  // Browsers must not run recorded text as a page or a script.
  "X-Content-Type-Options": "nosniff",
};

/** A JSON response. Its headers are a plain object, which the self-hosted server writes without copying. */
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

/** A response without a body: to HEAD, or 304. */
export function bodylessResponse(
  status: number,
  requestId: string,
  headers: Record<string, string>,
): Response {
  return new Response(null, { status, headers: { ...always, "X-Request-Id": requestId, ...headers } });
}

/** A response with a prepared file, or 304 where the client has it. */
export function fileResponse(
  file: PreparedFile,
  { headers: asked }: Request,
  requestId: string,
  headers: Record<string, string>,
): Response {
  const answer = file.answer({
    acceptEncoding: asked.get("accept-encoding"),
    ifNoneMatch: asked.get("if-none-match"),
  });
  return new Response(answer.body as Uint8Array<ArrayBuffer> | undefined, {
    status: answer.status,
    headers: {
      "X-Content-Type-Options": "nosniff",
      "X-Request-Id": requestId,
      ...answer.headers,
      ...headers,
    },
  });
}

/** A streamed response that browsers save as a file. */
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
      ...body.headers,
      ...headers,
    },
  });
}

/**
 * Encodes an error. A ServiceError is sent with its code, description and fields. Any other error is logged with the
 * request id and sent as `internal_error`, without details.
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

/** The headers of a key's rate (draft-ietf-httpapi-ratelimit-headers); none for a key without a rate limit. */
export function rateHeaders(rate: RateStatus | null): Record<string, string> {
  if (!rate) return {};
  return {
    "RateLimit-Policy": `"key";q=${rate.limit};w=60`,
    RateLimit: `"key";r=${rate.remaining};t=${Math.ceil(rate.resetMs / 1000)}`,
  };
}
