import { once } from "node:events";
import { createServer, type Server } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, expect, test } from "vitest";
import { Connections } from "./connections";

/** A client must send 1,000 bytes of a body in each second. */
const rate = { windowMs: 1_000, leastBytes: 1_000, everyMs: 50 };

let server: Server;

afterEach(async () => {
  server.closeAllConnections();
  await once(server.close(), "close");
});

/** Sends a request's head, and then parts of its body at an interval. @returns the response, once the connection has closed */
async function upload(
  part: string,
  everyMs: number,
  parts: number,
): Promise<{ answer: string; tookMs: number }> {
  server = createServer(async (incoming, outgoing) => {
    const length = (await text(incoming).catch(() => "")).length;
    if (!outgoing.destroyed) outgoing.writeHead(201, { Connection: "close" }).end(String(length));
  });
  new Connections(server, rate);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  const sinceMs = performance.now();
  socket.write(`POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${part.length * parts}\r\n\r\n`);
  let left = parts;
  const sending = setInterval(() => {
    if (left-- > 0 && socket.writable) socket.write(part);
    else clearInterval(sending);
  }, everyMs);
  const answer = await text(socket).catch(() => "reset");
  clearInterval(sending);
  return { answer, tookMs: performance.now() - sinceMs };
}

test("Closes a connection whose body arrives byte by byte", async () => {
  const { answer, tookMs } = await upload("x", 20, 1_000);
  expect(answer).toContain("408 Request Timeout");
  expect(answer).toContain("X-Content-Type-Options: nosniff");
  expect(tookMs).toBeGreaterThanOrEqual(rate.windowMs);
});

test("Lets a body arrive for longer than a window while its rate is useful", async () => {
  const { answer, tookMs } = await upload("x".repeat(500), 50, 50);
  expect(answer).toMatch(/201 Created.*\n25000\r\n/s);
  expect(tookMs).toBeGreaterThan(2 * rate.windowMs);
});

test.each([
  ["no HTTP", "\u0001\r\n\r\n", "400 Bad Request"],
  ["a header too long", `GET / HTTP/1.1\r\nHost: localhost\r\nX: ${"x".repeat(20_000)}\r\n\r\n`, "431 "],
  ["half a head for too long", "GET / HTTP/1.1\r\nHost: loc", "408 Request Timeout"],
  [
    "extensions of chunks too long",
    `POST / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n2;x=${"x".repeat(20_000)}\r\n`,
    "413 ",
  ],
  [
    "an expectation that nobody knows",
    "GET / HTTP/1.1\r\nHost: localhost\r\nExpect: coffee\r\n\r\n",
    "417 Expectation Failed",
  ],
])("Answers %s with security headers, and closes the connection", async (_, sent, status) => {
  // The handler sends no answer itself.
  server = createServer({ headersTimeout: 200, connectionsCheckingInterval: 50 }, () => {});
  new Connections(server, rate);
  await once(server.listen(0, "127.0.0.1"), "listening");
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  socket.write(sent);
  const answer = await text(socket);
  expect(answer).toMatch(new RegExp(`^HTTP/1.1 ${status}`));
  for (const line of ["X-Content-Type-Options: nosniff", "Connection: close", "X-Frame-Options: DENY"])
    expect(answer).toContain(`${line}\r\n`);
});
