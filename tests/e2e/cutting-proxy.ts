import { once } from "node:events";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";

/** A proxy that passes everything on, but cuts the connection of each export after the first of its bytes. */
export type CuttingProxy = { baseUrl: string; stop(): void };

/** Starts one on a free port. @param target the address of the service */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const server = createServer((incoming, outgoing) => {
    const { method, url = "/", headers } = incoming;
    const cuts = method === "GET" && /\/export\?/.test(url);
    const passed = request({ hostname, port, method, path: url, headers }, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      if (!cuts) {
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
