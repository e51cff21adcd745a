import { expect, test } from "vitest";
import { ArrivedOutput } from "@/packages/client/src/arrived-output";
import type { AskedCall } from "@/packages/client/src/estimate";
import type { Outlay } from "@/packages/client/src/outlay";
import { recordCutCall } from "@/packages/client/src/record-cut-call";

const arrivedOf = (...events: unknown[]) => {
  const arrived = new ArrivedOutput();
  for (const event of events) arrived.add(event);
  const { tokens, id, model } = arrived;
  return { tokens, id, model };
};

test.each<[string, unknown[], object]>([
  [
    "a chat completion, tools and reasoning included",
    [
      {
        id: "chatcmpl-1",
        model: "gpt-4o-2024-08-06",
        choices: [{ delta: { role: "assistant", content: "" } }],
      },
      {
        id: "chatcmpl-1",
        choices: [{ delta: { content: "Hel" } }, { delta: { reasoning_content: "12345678" } }],
      },
      {
        choices: [{ delta: { tool_calls: [{ id: "call_1", function: { name: "find", arguments: "{}" } }] } }],
      },
    ],
    { tokens: 4, id: "chatcmpl-1", model: "gpt-4o-2024-08-06" },
  ],
  [
    "a response of OpenAI, whose last events repeat the text",
    [
      { type: "response.created", response: { id: "resp_1", model: "gpt-5" } },
      { type: "response.output_text.delta", item_id: "msg_1", delta: "äöü" },
      { type: "response.output_text.done", text: "äöü".repeat(100) },
    ],
    { tokens: 2, id: "resp_1", model: "gpt-5" },
  ],
  [
    "a message of Anthropic",
    [
      { type: "message_start", message: { id: "msg_1", model: "claude", content: [] } },
      { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hi" } },
      { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"a":1}' } },
      { type: "message_delta", delta: { stop_reason: "end_turn" } },
    ],
    { tokens: 3, id: "msg_1", model: "claude" },
  ],
  [
    "parts of the AI SDK",
    [
      { type: "text-start", id: "0" },
      { type: "response-metadata", id: "resp_1", modelId: "gpt-5" },
      { type: "text-delta", id: "0", delta: "Hello world" },
    ],
    { tokens: 3, id: "resp_1" },
  ],
  ["no event", [], { tokens: undefined }],
  ["only a beginning", [{ type: "message_start", message: { id: "msg_1" } }], { tokens: 0, id: "msg_1" }],
  [
    "a call that the stream says has failed",
    [{ choices: [{ delta: { content: "Hi" } }] }, { type: "error", error: { type: "overloaded_error" } }],
    { tokens: undefined },
  ],
])("Counts what arrived of %s", (_, events, expected) => {
  expect(arrivedOf(...events)).toMatchObject(expected);
});

/** What is recorded of a call that was cut after "Hi" had arrived. */
function recordedOf(tags: Record<string, string>, model?: string) {
  const recorded: unknown[] = [];
  const outlay = { record: (...given: unknown[]) => recorded.push(...given) } as unknown as Outlay;
  const arrived = new ArrivedOutput();
  arrived.add({ model, choices: [{ delta: { content: "Hi" } }] });
  const asked = { provider: "openai", model: "gpt-4o", tier: undefined, request: {} } as AskedCall;
  recordCutCall(outlay, { id: "reservation", asked, inputTokens: 7 }, arrived, { tags });
  return recorded;
}

const tagged = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`tag${index}`, "x"]));

test.each([
  [0, 1],
  [9, 10],
  // A message has at most ten tags: the caller's own stay.
  [10, 10],
])(
  "An estimate is marked where its tags leave room for that: beside %i tags of its own it has %i",
  (own, all) => {
    const [message] = recordedOf(tagged(own)) as [{ tags: Record<string, string> }];
    expect(Object.keys(message.tags)).toHaveLength(all);
    expect(message.tags).toMatchObject(tagged(own));
    expect(message.tags.usage).toBe(all > own ? "estimated" : undefined);
  },
);

test("An estimate is marked also where the caller has a tag of that name", () => {
  expect(recordedOf({ usage: "mine", team: "a" })).toMatchObject([
    { tags: { usage: "estimated", team: "a" } },
    {},
  ]);
});

test("An estimate settles the reservation, with the model that answers, or else the one that was asked", () => {
  expect(recordedOf({}, "gpt-4o-2024-08-06")).toMatchObject([
    { model: "gpt-4o-2024-08-06", lines: [{ quantity: 7 }, { unit_type: "output_tokens", quantity: 1 }] },
    { reservationId: "reservation" },
  ]);
  expect(recordedOf({})).toMatchObject([{ model: "gpt-4o" }, {}]);
});
