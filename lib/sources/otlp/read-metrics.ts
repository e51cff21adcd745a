import { createHash } from "node:crypto";
import { readAttributes, readOffered } from "./attributes";
import type { Entry, Point, Scalar } from "./entry";
import type { ExportMetricsServiceRequest } from "./proto/opentelemetry/proto/collector/metrics/v1/metrics_service_pb";
import type { AnyValue, KeyValue } from "./proto/opentelemetry/proto/common/v1/common_pb";
import { AggregationTemporality, type Metric } from "./proto/opentelemetry/proto/metrics/v1/metrics_pb";
import type { Attribute } from "./records";

/** The points of an export of metrics: one list, in the order of the export. Attributes that are not on the allow-list are only hashed. */
export function readMetrics(
  { resourceMetrics }: ExportMetricsServiceRequest,
  offered: ReadonlySet<string>,
): Entry[] {
  return resourceMetrics.flatMap(({ resource, scopeMetrics }) => {
    const ofResource = attributesOf(resource?.attributes);
    const shared = readAttributes(ofResource);
    const sharedOffered = readOffered(ofResource, offered);
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
            own: readAttributes(attributesOf(attributes)),
            offered: readOffered(attributesOf(attributes), offered, sharedOffered),
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

function attributesOf(list: KeyValue[] = []): Attribute[] {
  return list.flatMap(({ key, value }) => {
    const scalar = scalarOf(value);
    return scalar === undefined ? [] : [[key, scalar] as const];
  });
}

function scalarOf(value: AnyValue | undefined): Scalar | undefined {
  const held = value?.value;
  if (held?.case === "stringValue" || held?.case === "boolValue") return held.value;
  if (held?.case === "intValue" || held?.case === "doubleValue") return held.value;
  return undefined;
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
  if (held?.case === "bytesValue") return Buffer.from(held.value).toString("hex");
  if (held?.case === "intValue" || held?.case === "doubleValue") return Number(held.value);
  return held?.value ?? null;
}
