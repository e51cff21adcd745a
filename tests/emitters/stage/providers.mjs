/*
 * A mock of the providers: OpenAI's Chat Completions and Responses, Anthropic's Messages, and Gemini, answered as a whole and
 * as a stream. Each answer has random counts, so that no two calls can be taken for each other, and some requests are refused
 * with 429 first. `SEED` in the environment repeats a run.
 */
import { randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { listenOnLoopback, readText } from "./loopback.mjs";
import { billedUsd } from "./prices.mjs";

/** Random numbers that a seed repeats (mulberry32). */
export const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
let state = seed;
function random(below) {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
}

const said = "Hello.";

/**
 * Starts the mock. `answered` has what each answered call was billed: `input` is what was neither read from the cache nor
 * written to it, `output` includes the tokens of reasoning, `usd` is the cost (`prices.mjs`).
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
    const call = route.answer({ body, pathname, number, request });
    const { id, headers: { "request-id": requestId } = {} } = call;
    if (call.billed)
      answered.push({
        id,
        request: requestId,
        isStream: Boolean(call.events),
        model: call.model,
        ...call.billed,
        usd: billedUsd({ model: call.model, ...call.billed }),
      });
    for (const [name, value] of Object.entries(call.headers ?? {})) response.setHeader(name, value);
    if (!call.events) return sendJson(response, call.json);
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of call.events) {
      if (event?.type && call.named) response.write(`event: ${event.type}\n`);
      response.write(`data: ${typeof event === "string" ? event : JSON.stringify(event)}\n\n`);
    }
    response.end();
  });
  const { url, close } = await listenOnLoopback(server);
  return { url, answered, close };
}

function sendJson(response, body, status = 200) {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(body));
}

const randomId = (prefix) => `${prefix}${randomBytes(12).toString("hex")}`;

/** The tokens of an answer: at random, and none from the cache in every third. */
function randomCounts() {
  const output = 20 + random(3000);
  return {
    input: 50 + random(5000),
    cacheRead: random(3) === 0 ? 0 : 1 + random(40_000),
    output,
    reasoning: random(output),
  };
}

const routes = [
  { path: /\/chat\/completions$/, answer: chatCompletion },
  { path: /\/responses$/, answer: response },
  { path: /\/embeddings$/, answer: embedding },
  { path: /\/messages\/count_tokens$/, answer: () => ({ json: { input_tokens: 9 } }) },
  { path: /\/messages$/, answer: message },
  { path: /:(generateContent|streamGenerateContent)$/, answer: generateContent },
  { path: /:countTokens$/, answer: () => ({ json: { totalTokens: 9 } }) },
  { method: "GET", path: /\/models$/, answer: () => ({ json: { object: "list", data: [], models: [] } }) },
];

/** https://platform.openai.com/docs/api-reference/chat: a stream has its usage only where that is asked for. */
function chatCompletion({ body }) {
  const { input, cacheRead, output, reasoning } = randomCounts();
  const id = randomId("chatcmpl-");
  const base = { id, created: Math.floor(Date.now() / 1000), model: body.model };
  const usage = {
    prompt_tokens: input + cacheRead,
    completion_tokens: output,
    total_tokens: input + cacheRead + output,
    prompt_tokens_details: { cached_tokens: cacheRead },
    completion_tokens_details: { reasoning_tokens: reasoning },
  };
  const call = {
    id,
    model: body.model,
    billed: { provider: "openai", input, cacheRead, output },
    headers: { "x-request-id": randomId("req_") },
  };
  if (!body.stream) {
    const choice = { index: 0, message: { role: "assistant", content: said }, finish_reason: "stop" };
    return { ...call, json: { ...base, object: "chat.completion", choices: [choice], usage } };
  }
  const chunk = (rest) => ({ ...base, object: "chat.completion.chunk", ...rest });
  const choice = (delta, finish_reason = null) => ({ index: 0, delta, finish_reason });
  const events = [
    chunk({ choices: [choice({ role: "assistant", content: said })] }),
    chunk({ choices: [choice({}, "stop")] }),
    ...(body.stream_options?.include_usage ? [chunk({ choices: [], usage })] : []),
    "[DONE]",
  ];
  return { ...call, events };
}

/** https://platform.openai.com/docs/api-reference/responses */
function response({ body }) {
  const { input, cacheRead, output, reasoning } = randomCounts();
  const id = randomId("resp_");
  const item = {
    id: randomId("msg_"),
    type: "message",
    role: "assistant",
    status: "completed",
    content: [{ type: "output_text", text: said, annotations: [] }],
  };
  const whole = {
    id,
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status: "completed",
    model: body.model,
    output: [item],
    parallel_tool_calls: true,
    tool_choice: "auto",
    tools: [],
    usage: {
      input_tokens: input + cacheRead,
      input_tokens_details: { cached_tokens: cacheRead },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + cacheRead + output,
    },
  };
  const call = { id, model: body.model, billed: { provider: "openai", input, cacheRead, output } };
  if (!body.stream) return { ...call, json: whole };
  const begun = { ...whole, status: "in_progress", output: [], usage: null };
  const at = { item_id: item.id, output_index: 0, content_index: 0 };
  const events = [
    { type: "response.created", response: begun },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, status: "in_progress", content: [] },
    },
    { type: "response.content_part.added", ...at, part: { type: "output_text", text: "", annotations: [] } },
    { type: "response.output_text.delta", ...at, delta: said, logprobs: [] },
    { type: "response.output_text.done", ...at, text: said, logprobs: [] },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response: whole },
  ].map((event, sequence_number) => ({ ...event, sequence_number }));
  return { ...call, named: true, events };
}

