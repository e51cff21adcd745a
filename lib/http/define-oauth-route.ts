import { OAuthError } from "@/lib/access/oauth/oauth-error";
import type { Fields } from "@/lib/access/oauth/tokens";
import { ServiceError } from "@/lib/errors";
import { callerAddress } from "@/lib/peer";
import { readFormBody, readJsonBody } from "./body";
import { type Handler, type HttpMethod, refuseMethod } from "./define-route";
import { openCors, openPreflight } from "./open-cors";
import { errorResponse, jsonResponse, newRequestId } from "./reply";

/** The most bytes in a request to OAuth's endpoints. */
const bodyLimit = 16 * 1024;

/** The input of an OAuth endpoint. */
type Incoming<Body> = { body: Body; address: string | undefined };

/** How the body of an OAuth endpoint is sent, and the function that answers it. */
type OAuthEndpoint =
  | { status?: number; form: (incoming: Incoming<Fields>) => Promise<object> }
  | { status?: number; json: (incoming: Incoming<unknown>) => Promise<object> };

/**
 * The handlers of an OAuth endpoint. It does not use `defineRoute`, because bodies, errors and headers follow OAuth's
 * specifications. Pages of any origin may call it, because it uses no cookies.
 */
export function defineOAuthRoute(endpoint: OAuthEndpoint): Record<HttpMethod | "OPTIONS", Handler> {
  const answer = async (request: Request, address: string | undefined): Promise<object> =>
    "form" in endpoint
      ? endpoint.form({ body: parseFields(await readFormBody(request, bodyLimit)), address })
      : endpoint.json({ body: await readJsonBody(request, bodyLimit, "anybody"), address });
  const refuse = refuseMethod("POST");
  return {
    POST: async (request, context) => {
      const requestId = newRequestId();
      try {
        const body = await answer(request, callerAddress(request, context.peer));
        return jsonResponse(body, endpoint.status ?? 200, requestId, openCors);
      } catch (error) {
        return refusalResponse(error, requestId);
      }
    },
    GET: refuse,
    PUT: refuse,
    PATCH: refuse,
    DELETE: refuse,
    OPTIONS: openPreflight,
  };
}

/**
 * Encodes an error. OAuth's specifications have no code for too many requests. MCP clients understand
 * `too_many_requests`; they take any other code for a server error and start a new sign-in, which would be refused too.
 */
function refusalResponse(error: unknown, requestId: string): Response {
  if (error instanceof OAuthError) {
    const body = { error: error.code, error_description: error.message };
    return jsonResponse(body, error.status, requestId, openCors);
  }
  if (error instanceof ServiceError && error.code === "rate_limited") {
    const body = { error: "too_many_requests", error_description: error.message, ...error.fields };
    return jsonResponse(body, error.status, requestId, { ...openCors, ...error.headers });
  }
  return errorResponse(error, requestId, openCors);
}

/** @throws OAuthError invalid_request if a field is repeated (RFC 6749 section 3.2) */
function parseFields(form: URLSearchParams): Fields {
  const fields = new Map<string, string>();
  for (const [name, value] of form) {
    if (fields.has(name)) throw new OAuthError("invalid_request", "A field is repeated.");
    fields.set(name, value);
  }
  return fields;
}
