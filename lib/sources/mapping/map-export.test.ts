import { describe, expect, test } from "vitest";
import { type Encoding, readExport } from "@/lib/sources/otlp/read-export";
import { mapped, tokensOf } from "@/tests/helpers/mapped-exports";
import { exportSpans, readCapture } from "@/tests/helpers/otlp";

// Real exports of programs, captured in tests/fixtures/otlp.

const openAi = { input: "200", cacheRead: "1000", output: "34", reasoning: "10" };
const anthropic = { input: "200", cacheRead: "1000", cacheWrite: "300", output: "34" };

/** The calls of each capture: their provider, model and tokens. */
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
      // For `generateText` with OpenAI, version 5 does not report the tokens read from the cache.
      ["openai", "gpt-4o-mini", { input: "1211", output: "31" }],
      [
        "anthropic",
        "claude-sonnet-4-5",
        { input: "205", cacheRead: "1050", cacheWrite: "305", cacheWrite5m: "305", output: "35" },
      ],
      [
        "anthropic",
        "claude-sonnet-4-5",
        { input: "206", cacheRead: "1060", cacheWrite: "306", cacheWrite5m: "306", output: "36" },
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
  // It reports the provider `github` for calls of OpenAI.
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
      // The span of Anthropic's own SDK, inside that of OpenInference, has the time to live of the cache.
      ["anthropic", "claude-sonnet-4-5", { ...anthropic, cacheWrite5m: "300" }],
    ],
  ],
  [
    "openllmetry-traces-from-protobuf",
    [
      // Its span for OpenAI does not have the tokens read from the cache.
      ["openai", "gpt-4o-2024-08-06", { input: "1200", output: "34" }],
      ["anthropic", "claude-sonnet-4-5", anthropic],
    ],
  ],
  // It reports itself as the provider, so the provider is found by the model.
  [
    "strands-traces-from-protobuf",
    [
      ["anthropic", "claude-sonnet-4-5", { input: "2840", cacheWrite: "5995", output: "227" }],
      ["anthropic", "claude-sonnet-4-5", { input: "253", cacheWrite: "4485", output: "1483" }],
    ],
  ],
  [
    "google-adk-traces-from-protobuf",
    [
      ["google", "gemini-2.5-flash", { input: "4959", cacheRead: "39970", output: "1730", reasoning: "272" }],
      ["google", "gemini-2.5-flash", { input: "4389", cacheRead: "39606", output: "1158", reasoning: "103" }],
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
    const { entries } = readExport(signal, "json", Buffer.from(JSON.stringify(body)));
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
