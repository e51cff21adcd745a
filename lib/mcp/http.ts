import { resourceAt } from "@/lib/access/oauth/addresses";
import { type ToolContract, type ToolName, toolContracts, toolNames } from "@/lib/contract/tools";
import { ServiceError } from "@/lib/errors";
import { defaultBodyLimit, readJsonBody, type Sender } from "@/lib/http/body";
import { errorResponse, newRequestId, rateHeaders } from "@/lib/http/reply";
import type { KeyLookup } from "@/lib/keys/api-key";
import { decideAttempt } from "@/lib/keys/decide";
import type { KeyPrincipal } from "@/lib/keys/identify";
import { knownKey } from "@/lib/keys/known-keys";
import { reportFailure } from "@/lib/log";
import { callerAddress } from "@/lib/peer";
import { passSpan } from "@/lib/tracing";
import { isAllowedOrigin } from "./addresses";
import { ToolAdmission } from "./admission";
import { insufficientScope, parseToolCredentials } from "./admit-tool-call";
import { answerProtocol } from "./protocol";
import { Retries } from "./retries";
import { storeBackend } from "./store-backend";

const retries = new Retries();

/** Messages that a batch of protocol 2025-03-26 may have. A batch is one request and counts once against the rate limit. */
const maxBatch = 20;

/**
 * Answers a request to the agent tools (MCP's Streamable HTTP): checks its origin, admits its key or access token once per
 * request, and passes the body to the protocol. Refusals before the protocol have the status and body of every other endpoint;
 * a refusal by a tool is a tool result that a model can read.
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
  const resource = resourceAt(request.headers.get("host"));
  const lookup = parseToolCredentials(request.headers.get("authorization"), resource);
  passSpan(request, lookup);
  const admission = new ToolAdmission({ lookup, address: callerAddress(request, peer), resource });
  try {
    return await answerAdmitted(request, admission, { lookup, resource, requestId });
  } finally {
    Object.assign(headers, rateHeaders(admission.rate));
  }
}

/**
 * Answers a request and admits its key, at the latest before the answer is sent. A short call of a tool that records, with a key
 * that was admitted before, is admitted in the transaction that records it; others are admitted first.
 */
async function answerAdmitted(
  request: Request,
  admission: ToolAdmission,
  { lookup, resource, requestId }: { lookup: KeyLookup; resource: string; requestId: string },
): Promise<Response> {
  const require = async () => void (await admission.require());
  const known = knownKey(lookup);
  if (!known) await require();
  const body = await readBody(request, { require });
  const isAdmittedLater = known && isRecording(body);
  const caller = isAdmittedLater ? known.id : (await admission.require()).key.id;
  if (body instanceof ServiceError) {
    if (body.code !== "invalid_json") throw body;
    return Response.json(
      { jsonrpc: "2.0", id: null, error: { code: -32700, message: `Parse error: ${body.message}` } },
      { status: 400 },
    );
  }
  if (!isAdmittedLater) checkScopes(await admission.require(), body, resource);
  const response = await answerProtocol(request, body, {
    where: "remote",
    backend: storeBackend(admission),
    retries,
    caller,
    session: request.headers.get("mcp-session-id") ?? undefined,
    report: (error) => reportFailure(error, "A tool call failed.", { request_id: requestId }),
  });
  // If the key is refused, that replaces the protocol's answer. A tool whose permission the key lacks has recorded nothing.
  if (isAdmittedLater) checkScopes(await admission.require(), body, resource);
  return response;
}

/**
 * Refuses a call with an access token that lacks the permission of a tool: its client can ask the user for the permission
 * and call again. A client with an API key cannot, so there the tool itself refuses.
 * @throws ServiceError permission_denied with the challenge `insufficient_scope`
 */
function checkScopes(principal: KeyPrincipal, body: unknown, resource: string): void {
  if (!principal.token) return;
  for (const message of Array.isArray(body) ? body : [body]) {
    const permission = calledTool(message)?.permission;
    if (permission && decideAttempt(principal.key, { permissions: [permission] }))
      throw insufficientScope(principal, permission, resource);
  }
}

/** Whether a body is one call of a tool that records. */
function isRecording(body: unknown): boolean {
  return calledTool(body)?.isReadOnly === false;
}

/** The tool that a protocol message calls; undefined for messages other than tool calls. */
function calledTool(message: unknown): ToolContract | undefined {
  if (!isObject(message) || message.method !== "tools/call" || !isObject(message.params)) return undefined;
  const { name } = message.params;
  return toolNames.includes(name as ToolName) ? toolContracts[name as ToolName] : undefined;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}

/** The parsed body, or the error to refuse it with. */
async function readBody(request: Request, from: Sender): Promise<unknown> {
  try {
    const body = await readJsonBody(request, defaultBodyLimit, from);
    if (!Array.isArray(body) || body.length <= maxBatch) return body;
    return new ServiceError("payload_too_large", `A batch may have at most ${maxBatch} messages.`);
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

/** The headers that a page may send to the agent tools, and those of the answer that it may read. */
const allowedHeaders =
  "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID";
const exposedHeaders =
  "WWW-Authenticate, Mcp-Session-Id, X-Request-Id, RateLimit, RateLimit-Policy, Retry-After";

/** The CORS headers of every answer to a page of an allowed origin. Cookies are never credentials here. */
function corsHeaders(origin: string | null): Record<string, string> {
  if (origin === null) return {};
  return {
    "Access-Control-Allow-Origin": origin,
    "Access-Control-Expose-Headers": exposedHeaders,
    Vary: "Origin",
  };
}

/** The answer to a CORS preflight request. */
function preflightResponse(origin: string | null): Response {
  return new Response(null, {
    status: 204,
    headers: {
      ...corsHeaders(origin),
      Allow: "POST, OPTIONS",
      "Access-Control-Allow-Methods": "POST",
      "Access-Control-Allow-Headers": allowedHeaders,
      "Access-Control-Max-Age": "7200",
    },
  });
}
