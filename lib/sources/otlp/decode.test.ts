import fc from "fast-check";
import { expect, test } from "vitest";
import { ServiceError } from "@/lib/errors";
import { mapExport } from "@/lib/sources/mapping/map-export";
import { offeredNames } from "@/lib/sources/mapping/source-settings";
import { readCapture, toProtobuf } from "@/tests/helpers/otlp";
import { decodeExport, type Encoding } from "./decode";
import type { Signal } from "./entry";
import { readEntries } from "./read-entries";

const signals: Signal[] = ["traces", "metrics", "logs"];

/** Decodes and maps; a refusal is the only error. */
function survives(signal: Signal, encoding: Encoding, bytes: Uint8Array): void {
  try {
    mapExport(readEntries(signal, decodeExport(signal, encoding, bytes)));
  } catch (error) {
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code: "validation_failed", status: 400 });
  }
}

test.each(signals)("An empty body is an empty export of %s", (signal) => {
  for (const encoding of ["json", "protobuf"] as const)
    expect(readEntries(signal, decodeExport(signal, encoding, new Uint8Array()))).toEqual([]);
  expect(readEntries(signal, decodeExport(signal, "json", Buffer.from("{}")))).toEqual([]);
});

test("Refuses random bytes or reads them, and never fails otherwise", () => {
  fc.assert(
    fc.property(
      fc.constantFrom(...signals),
      fc.constantFrom<Encoding>("json", "protobuf"),
      fc.uint8Array({ maxLength: 400 }),
      survives,
    ),
    { numRuns: 3_000 },
  );
});

test("Refuses exports with changed, missing or repeated bytes, or reads them, and never fails otherwise", () => {
  const originals = ["ai-sdk-traces", "claude-code-metrics", "gemini-cli-logs"].map((name) => {
    const { signal, body } = readCapture(name);
    return { signal, bytes: toProtobuf(signal, body) };
  });
  fc.assert(
    fc.property(
      fc.constantFrom(...originals),
      fc.nat(),
      fc.nat(255),
      fc.nat(40),
      ({ signal, bytes }, at, byte, cut) => {
        const changed = Uint8Array.from(bytes);
        changed[at % changed.length] = byte;
        survives(signal, "protobuf", changed);
        survives(signal, "protobuf", changed.slice(0, changed.length - cut));
      },
    ),
    { numRuns: 1_000 },
  );
});

test("Reads any JSON or refuses it", () => {
  const value = fc.letrec((tie) => ({
    any: fc.oneof(fc.string(), fc.double(), fc.boolean(), fc.constant(null), tie("list"), tie("object")),
    list: fc.array(tie("any"), { maxLength: 3 }),
    object: fc.dictionary(
      fc.constantFrom(
        "resourceSpans",
        "scopeSpans",
        "spans",
        "attributes",
        "key",
        "value",
        "traceId",
        "links",
        "x",
      ),
      tie("any"),
      { maxKeys: 4 },
    ),
  })).any;
  fc.assert(
    fc.property(value, (json) => survives("traces", "json", Buffer.from(JSON.stringify(json)))),
    { numRuns: 2_000 },
  );
});

test("Refuses values nested beyond reason", () => {
  const nested = '{"arrayValue":{"values":['.repeat(20_000) + "]}}".repeat(20_000);
  const body = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":${nested}}]}]}]}`;
  expect(() => decodeExport("logs", "json", Buffer.from(body))).toThrow(ServiceError);
});

test("Builds nothing of JSON's attributes that are not on the allow-list, and all of a metric's", () => {
  const listOf = (...names: string[]) => names.map((key) => ({ key, value: { stringValue: "x" } }));
  const attributes = listOf("ai.prompt.messages", "gen_ai.response.id");
  const json = (body: unknown) => Buffer.from(JSON.stringify(body));
  const spans = decodeExport(
    "traces",
    "json",
    json({ resourceSpans: [{ scopeSpans: [{ spans: [{ attributes, events: [{ attributes }] }] }] }] }),
  ).resourceSpans[0]?.scopeSpans[0]?.spans;
  expect(spans?.[0]?.attributes.map(({ key }) => key)).toEqual(["gen_ai.response.id"]);
  expect(spans?.[0]?.events).toEqual([]);
  const points = { aggregationTemporality: 1, dataPoints: [{ attributes, asInt: "1" }] };
  const metrics = decodeExport(
    "metrics",
    "json",
    json({ resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: "m", sum: points }] }] }] }),
  ).resourceMetrics[0]?.scopeMetrics[0]?.metrics[0]?.data;
  expect(metrics?.case === "sum" && metrics.value.dataPoints[0]?.attributes.length).toBe(2);
});

test("Keeps the attributes of a span that a source's settings name, and those that settings offer", () => {
  const attributes = ["git.repository", "team", "prompt"].map((key) => ({
    key,
    value: { stringValue: "x" },
  }));
  const body = Buffer.from(
    JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ attributes }] }] }] }),
  );
  const offered = offeredNames({ project_attribute: "git.repository" });
  const [entry] = readEntries("traces", decodeExport("traces", "json", body, offered), offered);
  expect([...(entry?.offered.keys() ?? [])].sort()).toEqual(["git.repository", "team"]);
});

test("Refuses attributes that are none", () => {
  for (const attributes of [["text"], [{ key: 5 }], "text"]) {
    const body = { resourceSpans: [{ scopeSpans: [{ spans: [{ attributes }] }] }] };
    expect(() => decodeExport("traces", "json", Buffer.from(JSON.stringify(body)))).toThrow(ServiceError);
  }
});

test("Says nothing of the body in a refusal", () => {
  const secret = "a prompt about salaries";
  const body = JSON.stringify({ resourceSpans: [{ scopeSpans: secret }] });
  expect(() => decodeExport("traces", "json", Buffer.from(body))).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining(secret) }),
  );
});
