import { mapExport } from "@/lib/sources/mapping/map-export";
import type { SourceRecord } from "@/lib/sources/mapping/source-record";
import { type Encoding, readExport } from "@/lib/sources/otlp/read-export";
import { type Capture, toProtobuf } from "./otlp";

/** What an export comes to when it is received in an encoding. */
export function mapped({ signal, body }: Pick<Capture, "signal" | "body">, encoding: Encoding) {
  const bytes = encoding === "json" ? Buffer.from(JSON.stringify(body)) : toProtobuf(signal, body);
  return mapExport(readExport(signal, encoding, bytes));
}

/** The tokens of a record by their kind, as text. */
export function tokensOf({ tokens }: SourceRecord) {
  return Object.fromEntries(Object.entries(tokens).map(([kind, count]) => [kind, count.toString()]));
}
