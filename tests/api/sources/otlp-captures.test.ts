import { describe, expect, test } from "vitest";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { readCapture, splitExport } from "@/tests/helpers/otlp";
import { makeSource, type Sent } from "@/tests/helpers/otlp-source";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();

const openAi = { input_tokens: 200, cache_read_tokens: 1000, output_tokens: 34 };
const anthropic = { input_tokens: 200, cache_read_tokens: 1000, cache_write_tokens: 300, output_tokens: 34 };
const sum = (...all: Record<string, number>[]) => {
  const total: Record<string, number> = {};
  for (const one of all)
    for (const [unit, count] of Object.entries(one)) total[unit] = (total[unit] ?? 0) + count;
  return total;
};

/** A write for five minutes costs what one of an unknown time does: which of them it is, depends on who of two told it first. */
const folded = ({ cache_write_5m_tokens: short = 0, ...rest }: Record<string, number>) =>
  short === 0 ? rest : sum(rest, { cache_write_tokens: short });

/** What each emitter's exports together come to. */
const emitters: [name: string, captures: string[], calls: number, expected: Record<string, number>][] = [
  ["Claude Code's logs and metrics", ["claude-code-logs", "claude-code-metrics"], 1, anthropic],
  [
    "Claude Code's logs and metrics from protobuf",
    ["claude-code-logs-from-protobuf", "claude-code-metrics-from-protobuf"],
    1,
    anthropic,
  ],
  ["Codex", ["codex-logs", "codex-metrics", "codex-traces"], 1, openAi],
  [
    "Gemini CLI",
    ["gemini-cli-logs", "gemini-cli-metrics", "gemini-cli-traces"],
    1,
    { ...openAi, output_tokens: 44 },
  ],
  ["the AI SDK", ["ai-sdk-traces"], 4, sum(openAi, openAi, openAi, anthropic)],
  ["the AI SDK from protobuf", ["ai-sdk-traces-from-protobuf"], 4, sum(openAi, openAi, openAi, anthropic)],
  ["OpenInference", ["openinference-traces-from-protobuf"], 3, sum(openAi, openAi, anthropic)],
  [
    "OpenLLMetry",
    ["openllmetry-traces-from-protobuf"],
    2,
    sum({ input_tokens: 1200, output_tokens: 34 }, anthropic),
  ],
  ["Langfuse's SDK", ["langfuse-sdk-traces"], 2, sum(openAi, openAi)],
  [
    "the AI SDK 7",
    ["ai-sdk-7-traces"],
    4,
    {
      input_tokens: 201 + 205 + 208 + 209,
      cache_read_tokens: 1010 + 1050 + 1080,
      cache_write_tokens: 305,
      output_tokens: 31 + 35 + 48,
    },
  ],
  [
    "Copilot CLI",
    ["copilot-cli-metrics-from-protobuf", "copilot-cli-traces-from-protobuf"],
    1,
    { input_tokens: 201, cache_read_tokens: 1010, cache_write_tokens: 301, output_tokens: 31 },
  ],
];

describe.each(["json", "protobuf"] as const)("Over %s", (encoding) => {
  test.each(emitters)("Records the calls that %s tells once", async (_, captures, calls, expected) => {
    const exports = captures.map(readCapture);
    const ways: Sent[][] = [
      exports,
      [...exports, ...exports],
      exports.toReversed(),
      exports.flatMap((one) => splitExport(one).map((body) => ({ signal: one.signal, body }))),
      exports.flatMap((one) => splitExport(one).map((body) => ({ signal: one.signal, body }))).reverse(),
    ];
    for (const [index, way] of ways.entries()) {
      const source = await makeSource(harness);
      for (const sent of way) await source.accept(sent, { encoding });
      expect(folded(await source.recorded()), `way ${index}`).toEqual(expected);
      expect(await source.messages()).toHaveLength(calls);
    }
  });
});

test("Leaves every sum right", async () => {
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
});
