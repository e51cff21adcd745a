/*
 * A mock of the providers: OpenAI's Chat Completions and Responses, Anthropic's Messages, and Gemini, answered as a whole and
 * as a stream. Some requests are refused with 429 first, and a stream breaks off where the prompt says "Break off.".
 */
import { createServer } from "node:http";
import { random, routes } from "./answers.mjs";
import { listenOnLoopback, readText } from "./loopback.mjs";
import { billedUsd } from "./prices.mjs";

/**
 * Starts the mock. `answered` has what each answered call was billed: `input` is what was neither read from the cache nor
 * written to it, `output` includes the tokens of reasoning, `usd` is the cost (`prices.mjs`), `isCut` whether the stream broke off.
 * @param options.refuses whether some requests are refused with 429 first
 * @returns `{ url, answered, close }`
 */
export async function startProviders({ refuses = true } = {}) {
  const answered = [];
  /** Bodies that were refused once: each is answered the second time. */
  const refused = new Set();
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url, "http://provider");
    const route = routes.find(
      ({ method = "POST", path }) => method === request.method && path.test(pathname),
    );
    const text = await readText(request);
    if (!route) return sendJson(response, { error: { message: "not here", type: "not_found_error" } }, 404);
    const body = text === "" ? {} : JSON.parse(text);
    if (refuses && request.method === "POST" && random(6) === 0 && !refused.has(text)) {
      refused.add(text);
      response.setHeader("retry-after-ms", "5").setHeader("retry-after", "0");
      return sendJson(response, { error: { message: "slower", type: "rate_limit_error" } }, 429);
    }
    const number = answered.length + 1;
    const call = route.answer({ body, text, pathname, number });
    const isCut = Boolean(call.events) && text.includes("Break off.");
    const { id, headers: { "request-id": requestId } = {} } = call;
    if (call.billed)
      answered.push({
        id,
        request: requestId,
        isStream: Boolean(call.events),
        isCut,
        model: call.model,
        ...call.billed,
        usd: billedUsd({ model: call.model, ...call.billed }),
      });
    for (const [name, value] of Object.entries(call.headers ?? {})) response.setHeader(name, value);
    if (!call.events) return sendJson(response, call.json);
    response.writeHead(200, { "content-type": "text/event-stream" });
    const lines = call.events.map((event) => {
      const data = `data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`;
      return event.type && call.named ? `event: ${event.type}\n${data}` : data;
    });
    if (!isCut) return response.end(lines.join(""));
    // The caller has read the beginning before the connection breaks.
    response.write(lines.slice(0, call.cutAfter ?? 1).join(""), () =>
      setTimeout(() => request.socket.destroy(), 50),
    );
  });
  const { url, close } = await listenOnLoopback(server);
  return { url, answered, close };
}

function sendJson(response, body, status = 200) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}
