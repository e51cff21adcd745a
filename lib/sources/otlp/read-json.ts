import type { Scalar } from "./entry";
import type { Attribute, IsRead, RawRecord, RawScope, RecordSignal } from "./records";

/** The names of the lists from the outside in, and of the two times of a record (OTLP 1.11, section JSON Protobuf Encoding). */
const names = {
  traces: {
    resources: "resourceSpans",
    scopes: "scopeSpans",
    records: "spans",
    name: "name",
    time: "endTimeUnixNano",
    otherTime: "startTimeUnixNano",
  },
  logs: {
    resources: "resourceLogs",
    scopes: "scopeLogs",
    records: "logRecords",
    name: "eventName",
    time: "timeUnixNano",
    otherTime: "observedTimeUnixNano",
  },
} as const;

type Json = { readonly [name: string]: unknown };

/**
 * Reads the spans or log records of an export in JSON. What is not read is not checked.
 * @param json what `JSON.parse` made of the body
 * @throws Error where it is no such export
 */
export function readJson(signal: RecordSignal, json: unknown, isRead: IsRead): RawScope[] {
  const of = names[signal];
  const scopes: RawScope[] = [];
  for (const ofResource of listIn(asObject(json), of.resources)) {
    const resource = attributesOf(objectIn(ofResource, "resource"), isRead);
    for (const ofScope of listIn(ofResource, of.scopes)) {
      const scope = textIn(objectIn(ofScope, "scope"), "name");
      const records = listIn(ofScope, of.records).map(
        (record): RawRecord => ({
          name: textIn(record, of.name),
          trace: idIn(record, "traceId"),
          span: idIn(record, "spanId"),
          parent: signal === "traces" ? idIn(record, "parentSpanId") : "",
          timeNs: nanosIn(record, of.time),
          otherTimeNs: nanosIn(record, of.otherTime),
          attributes: attributesOf(record, isRead),
        }),
      );
      scopes.push({ resource, scope, records });
    }
  }
  return scopes;
}

function attributesOf(owner: Json, isRead: IsRead): Attribute[] {
  const read: Attribute[] = [];
  for (const attribute of listIn(owner, "attributes")) {
    const key = textIn(attribute, "key");
    if (!isRead(key)) continue;
    const value = scalarOf(objectIn(attribute, "value"));
    if (value !== undefined) read.push([key, value]);
  }
  return read;
}

/** Undefined for lists and bytes. */
function scalarOf({ stringValue, boolValue, intValue, doubleValue }: Json): Scalar | undefined {
  if (isSet(stringValue)) return asText(stringValue);
  if (isSet(intValue)) return asInteger(intValue);
  if (isSet(doubleValue)) return asDouble(doubleValue);
  if (!isSet(boolValue)) return undefined;
  if (typeof boolValue !== "boolean") throw new TypeError("A bool is neither true nor false.");
  return boolValue;
}

/** In protobuf's JSON, null is the same as a field that is left out. */
function isSet(value: unknown): boolean {
  return value !== undefined && value !== null;
}

function asObject(value: unknown): Json {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    throw new TypeError("Not an object.");
  return value as Json;
}

const nothing: Json = {};

function objectIn(owner: Json, name: string): Json {
  return isSet(owner[name]) ? asObject(owner[name]) : nothing;
}

function listIn(owner: Json, name: string): Json[] {
  const list = owner[name];
  if (!isSet(list)) return [];
  if (!Array.isArray(list)) throw new TypeError("Not a list.");
  for (const one of list) asObject(one);
  return list;
}

function textIn(owner: Json, name: string): string {
  return isSet(owner[name]) ? asText(owner[name]) : "";
}

function asText(value: unknown): string {
  if (typeof value !== "string") throw new TypeError("Not a text.");
  return value;
}

/** An id in hex. What is not hex becomes none: the record is then identified by other means. */
function idIn(owner: Json, name: string): string {
  const id = owner[name];
  return typeof id === "string" && /^([0-9a-f]{2})*$/i.test(id) ? id.toLowerCase() : "";
}

/** 64-bit integers are text in protobuf's JSON; numbers are accepted. */
function asInteger(value: unknown): bigint {
  if (typeof value === "number" && Number.isSafeInteger(value)) return BigInt(value);
  if (typeof value === "string" && /^-?\d{1,19}$/.test(value)) return BigInt(value);
  throw new TypeError("Not an integer.");
}

function nanosIn(owner: Json, name: string): bigint {
  const value = owner[name];
  if (!isSet(value)) return 0n;
  const nanos = asInteger(value);
  if (nanos < 0n) throw new RangeError("A time is before 1970.");
  return nanos;
}

function asDouble(value: unknown): number {
  if (typeof value === "number") return value;
  const isNumber = typeof value === "string" && value.trim() === value && value !== "";
  const number = isNumber ? Number(value) : Number.NaN;
  if (!isNumber || (Number.isNaN(number) && value !== "NaN")) throw new TypeError("Not a number.");
  return number;
}
