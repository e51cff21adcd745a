import { createHash } from "node:crypto";
import type { CallKeys } from "@/lib/ledger/ingest/call";
import type { Rule } from "@/lib/sources/emitters/emitter";
import type { Attributes, Entry } from "@/lib/sources/otlp/entry";
import { firstText } from "./first-of";
import type { Tokens } from "./source-record";

/** The keys are stored with the idempotency keys that clients choose. The prefix keeps them apart. */
const prefix = "otel:";

/** Ids of at least this length are unique: they have 16 random characters or more. */
const minUniqueLength = 20;

/**
 * The keys by which records of one call are recognised.
 *
 * The id of a response is the provider's, so that every emitter that saw the response reports the same id. Short ids repeat (Ollama
 * numbers its answers from 0 to 998), so they are combined with the output tokens and the day.
 */
export function callKeys(entry: Entry, { identity }: Rule, emitter: string, tokens: Tokens): CallKeys {
  const { own, span, resource } = entry;
  const response = firstText(identity.response, own);
  const request = firstText(identity.request, own);
  const record = (identity.record ?? []).map((name) => firstText([name], own, resource));
  const isNamed = record.length > 0 && record.every((part) => part !== undefined);
  const keys = [
    response && key("response", [response, ...uniqueWith(response, entry, tokens)]),
    request && key("request", [request]),
    isNamed && key("record", [emitter, ...record]),
    entry.signal === "traces" && span && key("span", [span.trace, span.id]),
  ].filter((made) => typeof made === "string" && made !== "") as string[];
  if (keys.length === 0) keys.push(fingerprint(entry, emitter));
  return { own: keys, ...places(entry) };
}

/** The key of a point: its series and its two times. A point that is sent again has the same key. */
export function seriesKey(series: string, startNs: string, timeNs: string): string {
  return key("point", [series, startNs, timeNs]);
}

/** The keys of the spans around and inside a record. `within` is set later, when all spans of the export are known (`withoutOuter`). */
function places({ signal, span }: Entry): Omit<CallKeys, "own"> {
  if (!span) return { outer: [], inner: [], within: [] };
  const around = spanAround(signal, span);
  return {
    outer: around === undefined ? [] : [key("span", [span.trace, around])],
    inner: signal === "logs" ? [] : [insideKey(span.trace, span.id)],
    within: [],
  };
}

/** The id of the span that a record is inside of. A log record is inside the span that it names. */
export function spanAround(signal: Entry["signal"], span: NonNullable<Entry["span"]>): string | undefined {
  return signal === "logs" ? span.id : span.parent;
}

/** The key that is stored when a record inside this span is recorded. */
export function insideKey(trace: string, span: string): string {
  return key("inside", [trace, span]);
}

function uniqueWith(id: string, { timeNs }: Entry, { output }: Tokens): string[] {
  if (id.length >= minUniqueLength) return [];
  const day = new Date(Number(timeNs / 1_000_000n)).toISOString().slice(0, 10);
  return [output?.toString() ?? "", day];
}

/**
 * The key of a record without ids: the same content at the same time is the same record. It is a hash, because names of spans and
 * libraries may be any text.
 */
function fingerprint({ signal, name, scope, timeNs, own, resource }: Entry, emitter: string): string {
  const content = [...own].map(([attribute, value]) => [attribute, String(value)]).sort();
  const parts = [
    emitter,
    signal,
    name,
    scope,
    String(timeNs),
    JSON.stringify([content, contentOf(resource)]),
  ];
  return hashedKey("record", parts);
}

/** A cache of `contentOf`, because the records of an export share a few resources. */
const contents = new WeakMap<Attributes, string[] | string>();
const maxContentLength = 8_000;

/** The attributes of a resource, which are hashed with each of its records; a hash of them if they are long. */
function contentOf(resource: Attributes): string[] | string {
  const known = contents.get(resource);
  if (known !== undefined) return known;
  const list = [...resource].map(String);
  const isLong = list.reduce((length, text) => length + text.length, 0) > maxContentLength;
  const content = isLong ? createHash("sha256").update(JSON.stringify(list)).digest("hex") : list;
  contents.set(resource, content);
  return content;
}

function key(kind: string, parts: (string | undefined)[]): string {
  const text = `${prefix}${kind}:${parts.join("/")}`;
  return text.length <= 120 ? text : hashedKey(kind, parts);
}

function hashedKey(kind: string, parts: (string | undefined)[]): string {
  return `${prefix}${kind}:${createHash("sha256").update(JSON.stringify(parts)).digest("hex")}`;
}
