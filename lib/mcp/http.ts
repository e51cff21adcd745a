import { z } from "zod";
import { resourceAt } from "@/lib/access/oauth/addresses";
import { admitToolCall, insufficientScope, type ToolPrincipal } from "@/lib/access/oauth/admit-tool-call";
import type { Permission } from "@/lib/contract/permissions";
import { toolContracts, toolNames } from "@/lib/contract/tools";
import { ServiceError } from "@/lib/errors";
import { defaultBodyLimit, readJsonBody } from "@/lib/http/body";
import { callerAddress } from "@/lib/http/peer";
import { errorResponse, newRequestId, rateHeaders } from "@/lib/http/reply";
import { decideAttempt } from "@/lib/keys/decide";
import { reportFailure } from "@/lib/log";
import { isAllowedOrigin } from "./addresses";
import { corsHeaders, preflightResponse } from "./cors";
import { answerProtocol } from "./protocol";
import { Retries } from "./retries";
import { storeBackend } from "./store-backend";

const retries = new Retries();

/** Messages that a batch of protocol 2025-03-26 may have. A batch is one request and counts once against the rate limit. */
const maxBatch = 20;

/**
 * Answers a request to the agent tools (MCP's Streamable HTTP): checks its origin, admits its key or access token once,
 * whatever the body carries, and passes the body to the protocol. Refusals before the protocol have the status and body of
 * every other endpoint; a refusal by a tool is a tool result that a model can read.
 * @param peer the socket's remote address, if the server knows it
 */
export async function answerMcp(request: Request, peer: string | undefined): Promise<Response> {
  const requestId = newRequestId();
  const origin = request.headers.get("origin");
  const headers: Record<string, string> = { "X-Request-Id": requestId, "Cache-Control": "no-store" };
  try {
    checkOrigin(origin);
    Object.assign(headers, corsHeaders(origin));
    if (request.method === "OPTIONS") return preflightResponse(origin);
    if (request.method !== "POST") throw methodNotAllowed(request.method);
    const response = await answerCaller(request, peer, requestId, headers);
    for (const [name, value] of Object.entries(headers)) response.headers.set(name, value);
    return response;
  } catch (error) {
    return errorResponse(error, requestId, headers);
  }
}

function checkOrigin(origin: string | null): void {
  if (origin === null || isAllowedOrigin(origin)) return;
  throw new ServiceError(
    "origin_not_allowed",
    `Pages of ${origin} may not call the agent tools. The service's operator can add it to MCP_ALLOWED_ORIGINS.`,
  );
}

function methodNotAllowed(method: string): ServiceError {
  const description = `The agent tools have no ${method}: there is no stream to open and no session to end. Send a POST.`;
  return new ServiceError("method_not_allowed", description, {}, { Allow: "POST, OPTIONS" });
}

async function answerCaller(
  request: Request,
  peer: string | undefined,
  requestId: string,
  headers: Record<string, string>,
): Promise<Response> {
  const address = callerAddress(request, peer);
  const resource = resourceAt(request.headers.get("host"));
  const authorization = request.headers.get("authorization");
  const { outcome, rate } = await admitToolCall({ authorization, address, resource });
  Object.assign(headers, rateHeaders(rate));
  if (outcome instanceof ServiceError) throw outcome;
  const body = await readBody(request);
  if (body instanceof ServiceError) {
    if (body.code !== "invalid_json") throw body;
    return Response.json(
      { jsonrpc: "2.0", id: null, error: { code: -32700, message: `Parse error: ${body.message}` } },
      { status: 400 },
    );
  }
  checkScopes(outcome, body, resource);
  return answerProtocol(request, body, {
    where: "remote",
    backend: storeBackend(outcome, address),
    retries,
    caller: outcome.key.id,
    session: request.headers.get("mcp-session-id") ?? undefined,
    report: (error) => reportFailure(error, "A tool call failed.", { request_id: requestId }),
  });
}

/**
 * Refuses a call with an access token that lacks the permission of a tool, before the SDK handles it: its client can ask
 * the user for the permission and call again. A client with an API key cannot, so there the tool itself refuses.
 * @throws ServiceError permission_denied with the challenge `insufficient_scope`
 */
function checkScopes(principal: ToolPrincipal, body: unknown, resource: string): void {
  if (!principal.token) return;
  for (const permission of neededBy(body)) {
    if (decideAttempt(principal.key, { permissions: [permission] }))
      throw insufficientScope(principal, permission, resource);
  }
}

/** The permissions that the tools called in a body need. */
function neededBy(body: unknown): Permission[] {
  return (Array.isArray(body) ? body : [body]).flatMap((message) => {
    const call = toolCallShape.safeParse(message);
    return call.success ? [toolContracts[call.data.params.name].permission] : [];
  });
}

const toolCallShape = z.looseObject({
  method: z.literal("tools/call"),
  params: z.looseObject({ name: z.enum(toolNames) }),
});

/** The parsed body, or the error to refuse it with. */
async function readBody(request: Request): Promise<unknown> {
  try {
    const body = await readJsonBody(request, defaultBodyLimit);
    if (!Array.isArray(body) || body.length <= maxBatch) return body;
    return new ServiceError("payload_too_large", `A batch may have at most ${maxBatch} messages.`);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}
