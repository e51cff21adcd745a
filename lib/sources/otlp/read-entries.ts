import { createHash } from "node:crypto";
import { allowList, jsonAttributes } from "@/lib/sources/emitters/allow-list";
import { offeredNames } from "@/lib/sources/mapping/source-settings";
import type { ExportRequest } from "./decode";
import type { Attributes, Entry, Point, Scalar, Signal } from "./entry";
import type { AnyValue, KeyValue } from "./proto/opentelemetry/proto/common/v1/common_pb";
import { AggregationTemporality, type Metric } from "./proto/opentelemetry/proto/metrics/v1/metrics_pb";

/** Longer texts are no names, ids or counts; they are cut, which leaves an id as unique as it was in practice. */
const maxTextLength = 500;

/** Usage that is written as JSON in a text is a few names and numbers. */
const maxJsonLength = 8_000;

/**
 * The records of an export, flat and in its order. Attributes that are not on the allow-list are not read.
 * @param offered the attributes that the settings of the source may use, which are read besides
 */
export function readEntries<S extends Signal>(
  signal: S,
  request: ExportRequest<S>,
  offered: ReadonlySet<string> = offeredNames(null),
): Entry[] {
  if (signal === "traces") return readSpans(request as ExportRequest<"traces">, offered);
  if (signal === "logs") return readLogs(request as ExportRequest<"logs">, offered);
  return readMetrics(request as ExportRequest<"metrics">, offered);
}

function readSpans({ resourceSpans }: ExportRequest<"traces">, offered: ReadonlySet<string>): Entry[] {
  return resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const shared = readAttributes(resource?.attributes);
    const sharedOffered = readOffered(resource?.attributes, offered, noAttributes);
    return scopeSpans.flatMap(({ scope, spans }) =>
      spans.map((span): Entry => {
        const own = readAttributes(span.attributes);
        const timeNs = span.endTimeUnixNano || span.startTimeUnixNano;
        const ids = spanOf(span.traceId, span.spanId, span.parentSpanId);
        return {
          signal: "traces",
          name: span.name,
          scope: scope?.name ?? "",
          resource: shared,
          own,
          offered: readOffered(span.attributes, offered, sharedOffered),
          timeNs,
          span: ids,
          point: undefined,
        };
      }),
    );
  });
}

function readLogs({ resourceLogs }: ExportRequest<"logs">, offered: ReadonlySet<string>): Entry[] {
  return resourceLogs.flatMap(({ resource, scopeLogs }) => {
    const shared = readAttributes(resource?.attributes);
    const sharedOffered = readOffered(resource?.attributes, offered, noAttributes);
    return scopeLogs.flatMap(({ scope, logRecords }) =>
      logRecords.map((record): Entry => {
        const own = readAttributes(record.attributes);
        // The field is younger than the attribute, and some emitters put the place in their code there.
        const name = own.get("event.name") ?? record.eventName;
        const timeNs = record.timeUnixNano || record.observedTimeUnixNano;
        const ids = spanOf(record.traceId, record.spanId);
        return {
          signal: "logs",
          name: String(name),
          scope: scope?.name ?? "",
          resource: shared,
          own,
          offered: readOffered(record.attributes, offered, sharedOffered),
          timeNs,
          span: ids,
          point: undefined,
        };
      }),
    );
  });
}

function readMetrics({ resourceMetrics }: ExportRequest<"metrics">, offered: ReadonlySet<string>): Entry[] {
  return resourceMetrics.flatMap(({ resource, scopeMetrics }) => {
    const shared = readAttributes(resource?.attributes);
    const sharedOffered = readOffered(resource?.attributes, offered, noAttributes);
    return scopeMetrics.flatMap(({ scope, metrics }) =>
      metrics.flatMap((metric) => {
        const series = (attributes: KeyValue[]) =>
          fingerprint(resource?.attributes ?? [], scope?.name ?? "", metric.name, attributes);
        return pointsOf(metric, series).map(
          ({ attributes, timeNs, ...point }): Entry => ({
            signal: "metrics",
            name: metric.name,
            scope: scope?.name ?? "",
            resource: shared,
            own: readAttributes(attributes),
            offered: readOffered(attributes, offered, sharedOffered),
            timeNs,
            span: undefined,
            point,
          }),
        );
      }),
    );
  });
}

type RawPoint = Point & { attributes: KeyValue[]; timeNs: bigint };

/** `DataPointFlags.NO_RECORDED_VALUE_MASK`: the series ended, and the value means nothing. */
const noRecordedValue = 1;

