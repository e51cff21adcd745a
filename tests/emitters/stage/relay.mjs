/*
 * Stands between an emitter and the service, so that what an emitter sends can be kept and read: `npm run test:emitters -- --save FOLDER`.
 */
import { writeFileSync } from "node:fs";
import { createServer } from "node:http";
import { join } from "node:path";
import { listenOnLoopback } from "./loopback.mjs";

/**
 * Hands each request on to the service, and writes its body and its answer into a folder.
 * @returns `{ source, close }`: the source whose address is the relay's
 */
export async function relayTo(source, folder) {
  let count = 0;
  const server = createServer(async (request, response) => {
    const chunks = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    const kept = ["authorization", "content-type", "content-encoding"];
    const headers = Object.fromEntries(
      Object.entries(request.headers).filter(([name]) => kept.includes(name)),
    );
    const answer = await fetch(`${source.url}${request.url}`, { method: request.method, headers, body });
    const told = Buffer.from(await answer.arrayBuffer());
    const name = join(folder, `${++count}${request.url.replaceAll("/", "-")}`);
    writeFileSync(name, body);
    writeFileSync(`${name}.answer`, told);
    response.writeHead(answer.status, { "content-type": answer.headers.get("content-type") ?? "" });
    response.end(told);
  });
  const { url, close } = await listenOnLoopback(server);
  return { source: { ...source, url, otlp: source.otlp.replace(source.url, url) }, close };
}
