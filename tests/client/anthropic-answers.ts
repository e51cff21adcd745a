import type { Asked } from "./asked";

const input = {
  input_tokens: 100,
  cache_read_input_tokens: 2000,
  cache_creation_input_tokens: 300,
  cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
  service_tier: "standard",
};
const words = ["Grüße", " aus", " 東京 🎉"];

export function anthropicAnswer(id: string, { model, speed }: Asked) {
  return {
    id: `msg_${id}`,
    type: "message",
    role: "assistant",
    model,
    content: [{ type: "text", text: words.join("") }],
    stop_reason: "end_turn",
    stop_sequence: null,
    usage: { ...input, output_tokens: 40, ...(speed && { speed }) },
  };
}

export function anthropicEvents(id: string, asked: Asked): string[] {
  const message = {
    ...anthropicAnswer(id, asked),
    content: [],
    stop_reason: null,
    usage: { ...input, output_tokens: 2 },
  };
  const events = [
    { type: "message_start", message },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "ping" },
    ...words.map((text) => ({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
    { type: "content_block_stop", index: 0 },
    {
      type: "message_delta",
      delta: { stop_reason: "end_turn", stop_sequence: null },
      usage: {
        input_tokens: 100,
        cache_read_input_tokens: 2000,
        cache_creation_input_tokens: 300,
        output_tokens: 40,
      },
    },
    { type: "message_stop" },
  ];
  return events.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}
