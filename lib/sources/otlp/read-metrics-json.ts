import { Buffer } from "node:buffer";
import { isUsageMetric } from "@/lib/sources/emitters/allow-list";
import { BadValue, type Intake } from "./intake";
import {
  asDouble,
  asInteger,
  asObject,
  isSet,
  type Json,
  listIn,
  nameIn,
  nanosIn,
  objectIn,
  scalarOf,
  textIn,
} from "./json-values";
import { maxValueDepth, type RawMetric, type RawPoint, type SeriesAttribute } from "./records";

/** The kinds of metrics whose points can be summed, and the kinds that report a current value (gauge, summary). */
const kinds = ["sum", "histogram", "exponentialHistogram"];
const levels = ["gauge", "summary"];

const temporalities: Record<string, number> = {
  AGGREGATION_TEMPORALITY_DELTA: 1,
  AGGREGATION_TEMPORALITY_CUMULATIVE: 2,
};

/**
 * Reads the points of sums and the sums of histograms of an export in JSON, and of gauges and summaries those that are named as
 * usage. All their attributes are read, because they make a series.
 * @param json what `JSON.parse` made of the body
 * @throws Error where it is no such export
 */
export function readMetricsJson(json: unknown, intake: Intake): RawMetric[] {
  const metrics: RawMetric[] = [];
  for (const ofResource of listIn(asObject(json), "resourceMetrics").map(asObject)) {
    intake.takeGroup();
    const shared = intake.readShared(() => attributesOf(objectIn(ofResource, "resource"), intake));
    for (const ofScope of listIn(ofResource, "scopeMetrics").map(asObject)) {
      intake.takeGroup();
      const scope = nameIn(objectIn(ofScope, "scope"), "name");
      for (const metric of listIn(ofScope, "metrics").map(asObject)) {
        intake.takeGroup();
        const name = nameIn(metric, "name");
        const read = isUsageMetric(name) ? [...kinds, ...levels] : kinds;
        const kind = read.find((one) => isSet(metric[one]));
        if (kind === undefined) continue;
        const data = objectIn(metric, kind);
        const points: RawPoint[] = [];
        for (const reported of listIn(data, "dataPoints")) {
          const point = intake.readRecord(() => {
            if ("error" in shared) throw shared.error;
            return pointOf(asObject(reported), intake);
          });
          if (point) points.push(point);
        }
        if (points.length === 0 || !("value" in shared)) continue;
        const temporality = temporalityIn(data);
        metrics.push({ resource: shared.value, scope, name, temporality, points });
      }
    }
  }
  return metrics;
}

function temporalityIn({ aggregationTemporality: reported }: Json): number {
  return typeof reported === "number" ? reported : (temporalities[String(reported)] ?? 0);
}

function pointOf(point: Json, intake: Intake): RawPoint {
  const { asInt, asDouble: double, sum, flags } = point;
  return {
    value: isSet(asInt)
      ? asInteger(asInt, "asInt")
      : isSet(double)
        ? asDouble(double, "asDouble")
        : isSet(sum)
          ? asDouble(sum, "sum")
          : undefined,
    timeNs: nanosIn(point, "timeUnixNano"),
    startNs: nanosIn(point, "startTimeUnixNano"),
    flags: isSet(flags) ? Number(asInteger(flags, "flags")) : 0,
    attributes: attributesOf(point, intake),
  };
}

function attributesOf(owner: Json, intake: Intake, name = "attributes", depth = 0): SeriesAttribute[] {
  return listIn(owner, name).map((reported) => {
    intake.takeAttribute();
    const attribute = asObject(reported);
    const value = objectIn(attribute, "value");
    const key = textIn(attribute, "key");
    return { key, value: scalarOf(value, key.slice(0, 100)), hashed: hashedOf(value, intake, depth + 1) };
  });
}

/** A value of any type in the form that is hashed. An int and a double of the same number are equal. */
function hashedOf(value: Json, intake: Intake, depth: number): unknown {
  if (depth > maxValueDepth) throw new BadValue("has an attribute that is nested too deep");
  const { arrayValue, kvlistValue, bytesValue } = value;
  if (isSet(arrayValue)) {
    return listIn(asObject(arrayValue), "values").map((inner) => {
      intake.takeAttribute();
      return hashedOf(asObject(inner), intake, depth + 1);
    });
  }
  if (isSet(kvlistValue)) {
    const members = attributesOf(asObject(kvlistValue), intake, "values", depth);
    return members.map(({ key, hashed }) => [key, hashed]);
  }
  if (isSet(bytesValue)) return Buffer.from(textIn(value, "bytesValue"), "base64").toString("hex");
  const scalar = scalarOf(value, "");
  return typeof scalar === "bigint" ? Number(scalar) : (scalar ?? null);
}
