import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { log } from "@/lib/log";

/**
 * How long a stopping server waits for responses that are being sent. Without a limit, a client that neither sends nor
 * reads would keep it running.
 */
const drainLimitMs = 10_000;

/** How often a stopping server checks for connections whose last response has been sent. */
const intervalMs = 50;

/**
 * The open connections of a server. Node counts a connection as busy if it has sent nothing yet (browsers open such
 * connections in advance), has sent part of a request, or is a WebSocket; `server.close()` alone would wait a minute or
 * longer for these.
 */
export class Connections {
  /** Each open connection with its latest response. A connection sends its responses in order. */
  readonly #answers = new Map<Socket, ServerResponse | undefined>();
  readonly #server: Server;

  constructor(server: Server) {
    this.#server = server;
    server.on("connection", (socket) => {
      this.#answers.set(socket, undefined);
      socket.once("close", () => this.#answers.delete(socket));
    });
    server.prependListener("request", ({ socket }, answer) => this.#answers.set(socket, answer));
  }

  /** Accepts no more connections, answers pending requests, and closes each connection after its response. */
  async drain(): Promise<void> {
    let isClosed = false;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve())).then(() => {
      isClosed = true;
    });
    this.#server.prependListener("request", (_, answer) => {
      answer.shouldKeepAlive = false;
    });
    const giveUpAt = performance.now() + drainLimitMs;
    while (!isClosed && performance.now() < giveUpAt) {
      for (const [socket, answer] of this.#answers) {
        // At once: until a socket that is only ended has closed, it could take a request that nobody could answer.
        if (!answer || answer.writableFinished || answer.destroyed) socket.destroy();
      }
      await Promise.race([closed, wait(intervalMs)]);
    }
    if (isClosed) return;
    log.warn(
      `${this.#answers.size} requests were not answered within ${drainLimitMs / 1000} s; their connections are closed.`,
    );
    for (const socket of this.#answers.keys()) socket.destroy();
    await closed;
  }
}
