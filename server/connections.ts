import { type IncomingMessage, type Server, type ServerResponse, STATUS_CODES } from "node:http";
import type { Socket } from "node:net";
import { setTimeout as wait } from "node:timers/promises";
import { securityHeaders } from "@/lib/http/security-headers";
import { log } from "@/lib/log";
import { stopLimits } from "./stop-limits";

/**
 * How many bytes of a body a client must send in each window, and how often that is checked. Slower clients could hold a connection, and
 * the part of the body in memory, for as long as they like.
 */
const usefulRate = { windowMs: 30_000, leastBytes: 15_000, everyMs: 5_000 };

/** The statuses for errors of Node's parser; 400 for others. Node itself would answer the same without the security headers. */
const parserStatuses: Record<string, number> = {
  ERR_HTTP_REQUEST_TIMEOUT: 408,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  HPE_HEADER_OVERFLOW: 431,
};

/** A response without a body, as text, for a request without a `ServerResponse`. The connection closes after it. */
function bareAnswer(status: number): string {
  const headers = { ...securityHeaders(), Connection: "close", "Content-Length": "0" };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join("")}\r\n`;
}

/** How often a stopping server checks for connections whose last response has been sent. */
const intervalMs = 50;

/**
 * The open connections of a server. Closes those whose bodies arrive too slowly, and those that send invalid requests.
 *
 * Node counts a connection as busy if it has sent nothing yet (browsers open such connections in advance), has sent part of a request, or
 * is a WebSocket; `server.close()` alone would wait a minute or longer for these.
 */
export class Connections {
  /** Each open connection with its latest response. A connection sends its responses in order. */
  readonly #answers = new Map<Socket, ServerResponse | undefined>();
  /** Requests whose bodies have not arrived completely. `bytes`: what their connection had received at the time `atMs`. */
  readonly #arriving = new WeakMap<IncomingMessage, { bytes: number; atMs: number }>();
  readonly #server: Server;

  constructor(
    server: Server,
    private readonly rate = usefulRate,
  ) {
    this.#server = server;
    const checking = setInterval(() => this.#closeSlow(), rate.everyMs).unref();
    server.once("close", () => clearInterval(checking));
    server.on("connection", (socket) => {
      this.#answers.set(socket, undefined);
      socket.once("close", () => this.#answers.delete(socket));
    });
    server.prependListener("request", ({ socket }, answer) => this.#answers.set(socket, answer));
    server.on("clientError", ({ code = "" }: NodeJS.ErrnoException, socket: Socket) =>
      this.#refuse(socket, parserStatuses[code] ?? 400),
    );
    server.on("checkExpectation", (_, answer: ServerResponse) => {
      answer.writeHead(417, { ...securityHeaders(), Connection: "close", "Content-Length": "0" }).end();
    });
  }

  /** Closes a connection, after an answer unless another one has begun. */
  #refuse(socket: Socket, status: number): void {
    const answer = this.#answers.get(socket);
    const hasBegun = answer?.headersSent === true && !answer.writableFinished;
    if (socket.writable && !hasBegun) socket.write(bareAnswer(status));
    socket.destroySoon();
  }

  #closeSlow(): void {
    const now = performance.now();
    for (const [socket, answer] of this.#answers) {
      if (!answer || answer.req.complete) continue;
      const { req: incoming } = answer;
      const before = this.#arriving.get(incoming);
      // If bytes wait to be read, this server is slow and not the client.
      const isUseful =
        before !== undefined &&
        (incoming.readableLength > 0 || socket.bytesRead - before.bytes >= this.rate.leastBytes);
      if (!before || isUseful) this.#arriving.set(incoming, { bytes: socket.bytesRead, atMs: now });
      else if (now - before.atMs >= this.rate.windowMs) {
        this.#refuse(socket, 408);
      }
    }
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
    const giveUpAt = performance.now() + stopLimits.drainMs;
    while (!isClosed && performance.now() < giveUpAt) {
      for (const [socket, answer] of this.#answers) {
        // Not `end()`: until the socket has closed, it could receive another request, which would not be answered.
        if (!answer || answer.writableFinished || answer.destroyed) socket.destroy();
      }
      await Promise.race([closed, wait(intervalMs)]);
    }
    if (isClosed) return;
    log.warn(
      `${this.#answers.size} requests were not answered within ${stopLimits.drainMs / 1000} s; their connections are closed.`,
    );
    for (const socket of this.#answers.keys()) socket.destroy();
    await closed;
  }
}
