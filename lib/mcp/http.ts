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

/** Messages that a batch of the 2025-03-26 protocol may carry: it is one request, and counts once. */
const maxBatch = 20;

/**
 * The agent tools over Streamable HTTP. Checks where the request comes from, admits its key (once for each request,
 * whatever it carries), and hands it to the protocol. Refusals before that have the body of every other endpoint's;
 * what a tool refuses is a result that its model can read.
 * @param peer the socket's remote address, where the server knows it
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
  const description = `${method} is not possible here: the agent tools have no stream to open and no session to end. POST is.`;
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
 * An access token that lacks what a tool needs is refused before the protocol sees the call: the client can ask its user
 * for more, and call again. An API key cannot grow that way; its model is told by the tool.
 */
function checkScopes(principal: ToolPrincipal, body: unknown, resource: string): void {
  if (!principal.token) return;
  for (const permission of neededBy(body)) {
    if (decideAttempt(principal.key, { permissions: [permission] }))
      throw insufficientScope(principal, permission, resource);
  }
}

/** The permissions of the tools that a body calls. */
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

/** The body, or the refusal it earns. */
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