function embedding({ body, number }) {
  const input = 50 + random(5000);
  return {
    id: `embedding ${number}`,
    model: body.model,
    billed: { provider: "openai", input },
    json: {
      object: "list",
      model: body.model,
      data: [{ object: "embedding", index: 0, embedding: [0.5, 0.5] }],
      usage: { prompt_tokens: input, total_tokens: input },
    },
  };
}

/** https://docs.anthropic.com/en/api/messages: input comes without what the cache has. */
function message({ body }) {
  const { input, cacheRead, output } = randomCounts();
  const [cacheWrite5m, cacheWrite1h] = [random(4000), random(2) === 0 ? 0 : random(4000)];
  const cacheWrite = cacheWrite5m + cacheWrite1h;
  const id = randomId("msg_");
  const usage = {
    input_tokens: input,
    cache_creation_input_tokens: cacheWrite,
    cache_read_input_tokens: cacheRead,
    cache_creation: { ephemeral_5m_input_tokens: cacheWrite5m, ephemeral_1h_input_tokens: cacheWrite1h },
    output_tokens: output,
    service_tier: "standard",
  };
  const whole = {
    id,
    type: "message",
    role: "assistant",
    model: body.model,
    content: [{ type: "text", text: said }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage,
  };
  const call = {
    id,
    model: body.model,
    billed: { provider: "anthropic", input, cacheRead, cacheWrite, cacheWrite5m, cacheWrite1h, output },
    headers: { "request-id": randomId("req_") },
  };
  if (!body.stream) return { ...call, json: whole };
  const events = [
    {
      type: "message_start",
      message: { ...whole, content: [], stop_reason: null, usage: { ...usage, output_tokens: 1 } },
    },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: said } },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      // Totals, of what was read and written, too.
      usage: {
        input_tokens: input,
        cache_creation_input_tokens: cacheWrite,
        cache_read_input_tokens: cacheRead,
        output_tokens: output,
      },
    },
    { type: "message_stop" },
  ];
  return { ...call, named: true, events };
}

/** https://ai.google.dev/api/generate-content: thoughts come beside the output. */
function generateContent({ pathname }) {
  const { input, cacheRead, output, reasoning } = randomCounts();
  const model = /models\/([^/:]+):/.exec(pathname)?.[1] ?? "";
  const id = randomId("");
  const whole = {
    responseId: id,
    modelVersion: model,
    candidates: [{ index: 0, content: { role: "model", parts: [{ text: said }] }, finishReason: "STOP" }],
    usageMetadata: {
      promptTokenCount: input + cacheRead,
      cachedContentTokenCount: cacheRead,
      candidatesTokenCount: output,
      thoughtsTokenCount: reasoning,
      totalTokenCount: input + cacheRead + output + reasoning,
    },
  };
  const billed = { provider: "google", input, cacheRead, output: output + reasoning };
  const call = { id, model, billed };
  return pathname.endsWith(":generateContent") ? { ...call, json: whole } : { ...call, events: [whole] };
}
