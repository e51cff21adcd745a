import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type DescMessage, fromJson, type JsonValue, toBinary } from "@bufbuild/protobuf";
import type { Signal } from "@/lib/sources/otlp/entry";
import { ExportLogsServiceRequestSchema } from "@/lib/sources/otlp/proto/opentelemetry/proto/collector/logs/v1/logs_service_pb";
import { ExportMetricsServiceRequestSchema } from "@/lib/sources/otlp/proto/opentelemetry/proto/collector/metrics/v1/metrics_service_pb";
import { ExportTraceServiceRequestSchema } from "@/lib/sources/otlp/proto/opentelemetry/proto/collector/trace/v1/trace_service_pb";
import { projectRoot } from "./project-root";

/** An export of a real emitter (`tests/fixtures/otlp`), as JSON. */
export type Capture = { name: string; signal: Signal; body: Record<string, unknown> };

export function readCapture(name: string): Capture {
  const { path, body } = JSON.parse(
    readFileSync(join(projectRoot, "tests/fixtures/otlp", `${name}.json`), "utf8"),
  );
  return { name, signal: path.split("/").at(-1), body };
}

const schemas = {
  traces: ExportTraceServiceRequestSchema,
  metrics: ExportMetricsServiceRequestSchema,
  logs: ExportLogsServiceRequestSchema,
};

/** The same export in protobuf, with all that it has. */
export function toProtobuf(signal: Signal, body: unknown): Uint8Array {
  const schema: DescMessage = schemas[signal];
  const json = JSON.parse(JSON.stringify(body), (name, value) =>
    /^(trace|span|parentSpan)Id$/.test(name) ? Buffer.from(value, "hex").toString("base64") : value,
  ) as JsonValue;
  return toBinary(schema, fromJson(schema, json, { ignoreUnknownFields: true }));
}

const lists = {
  traces: ["resourceSpans", "scopeSpans", "spans"],
  metrics: ["resourceMetrics", "scopeMetrics", "metrics"],
  logs: ["resourceLogs", "scopeLogs", "logRecords"],
} as const;

type Tree = Record<string, unknown>;

/** An export as several, with one record in each; a metric's points are records. Resources and scopes are repeated. */
export function splitExport({ signal, body }: Pick<Capture, "signal" | "body">): Tree[] {
  const [outer, middle, inner] = lists[signal];
  return (body[outer] as Tree[]).flatMap((resource) =>
    (resource[middle] as Tree[]).flatMap((scope) =>
      (scope[inner] as Tree[]).flatMap((record) =>
        (signal === "metrics" ? splitMetric(record) : [record]).map((one) => ({
          [outer]: [{ ...resource, [middle]: [{ ...scope, [inner]: [one] }] }],
        })),
      ),
    ),
  );
}

function splitMetric(metric: Tree): Tree[] {
  return ["sum", "histogram"].flatMap((kind) => {
    const data = metric[kind] as { dataPoints: Tree[] } | undefined;
    return (data?.dataPoints ?? []).map((point) => ({ ...metric, [kind]: { ...data, dataPoints: [point] } }));
  });
}

type Values = Record<string, string | number>;

function attributesOf(values: Values) {
  return Object.entries(values).map(([key, value]) => ({
    key,
    value: typeof value === "number" ? { intValue: value } : { stringValue: value },
  }));
}

/** A span of a test: `id` and `parent` are short hex. Without its own times, those of the export. */
export type TestSpan = {
  id: string;
  parent?: string;
  trace?: string;
  startMs?: number;
  endMs?: number;
  attributes: Values;
};

/** An export of spans by one library of one service. */
export function exportSpans(
  spans: TestSpan[],
  {
    scope = "acme",
    service = "shop",
    endMs = Date.now(),
    name = "call",
    resource: more = {},
  }: { scope?: string; service?: string; endMs?: number; name?: string; resource?: Values } = {},
) {
  const ns = (ms: number) => `${BigInt(ms) * 1_000_000n}`;
  const written = spans.map(({ id, parent, trace = "a1", startMs, endMs: ownEndMs = endMs, attributes }) => ({
    traceId: trace.padStart(32, "0"),
    spanId: id.padStart(16, "0"),
    ...(parent && { parentSpanId: parent.padStart(16, "0") }),
    name,
    startTimeUnixNano: ns(startMs ?? ownEndMs - 400),
    endTimeUnixNano: ns(ownEndMs),
    attributes: attributesOf(attributes),
  }));
  const resource = { attributes: attributesOf({ "service.name": service, ...more }) };
  const body = { resourceSpans: [{ resource, scopeSpans: [{ scope: { name: scope }, spans: written }] }] };
  return { signal: "traces" as const, body };
}

/** The attributes of a call of a model by the GenAI conventions. */
export const chatCall = {
  "gen_ai.operation.name": "chat",
  "gen_ai.provider.name": "openai",
  "gen_ai.response.model": "gpt-4o",
  "gen_ai.usage.input_tokens": 10,
  "gen_ai.usage.output_tokens": 5,
};

/** A point of `gen_ai.client.token.usage`, or another metric; times in seconds. */
export type TestPoint = { start: number; time: number; value: number };

/** An export of one metric's points. */
export function exportPoints(
  points: TestPoint[],
  {
    isTotal = true,
    service = "shop",
    name = "gen_ai.client.inference.usage.input_tokens",
    attributes = { "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o" } as Values,
  } = {},
) {
  const ns = (seconds: number) => `${BigInt(seconds) * 1_000_000_000n}`;
  const dataPoints = points.map(({ start, time, value }) => ({
    startTimeUnixNano: ns(start),
    timeUnixNano: ns(time),
    asInt: String(value),
    attributes: attributesOf(attributes),
  }));
  const sum = { aggregationTemporality: isTotal ? 2 : 1, isMonotonic: true, dataPoints };
  const resource = { attributes: attributesOf({ "service.name": service }) };
  const body = {
    resourceMetrics: [
      { resource, scopeMetrics: [{ scope: { name: "meter" }, metrics: [{ name, unit: "{token}", sum }] }] },
    ],
  };
  return { signal: "metrics" as const, body };
}

/** An export of log records by one library of one service. */
export function exportLogs(records: Values[], { scope = "acme", service = "shop" } = {}) {
  const resource = { attributes: attributesOf({ "service.name": service }) };
  const logRecords = records.map((values) => ({
    timeUnixNano: `${BigInt(Date.now()) * 1_000_000n}`,
    attributes: attributesOf(values),
  }));
  const body = { resourceLogs: [{ resource, scopeLogs: [{ scope: { name: scope }, logRecords }] }] };
  return { signal: "logs" as const, body };
}
