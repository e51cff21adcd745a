import { createHash, type Hash } from "node:crypto";
import { isUsageMetric } from "@/lib/sources/emitters/allow-list";
import { readAttributes, readOffered } from "./attributes";
import type { Entry } from "./entry";
import type { Attribute, RawMetric, RawPoint, SeriesAttribute } from "./records";

/** The points of an export of metrics in one list, in order. Attributes that are not on the allow-list are only hashed. */
export function readMetrics(metrics: readonly RawMetric[], offered: ReadonlySet<string>): Entry[] {
  const ofResources = new Map<RawMetric["resource"], ReturnType<typeof readResource>>();
  return metrics.flatMap(({ resource, scope, name, temporality, points }) => {
    const shared = ofResources.get(resource) ?? readResource(resource, offered);
    ofResources.set(resource, shared);
    const isLevel = temporality !== delta && temporality !== cumulative;
    if (isLevel && !isUsageMetric(name)) return [];
    const series = createHash("sha256").update(
      `[${shared.text},${JSON.stringify(scope)},${JSON.stringify(name)},`,
    );
    return points.flatMap((point): Entry[] => {
      const { value, timeNs, startNs, flags, attributes } = point;
      if (value === undefined || (flags & noRecordedValue) !== 0 || !isCount(value)) return [];
      const own = attributesOf(attributes);
      return [
        {
          signal: "metrics",
          name,
          scope,
          resource: shared.attributes,
          own: readAttributes(own),
          offered: readOffered(own, offered),
          resourceOffered: shared.offered,
          timeNs,
          span: undefined,
          point: {
            value: String(value),
            startNs,
            isTotal: temporality === cumulative,
            ...(isLevel && { isLevel }),
            series: fingerprint(series, attributes),
          },
        },
      ];
    });
  });
}

/** `AggregationTemporality`. */
const delta = 1;
const cumulative = 2;

/** `DataPointFlags.NO_RECORDED_VALUE_MASK`: the series ended, and the value means nothing. */
const noRecordedValue = 1;

function readResource(resource: SeriesAttribute[], offered: ReadonlySet<string>) {
  const list = attributesOf(resource);
  return {
    attributes: readAttributes(list),
    offered: readOffered(list, offered),
    text: JSON.stringify(sorted(resource)),
  };
}

function isCount(value: NonNullable<RawPoint["value"]>): boolean {
  return typeof value === "bigint" || Number.isFinite(value);
}

function attributesOf(list: readonly SeriesAttribute[]): Attribute[] {
  return list.flatMap(({ key, value }) => (value === undefined ? [] : [[key, value] as const]));
}

/**
 * A hash of everything that identifies a series. The order of attributes does not matter.
 * @param begun the hash of what the points of a metric share, computed once because their resource may have thousands of attributes
 */
function fingerprint(begun: Hash, attributes: readonly SeriesAttribute[]): string {
  return begun
    .copy()
    .update(`${JSON.stringify(sorted(attributes))}]`)
    .digest("hex");
}

function sorted(list: readonly SeriesAttribute[]) {
  return list.map(({ key, hashed }): [string, unknown] => [key, hashed]).sort(([a], [b]) => (a < b ? -1 : 1));
}
