/*
 * What the mock of the providers answers, in each of their formats. Each answer has random counts, so that no two calls can be
 * taken for each other; `SEED` in the environment repeats a run. A request that offers a tool whose name has `weather` gets a call of
 * it, and once the tool has said "Sunny.", one of `final_answer`, where that is offered, or text.
 */
import { randomBytes } from "node:crypto";

/** Random numbers that a seed repeats (mulberry32). */
export const seed = Number(process.env.SEED ?? Date.now() % 2 ** 31);
let state = seed;
export function random(below) {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
}

const said = "Hello.";

/** The tool that an answer calls and its arguments; undefined where it is text. */
function toolCall({ body, text }) {
  const offered = (body.tools ?? [])
    .flatMap((tool) => tool.functionDeclarations ?? [tool.function ?? tool])
    .map(({ name }) => name);
  const isTold = text.includes("Sunny.");
  const name = offered.find((each) => (isTold ? each === "final_answer" : each?.includes("weather")));
  return name && { id: randomId("call_"), name, input: isTold ? { answer: said } : { city: "Paris" } };
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

export const routes = [
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
function chatCompletion({ body, text }) {
  const tool = toolCall({ body, text });
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
  const called = tool && {
    id: tool.id,
    type: "function",
    function: { name: tool.name, arguments: JSON.stringify(tool.input) },
  };
  const reason = tool ? "tool_calls" : "stop";
  if (!body.stream) {
    const message = { role: "assistant", content: tool ? null : said, ...(tool && { tool_calls: [called] }) };
    const choice = { index: 0, message, finish_reason: reason };
    return { ...call, json: { ...base, object: "chat.completion", choices: [choice], usage } };
  }
  const chunk = (rest) => ({ ...base, object: "chat.completion.chunk", ...rest });
  const choice = (delta, finish_reason = null) => ({ index: 0, delta, finish_reason });
  const events = [
    chunk({
      choices: [
        choice({
          role: "assistant",
          ...(tool ? { tool_calls: [{ index: 0, ...called }] } : { content: said }),
        }),
      ],
    }),
    chunk({ choices: [choice({}, reason)] }),
    ...(body.stream_options?.include_usage ? [chunk({ choices: [], usage })] : []),
    "[DONE]",
  ];
  return { ...call, events };
}

/** https://platform.openai.com/docs/api-reference/responses */
function response({ body, text }) {
  const tool = toolCall({ body, text });
  const { input, cacheRead, output, reasoning } = randomCounts();
  const id = randomId("resp_");
  const item = tool
    ? {
        id: randomId("fc_"),
        type: "function_call",
        status: "completed",
        call_id: tool.id,
        name: tool.name,
        arguments: JSON.stringify(tool.input),
      }
    : {
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
      item: { ...item, status: "in_progress", ...(tool ? { arguments: "" } : { content: [] }) },
    },
    ...(tool
      ? [
          { type: "response.function_call_arguments.delta", ...at, delta: item.arguments },
          { type: "response.function_call_arguments.done", ...at, arguments: item.arguments },
        ]
      : [
          {
            type: "response.content_part.added",
            ...at,
            part: { type: "output_text", text: "", annotations: [] },
          },
          { type: "response.output_text.delta", ...at, delta: said, logprobs: [] },
          { type: "response.output_text.done", ...at, text: said, logprobs: [] },
        ]),
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
function message({ body, text, number }) {
  const tool = toolCall({ body, text });
  const { input, cacheRead, output } = randomCounts();
  const [cacheWrite5m, cacheWrite1h] = [random(4000), number % 2 === 0 ? 0 : 1 + random(4000)];
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
    content: [tool ? { type: "tool_use", ...tool } : { type: "text", text: said }],
    stop_reason: tool ? "tool_use" : "end_turn",
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
    {
      type: "content_block_start",
      index: 0,
      content_block: tool ? { type: "tool_use", ...tool, input: {} } : { type: "text", text: "" },
    },
    {
      type: "content_block_delta",
      index: 0,
      delta: tool
        ? { type: "input_json_delta", partial_json: JSON.stringify(tool.input) }
        : { type: "text_delta", text: said },
    },
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: whole.stop_reason, stop_sequence: null },
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
  return { ...call, named: true, events, cutAfter: 3 };
}

/** https://ai.google.dev/api/generate-content: thoughts come beside the output. */
function generateContent({ body, text, pathname }) {
  const tool = toolCall({ body, text });
  const { input, cacheRead, output, reasoning } = randomCounts();
  const model = /models\/([^/:]+):/.exec(pathname)?.[1] ?? "";
  const id = randomId("");
  const part = tool ? { functionCall: { name: tool.name, args: tool.input } } : { text: said };
  const answer = (parts, rest, counts) => ({
    responseId: id,
    modelVersion: model,
    candidates: [{ index: 0, content: { role: "model", parts }, ...rest }],
    usageMetadata: {
      promptTokenCount: input + cacheRead,
      cachedContentTokenCount: cacheRead,
      ...counts,
    },
  });
  const whole = answer(
    [part],
    { finishReason: "STOP" },
    {
      candidatesTokenCount: output,
      thoughtsTokenCount: reasoning,
      totalTokenCount: input + cacheRead + output + reasoning,
    },
  );
  const billed = { provider: "google", input, cacheRead, output: output + reasoning };
  const call = { id, model, billed };
  if (pathname.endsWith(":generateContent")) return { ...call, json: whole };
  // A stream's counts are totals so far.
  const begun = answer([{ text: "" }], {}, { totalTokenCount: input + cacheRead });
  return { ...call, events: [begun, whole] };
}
