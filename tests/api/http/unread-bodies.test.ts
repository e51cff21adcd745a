import type { Socket } from "node:net";
import { describe, expect, test } from "vitest";
import { generateSecret } from "@/lib/access/secrets/secret";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { connectTo, readAnswer } from "@/tests/helpers/raw-http";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();
const size = 8 * 1024 * 1024;
const body = Buffer.alloc(size, " ");

const head = (path: string, length: string) =>
  [
    `POST ${path} HTTP/1.1`,
    "Host: localhost",
    `Authorization: Bearer ${generateSecret()}`,
    "Content-Type: application/json",
    length,
    "\r\n",
  ].join("\r\n");

const open = () => connectTo(harness.services[0]?.baseUrl ?? "");

/** Sends the whole body before it reads the answer, as many clients do. */
const send = (socket: Socket, bytes: string | Buffer) =>
  new Promise<void>((resolve, reject) => {
    socket.write(bytes, (error) => (error ? reject(error) : resolve()));
  });

describe("A refused body of 8 MiB", () => {
  test.each([
    ["with its length", `Content-Length: ${size}`, [body]],
    ["in chunks", "Transfer-Encoding: chunked", [`${size.toString(16)}\r\n`, body, "\r\n0\r\n\r\n"]],
  ])(
    "%s leaves the connection usable for a client that sends everything before it reads",
    async (_, length, parts) => {
      const socket = await open();
      const answer = readAnswer(socket);
      socket.pause();
      await send(socket, head("/api/v1/messages/batch", length));
      for (const part of parts) await send(socket, part);
      socket.resume();
      expect(await answer).toMatchObject({ status: 401 });
      const next = readAnswer(socket);
      socket.write("GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
      expect(await next).toMatchObject({ status: 200 });
    },
  );

  test("Is answered before it has arrived, and read at a limited rate", async () => {
    const sockets = await Promise.all(Array.from({ length: 3 }, open));
    const since = performance.now();
    await Promise.all(
      sockets.map(async (socket) => {
        const answer = readAnswer(socket);
        socket.write(head("/api/v1/messages/batch", `Content-Length: ${size}`));
        expect(await answer).toMatchObject({ status: 401 });
        const next = readAnswer(socket);
        socket.write(body);
        socket.write("GET /api/health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
        expect(await next).toMatchObject({ status: 200 });
      }),
    );
    // 24 MiB at 16 MiB a second.
    expect(performance.now() - since).toBeGreaterThan(1_300);
  });

  test("Does not keep a connection open whose client stops sending", async () => {
    const socket = await open();
    const answer = readAnswer(socket);
    socket.write(`${head("/api/v1/messages", `Content-Length: ${size}`)}{`);
    expect(await answer).toMatchObject({ status: 401 });
    const since = performance.now();
    await new Promise((resolve) => socket.once("close", resolve).once("error", () => {}));
    expect(performance.now() - since).toBeGreaterThan(8_000);
    expect(performance.now() - since).toBeLessThan(40_000);
  });
});

test("Answers 413 to an oversized body of a known key, with its length and in chunks", async () => {
  const { secret } = await harness.fixtures.key(await harness.fixtures.workspace());
  const baseUrl = harness.services[0]?.baseUrl ?? "";
  const long = JSON.stringify(costMessage({ label: "x".repeat(2 * 1024 * 1024) }));
  expect((await apiClient(baseUrl, secret).post(long)).status).toBe(413);
  const answer = await fetch(`${baseUrl}/api/v1/messages`, {
    method: "POST",
    headers: { authorization: `Bearer ${secret}`, "content-type": "application/json" },
    body: new Blob([long]).stream(),
    duplex: "half",
  } as RequestInit);
  expect([answer.status, (await answer.json()).error]).toEqual([413, "payload_too_large"]);
});
