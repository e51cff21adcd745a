import { describe, expect, test } from "vitest";
import { type Encoding, readExport } from "@/lib/sources/otlp/read-export";
import { type Capture, exportSpans, readCapture, toProtobuf } from "@/tests/helpers/otlp";
import { mapExport } from "./map-export";
import type { SourceRecord } from "./source-record";

const openAi = { input: "200", cacheRead: "1000", output: "34", reasoning: "10" };
const anthropic = { input: "200", cacheRead: "1000", cacheWrite: "300", output: "34" };

function mapped({ signal, body }: Pick<Capture, "signal" | "body">, encoding: Encoding) {
  const bytes = encoding === "json" ? Buffer.from(JSON.stringify(body)) : toProtobuf(signal, body);
  return mapExport(readExport(signal, encoding, bytes));
}

function tokensOf({ tokens }: SourceRecord) {
  return Object.fromEntries(Object.entries(tokens).map(([kind, count]) => [kind, count.toString()]));
}

/** Each call of the captures: who told it, of which model, how many tokens. */
const calls: [capture: string, expected: [provider: string, model: string, tokens: object][]][] = [
  ["claude-code-logs", [["anthropic", "claude-opus-4-8", anthropic]]],
  ["claude-code-logs-from-protobuf", [["anthropic", "claude-opus-4-8", anthropic]]],
  ["codex-logs", [["openai", "gpt-5-codex", openAi]]],
  ["codex-metrics", []],
  ["codex-traces", []],
  ["gemini-cli-logs", [["google", "gemini-2.5-flash", { ...openAi, output: "44" }]]],
  ["gemini-cli-metrics", []],
  ["gemini-cli-traces", []],
  ...(["ai-sdk-traces", "ai-sdk-traces-from-protobuf"] as const).map(
    (name): [string, [string, string, object][]] => [
      name,
      [
        ["openai", "gpt-4o-2024-08-06", openAi],
        ["openai", "gpt-4o", openAi],
        ["anthropic", "claude-sonnet-4-5", anthropic],
        ["openai", "gpt-4o-2024-08-06", openAi],
      ],
    ],
  ),
  [
    "ai-sdk-5-traces",
    [
      // Version 5 does not say what `generateText` of OpenAI read from the cache.
      ["openai", "gpt-4o-mini", { input: "1211", output: "31" }],
      [
        "anthropic",
        "claude-sonnet-4-5",
        { input: "205", cacheRead: "1050", cacheWrite: "305", output: "35" },
      ],
      [
        "anthropic",
        "claude-sonnet-4-5",
        { input: "206", cacheRead: "1060", cacheWrite: "306", output: "36" },
      ],
      ["google", "gemini-2.5-flash", { input: "207", cacheRead: "1070", output: "47", reasoning: "10" }],
      ["google", "gemini-2.5-flash", { input: "208", cacheRead: "1080", output: "48", reasoning: "10" }],
    ],
  ],
  [
    "ai-sdk-7-traces",
    [
      ["openai", "gpt-4o-mini", { input: "201", cacheRead: "1010", output: "31" }],
      [
        "anthropic",
        "claude-sonnet-4-5",
        { input: "205", cacheRead: "1050", cacheWrite: "305", output: "35" },
      ],
      ["google", "gemini-2.5-flash", { input: "208", cacheRead: "1080", output: "48" }],
      ["openai", "text-embedding-3-small", { input: "209" }],
    ],
  ],
  // Its provider is `github` where it calls OpenAI.
  [
    "copilot-cli-traces",
    [["openai", "gpt-5", { input: "201", cacheRead: "1010", output: "31", reasoning: "10" }]],
  ],
  [
    "copilot-cli-traces-from-protobuf",
    [
      [
        "anthropic",
        "claude-sonnet-4-5",
        { input: "201", cacheRead: "1010", cacheWrite: "301", output: "31" },
      ],
    ],
  ],
  ["copilot-cli-metrics-from-protobuf", []],
  [
    "langfuse-python-traces-from-protobuf",
    [
      ["openai", "gpt-4o-mini", { input: "201", cacheRead: "1010", output: "31", reasoning: "10" }],
      ["openai", "gpt-4o-mini", { input: "202", cacheRead: "1020", output: "32", reasoning: "10" }],
      ["openai", "gpt-4o-mini", { input: "203", cacheRead: "1030", output: "33", reasoning: "10" }],
      ["openai", "gpt-4o-mini", { input: "204", cacheRead: "1040", output: "34", reasoning: "10" }],
      ["openai", "text-embedding-3-small", { input: "205" }],
    ],
  ],
  [
    "openinference-traces-from-protobuf",
    [
      ["openai", "gpt-4o-2024-08-06", openAi],
      ["openai", "gpt-4o", openAi],
      ["anthropic", "claude-sonnet-4-5", anthropic],
    ],
  ],
  [
    "openllmetry-traces-from-protobuf",
    [
      // Its span of OpenAI does not say what came from the cache.
      ["openai", "gpt-4o-2024-08-06", { input: "1200", output: "34" }],
      ["anthropic", "claude-sonnet-4-5", anthropic],
    ],
  ],
  [
    "langfuse-sdk-traces",
    [
      ["openai", "gpt-4o-2024-08-06", openAi],
      ["openai", "gpt-4o", { input: "200", cacheRead: "1000", output: "34" }],
    ],
  ],
];

