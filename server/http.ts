import { createServer, IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import { env } from "@/lib/env";
import { plainPath } from "@/lib/http/plain-path";
import { errorResponse, newRequestId } from "@/lib/http/reply";
import { securityHeaders } from "@/lib/http/security-headers";
import { isServedHost, readRequestTarget, refuseHost } from "@/lib/http/served-host";
import { servedPath } from "@/lib/mcp/addresses";
import { endToolStreams } from "@/lib/mcp/protocol";
import { metrics } from "@/lib/metrics";
import { watchOutage, watchSessionRead, withPeer } from "@/lib/peer";
import { Connections } from "./connections";
import { createRouter } from "./router";
import { discardUnread } from "./unread-bodies";

const upgrade = Symbol("upgrade");

/**
 * A request whose `upgrade` is true for WebSockets only. Once there is a listener for "upgrade", Node passes it every
 * request with an `Upgrade` header, and Next adds such a listener with its first page. Requests that offer HTTP/2
 * (`Upgrade: h2c`, as Java's default client does) would then never be answered. A server may ignore an upgrade (RFC 9110
 * section 7.8), so these requests are answered over HTTP/1.1. Newer versions of Node have `shouldUpgradeCallback` for
 * this.
 */
class UpgradableRequest extends IncomingMessage {
  declare [upgrade]: boolean;
}

// Accessors on the prototype, because Node assigns `upgrade` in its constructor and again after it has read the
// headers.
Object.defineProperty(UpgradableRequest.prototype, "upgrade", {
  configurable: true,
  get(this: UpgradableRequest): boolean {
    if (!this[upgrade]) return false;
    return this.method === "CONNECT" || this.headers.upgrade?.toLowerCase() === "websocket";
  },
  set(this: UpgradableRequest, value: boolean) {
    this[upgrade] = value;
  },
});

/**
 * How long an idle connection stays open: longer than proxies and load balancers keep theirs, which is usually a minute. Otherwise a proxy
 * could send a request on a connection that the server is just closing, and the request would be lost.
 */
const keepAliveMs = 75_000;

/** How long the head of a request may take to arrive. `Connections` has the limits for bodies. */
const headersLimitMs = 10_000;

/** A running server: its address, and a function that stops it after pending requests are answered. */
export type HttpServer = { address: string; close(): Promise<void> };

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/**
 * Starts the self-hosted server. It calls route handlers itself and passes all other requests to Next. With `OUTLAY_FAST_LANE=off`, all
 * requests go through Next, as on a platform without this server. With `OUTLAY_PAGES=off`, Next is not started and no page is served.
 * @throws Error EADDRINUSE if the port is in use; Error if pages are to be served and there is no build
 */
export async function startHttp(options: { port: number; host: string; dev: boolean }): Promise<HttpServer> {
  const server = createServer({
    IncomingMessage: UpgradableRequest,
    headersTimeout: headersLimitMs,
    connectionsCheckingInterval: 1_000,
    // `answer` refuses requests without the header, with the security headers.
    requireHostHeader: false,
  });
  server.keepAliveTimeout = keepAliveMs;
  const connections = new Connections(server);
  // Requests that come before the pages are ready wait for them.
  const early: Parameters<RequestListener>[] = [];
  const hold: RequestListener = (...request) => early.push(request);
  server.on("request", hold);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(options.port, options.host, resolve);
  });
  // If the port is 0, the system chose it. Next needs it to fetch the page to which a form redirects.
  const { port } = server.address() as AddressInfo;
  const pages = await startPages({ ...options, port }).catch((error) => {
    server.close();
    throw error;
  });
  const serve = env().OUTLAY_FAST_LANE === "on" ? await answerByRoutes(pages.serve) : pages.serve;
  const headers = Object.entries(securityHeaders());
  const handle: RequestListener = (incoming, outgoing) => {
    // An error that is thrown here would end the process, so failures are answered.
    for (const [name, value] of headers) outgoing.setHeader(name, value);
    discardUnread(incoming, outgoing);
    answer(incoming, outgoing, serve).catch((error) => answerFailure(error, outgoing));
  };
  server.off("request", hold).on("request", handle);
  for (const request of early) handle(...request);
  return {
    address: localAddress(options.host, port),
    close: async () => {
      endToolStreams();
      await connections.drain();
      await pages.close();
    },
  };
}

/** Answers requests that match no route. */
type Pages = { serve: Listener; close(): Promise<void> };

/** Starts Next with its build, or in development with the sources. @throws Error if there is no build */
async function startPages(options: { port: number; host: string; dev: boolean }): Promise<Pages> {
  if (env().OUTLAY_PAGES === "off") return noPages;
  const { default: next } = await import("next");
  const app = next({ dev: options.dev, hostname: options.host, port: options.port });
  await app.prepare();
  const handlePage = app.getRequestHandler();
  const serve: Listener = async (incoming, outgoing) => {
    if (!isDecodable(incoming.url ?? "/")) return refuseAddress(outgoing);
    const sinceMs = performance.now();
    await withPeer(incoming.socket.remoteAddress, () => {
      answerOutage(outgoing);
      if (incoming.headers["next-action"] !== undefined) refuseMalformedAction(outgoing);
      return handlePage(incoming, outgoing);
    });
    observePage(incoming, outgoing, sinceMs);
  };
  return { serve, close: () => app.close() };
}

