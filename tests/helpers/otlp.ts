import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type DescMessage, type Message, toBinary } from "@bufbuild/protobuf";
import { decodeExport } from "@/lib/sources/otlp/decode";
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

/** The same export in protobuf. */
export function toProtobuf(signal: Signal, body: unknown): Uint8Array {
  const message: Message = decodeExport(signal, "json", Buffer.from(JSON.stringify(body)));
  return toBinary(schemas[signal] as DescMessage, message);
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