describe.each(["json", "protobuf"] as const)("From %s", (encoding) => {
  test.each(calls)("Counts each call of %s once", (name, expected) => {
    const { records } = mapped(readCapture(name), encoding);
    expect(records.map((record) => [record.provider, record.model, tokensOf(record)])).toEqual(expected);
  });

  test.each(["claude-code-metrics", "claude-code-metrics-from-protobuf"])(
    "Counts the points of %s",
    (name) => {
      const { records } = mapped(readCapture(name), encoding);
      expect(records.map((record) => tokensOf(record))).toEqual([
        { input: "200" },
        { output: "34" },
        { cacheRead: "1000" },
        { cacheWrite: "300" },
      ]);
      for (const { provider, model } of records)
        expect([provider, model]).toEqual(["anthropic", "claude-opus-4-8"]);
    },
  );
});

test("Tells the same keys from JSON and from protobuf", () => {
  for (const [name] of [...calls, ["claude-code-metrics"] as const]) {
    const capture = readCapture(name);
    const keys = (encoding: Encoding) => mapped(capture, encoding).records.map((record) => record.keys);
    expect(keys("json")).toEqual(keys("protobuf"));
  }
});

test("Reads who and what for", () => {
  const first = (name: string) => mapped(readCapture(name), "json").records[0];
  expect(first("claude-code-logs")).toMatchObject({
    emitter: "claude-code",
    project: "checkout",
    session: "332521b3-f156-47b2-984a-b3307cb64b00",
    tags: { team: "growth" },
    occurredAt: "2026-11-21T23:20:56.542Z",
  });
  expect(first("claude-code-logs")?.givenCostUsd?.toString()).toBe("0.004225");
  expect(first("ai-sdk-traces")).toMatchObject({
    emitter: "ai-sdk",
    user: "u_42",
    session: "s_7",
    feature: "search",
  });
  expect(first("openllmetry-traces-from-protobuf")).toMatchObject({
    emitter: "openllmetry",
    user: "u_42",
    session: "s_7",
    feature: "summarise",
  });
  expect(first("openinference-traces-from-protobuf")).toMatchObject({
    emitter: "openinference",
    project: "checkout",
  });
  expect(first("langfuse-sdk-traces")).toMatchObject({ emitter: "langfuse", user: "u_42", session: "s_7" });
  expect(first("codex-logs")).toMatchObject({
    emitter: "codex",
    session: "01a2006a-19c9-7d72-828f-f2315215b553",
    occurredAt: "2026-11-21T23:21:23.732Z",
  });
});

test("Keeps no prompt and no answer", () => {
  for (const [name] of [...calls, ["claude-code-metrics"] as const]) {
    const { signal, body } = readCapture(name);
    const entries = readExport(signal, "json", Buffer.from(JSON.stringify(body)));
    for (const { own, resource } of entries) {
      for (const attribute of [...own.keys(), ...resource.keys()])
        expect(attribute).not.toMatch(
          /prompt\.messages|\.text$|input\.value|output\.value|messages|instructions|^prompt$/,
        );
    }
  }
});

test.each(["prompt", "input"])("Counts what OpenAI wrote to its cache, in %s_tokens_details", (name) => {
  const usage = {
    [`${name}_tokens`]: 1500,
    [`${name}_tokens_details`]: { cached_tokens: 1000, cache_write_tokens: 300 },
    [name === "prompt" ? "completion_tokens" : "output_tokens"]: 34,
  };
  const attributes = {
    "langfuse.observation.type": "generation",
    "langfuse.observation.usage_details": JSON.stringify(usage),
  };
  const [record] = mapped(exportSpans([{ id: "1", attributes }]), "json").records;
  expect(record && tokensOf(record)).toEqual(anthropic);
});

test("Says what Codex's metrics lack", () => {
  expect(mapped(readCapture("codex-metrics"), "json").remarks).toEqual([expect.stringContaining("[otel]")]);
});

/** An export with these spans of one trace, by the GenAI conventions. */
function spans(
  list: { id: string; parent?: string; attributes: Record<string, string | number> }[],
  scope = "acme",
) {
  const attribute = ([key, value]: [string, string | number]) => ({
    key,
    value: typeof value === "number" ? { intValue: value } : { stringValue: value },
  });
  const body = {
    resourceSpans: [
      {
        resource: { attributes: [attribute(["service.name", "shop"])] },
        scopeSpans: [
          {
            scope: { name: scope },
            spans: list.map(({ id, parent, attributes }) => ({
              traceId: "0af7651916cd43dd8448eb211c80319c",
              spanId: id.padStart(16, "0"),
              ...(parent && { parentSpanId: parent.padStart(16, "0") }),
              name: "call",
              startTimeUnixNano: "1795303390507000000",
              endTimeUnixNano: "1795303390907000000",
              attributes: Object.entries(attributes).map(attribute),
            })),
          },
        ],
      },
    ],
  };
  return { signal: "traces" as const, body };
}

