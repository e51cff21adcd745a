import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener, type HttpBindings } from "@hono/node-server";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import next from "next";
import { env } from "@/lib/env";
import { withPeer } from "@/lib/http/peer";
import { servedPath } from "@/lib/mcp/addresses";
import { endToolStreams } from "@/lib/mcp/protocol";
import { createLane } from "./lane";

/**
 * How long an idle connection stays open: longer than proxies and load balancers keep theirs, most of them for a minute.
 * Whoever sends a request just as this end closes the connection has it cut off.
 */
const keepAliveMs = 75_000;

/** A server that answers: where, and how to stop it once the requests under way are answered. */
export type HttpServer = { address: string; close(): Promise<void> };

/**
 * Starts the self-hosted server: route handlers on the fast lane, everything else through Next.
 * With `OUTLAY_FAST_LANE=off`, everything goes through Next, as on a platform that has no server of ours.
 * @throws where the port is taken (EADDRINUSE)
 */
export async function startHttp(options: { port: number; host: string; dev: boolean }): Promise<HttpServer> {
  const app = next({ dev: options.dev, hostname: options.host, port: options.port });
  await app.prepare();
  const handlePage = app.getRequestHandler();
  const toNext = async (incoming: IncomingMessage, outgoing: ServerResponse) => {
    if (!isDecodable(incoming.url ?? "/")) return refuseAddress(outgoing);
    return withPeer(incoming.socket.remoteAddress, () => handlePage(incoming, outgoing));
  };
  const serve = env().OUTLAY_FAST_LANE === "on" ? await fastLane(toNext) : toNext;
  const server = createServer((incoming, outgoing) => {
    // The agent tools may have a host of their own, whose paths are none of the app's.
    incoming.url = servedPath(incoming.headers.host, incoming.url ?? "/");
    return serve(incoming, outgoing);
  });
  server.keepAliveTimeout = keepAliveMs;
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject).listen(options.port, options.host, resolve);
  });
  const { port } = server.address() as AddressInfo;
  return {
    address: `http://${options.host === "0.0.0.0" ? "localhost" : options.host}:${port}`,
    close: async () => {
      endToolStreams();
      await drain(server);
      await app.close();
    },
  };
}

/** Answers what is under way and closes every connection after its answer, those that clients would keep busy too. */
async function drain(server: Server): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  server.prependListener("request", (_: IncomingMessage, outgoing: ServerResponse) => {
    outgoing.shouldKeepAlive = false;
  });
  // Answers that were under way before promised to keep their connections, which are idle from then on.
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  await closed.finally(() => clearInterval(idle));
}

/** Whether the path of an address is text. Next answers 500 where it is not (`/%ff`). */
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

type Listener = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<void>;

/** Answers what is a route; hands the rest to Next untouched. */
async function fastLane(toNext: Listener): Promise<Listener> {
  const lane = await createLane();
  lane.notFound(async ({ env: { incoming, outgoing } }) => {
    await toNext(incoming, outgoing);
    return RESPONSE_ALREADY_SENT;
  });
  return getRequestListener((request, bindings) => lane.fetch(request, bindings as HttpBindings));
}
