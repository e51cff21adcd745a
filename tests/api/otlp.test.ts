import { gzipSync } from "node:zlib";
import { fromBinary } from "@bufbuild/protobuf";
import { beforeAll, describe, expect, test } from "vitest";
import type { Signal } from "@/lib/sources/otlp/entry";
import { StatusSchema } from "@/lib/sources/otlp/proto/google/rpc/status_pb";
import { ExportLogsServiceResponseSchema } from "@/lib/sources/otlp/proto/opentelemetry/proto/collector/logs/v1/logs_service_pb";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import type { KeyOptions } from "@/tests/helpers/keys";
import { readCapture, splitExport, toProtobuf } from "@/tests/helpers/otlp";

const harness = withHarness();

type Sent = { signal: Signal; body: unknown };
type SendOptions = { encoding?: "json" | "protobuf"; headers?: Record<string, string>; path?: string };

/** A workspace with a key, what it sends, and what was recorded for it. */
async function makeSource(options: KeyOptions = {}) {
  const workspace = await harness.fixtures.workspace();
  const { secret, id } = await harness.fixtures.key(workspace, options);
  const url = harness.services[0]?.baseUrl ?? "";
  const send = async (
    { signal, body }: Sent,
    { encoding = "json", headers = {}, path }: SendOptions = {},
  ) => {
    const bytes = encoding === "json" ? JSON.stringify(body) : new Uint8Array(toProtobuf(signal, body));
    return fetch(`${url}${path ?? `/api/otlp/v1/${signal}`}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${secret}`,
        "content-type": encoding === "json" ? "application/json" : "application/x-protobuf",
        ...headers,
      },
      body: bytes,
    });
  };
  const accept = async (sent: Sent, how?: SendOptions) => {
    const response = await send(sent, how);
    expect(response.status, await response.clone().text()).toBe(200);
    return response;
  };
  /** Units with their quantities, in all and by message. */
  const recorded = async () => {
    const { rows } = await harness.fixtures.sql.query(
      `select unit_type, sum(quantity)::float as quantity from public.messages where workspace_id = $1 group by 1 order by 1`,
      [workspace],
    );
    return Object.fromEntries(rows.map(({ unit_type, quantity }) => [unit_type, quantity]));
  };
  const messages = async () => {
    const { rows } = await harness.fixtures.sql.query(
      `select p.slug as project, m.provider, m.model, m.feature, m.source, m.type, m.cost_status, m.metadata, m.occurred_at
       from public.messages as m join public.projects as p on p.id = m.project_id
       where m.workspace_id = $1 and m.part = 0 order by m.occurred_at, m.id`,
      [workspace],
    );
    return rows;
  };
  return { workspace, id, secret, url, send, accept, recorded, messages };
}

const openAi = { input_tokens: 200, cache_read_tokens: 1000, output_tokens: 34 };
const anthropic = { input_tokens: 200, cache_read_tokens: 1000, cache_write_tokens: 300, output_tokens: 34 };
const sum = (...all: Record<string, number>[]) => {
  const total: Record<string, number> = {};
  for (const one of all)
    for (const [unit, count] of Object.entries(one)) total[unit] = (total[unit] ?? 0) + count;
  return total;
};

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
      const source = await makeSource();
      for (const sent of way) await source.accept(sent, { encoding });
      expect(await source.recorded(), `way ${index}`).toEqual(expected);
      // The metric of Claude Code has a point for each kind of tokens.
      const isSums = captures[0]?.startsWith("claude-code") && [2, 4].includes(index);
      expect(await source.messages()).toHaveLength(isSums ? 4 : calls);
    }
  });
});
