import { once } from "node:events";
import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as pause } from "node:timers/promises";

/** A server on a port of its own that passes every request on to another. */
export type Proxy = { baseUrl: string; stop(): void };

/** Passes an answer's body on to the client. */
type Pass = (incoming: IncomingMessage, answer: IncomingMessage, outgoing: ServerResponse) => void;

/** Starts a proxy that cuts the connection of each export after the first of its bytes. @param target address of the service */
export function startCuttingProxy(target: string): Promise<Proxy> {
  return startProxy(target, ({ method, url = "/" }, answer, outgoing) => {
    if (method !== "GET" || !/\/export\?/.test(url)) {
      answer.pipe(outgoing);
      return;
    }
    answer.once("data", (piece: Buffer) => {
      outgoing.write(piece.subarray(0, 1_000), () => {
        outgoing.destroy();
        answer.destroy();
      });
    });
  });
}

/**
 * Starts a proxy that sends the HTML of pages uncompressed and in pieces, with the time to paint between two of them.
 *
 * @param target address of the service
 * @param pieceBytes length of a piece
 */
export function startSlowProxy(target: string, pieceBytes: number): Promise<Proxy> {
  return startProxy(target, async (_incoming, answer, outgoing) => {
    if (!answer.headers["content-type"]?.startsWith("text/html")) {
      answer.pipe(outgoing);
      return;
    }
    for await (const chunk of answer)
      for (let start = 0; start < chunk.length; start += pieceBytes) {
        outgoing.write(chunk.subarray(start, start + pieceBytes));
        await pause(20);
      }
    outgoing.end();
  });
}

async function startProxy(target: string, pass: Pass): Promise<Proxy> {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const { method, url = "/" } = incoming;
    const headers = { ...incoming.headers, "accept-encoding": "identity" };
    const passed = request({ hostname, port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      pass(incoming, answer, outgoing);
    });
    passed.on("error", () => outgoing.destroy());
    incoming.pipe(passed);
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    stop: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}
