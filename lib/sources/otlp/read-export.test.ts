import fc from "fast-check";
import { expect, test } from "vitest";
import { ServiceError } from "@/lib/errors";
import { mapExport } from "@/lib/sources/mapping/map-export";
import { offeredNames } from "@/lib/sources/mapping/source-settings";
import { readCapture, toProtobuf } from "@/tests/helpers/otlp";
import type { Signal } from "./entry";
import { type Encoding, readExport } from "./read-export";

const signals: Signal[] = ["traces", "metrics", "logs"];

/** Decodes and maps; a refusal is the only error. */
function survives(signal: Signal, encoding: Encoding, bytes: Uint8Array): void {
  try {
    mapExport(readExport(signal, encoding, bytes));
  } catch (error) {
    expect(error).toBeInstanceOf(ServiceError);
    expect(error).toMatchObject({ code: "validation_failed", status: 400 });
  }
}

test.each(signals)("An empty body is an empty export of %s", (signal) => {
  for (const encoding of ["json", "protobuf"] as const)
    expect(readExport(signal, encoding, new Uint8Array())).toEqual({ entries: [], refused: [] });
  expect(readExport(signal, "json", Buffer.from("{}")).entries).toEqual([]);
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

/** JSON of an attribute's value that is nested in a number of lists. */
const nestedIn = (depth: number) =>
  `${'{"arrayValue":{"values":['.repeat(depth)}{"stringValue":"x"}${"]}}".repeat(depth)}`;

test("Refuses a point whose attributes are nested beyond reason", () => {
  const point = `{"asInt":"1","attributes":[{"key":"x","value":${nestedIn(20_000)}}]}`;
  const metric = `{"name":"m","sum":{"aggregationTemporality":1,"dataPoints":[${point}]}}`;
  const body = `{"resourceMetrics":[{"scopeMetrics":[{"metrics":[${metric}]}]}]}`;
  expect(readExport("metrics", "json", Buffer.from(body))).toMatchObject({
    entries: [],
    refused: [{ count: 1, error: { code: "validation_failed" } }],
  });
});

test("Reads a log record whatever is nested in its body and in its lists, and none of it", () => {
  const nested = nestedIn(20_000);
  const attributes = `[{"key":"gen_ai.response.id","value":${nested}},{"key":"event.name","value":{"stringValue":"call"}}]`;
  const body = `{"resourceLogs":[{"scopeLogs":[{"logRecords":[{"body":${nested},"attributes":${attributes}}]}]}]}`;
  const [entry, ...others] = readExport("logs", "json", Buffer.from(body)).entries;
  expect(others).toEqual([]);
  expect(entry?.name).toBe("call");
  expect([...(entry?.own ?? [])]).toEqual([["event.name", "call"]]);
});

test("Reads the attributes on the allow-list alone, in both encodings, and the events of a span never", () => {
  const listOf = (...names: string[]) => names.map((key) => ({ key, value: { stringValue: "x" } }));
  const attributes = listOf("ai.prompt.messages", "gen_ai.response.id");
  const body = { resourceSpans: [{ scopeSpans: [{ spans: [{ attributes, events: [{ attributes }] }] }] }] };
  const json = Buffer.from(JSON.stringify(body));
  for (const {
    entries: [entry],
  } of [readExport("traces", "json", json), readExport("traces", "protobuf", toProtobuf("traces", body))])
    expect([...(entry?.own.keys() ?? [])]).toEqual(["gen_ai.response.id"]);
});

test("Counts all attributes of a point to its series", () => {
  const seriesOf = (other: string) => {
    const attributes = [{ key: "not.listed", value: { stringValue: other } }];
    const points = { aggregationTemporality: 1, dataPoints: [{ attributes, asInt: "1" }] };
    const body = { resourceMetrics: [{ scopeMetrics: [{ metrics: [{ name: "m", sum: points }] }] }] };
    return readExport("metrics", "json", Buffer.from(JSON.stringify(body))).entries[0]?.point?.series;
  };
  expect(seriesOf("a")).toBeDefined();
  expect(seriesOf("a")).not.toBe(seriesOf("b"));
});

test("Reads the same from both encodings of random spans and log records", () => {
  const hex = (length: number) => fc.uint8Array({ minLength: length, maxLength: length }).map(toHex);
  const value = fc.oneof(
    fc.string({ unit: "grapheme", maxLength: 20 }).map((stringValue) => ({ stringValue })),
    fc.boolean().map((boolValue) => ({ boolValue })),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((int) => ({ intValue: String(int) })),
    fc.double({ noNaN: true, noDefaultInfinity: true }).map((doubleValue) => ({ doubleValue })),
    fc.constant({ arrayValue: { values: [{ stringValue: "x" }] } }),
  );
  const key = fc.constantFrom("gen_ai.response.id", "user.id", "service.name", "not.listed", "team");
  const attributes = fc.array(fc.record({ key, value }), { maxLength: 6 });
  const nanos = fc.bigInt({ min: 0n, max: 2n ** 63n - 1n }).map(String);
  const span = {
    traceId: hex(16),
    spanId: hex(8),
    parentSpanId: fc.oneof(hex(8), fc.constant("")),
    name: fc.string({ unit: "grapheme" }),
    startTimeUnixNano: nanos,
    endTimeUnixNano: nanos,
    attributes,
  };
  const record = {
    traceId: hex(16),
    spanId: hex(8),
    eventName: fc.string({ unit: "grapheme" }),
    timeUnixNano: nanos,
    observedTimeUnixNano: nanos,
    attributes,
  };
  const of = (
    signal: "traces" | "logs",
    [resources, scopes, records]: string[],
    one: fc.Arbitrary<unknown>,
  ) => {
    const scope = fc.record({
      scope: fc.record({ name: fc.string() }),
      [String(records)]: fc.array(one, { maxLength: 3 }),
    });
    const resource = fc.record({
      resource: fc.record({ attributes }),
      [String(scopes)]: fc.array(scope, { maxLength: 2 }),
    });
    return fc
      .record({ [String(resources)]: fc.array(resource, { maxLength: 2 }) })
      .map((body) => ({ signal, body }));
  };
  fc.assert(
    fc.property(
      fc.oneof(
        of("traces", ["resourceSpans", "scopeSpans", "spans"], fc.record(span)),
        of("logs", ["resourceLogs", "scopeLogs", "logRecords"], fc.record(record)),
      ),
      ({ signal, body }) => {
        const json = readExport(signal, "json", Buffer.from(JSON.stringify(body)));
        expect(readExport(signal, "protobuf", toProtobuf(signal, body))).toEqual(json);
      },
    ),
    { numRuns: 300 },
  );
});

function toHex(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("hex");
}

test("Keeps the attributes of a span that a source's settings name, and those that settings offer", () => {
  const attributes = ["git.repository", "team", "prompt"].map((key) => ({
    key,
    value: { stringValue: "x" },
  }));
  const body = Buffer.from(
    JSON.stringify({ resourceSpans: [{ scopeSpans: [{ spans: [{ attributes }] }] }] }),
  );
  const offered = offeredNames({ project_attribute: "git.repository" });
  const [entry] = readExport("traces", "json", body, offered).entries;
  expect([...(entry?.offered.keys() ?? [])].sort()).toEqual(["git.repository", "team"]);
});

test("Refuses a record with attributes that are none, and reads those beside it", () => {
  for (const attributes of [["text"], [{ key: 5 }], "text"]) {
    const body = {
      resourceSpans: [{ scopeSpans: [{ spans: [{ name: "a" }, { attributes }, { name: "b" }] }] }],
    };
    const { entries, refused } = readExport("traces", "json", Buffer.from(JSON.stringify(body)));
    expect(entries.map(({ name }) => name)).toEqual(["a", "b"]);
    expect(refused).toMatchObject([{ count: 1, error: { code: "validation_failed" } }]);
  }
});

test("Says nothing of the body in a refusal", () => {
  const secret = "a prompt about salaries";
  const body = JSON.stringify({ resourceSpans: [{ scopeSpans: secret }] });
  expect(() => readExport("traces", "json", Buffer.from(body))).toThrow(
    expect.objectContaining({ message: expect.not.stringContaining(secret) }),
  );
});