/** The points of sums and the sums of histograms. Gauges and summaries count nothing that was spent. */
function pointsOf({ data }: Metric, series: (attributes: KeyValue[]) => string): RawPoint[] {
  if (data.case !== "sum" && data.case !== "histogram" && data.case !== "exponentialHistogram") return [];
  const { aggregationTemporality } = data.value;
  if (aggregationTemporality === AggregationTemporality.UNSPECIFIED) return [];
  const isTotal = aggregationTemporality === AggregationTemporality.CUMULATIVE;
  return data.value.dataPoints.flatMap((point): RawPoint[] => {
    const number = "value" in point ? point.value.value : point.sum;
    if (number === undefined || (point.flags & noRecordedValue) !== 0 || !isCount(number)) return [];
    return [
      {
        attributes: point.attributes,
        value: String(number),
        timeNs: point.timeUnixNano,
        startNs: point.startTimeUnixNano,
        isTotal,
        series: series(point.attributes),
      },
    ];
  });
}

function isCount(value: number | bigint): boolean {
  return typeof value === "bigint" || Number.isFinite(value);
}

/** The attributes on the allow-list. Text that holds JSON is read into its numbers, as `name#member`. */
function readAttributes(list: KeyValue[] = []): Attributes {
  const attributes = new Map<string, Scalar>();
  for (const { key, value } of list) {
    if (!allowList.has(key)) continue;
    const scalar = scalarOf(value);
    if (scalar === undefined) continue;
    if (jsonAttributes.has(key)) readNumbers(key, scalar, attributes);
    else attributes.set(key, typeof scalar === "string" ? scalar.slice(0, maxTextLength) : scalar);
  }
  return attributes;
}

const noAttributes: Attributes = new Map();

/** Values of these attributes, besides those of the resource. Where there are none, the resource's are the same object. */
function readOffered(list: KeyValue[] = [], offered: ReadonlySet<string>, shared: Attributes): Attributes {
  let read: Map<string, Scalar> | undefined;
  for (const { key, value } of list) {
    if (!offered.has(key)) continue;
    const scalar = scalarOf(value);
    if (scalar === undefined) continue;
    read ??= new Map(shared);
    read.set(key, typeof scalar === "string" ? scalar.slice(0, maxTextLength) : scalar);
  }
  return read ?? shared;
}

function scalarOf(value: AnyValue | undefined): Scalar | undefined {
  const held = value?.value;
  if (held?.case === "stringValue" || held?.case === "boolValue") return held.value;
  if (held?.case === "intValue" || held?.case === "doubleValue") return held.value;
  return undefined;
}

/** `{"input":200,"details":{"cached":5}}` → `name#input`, `name#details.cached`. */
function readNumbers(name: string, text: Scalar, into: Map<string, Scalar>): void {
  if (typeof text !== "string" || text.length > maxJsonLength) return;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return;
  }
  const walk = (value: unknown, path: string, depth: number) => {
    if (typeof value === "number") into.set(path, value);
    if (typeof value !== "object" || value === null || depth > 2) return;
    for (const [member, inner] of Object.entries(value))
      walk(inner, `${path}${depth === 0 ? "#" : "."}${member}`, depth + 1);
  };
  walk(parsed, name, 0);
}

function spanOf(trace: Uint8Array, id: Uint8Array, parent?: Uint8Array): Entry["span"] {
  if (!isId(trace, 16) || !isId(id, 8)) return undefined;
  return { trace: hex(trace), id: hex(id), parent: parent && isId(parent, 8) ? hex(parent) : undefined };
}

/** An id of zeros is invalid (W3C Trace Context, 3.2.2). */
function isId(bytes: Uint8Array, length: number): boolean {
  return bytes.length === length && bytes.some((byte) => byte !== 0);
}

function hex(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("hex");
}

/** A hash of everything that makes a series. Attributes are compared without their order. */
function fingerprint(resource: KeyValue[], scope: string, metric: string, attributes: KeyValue[]): string {
  const sorted = (list: KeyValue[]) =>
    list.map(({ key, value }) => [key, plain(value)]).sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
  const text = JSON.stringify([sorted(resource), scope, metric, sorted(attributes)]);
  return createHash("sha256").update(text).digest("hex");
}

/** A value for hashing: of any type, and a number is the same as int and as double. */
function plain(value: AnyValue | undefined): unknown {
  const held = value?.value;
  if (held?.case === "arrayValue") return held.value.values.map(plain);
  if (held?.case === "kvlistValue")
    return held.value.values.map(({ key, value: inner }) => [key, plain(inner)]);
  if (held?.case === "bytesValue") return hex(held.value);
  if (held?.case === "intValue" || held?.case === "doubleValue") return Number(held.value);
  return held?.value ?? null;
}
