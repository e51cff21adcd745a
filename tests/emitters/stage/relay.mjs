/*
 * Stands between an emitter and the service: keeps what an emitter sends (`npm run test:emitters -- --save FOLDER`), or is a
 * connection that fails.
 */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import { listenOnLoopback } from "./loopback.mjs";

/**
 * Hands each request on to the service.
 * @param options.folder where each body and its answer are written, if anywhere
 * @param options.isFlaky whether of three requests one is answered with 503 and one recorded, but its answer lost
 * @returns `{ source, settle, close }`: the source whose address is the relay's; `settle` waits until nothing came for so many
 *   milliseconds and everything that failed was sent again
 */
export async function relayTo(source, { folder, isFlaky = false }) {
  let count = 0;
  let cameAt = Date.now();
  /** Bodies that failed, and were not sent again since. */
  const owed = new Set();
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const name = body.toString("base64");
    cameAt = Date.now();
    owed.add(name);
    const number = ++count;
    if (isFlaky && number % 3 === 1) return response.writeHead(503, { "retry-after": "0" }).end();
    const kept = ["authorization", "content-type", "content-encoding"];
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => kept.includes(name)),
    );
    const answer = await fetch(`${source.url}${request.url}`, { method: request.method, headers, body });
    const told = Buffer.from(await answer.arrayBuffer());
    if (folder) {
      const path = join(folder, `${number}${request.url.replaceAll("/", "-")}`);
      writeFileSync(path, body);
      writeFileSync(`${path}.answer`, told);
    }
    if (isFlaky && number % 3 === 2) return request.socket.destroy();
    owed.delete(name);
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(told);
  });
  const settle = async (quietMs) => {
    cameAt = Date.now();
    for (const endsAt = cameAt + 30_000; owed.size > 0 || Date.now() - cameAt < quietMs; ) {
      if (Date.now() > endsAt) throw new Error(`${owed.size} requests failed and were not sent again.`);
      await wait(50);
    }
  };
  const { url, close } = await listenOnLoopback(server);
  return { source: { ...source, url, otlp: source.otlp.replace(source.url, url) }, settle, close };
}
