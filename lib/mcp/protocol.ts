import { randomUUID } from "node:crypto";
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { log } from "@/lib/log";
import { createToolServer, sendsBeforeResult, type ToolSession } from "./server";

/** What the SDK says of requests it refuses; whoever sent them is told the same. */
const onerror = (error: Error) => log.debug({ err: error }, "An agent tool request was refused.");

/** Streams that may be open at once for changes of the tools, which do not change while the service runs. */
const maxSubscriptions = 100;

// On the global object: Next's bundle has a copy of this module of its own, whose streams end with the others.
const globals = globalThis as { [key: symbol]: AbortController | undefined };
const slot = Symbol.for("outlay.tool-streams");
globals[slot] ??= new AbortController();
const stopping: AbortController = globals[slot];

/** Ends the streams that clients hold open, so that a service that stops need not wait for them. */
export function endToolStreams(): void {
  stopping.abort();
}

/** Whose request it is that the SDK asks a server for. */
const sessions = new WeakMap<Request, ToolSession>();

const modern = createMcpHandler(
  ({ requestInfo }) => {
    const session = requestInfo && sessions.get(requestInfo);
    if (!session) throw new Error("A request came to the protocol without its caller.");
    return createToolServer(session);
  },
  { legacy: "reject", maxSubscriptions, onerror },
);

/**
 * Answers one parsed request by the protocol: 2026-07-28 natively, and the versions of 2025 without sessions of ours.
 * Both answer with JSON, and nothing is kept between requests.
 */
export async function answerProtocol(
  request: Request,
  body: unknown,
  session: ToolSession,
): Promise<Response> {
  if (await isLegacyRequest(request, body)) return answerLegacy(request, body, session);
  const served = isListening(body) ? withEnd(request) : request;
  sessions.set(served, session);
  return modern.fetch(served, { parsedBody: body });
}

function isListening(body: unknown): boolean {
  return (
    typeof body === "object" && body !== null && "method" in body && body.method === "subscriptions/listen"
  );
}

/** A request of the same client that also ends when the service stops. Its body was read before. */
function withEnd({ url, method, headers, signal }: Request): Request {
  return new Request(url, { method, headers, signal: AbortSignal.any([signal, stopping.signal]) });
}

/**
 * Answers a request of a 2025 protocol with a server and transport of its own. A call whose client hung up before is not
 * begun; one whose client hangs up meanwhile is aborted.
 */
async function answerLegacy(request: Request, body: unknown, session: ToolSession): Promise<Response> {
  if (request.signal.aborted) return clientClosedRequest();
  const server = createToolServer(session);
  const transport = new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: !sendsBeforeResult });
  transport.onerror = onerror;
  const close = () => void transport.close().catch(onerror);
  request.signal.addEventListener("abort", close, { once: true });
  await server.connect(transport);
  const response = await untilClosed(transport.handleRequest(request, { parsedBody: body }), request.signal);
  // Tells the request ids of one client from those of all others; see `Retries`. Nothing is looked up by it.
  if (response.ok && isInitializeRequest(body)) response.headers.set("Mcp-Session-Id", randomUUID());
  return response;
}

/** The answer, or 499 once the client hangs up: the SDK would wait for the answer forever. */
function untilClosed(answer: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    answer.then(resolve, reject);
    signal.addEventListener("abort", () => resolve(clientClosedRequest()), { once: true });
  });
}

/** What the log shows of a request whose client is gone. */
const clientClosedRequest = () => new Response(null, { status: 499 });
