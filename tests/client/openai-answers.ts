import type { Asked } from "./asked";

/** What every call of OpenAI's mock uses. */
const chatUsage = {
  prompt_tokens: 1000,
  completion_tokens: 50,
  total_tokens: 1050,
  prompt_tokens_details: { cached_tokens: 600, audio_tokens: 0 },
  completion_tokens_details: { reasoning_tokens: 20, audio_tokens: 0 },
};
const responseUsage = {
  input_tokens: 1000,
  output_tokens: 50,
  total_tokens: 1050,
  input_tokens_details: { cached_tokens: 600 },
  output_tokens_details: { reasoning_tokens: 20 },
};
const words = ["Grüße", " aus", " 東京 🎉"];
const created = 1_793_000_000;

export function chatAnswer(id: string, { model }: Asked) {
  return {
    id: `chatcmpl-${id}`,
    object: "chat.completion",
    created,
    model: `${model}-2024-08-06`,
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: words.join(""), refusal: null },
        logprobs: null,
        finish_reason: "stop",
      },
    ],
    usage: chatUsage,
    service_tier: "default",
  };
}

export function chatEvents(id: string, { model, stream_options }: Asked): string[] {
  const asksForUsage = stream_options?.include_usage === true;
  const base = {
    id: `chatcmpl-${id}`,
    object: "chat.completion.chunk",
    created,
    model: `${model}-2024-08-06`,
  };
  const chunk = (delta: object, finish_reason: string | null = null) => ({
    ...base,
    choices: [{ index: 0, delta, logprobs: null, finish_reason }],
    ...(asksForUsage && { usage: null }),
  });
  const chunks = [
    chunk({ role: "assistant", content: "" }),
    ...words.map((content) => chunk({ content })),
    chunk({}, "stop"),
    ...(asksForUsage ? [{ ...base, choices: [], usage: chatUsage }] : []),
  ];
  return [...chunks.map((data) => `data: ${JSON.stringify(data)}\n\n`), "data: [DONE]\n\n"];
}

/** What a response did before its message: two searches, of which one was cached, and what it did with them. */
const toolCalls = [
  { type: "web_search_call", id: "ws_1", status: "completed", action: { type: "search", query: "x" } },
  { type: "web_search_call", id: "ws_2", status: "completed", action: { type: "search", query: "y" } },
  {
    type: "web_search_call",
    id: "ws_3",
    status: "completed",
    action: { type: "open_page", url: "https://x" },
  },
  { type: "file_search_call", id: "fs_1", status: "completed", queries: ["z"] },
];

export function responseAnswer(id: string, { model, background = false, service_tier, tools }: Asked) {
  return {
    service_tier: service_tier ?? "default",
    id: `${background ? "bg" : "resp"}_${id}`,
    object: "response",
    created_at: created,
    status: background ? "queued" : "completed",
    background,
    error: null,
    incomplete_details: null,
    instructions: null,
    metadata: {},
    model: `${model}-2024-08-06`,
    output: background
      ? []
      : [
          ...(tools ? toolCalls : []),
          {
            type: "message",
            id: `msg_${id}`,
            status: "completed",
            role: "assistant",
            content: [{ type: "output_text", text: words.join(""), annotations: [] }],
          },
        ],
    parallel_tool_calls: true,
    temperature: 1,
    tool_choice: "auto",
    tools: [],
    top_p: 1,
    usage: background ? null : responseUsage,
  };
}

export function responseEvents(id: string, asked: Asked): string[] {
  const response = responseAnswer(id, asked);
  const [item] = response.output;
  const at = { item_id: `msg_${id}`, output_index: 0, content_index: 0 };
  const part = { type: "output_text", text: "", annotations: [] };
  const events = [
    { type: "response.created", response: { ...response, status: "in_progress", output: [], usage: null } },
    {
      type: "response.output_item.added",
      output_index: 0,
      item: { ...item, status: "in_progress", content: [] },
    },
    { type: "response.content_part.added", ...at, part },
    ...words.map((delta) => ({ type: "response.output_text.delta", ...at, delta, logprobs: [] })),
    { type: "response.output_text.done", ...at, text: words.join(""), logprobs: [] },
    { type: "response.content_part.done", ...at, part: { ...part, text: words.join("") } },
    { type: "response.output_item.done", output_index: 0, item },
    { type: "response.completed", response },
  ];
  return events.map(
    (event, index) =>
      `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: index })}\n\n`,
  );
}

export function embeddingAnswer({ model, input }: Asked & { encoding_format?: string }) {
  const vector = new Float32Array([0.5, -0.25, 1]);
  const embedding = Buffer.from(vector.buffer).toString("base64");
  const inputs = Array.isArray(input) ? input : [input];
  return {
    object: "list",
    data: inputs.map((_, index) => ({ object: "embedding", index, embedding })),
    model,
    usage: { prompt_tokens: 8, total_tokens: 8 },
  };
}
