import { randomUUID } from "node:crypto";
import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  PROTOCOL_VERSION_META_KEY,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { log } from "@/lib/log";
import { plainAnswer, readPlainCall } from "./plain-call";
import { callPlainly, createToolServer, sendsBeforeResult, serverInfo, type ToolSession } from "./server";

/** Logs why the SDK refused a request; the client gets the same reason. */
const onerror = (error: Error) => log.debug({ err: error }, "An agent tool request was refused.");

/** How many clients may subscribe to changes at once. The tools do not change while the service runs. */
const maxSubscriptions = 100;

// On the global object, because Next bundles a second copy of this module: its streams have to end, too.
const globals = globalThis as { [key: symbol]: AbortController | undefined };
const slot = Symbol.for("outlay.tool-streams");
globals[slot] ??= new AbortController();
const stopping: AbortController = globals[slot];

/** Ends the streams that clients hold open, so that the service can stop without waiting for them. */
export function endToolStreams(): void {
  stopping.abort();
}

/** The session of each request that the SDK creates a server for. */
const sessions = new WeakMap<Request, ToolSession>();

const modern = createMcpHandler(
  ({ requestInfo }) => {
    const session = requestInfo && sessions.get(requestInfo);
    if (!session) throw new Error("The SDK asked for a server without a known request.");
    return createToolServer(session);
  },
  { legacy: "reject", maxSubscriptions, onerror },
);

/**
 * Answers one parsed request in the protocol version that it asks for: 2026-07-28, or one of 2025. Answers are JSON, and
 * nothing is kept between requests.
 */
export async function answerProtocol(
  request: Request,
  body: unknown,
  session: ToolSession,
): Promise<Response> {
  const plain = request.signal.aborted ? undefined : readPlainCall(request, body);
  const called = plain && callPlainly(plain, session, request.signal);
  if (called) {
    const answer = called.then((result) => plainAnswer(plain, result, serverInfo));
    return untilClosed(answer, request.signal);
  }
  if (!isModernCall(body) && (await isLegacyRequest(request, body)))
    return answerLegacy(request, body, session);
  const served = isListening(body) ? withEnd(request) : request;
  sessions.set(served, session);
  return modern.fetch(served, { parsedBody: body });
}

/**
 * Whether a message is a tool call that names its protocol version, as in 2026-07-28 and in no 2025 protocol. The SDK's own check
 * would validate the whole message, which its handler then does again.
 */
function isModernCall(body: unknown): boolean {
  const { method, params } = (body ?? {}) as { method?: unknown; params?: { _meta?: unknown } | null };
  const meta = method === "tools/call" ? params?._meta : undefined;
  return typeof meta === "object" && meta !== null && PROTOCOL_VERSION_META_KEY in meta;
}

function isListening(body: unknown): boolean {
  return (
    typeof body === "object" && body !== null && "method" in body && body.method === "subscriptions/listen"
  );
}

/** A copy of a request, without its body, that is also aborted when the service stops. */
function withEnd({ url, method, headers, signal }: Request): Request {
  return new Request(url, { method, headers, signal: AbortSignal.any([signal, stopping.signal]) });
}

/**
 * Answers a request of a 2025 protocol with a server and transport of its own. A call whose client has
 * disconnected is not begun; one whose client disconnects meanwhile is aborted.
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
  // Distinguishes this client's request ids from those of others (see `Retries`). Nothing is stored under it.
  if (response.ok && isInitializeRequest(body)) response.headers.set("Mcp-Session-Id", randomUUID());
  return response;
}

/** The answer, or 499 once the client disconnects: the SDK would wait for the answer forever. */
function untilClosed(answer: Promise<Response>, signal: AbortSignal): Promise<Response> {
  return new Promise((resolve, reject) => {
    answer.then(resolve, reject);
    signal.addEventListener("abort", () => resolve(clientClosedRequest()), { once: true });
  });
}

/** The answer that the log shows for a request whose client disconnected. */
const clientClosedRequest = () => new Response(null, { status: 499 });
