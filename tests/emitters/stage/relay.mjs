/*
 * Stands between an emitter and the service: keeps what an emitter sends (`npm run test:emitters -- --save FOLDER`), or is a
 * connection that fails.
 */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { listenOnLoopback } from "./loopback.mjs";

/**
 * Hands each request on to the service.
 * @param options.folder where each body and its answer are written, if anywhere
 * @param options.isFlaky whether of three requests one is answered with 503 and one recorded, but its answer lost
 * @returns `{ source, close }`: the source whose address is the relay's
 */
export async function relayTo(source, { folder, isFlaky = false }) {
  let count = 0;
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const number = ++count;
    if (isFlaky && number % 3 === 1) return response.writeHead(503, { "retry-after": "0" }).end();
    const kept = ["authorization", "content-type", "content-encoding"];
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => kept.includes(name)),
    );
    const answer = await fetch(`${source.url}${request.url}`, { method: request.method, headers, body });
    const told = Buffer.from(await answer.arrayBuffer());
    if (folder) {
      const name = join(folder, `${number}${request.url.replaceAll("/", "-")}`);
      writeFileSync(name, body);
      writeFileSync(`${name}.answer`, told);
    }
    if (isFlaky && number % 3 === 2) return request.socket.destroy();
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(told);
  });
  const { url, close } = await listenOnLoopback(server);
  return { source: { ...source, url, otlp: source.otlp.replace(source.url, url) }, close };
}
