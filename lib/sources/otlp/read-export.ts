import { Buffer, isAscii } from "node:buffer";
import { ServiceError } from "@/lib/errors";
import { countParts } from "@/lib/http/json-work";
import type { Refused } from "@/lib/sources/decoded";
import { allowList, isUsageName } from "@/lib/sources/emitters/allow-list";
import { offeredNames } from "@/lib/sources/mapping/source-settings";
import type { Entry, Signal } from "./entry";
import { exportBudget, Intake } from "./intake";
import { readJson } from "./read-json";
import { readMetrics } from "./read-metrics";
import { readMetricsJson } from "./read-metrics-json";
import { readMetricsProtobuf } from "./read-metrics-protobuf";
import { readProtobuf } from "./read-protobuf";
import { readRecords } from "./read-records";
import type { IsRead } from "./records";

/** The encoding of an export: OTLP's binary protobuf or its JSON. */
export type Encoding = "protobuf" | "json";

/** The records of an export in order, and the reasons why others were refused. */
export type ReadExport = { entries: Entry[]; refused: Refused[] };

/** The size limits of an export in JSON. Most of it, such as prompts, is not read. */
const jsonBudget = {
  parts: 1_000_000,
  partsOfOne: Number.POSITIVE_INFINITY,
  depth: Number.POSITIVE_INFINITY,
};

/**
 * Reads the body of an export (OTLP 1.11, section OTLP/HTTP) into one list of records. An empty body is an empty export in both
 * encodings. Only attributes on the allow-list are read. A record that cannot be read is refused by itself.
 * @param offered attributes that are read too, because the settings of the source may use them
 * @throws ServiceError validation_failed if the bytes are not an export of this signal; payload_too_large for JSON with more than a
 *   million values
 */
export function readExport(
  signal: Signal,
  encoding: Encoding,
  bytes: Uint8Array,
  offered: ReadonlySet<string> = offeredNames(null),
  budget = exportBudget,
): ReadExport {
  const intake = new Intake(budget);
  try {
    const entries =
      signal === "metrics"
        ? readMetrics(decodeMetrics(encoding, bytes, intake), offered)
        : readRecords(signal, decodeRecords(signal, encoding, bytes, offered, intake), offered);
    return { entries, refused: intake.refused() };
  } catch (error) {
    if (error instanceof ServiceError) throw error;
    // The decoder's own message may quote the content, which can be a prompt.
    const form = encoding === "protobuf" ? "a protobuf message" : "JSON";
    throw new ServiceError(
      "validation_failed",
      `The body is not ${form} of an OTLP export of ${signal}. Check the exporter's protocol and its path.`,
    );
  }
}

function decodeRecords(
  signal: Exclude<Signal, "metrics">,
  encoding: Encoding,
  bytes: Uint8Array,
  offered: ReadonlySet<string>,
  intake: Intake,
) {
  const read = new Set([...allowList, ...offered]);
  const isRead: IsRead = (key) => read.has(key) || isUsageName(key);
  return encoding === "protobuf"
    ? readProtobuf(signal, bytes, isRead, intake)
    : readJson(signal, parseText(bytes), isRead, intake);
}

/** Decodes all attributes, because all of them identify the series of a point. */
function decodeMetrics(encoding: Encoding, bytes: Uint8Array, intake: Intake) {
  return encoding === "protobuf"
    ? readMetricsProtobuf(bytes, intake)
    : readMetricsJson(parseText(bytes), intake);
}

function parseText(bytes: Uint8Array): unknown {
  // Decoding ASCII takes a third of the time of UTF-8.
  const text = isAscii(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString("latin1")
    : new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  // Two parts, such as a list and the comma after it, have at least three characters.
  if (text.length * 2 > jsonBudget.parts * 3) countParts(text, jsonBudget);
  return text.trim() === "" ? {} : JSON.parse(text);
}
