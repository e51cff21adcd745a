import {
  type DescMessage,
  fromBinary,
  fromJson,
  type JsonValue,
  type MessageShape,
} from "@bufbuild/protobuf";
import { ServiceError } from "@/lib/errors";
import { allowList } from "@/lib/sources/emitters/allow-list";
import { offeredNames } from "@/lib/sources/mapping/source-settings";
import type { Signal } from "./entry";
import { ExportLogsServiceRequestSchema } from "./proto/opentelemetry/proto/collector/logs/v1/logs_service_pb";
import { ExportMetricsServiceRequestSchema } from "./proto/opentelemetry/proto/collector/metrics/v1/metrics_service_pb";
import { ExportTraceServiceRequestSchema } from "./proto/opentelemetry/proto/collector/trace/v1/trace_service_pb";

const requests = {
  traces: ExportTraceServiceRequestSchema,
  metrics: ExportMetricsServiceRequestSchema,
  logs: ExportLogsServiceRequestSchema,
} as const;

/** How an export is encoded: OTLP's binary protobuf or its JSON. */
export type Encoding = "protobuf" | "json";

/** The request message of a signal. */
export type ExportRequest<S extends Signal> = MessageShape<(typeof requests)[S]>;

/**
 * Decodes the body of an export (OTLP 1.11, section OTLP/HTTP). An empty body is an empty export in both encodings. What is
 * not read afterwards may be missing.
 * @param offered the attributes that the settings of the source may use, besides those on the allow-list
 * @throws ServiceError validation_failed where the bytes are not an export of this signal
 */
export function decodeExport<S extends Signal>(
  signal: S,
  encoding: Encoding,
  bytes: Uint8Array,
  offered: ReadonlySet<string> = offeredNames(null),
): ExportRequest<S> {
  const schema: DescMessage = requests[signal];
  try {
    if (encoding === "protobuf")
      return fromBinary(schema, bytes, { readUnknownFields: false }) as ExportRequest<S>;
    const text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
    const json = text.trim() === "" ? {} : prepareJson(JSON.parse(text), offered);
    return fromJson(schema, json, { ignoreUnknownFields: true }) as ExportRequest<S>;
  } catch {
    // The decoder's own message may quote the content, which can be a prompt.
    const form = encoding === "protobuf" ? "a protobuf message" : "JSON";
    throw new ServiceError(
      "validation_failed",
      `The body is not ${form} of an OTLP export of ${signal}. Check the exporter's protocol and its path.`,
    );
  }
}

/** The fields of a span or log record that are ids: OTLP's JSON has them in hex, protobuf's own mapping in base64. */
const ids = ["traceId", "spanId", "parentSpanId"];

/** What spans and log records have and nobody reads. */
const unread = ["links", "events", "status", "traceState"];

/** The lists that lead to spans and log records, from the outside in. */
const paths = [
  ["resourceSpans", "scopeSpans", "spans"],
  ["resourceLogs", "scopeLogs", "logRecords"],
];

/**
 * Changes hex ids to base64, in place, and drops what is not read: it may have ids too (links, exemplars), and attributes that
 * are not on the allow-list are most of an export. A metric keeps its attributes, because all of them make its series.
 */
function prepareJson(json: JsonValue, offered: ReadonlySet<string>): JsonValue {
  for (const [outer = "", middle = "", inner = ""] of paths) {
    for (const record of listed(listed(listed([json], outer), middle), inner)) {
      if (!isObject(record)) continue;
      for (const name of unread) delete record[name];
      if (Array.isArray(record.attributes))
        record.attributes = record.attributes.filter((one) => isRead(one, offered));
      for (const name of ids) if (record[name] !== undefined) record[name] = hexToBase64(record[name]);
    }
  }
  const metrics = listed(listed(listed([json], "resourceMetrics"), "scopeMetrics"), "metrics");
  for (const kind of ["sum", "histogram", "gauge", "exponentialHistogram"]) {
    const data = metrics.flatMap((metric) => (isObject(metric) && metric[kind] ? [metric[kind]] : []));
    for (const point of listed(data, "dataPoints")) if (isObject(point)) delete point.exemplars;
  }
  return json;
}

/** Whether an attribute is on the allow-list or offered. What is no attribute stays, and is refused. */
function isRead(attribute: JsonValue, offered: ReadonlySet<string>): boolean {
  if (!isObject(attribute) || typeof attribute.key !== "string") return true;
  return allowList.has(attribute.key) || offered.has(attribute.key);
}

function listed(values: JsonValue[], name: string): JsonValue[] {
  return values.flatMap((value) => {
    const list = isObject(value) ? value[name] : undefined;
    return Array.isArray(list) ? list : [];
  });
}

/** An id that is not hex becomes none: the record is then told by other means. */
function hexToBase64(id: JsonValue | undefined): string {
  if (typeof id !== "string" || !/^([0-9a-f]{2})*$/i.test(id)) return "";
  return Buffer.from(id, "hex").toString("base64");
}

function isObject(value: JsonValue | undefined): value is { [name: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
