import type { Intake } from "./intake";
import {
  asObject,
  idIn,
  type Json,
  listIn,
  nameIn,
  nanosIn,
  objectIn,
  scalarOf,
  textIn,
} from "./json-values";
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

/**
 * Reads the spans or log records of an export in JSON. Fields that are not read are not validated.
 * @param json the parsed body
 * @throws Error if it is not such an export
 */
export function readJson(signal: RecordSignal, json: unknown, isRead: IsRead, intake: Intake): RawScope[] {
  const of = names[signal];
  const scopes: RawScope[] = [];
  for (const ofResource of listIn(asObject(json), of.resources).map(asObject)) {
    intake.takeGroup();
    const shared = intake.readShared(() => attributesOf(objectIn(ofResource, "resource"), isRead, intake));
    for (const ofScope of listIn(ofResource, of.scopes).map(asObject)) {
      intake.takeGroup();
      const scope = nameIn(objectIn(ofScope, "scope"), "name");
      const records: RawRecord[] = [];
      for (const reported of listIn(ofScope, of.records)) {
        const record = intake.readRecord((): RawRecord => {
          if ("error" in shared) throw shared.error;
          const own = asObject(reported);
          return {
            name: nameIn(own, of.name),
            trace: idIn(own, "traceId"),
            span: idIn(own, "spanId"),
            parent: signal === "traces" ? idIn(own, "parentSpanId") : "",
            timeNs: nanosIn(own, of.time),
            otherTimeNs: nanosIn(own, of.otherTime),
            attributes: attributesOf(own, isRead, intake),
          };
        });
        if (record) records.push(record);
      }
      if (records.length > 0 && "value" in shared) scopes.push({ resource: shared.value, scope, records });
    }
  }
  return scopes;
}

function attributesOf(owner: Json, isRead: IsRead, intake: Intake): Attribute[] {
  const read: Attribute[] = [];
  for (const reported of listIn(owner, "attributes")) {
    intake.takeAttribute();
    const attribute = asObject(reported);
    const key = textIn(attribute, "key");
    if (!isRead(key)) continue;
    const value = scalarOf(objectIn(attribute, "value"), key);
    if (value !== undefined) read.push([key, value]);
  }
  return read;
}