const chat = {
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "openai",
  "gen_ai.response.model": "gpt-4o",
  "gen_ai.usage.input_tokens": 10,
  "gen_ai.usage.output_tokens": 5,
};

test("Counts an unknown emitter by the conventions and names it", () => {
  const { records, remarks } = mapped(spans([{ id: "1", attributes: chat }]), "json");
  expect(records.map(tokensOf)).toEqual([{ input: "10", output: "5" }]);
  expect(records[0]).toMatchObject({ emitter: "opentelemetry", isKnownEmitter: false });
  expect(remarks).toEqual([expect.stringContaining('the scope "acme" of the service "shop"')]);
});

test("Counts the calls under an agent, and not the agent's sum of them", () => {
  const agent = { ...chat, "gen_ai.operation.name": "invoke_agent", "gen_ai.usage.input_tokens": 20 };
  const { records } = mapped(
    spans([
      { id: "1", attributes: agent },
      { id: "2", parent: "1", attributes: chat },
      { id: "3", parent: "1", attributes: chat },
    ]),
    "json",
  );
  expect(records.map(tokensOf)).toEqual([
    { input: "10", output: "5" },
    { input: "10", output: "5" },
  ]);
});

test("Counts the innermost of nested calls, with what the outer one says about its user", () => {
  const { records } = mapped(
    spans([
      { id: "1", attributes: { ...chat, "gen_ai.operation.name": "answer", "user.id": "u_1" } },
      { id: "2", parent: "1", attributes: { "http.method": "POST" } },
      { id: "3", parent: "2", attributes: { ...chat, "gen_ai.response.id": "chatcmpl-1" } },
    ]),
    "json",
  );
  expect(records).toHaveLength(1);
  expect(records[0]).toMatchObject({ user: "u_1" });
});

test("Joins what a gateway and an agent tell of one answer", () => {
  const { records } = mapped(
    spans([
      { id: "1", attributes: { ...chat, "gen_ai.response.id": "gen-1795303390-abcdefghijkl" } },
      {
        id: "2",
        attributes: {
          ...chat,
          "gen_ai.response.id": "gen-1795303390-abcdefghijkl",
          "gen_ai.usage.cache_read.input_tokens": 4,
        },
      },
    ]),
    "json",
  );
  expect(records.map(tokensOf)).toEqual([{ input: "6", cacheRead: "4", output: "5" }]);
});

test("Counts two calls with the same short response id, which local servers repeat, as two", () => {
  const { records } = mapped(
    spans([
      { id: "1", attributes: { ...chat, "gen_ai.response.id": "chatcmpl-647" } },
      {
        id: "2",
        attributes: { ...chat, "gen_ai.response.id": "chatcmpl-647", "gen_ai.usage.output_tokens": 9 },
      },
    ]),
    "json",
  );
  expect(records).toHaveLength(2);
});

test("Reads the names of the conventions' earlier generations", () => {
  const { records } = mapped(
    spans([
      {
        id: "1",
        attributes: {
          "gen_ai.system": "mistral_ai",
          "gen_ai.request.model": "mistral-large-latest",
          "gen_ai.usage.prompt_tokens": 7,
          "gen_ai.usage.completion_tokens": 3,
        },
      },
    ]),
    "json",
  );
  expect(records[0]).toMatchObject({ provider: "mistral", model: "mistral-large-latest" });
  expect(records.map(tokensOf)).toEqual([{ input: "7", output: "3" }]);
});

test("Takes a cache that is larger than the input as not included in it", () => {
  const { records } = mapped(
    spans([{ id: "1", attributes: { ...chat, "gen_ai.usage.cache_read.input_tokens": 1000 } }]),
    "json",
  );
  expect(records.map(tokensOf)).toEqual([{ input: "10", cacheRead: "1000", output: "5" }]);
});

test("Reads OpenRouter's broadcast with what it bills", () => {
  const { records } = mapped(
    spans([
      {
        id: "1",
        attributes: {
          ...chat,
          "gen_ai.request.model": "anthropic/claude-sonnet-4.5",
          "trace.metadata.openrouter.api_key_name": "prod",
          "trace.metadata.cost_center": "cc-7",
          "gen_ai.usage.total_cost": "0.0123",
        },
      },
    ]),
    "json",
  );
  expect(records[0]).toMatchObject({
    emitter: "openrouter",
    provider: "openrouter",
    model: "anthropic/claude-sonnet-4.5",
    tags: { cost_center: "cc-7" },
  });
  expect(records[0]?.givenCostUsd?.toString()).toBe("0.0123");
});

test("Counts nothing of a failed call", () => {
  const failed = { ...chat, "gen_ai.usage.input_tokens": 0, "gen_ai.usage.output_tokens": 0 };
  expect(mapped(spans([{ id: "1", attributes: failed }]), "json").records).toEqual([]);
});
