import { Buffer, isAscii } from "node:buffer";
import { fromBinary, fromJson, type JsonValue } from "@bufbuild/protobuf";
import { ServiceError } from "@/lib/errors";
import { allowList } from "@/lib/sources/emitters/allow-list";
import { offeredNames } from "@/lib/sources/mapping/source-settings";
import type { Entry, Signal } from "./entry";
import { ExportMetricsServiceRequestSchema } from "./proto/opentelemetry/proto/collector/metrics/v1/metrics_service_pb";
import { readJson } from "./read-json";
import { readMetrics } from "./read-metrics";
import { readProtobuf } from "./read-protobuf";
import { readRecords } from "./read-records";
import type { IsRead, RecordSignal } from "./records";

/** How an export is encoded: OTLP's binary protobuf or its JSON. */
export type Encoding = "protobuf" | "json";

/**
 * Reads the body of an export (OTLP 1.11, section OTLP/HTTP) into one list of its records, in the order of the export. An empty
 * body is an empty export in both encodings. Attributes that are not on the allow-list are not read.
 * @param offered the attributes that the settings of the source may use, which are read besides
 * @throws ServiceError validation_failed where the bytes are not an export of this signal
 */
export function readExport(
  signal: Signal,
  encoding: Encoding,
  bytes: Uint8Array,
  offered: ReadonlySet<string> = offeredNames(null),
): Entry[] {
  try {
    return signal === "metrics"
      ? readMetrics(decodeMetrics(encoding, bytes), offered)
      : readRecords(signal, decodeRecords(signal, encoding, bytes, offered), offered);
  } catch {
    // The decoder's own message may quote the content, which can be a prompt.
    const form = encoding === "protobuf" ? "a protobuf message" : "JSON";
    throw new ServiceError(
      "validation_failed",
      `The body is not ${form} of an OTLP export of ${signal}. Check the exporter's protocol and its path.`,
    );
  }
}

function decodeRecords(
  signal: RecordSignal,
  encoding: Encoding,
  bytes: Uint8Array,
  offered: ReadonlySet<string>,
) {
  const read = new Set([...allowList, ...offered]);
  const isRead: IsRead = (key) => read.has(key);
  return encoding === "protobuf"
    ? readProtobuf(signal, bytes, isRead)
    : readJson(signal, parseText(bytes), isRead);
}

/** All attributes of a point make its series, so that all of them are decoded. */
function decodeMetrics(encoding: Encoding, bytes: Uint8Array) {
  const schema = ExportMetricsServiceRequestSchema;
  if (encoding === "protobuf") return fromBinary(schema, bytes, { readUnknownFields: false });
  return fromJson(schema, withoutExemplars(parseText(bytes)), { ignoreUnknownFields: true });
}

function parseText(bytes: Uint8Array): JsonValue {
  // ASCII is a third of the work of UTF-8.
  const text = isAscii(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")
    : new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  return text.trim() === "" ? {} : JSON.parse(text);
}

/** Removes exemplars, in place: nobody reads them, and OTLP's JSON has their ids in hex, protobuf's own mapping in base64. */
function withoutExemplars(json: JsonValue): JsonValue {
  const metrics = listed(listed(listed([json], "resourceMetrics"), "scopeMetrics"), "metrics");
  for (const kind of ["sum", "histogram", "gauge", "exponentialHistogram"]) {
    const data = metrics.flatMap((metric) => (isObject(metric) && metric[kind] ? [metric[kind]] : []));
    for (const point of listed(data, "dataPoints")) if (isObject(point)) delete point.exemplars;
  }
  return json;
}

function listed(values: JsonValue[], name: string): JsonValue[] {
  return values.flatMap((value) => {
    const list = isObject(value) ? value[name] : undefined;
    return Array.isArray(list) ? list : [];
  });
}

function isObject(value: JsonValue | undefined): value is { [name: string]: JsonValue } {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
