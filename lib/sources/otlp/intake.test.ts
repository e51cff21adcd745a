import { expect, test } from "vitest";
import { toProtobuf } from "@/tests/helpers/otlp";
import type { Signal } from "./entry";
import { exportBudget } from "./intake";
import { type Encoding, readExport } from "./read-export";

const budget = { records: 10, attributes: 30 };

type Json = Record<string, unknown>;

const bodies: Record<Signal, (records: Json[]) => Json> = {
  traces: (spans) => ({ resourceSpans: [{ scopeSpans: [{ spans }] }] }),
  logs: (logRecords) => ({ resourceLogs: [{ scopeLogs: [{ logRecords }] }] }),
  metrics: (points) => {
    const dataPoints = points.map((point) => ({ asInt: "1", ...point }));
    const metrics = [{ name: "m", sum: { aggregationTemporality: 1, dataPoints } }];
    return { resourceMetrics: [{ scopeMetrics: [{ metrics }] }] };
  },
};

const cases = (["traces", "logs", "metrics"] as const).flatMap((signal) =>
  (["json", "protobuf"] as const).map((encoding) => [signal, encoding] as const),
);

function read(signal: Signal, encoding: Encoding, body: Json) {
  const bytes = encoding === "json" ? Buffer.from(JSON.stringify(body)) : toProtobuf(signal, body);
  const { entries, refused } = readExport(signal, encoding, bytes, new Set(), budget);
  return { read: entries.length, refused: refused.map(({ error, count }) => [error.code, count]) };
}

const attribute = (key: string) => ({ key, value: { stringValue: "x" } });
const withAttributes = (count: number) => ({
  attributes: Array.from({ length: count }, () => attribute("a")),
});

test.each(cases)(
  "Reads as many records of %s in %s as the budget has, and names those beyond",
  (signal, encoding) => {
    const records = (count: number) => bodies[signal](Array.from({ length: count }, () => ({})));
    expect(read(signal, encoding, records(10))).toEqual({ read: 10, refused: [] });
    expect(read(signal, encoding, records(11))).toEqual({ read: 10, refused: [["payload_too_large", 1]] });
    expect(read(signal, encoding, records(5_000))).toEqual({
      read: 10,
      refused: [["payload_too_large", 4_990]],
    });
  },
);

test.each(cases)(
  "Refuses the record of %s in %s with an attribute too many, and all after it",
  (signal, encoding) => {
    const body = (...counts: number[]) => bodies[signal](counts.map(withAttributes));
    expect(read(signal, encoding, body(10, 20))).toEqual({ read: 2, refused: [] });
    expect(read(signal, encoding, body(10, 21, 0))).toEqual({ read: 1, refused: [["payload_too_large", 2]] });
  },
);

test.each(cases)("Counts empty resources of %s in %s, too", (signal, encoding) => {
  const [list = ""] = Object.keys(bodies[signal]([]));
  const [full] = Object.values(bodies[signal]([{}]))[0] as Json[];
  const body = (empty: number) => ({ [list]: [...Array.from({ length: empty }, () => ({})), full] });
  // The resource, the scope and the metric of the record count, too.
  const own = signal === "metrics" ? 3 : 2;
  expect(read(signal, encoding, body(10 - own))).toEqual({ read: 1, refused: [] });
  expect(read(signal, encoding, body(11 - own))).toEqual({ read: 0, refused: [["payload_too_large", 1]] });
});

test.each(cases)(
  "Refuses the records of %s in %s whose resource cannot be read, and reads the others",
  (signal, encoding) => {
    const [list = ""] = Object.keys(bodies[signal]([]));
    const [first] = Object.values(bodies[signal]([{}, {}]))[0] as Json[];
    const [second] = Object.values(bodies[signal]([{}]))[0] as Json[];
    const bad =
      encoding === "json" ? { key: "service.name", value: { intValue: "x" } } : attribute("service.name");
    const body = { [list]: [{ ...first, resource: { attributes: [bad] } }, second] };
    const refused =
      encoding === "json" ? { read: 1, refused: [["validation_failed", 2]] } : { read: 3, refused: [] };
    expect(read(signal, encoding, body)).toEqual(refused);
  },
);

test("Reads an export of the Collector's usual size whole", () => {
  expect(exportBudget.records).toBeGreaterThan(2 * 8_192);
});
