import { chatCall, type TestSpan } from "./otlp";

let calls = 0;

/** Spans of model calls, each with a span id and a response id of its own. */
export const uniqueCalls = (count: number, attributes: TestSpan["attributes"] = {}): TestSpan[] =>
  Array.from({ length: count }, () => {
    calls += 1;
    return {
      id: calls.toString(16),
      attributes: { ...chatCall, "gen_ai.response.id": `chatcmpl-of-a-unique-name-${calls}`, ...attributes },
    };
  });
