import type { Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { log } from "@/lib/log";

/**
 * How long a stopping server waits for answers under way: a client that neither sends nor reads would otherwise hold
 * it forever.
 */
const patienceMs = 10_000;

/** How often a stopping server looks for connections whose last answer has been sent. */
const intervalMs = 50;

/**
 * The open connections of a server. Node counts a connection as busy that has sent nothing yet (browsers open such
 * connections in advance), that sent half a request, or that is a WebSocket, and `server.close()` then waits a minute
 * or more.
 */
export class Connections {
  /** Each open connection with its latest answer. Answers leave a connection in order. */
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

  /** Accepts no more connections, answers the requests under way, and ends each connection after its answer. */
  async drain(): Promise<void> {
    let isClosed = false;
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve())).then(() => {
      isClosed = true;
    });
    this.#server.prependListener("request", (_, answer) => {
      answer.shouldKeepAlive = false;
    });
    const giveUpAt = performance.now() + patienceMs;
    while (!isClosed && performance.now() < giveUpAt) {
      for (const [socket, answer] of this.#answers) {
        if (!answer || answer.writableFinished || answer.destroyed) socket.destroySoon();
      }
      await Promise.race([closed, wait(intervalMs)]);
    }
    if (isClosed) return;
    log.warn(
      `${this.#answers.size} requests were not answered within ${patienceMs / 1000} s; their connections are closed.`,
    );
    for (const socket of this.#answers.keys()) socket.destroy();
    await closed;
  }
}
