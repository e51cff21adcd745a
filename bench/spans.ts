import { randomUUID } from "node:crypto";
import { readCapture, toProtobuf } from "@/tests/helpers/otlp";
import type { Call } from "./load";
import type { Part } from "./part";
import { atLeast, type Figure, type Round } from "./report";
import type { Stage } from "./stage";

/** OpenTelemetry's batch processor sends 512 spans at once. A call of the AI SDK has two: its own, and the provider's inside it. */
const callsInExport = 256;

/** Messages in a bulk call, as in `ingest.ts`. */
const bulkSize = 500;

/** The quantities that the AI SDK reports of the captured call: input, cache read and output. */
const lines = [
  { unit_type: "input_tokens", quantity: 200 },
  { unit_type: "cache_read_tokens", quantity: 1000 },
  { unit_type: "output_tokens", quantity: 34 },
];

type Name = "single" | "bulk" | "json" | "protobuf";

/**
 * Compares spans of an AI SDK, in batches as its exporter sends them, with bulk calls: of messages with one line, and of messages
 * as the client sends them, with the same lines as a span and an idempotency key. Every span is of a new call, because repeated
 * calls would cost less.
 */
export function spansPart({ fast, keys }: Stage, requests: number): Part<Name> {
  const one = (index: number) => keys.many[index % keys.many.length] ?? "";
  const json = stampable(Buffer.from(JSON.stringify(exportOfCalls())));
  const protobuf = stampable(Buffer.from(toProtobuf("traces", exportOfCalls())));
  const traces = (secret: string, body: Uint8Array, type: string): Call => ({
    method: "POST",
    path: "/api/otlp/v1/traces",
    secret,
    body,
    headers: { "content-type": type },
  });
  const calls: [Name, (index: number) => Call][] = [
    ["single", (index) => bulk(one(index), { message: single })],
    ["bulk", (index) => bulk(one(index), { message: whole }, true)],
    ["json", (index) => traces(one(index), json(), "application/json")],
    ["protobuf", (index) => traces(one(index), protobuf(), "application/x-protobuf")],
  ];
  return {
    figures,
    contenders: calls.map(([name, call]) => ({
      name,
      server: fast,
      count: requests / messagesIn(name),
      call,
      pace: { clients: 4 },
    })),
  };
}

const said = { type: "usage", provider: "openai", model: "gpt-4o", feature: "search" };
const single = { ...said, ...lines[0] };
const whole = { ...said, lines };

function bulk(secret: string, item: { message: unknown }, isKeyed = false): Call {
  const messages = Array.from({ length: bulkSize }, () => ({
    project: "checkout-api",
    source: "api",
    ...(isKeyed && { idempotency_key: randomUUID() }),
    ...item,
  }));
  return { method: "POST", path: "/api/v1/messages/batch", secret, body: JSON.stringify({ messages }) };
}

const messagesIn = (name: Name) => (name === "single" || name === "bulk" ? bulkSize : callsInExport);

type Attribute = { key: string; value: { stringValue?: string; intValue?: string | number } };
type Span = { traceId: string; spanId: string; parentSpanId?: string; attributes: Attribute[] };

/** The beginning of the ids in the template of an export, which is replaced in each copy. */
const marker = "0badcafe";

/** Repeats the captured call with its two spans for one export, each time with other ids and another number of output tokens. */
function exportOfCalls() {
  const { body } = readCapture("ai-sdk-traces") as unknown as {
    body: { resourceSpans: { scopeSpans: { spans: Span[] }[] }[] };
  };
  const [resource] = body.resourceSpans;
  const [scope] = resource?.scopeSpans ?? [];
  const captured = scope?.spans ?? [];
  const pair = captured.filter(({ traceId }) => traceId === captured[0]?.traceId);
  const spans = Array.from({ length: callsInExport }, (_, call) =>
    pair.map((span) => {
      const id = (text: string) => `${marker}${call.toString(16).padStart(4, "0")}${text.slice(12)}`;
      const attributes = span.attributes.map(({ key, value }) => {
        if (/response\.id$/.test(key)) return { key, value: { stringValue: `chatcmpl-${id(span.traceId)}` } };
        const isOutput = /output_?tokens$|completion_?tokens$/i.test(key) && value.intValue !== undefined;
        return { key, value: isOutput ? { intValue: Number(value.intValue) + call } : value };
      });
      return {
        ...span,
        traceId: id(span.traceId),
        spanId: id(span.spanId),
        ...(span.parentSpanId && { parentSpanId: id(span.parentSpanId) }),
        attributes,
      };
    }),
  ).flat();
  return { resourceSpans: [{ ...resource, scopeSpans: [{ ...scope, spans }] }] };
}

/** The number of copies of exports with new ids. */
let stamps = 0;

/** @returns a function that copies an export and gives all its ids, as text and as bytes, a new beginning */
function stampable(template: Buffer): () => Uint8Array {
  const places = (sought: Buffer) => {
    const found: number[] = [];
    for (let at = template.indexOf(sought); at >= 0; at = template.indexOf(sought, at + 1)) found.push(at);
    return found;
  };
  const inText = places(Buffer.from(marker));
  const inBytes = places(Buffer.from(marker, "hex"));
  return () => {
    const copy = Buffer.from(template);
    stamps += 1;
    const stamp = stamps.toString(16).padStart(8, "0");
    for (const at of inText) copy.write(stamp, at, "latin1");
    for (const at of inBytes) copy.write(stamp, at, "hex");
    return copy;
  };
}

/** Lines recorded a second. */
const perLine = (name: Name) => (round: Round<Name>) =>
  round[name].perSecond * messagesIn(name) * (name === "single" ? 1 : lines.length);

const ratio = (name: Name, to: Name) => (round: Round<Name>) =>
  (100 * perLine(name)(round)) / perLine(to)(round);

/** CPU of the service and Postgres together for one line, in ms. */
const cpuOfLine = (name: Name) => (round: Round<Name>) =>
  (round[name].cpuMs + round[name].postgresCpuMs) / messagesIn(name) / (name === "single" ? 1 : lines.length);

const target = atLeast(60);

const figures: Figure<Name>[] = [
  { name: "bulk calls of 500 with one line each: lines", unit: "/s", of: perLine("single") },
  { name: "bulk calls of 500 with three lines and a key each: lines", unit: "/s", of: perLine("bulk") },
  { name: "exports of 512 AI SDK spans, JSON: lines", unit: "/s", of: perLine("json") },
  { name: "exports of 512 AI SDK spans, protobuf: lines", unit: "/s", of: perLine("protobuf") },
  { name: "bulk, one line: CPU of a line, service + Postgres", unit: "ms", of: cpuOfLine("single") },
  { name: "bulk, three lines and a key: CPU of a line", unit: "ms", of: cpuOfLine("bulk") },
  { name: "AI SDK spans, JSON: CPU of a line", unit: "ms", of: cpuOfLine("json") },
  { name: "AI SDK spans, protobuf: CPU of a line", unit: "ms", of: cpuOfLine("protobuf") },
  {
    name: "lines of AI SDK spans in JSON to lines of bulk calls, a second",
    unit: "%",
    of: ratio("json", "single"),
    target,
  },
  {
    name: "lines of AI SDK spans in protobuf to lines of bulk calls, a second",
    unit: "%",
    of: ratio("protobuf", "single"),
    target,
  },
  {
    name: "the same to bulk calls with as many lines, JSON",
    unit: "%",
    of: ratio("json", "bulk"),
  },
  {
    name: "the same to bulk calls with as many lines, protobuf",
    unit: "%",
    of: ratio("protobuf", "bulk"),
  },
];
