import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll } from "vitest";

/**
 * What happens to a request: a status that the intermediary answers by itself, `lose` (the request reaches the service,
 * the connection breaks before the answer), `cut` (the connection breaks at once), or a promise for which its answer waits.
 */
type Fate =
  | { status: number; headers?: Record<string, string>; body?: string }
  | "lose"
  | "cut"
  | Promise<unknown>;

/** A request as the intermediary saw it. */
type Seen = { at: number; path: string; keys: (string | undefined)[]; text: string };

/** A load balancer before the service. It passes everything on, except where a test has decided otherwise. */
export type Intermediary = {
  url: string;
  /** Where requests go; undefined: nobody answers, as while the service restarts. */
  target: string | undefined;
  seen: Seen[];
  /** What becomes of the next requests, one after another. */
  fates: Fate[];
  /** Decides for every request for which `fates` says nothing. */
  decide: (seen: Seen) => Fate | undefined;
};

/** An intermediary for the tests of a file. Each test sets its target and finds it without fates. */
export function withIntermediary(): Intermediary {
  const intermediary: Intermediary = {
    url: "",
    target: undefined,
    seen: [],
    fates: [],
    decide: () => undefined,
  };
  const server = createServer((request, response) => void handle(intermediary, request, response));
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    intermediary.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return intermediary;
}

async function handle(intermediary: Intermediary, request: IncomingMessage, response: ServerResponse) {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const keys = [...text.matchAll(/"idempotency_key":"([^"]*)"/g)].map(([, key]) => key);
  const seen: Seen = { at: Date.now(), path: request.url ?? "", keys, text };
  intermediary.seen.push(seen);
  const fate = intermediary.fates.shift() ?? intermediary.decide(seen);
  const { target } = intermediary;
  const isAnswer = typeof fate === "object" && !(fate instanceof Promise);
  if (fate === "cut" || (target === undefined && !isAnswer)) return void response.destroy();
  if (isAnswer) {
    response.writeHead(fate.status, fate.headers).end(fate.body);
    return;
  }
  try {
    const answer = await fetch(target + (request.url ?? ""), {
      method: request.method ?? "GET",
      headers: {
        "content-type": request.headers["content-type"] ?? "",
        authorization: request.headers.authorization ?? "",
      },
      ...(request.method !== "GET" && { body: text }),
    });
    const body = await answer.text();
    await fate;
    if (fate === "lose") return void response.destroy();
    const retryAfter = answer.headers.get("retry-after");
    response.writeHead(answer.status, {
      "content-type": answer.headers.get("content-type") ?? "",
      ...(retryAfter && { "retry-after": retryAfter }),
    });
    response.end(body);
  } catch {
    response.destroy();
  }
}
