import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A program on the user's machine, which waits for the browser's redirect. */
export type Program = { redirectUri: string; stop(): void };

/** Starts one on a free port. */
export async function startProgram(): Promise<Program> {
  const server = createServer((_, response) => {
    // Without an icon, because a browser would request one after the program has stopped listening.
    response
      .writeHead(200, { "content-type": "text/html", connection: "close" })
      .end("<!doctype html><link rel=icon href=data:,><title>Done</title>You can close this page.");
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  const redirectUri = `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`;
  return { redirectUri, stop: () => server.close() };
}
