import { expect, test } from "vitest";
import { ServiceError } from "@/lib/errors";
import { marksAround } from "@/lib/ledger/ingest/call";
import type { DecodedItem } from "@/lib/sources/decoded";
import { chatCall, exportSpans, readCapture, type TestSpan, toProtobuf } from "@/tests/helpers/otlp";
import { decodeBody, type Form } from "./decode";
import { pack, unpack } from "./transfer";

/** A decoded item without the scope and `leftOut`, which the receiver does not need: they are in the remarks. */
function plain(item: DecodedItem) {
  if (item instanceof ServiceError || item === "no usage") return item;
  const { offered, keys, ...rest } = item;
  const values = [...offered].map(([name, value]) => [name, String(value)]);
  return JSON.parse(
    JSON.stringify({ ...rest, values, keys: { ...keys, within: marksAround(keys.within, new Set()) } }),
  );
}

async function passed(form: Form, bytes: Uint8Array) {
  const decoded = decodeBody(form, bytes);
  // Copied as between threads.
  const received = await unpack(structuredClone(pack(decodeBody(form, bytes))));
  expect(received.items.map(plain)).toEqual(decoded.items.map(plain));
  expect(received.remarks).toEqual(decoded.remarks);
  expect(received.refused).toEqual(decoded.refused);
  return received;
}

test.each(["ai-sdk-traces", "claude-code-logs", "claude-code-metrics", "langfuse-sdk-traces", "codex-logs"])(
  "Passes what %s tells from one thread to another unchanged",
  async (name) => {
    const { signal, body } = readCapture(name);
    const bytes = toProtobuf(signal, body);
    const { items } = await passed({ name: "otlp", signal, encoding: "protobuf", settings: null }, bytes);
    expect(items.length).toBeGreaterThan(0);
  },
);

test("Passes a chain that is too long for the clone of a list, and the spans that records share once", async () => {
  const spans = Array.from(
    { length: 20_000 },
    (_, index): TestSpan => ({
      id: (index + 1).toString(16),
      ...(index > 0 && { parent: Math.min(index, 10_000).toString(16) }),
      attributes: index >= 9_999 ? chatCall : {},
    }),
  );
  const body = Buffer.from(JSON.stringify(exportSpans(spans).body));
  const decoded = decodeBody({ name: "otlp", signal: "traces", encoding: "json", settings: null }, body);
  const { items } = await unpack(structuredClone(pack(decoded)));
  const [first, second] = items.map((item) =>
    typeof item === "object" && "keys" in item ? item.keys.within[0] : undefined,
  );
  expect(first).toBeDefined();
  expect(first).toBe(second);
  expect(marksAround(first ? [first] : [], new Set())).toHaveLength(10_000);
});

test("Passes the verdicts of a gateway's items in their order", async () => {
  const item = {
    id: "call-1",
    model: "gpt-4o",
    prompt_tokens: 10,
    completion_tokens: 5,
    custom_llm_provider: "openai",
  };
  const body = Buffer.from(JSON.stringify([item, { id: "call-2" }, { id: 5 }]));
  const { items } = await passed({ name: "litellm", settings: null }, body);
  expect(items.map((one) => (one instanceof ServiceError ? one.code : typeof one))).toEqual([
    "object",
    "string",
    "validation_failed",
  ]);
});
