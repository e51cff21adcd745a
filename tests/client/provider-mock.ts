import { createHash } from "node:crypto";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll } from "vitest";
import { anthropicAnswer, anthropicEvents } from "./anthropic-answers";
import type { Asked } from "./asked";
import { chatAnswer, chatEvents, embeddingAnswer, responseAnswer, responseEvents } from "./openai-answers";

/** A local server that speaks OpenAI's and Anthropic's wire formats. */
export type ProviderMock = {
  url: string;
  /** The requests so far, by their path. */
  requests: { path: string; body: Asked }[];
  /** How many callers went away before the end of a stream. */
  gone: number;
};

/**
 * A provider for the tests of a file. The model decides what happens: `broken` answers 500, `flaky` does so once,
 * `endless` never ends a stream, `cut` breaks the connection in the middle of one, `failing` ends one with an error.
 */
export function withProviderMock(): ProviderMock {
  const mock: ProviderMock = { url: "", requests: [], gone: 0 };
  const server = createServer((request, response) => void answer(mock, request, response));
  beforeAll(async () => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    mock.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return mock;
}

async function answer(mock: ProviderMock, request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString() || "{}";
  const path = new URL(request.url ?? "/", mock.url).pathname;
  const body: Asked = JSON.parse(text);
  // The same question has the same id, asked by a wrapped client or another.
  const { stream_options: _, ...question } = body;
  const id = createHash("sha256").update(JSON.stringify(question)).digest("hex").slice(0, 32);
  const isFirst = !mock.requests.some((earlier) => JSON.stringify(earlier.body) === text);
  mock.requests.push({ path, body });
  if (body.model === "broken" || (body.model === "flaky" && isFirst)) {
    return sendJson(response, 500, { type: "error", error: { type: "api_error", message: "It broke." } });
  }
  const [json, events] = answersTo(path, id, body);
  if (json === undefined) return sendJson(response, 404, { error: { message: "There is nothing here." } });
  if (!body.stream) return sendJson(response, 200, json);
  response.on("close", () => {
    if (!response.writableEnded) mock.gone += 1;
  });
  await sendEvents(response, body.model, events);
}

/** The answer to a question as one value, and as events. */
function answersTo(path: string, id: string, asked: Asked): [json: unknown, events: string[]] {
  if (path.endsWith("/chat/completions")) return [chatAnswer(id, asked), chatEvents(id, asked)];
  if (path.endsWith("/responses")) return [responseAnswer(id, asked), responseEvents(id, asked)];
  if (path.endsWith("/embeddings")) return [embeddingAnswer(asked), []];
  if (path.endsWith("/messages")) return [anthropicAnswer(id, asked), anthropicEvents(id, asked)];
  const [, background, model] = /\/responses\/(resp|bg)_(.*)$/.exec(path) ?? [];
  if (model) return [{ ...responseAnswer(model, { model: "gpt-4o" }), background: background === "bg" }, []];
  return [undefined, []];
}

function sendJson(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, {
    "content-type": "application/json",
    "x-request-id": "req_1",
    "request-id": "req_1",
  });
  response.end(JSON.stringify(body));
}

/** Sends events in pieces that end within an event, and within a character. */
async function sendEvents(response: ServerResponse, model: string, events: string[]): Promise<void> {
  response.writeHead(200, { "content-type": "text/event-stream; charset=utf-8", "request-id": "req_1" });
  const isPartial = ["endless", "cut", "failing"].includes(model);
  const bytes = Buffer.from((isPartial ? events.slice(0, Math.ceil(events.length / 2)) : events).join(""));
  for (let at = 0; at < bytes.length; at += 61) {
    response.write(bytes.subarray(at, at + 61));
    await new Promise((resolve) => setImmediate(resolve));
  }
  if (model === "endless") return;
  if (model === "cut") return void response.destroy();
  if (model === "failing")
    response.write(
      `event: error\ndata: {"type":"error","error":{"type":"overloaded_error","message":"Busy."}}\n\n`,
    );
  response.end();
}