/** Changes the answer from 500 to 503 if the page failed because the database or the identity provider was away. */
function answerOutage(outgoing: ServerResponse): void {
  const outage = watchOutage();
  replaceFailure(outgoing, () => {
    const headers = outage();
    for (const [name, value] of Object.entries(headers ?? {})) outgoing.setHeader(name, value);
    return headers && 503;
  });
}

/**
 * Changes the answer to a server action from 500 to 400 if its body or arguments could not be read: that is, if Next's decoder or the
 * action failed before the action read the session.
 */
function refuseMalformedAction(outgoing: ServerResponse): void {
  const wasRead = watchSessionRead();
  replaceFailure(outgoing, () => (wasRead() ? undefined : 400));
}

/** Sends another status in place of the 500 with which Next answers a failure. @param statusOf returns undefined to leave it */
function replaceFailure(outgoing: ServerResponse, statusOf: () => number | undefined): void {
  const { writeHead } = outgoing;
  outgoing.writeHead = (status: number, ...rest: never[]) =>
    writeHead.call(outgoing, (status === 500 ? statusOf() : undefined) ?? status, ...rest);
}

/** Replaces the pages if `OUTLAY_PAGES` is off. */
const noPages: Pages = {
  serve: async (_incoming, outgoing) => {
    const headers = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };
    outgoing.writeHead(404, headers).end("This service has no pages: OUTLAY_PAGES is off.\n");
  },
  close: async () => {},
};

/** The URL of a server on this machine. @param host the name or address at which it listens; `::` for all addresses */
export function localAddress(host: string, port: number): string {
  if (host === "0.0.0.0" || host === "::") return `http://localhost:${port}`;
  return `http://${host.includes(":") ? `[${host.replace(/%.*/, "")}]` : host}:${port}`;
}

/** Makes the checks that apply to every request, before its route is known. */
async function answer(incoming: IncomingMessage, outgoing: ServerResponse, serve: Listener): Promise<void> {
  // RFC 9112 section 3.2. HTTP/1.0 has no such header.
  if (incoming.headers.host === undefined && incoming.httpVersion === "1.1")
    return void outgoing.writeHead(400, { Connection: "close", "Content-Length": "0" }).end();
  const { host, path } = readRequestTarget(incoming.url ?? "/", hostOf(incoming));
  if (!isServedHost(host)) return send(refuseHost(host, incoming.headers.accept), outgoing);
  if (host !== incoming.headers.host) setHost(incoming, host as string);
  const plain = plainPath(path);
  if (plain !== undefined) return redirect(plain, outgoing);
  // The agent tools may have a host of their own, whose paths differ.
  incoming.url = servedPath(host, path);
  return serve(incoming, outgoing);
}

/** The Host header; undefined if there are several, because a proxy and this server could use different ones. */
function hostOf({ headers, rawHeaders }: IncomingMessage): string | undefined {
  let count = 0;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index];
    if (name?.length === 4 && name.toLowerCase() === "host") count += 1;
  }
  return count > 1 ? undefined : headers.host;
}

/** Sets the request's Host header to the host of its target, also in `rawHeaders`, which the adapter reads. */
function setHost(incoming: IncomingMessage, host: string): void {
  incoming.headers.host = host;
  incoming.rawHeaders = [
    ...incoming.rawHeaders.flatMap((name, index, all) =>
      index % 2 === 0 && name.toLowerCase() !== "host" ? [name, all[index + 1] ?? ""] : [],
    ),
    "Host",
    host,
  ];
}

function redirect(path: string, outgoing: ServerResponse): void {
  outgoing.writeHead(308, { Location: path, "Content-Type": "text/plain; charset=utf-8" }).end(`${path}\n`);
}

async function send(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers)).end(await response.text());
}

async function answerFailure(error: unknown, outgoing: ServerResponse): Promise<void> {
  const response = errorResponse(error, newRequestId());
  if (outgoing.headersSent) outgoing.destroy();
  else await send(response, outgoing);
}

/** Whether the path can be decoded. Next would answer 500 for a path that cannot (`/%ff`). */
function isDecodable(address: string): boolean {
  try {
    decodeURIComponent(address.replace(/\?.*/s, ""));
    return true;
  } catch {
    return false;
  }
}

function refuseAddress(outgoing: ServerResponse): void {
  const headers = { "Content-Type": "text/plain; charset=utf-8", "Cache-Control": "no-store" };
  outgoing.writeHead(400, headers).end("This address cannot be read.\n");
}

/** Answers routes without Next, and passes other requests to the pages. */
async function answerByRoutes(servePage: Listener): Promise<Listener> {
  const router = await createRouter();
  router.notFound(async ({ incoming, outgoing }) => {
    await servePage(incoming, outgoing);
    return RESPONSE_ALREADY_SENT;
  });
  return getRequestListener((request, bindings) => router.fetch(request, bindings as HttpBindings), {
    // The adapter would read an unread body at full speed and close the connection after 0.5 s; see `discardUnread`.
    autoCleanupIncoming: false,
  });
}

/** Counts the response of a page or of its files. @param sinceMs when the request arrived, by `performance.now()` */
function observePage(
  { method = "" }: IncomingMessage,
  { statusCode }: ServerResponse,
  sinceMs: number,
): void {
  const labels = { method, route: "page", status: statusCode };
  metrics.requests.observe(labels, (performance.now() - sinceMs) / 1000);
}
