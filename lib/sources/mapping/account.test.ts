import { readdirSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { expect, test } from "vitest";
import { mapped } from "@/tests/helpers/mapped-exports";
import {
  type Capture,
  chatCall,
  exportLogs,
  exportPoints,
  exportSpans,
  readCapture,
  splitExport,
} from "@/tests/helpers/otlp";
import { projectRoot } from "@/tests/helpers/project-root";

// Every record that tells usage is either a call that goes to the ledger, or in the account of what is left out, and once.

type Told = { name?: string; attributes?: { key: string; value: Record<string, unknown> }[] };

const usage = /usage|token_?count|tokens|cost/i;
const limit = /max|limit|duration|model/i;

/** The records of an export that tell usage, by a look at its JSON: numbers above 0 under a name of usage. */
function tellingUsage(capture: Capture): number {
  return splitExport(capture).filter((one) => {
    const text = JSON.stringify(one);
    if (capture.signal === "metrics") {
      const { name, sum, histogram } = JSON.parse(text).resourceMetrics[0].scopeMetrics[0].metrics[0];
      const [point] = (sum ?? histogram).dataPoints;
      return /token|cost/.test(name) && Number(point.asInt ?? point.asDouble ?? point.sum) > 0;
    }
    const record = (
      capture.signal === "traces"
        ? JSON.parse(text).resourceSpans[0].scopeSpans[0].spans[0]
        : JSON.parse(text).resourceLogs[0].scopeLogs[0].logRecords[0]
    ) as Told;
    return (record.attributes ?? []).some(({ key, value }) => {
      const [told] = Object.values(value);
      if (!usage.test(key) || limit.test(key)) return false;
      return Number(told) > 0 || (/usage_details/.test(key) && /[1-9]/.test(String(told)));
    });
  }).length;
}

const sumOf = (rows: { count: number }[]) => rows.reduce((sum, { count }) => sum + count, 0);
const captures = readdirSync(join(projectRoot, "tests/fixtures/otlp"))
  .filter((file) => file.endsWith(".json"))
  .map((file) => file.slice(0, -5));

test.each(captures)("Accounts for every record of %s that tells usage", (name) => {
  const capture = readCapture(name);
  for (const encoding of ["json", "protobuf"] as const) {
    const { records, leftOut } = mapped(capture, encoding);
    expect(records.length + sumOf(leftOut)).toBe(tellingUsage(capture));
  }
});

/** Spans of each kind, and what becomes of one that is alone. */
const kinds: [attributes: Record<string, string | number>, outcome: string | undefined][] = [
  [chatCall, "counted"],
  [{ ...chatCall, "gen_ai.operation.name": "invoke_agent" }, "repeats"],
  [{ ...chatCall, "gen_ai.usage.input_tokens": 0, "gen_ai.usage.output_tokens": 0 }, "without_counts"],
  [{ "gen_ai.provider.name": "openai", "gen_ai.request.model": "gpt-4o" }, "without_counts"],
  [{ "gen_ai.usage.tokens_in": 7 }, "not_understood"],
  [{ "my.usage.prompt": 7, model: "gpt-4o" }, "not_understood"],
  [{ "llm.usage.total_tokens": 7 }, "not_understood"],
  [{ "my.usage.tokens": "7" }, "not_understood"],
  [{ promptTokenCount: 7 }, "not_understood"],
  [{ "langfuse.observation.usage_details": '{"input_pixels":7}' }, "not_understood"],
  [{ "my.usage.tokens": "7 tokens of a prompt" }, undefined],
  [{ "gen_ai.request.max_tokens": 100 }, undefined],
  [{ "http.response.size": 7 }, undefined],
];

test.each(kinds)("Says of %j alone that it is %s", (attributes, outcome) => {
  const { records, leftOut, remarks } = mapped(exportSpans([{ id: "1", attributes }]), "json");
  const [row] = leftOut;
  expect(records.length > 0 ? "counted" : row?.outcome).toBe(outcome);
  expect(sumOf(leftOut)).toBe(outcome === undefined || outcome === "counted" ? 0 : 1);
  const isLost = outcome === "without_counts" || outcome === "not_understood";
  expect(remarks.some((remark) => remark.startsWith("Not recorded"))).toBe(isLost);
});

test("Accounts for every record of random exports that tells usage, once", () => {
  const span = fc.record({
    kind: fc.nat(kinds.length - 1),
    parent: fc.nat(30),
    scope: fc.constantFrom(
      "acme",
      "openinference.instrumentation.openai",
      "@traceloop/x",
      "com.anthropic.sdk.python",
    ),
    trace: fc.constantFrom("a", "b", "c"),
    response: fc.option(fc.constantFrom("chatcmpl-0123456789abcdef01", "chatcmpl-0123456789abcdef02")),
    isBroken: fc.boolean(),
  });
  fc.assert(
    fc.property(fc.array(span, { maxLength: 30 }), (spans) => {
      const bodies = spans.map(({ kind, parent, scope, trace, response, isBroken }, index) => {
        const [attributes] = kinds[kind] as (typeof kinds)[number];
        const own = {
          ...attributes,
          ...(response && { "gen_ai.response.id": response }),
          ...(isBroken && kind === 0 && { "gen_ai.usage.output_tokens": "1.5" }),
        };
        const id = (index + 1).toString(16);
        return exportSpans(
          [
            {
              id,
              trace,
              ...(parent > 0 && parent !== index + 1 && { parent: parent.toString(16) }),
              attributes: own,
            },
          ],
          { scope },
        ).body.resourceSpans;
      });
      const { records, leftOut, refused } = mapped(
        { signal: "traces", body: { resourceSpans: bodies.flat() } },
        "json",
      );
      const told = spans.filter(({ kind }) => {
        const outcome = kinds[kind]?.[1];
        return outcome !== undefined && outcome !== "without_counts";
      }).length;
      // A span without counts is a call unless it is around one; by itself it tells no usage.
      const countless = sumOf(leftOut.filter(({ outcome }) => outcome === "without_counts"));
      expect(records.length + sumOf(leftOut) - countless).toBe(told);
      expect(sumOf(leftOut.filter(({ outcome }) => outcome === "refused"))).toBe(sumOf(refused));
    }),
    { numRuns: 500 },
  );
});

/** Log records of each kind with their service, and whether one tells usage. */
const events: [attributes: Record<string, string | number>, service: string, tells: boolean][] = [
  [
    { "event.name": "claude_code.api_request", model: "claude-opus-4-8", input_tokens: 7 },
    "claude-code",
    true,
  ],
  [{ "event.name": "claude_code.tool_result", tool_result_size_bytes: 7 }, "claude-code", false],
  [
    { "event.name": "codex.sse_event", "event.kind": "response.completed", input_token_count: "7" },
    "codex",
    true,
  ],
  [{ "event.name": "codex.sse_event", "event.kind": "response.created" }, "codex", false],
  [{ ...chatCall }, "shop", true],
  [{ "my.usage.tokens": 7 }, "shop", true],
  [{ ...chatCall, "gen_ai.usage.output_tokens": "2.5" }, "shop", true],
  [{ message: "7 tokens" }, "shop", false],
];

test("Accounts for every log record of random exports that tells usage, once", () => {
  fc.assert(
    fc.property(fc.array(fc.nat(events.length - 1), { maxLength: 30 }), (kinds) => {
      const told = kinds.map((kind) => events[kind] as (typeof events)[number]);
      const bodies = told.map(([attributes, service], index) =>
        exportLogs([{ ...attributes, "event.timestamp": new Date(1.79e12 + index).toISOString() }], {
          service,
        }),
      );
      const body = { resourceLogs: bodies.flatMap((one) => one.body.resourceLogs) };
      const { records, leftOut } = mapped({ signal: "logs", body }, "json");
      expect(records.length + sumOf(leftOut)).toBe(told.filter(([, , tells]) => tells).length);
    }),
    { numRuns: 300 },
  );
});

test("Accounts for every point of random exports that tells usage, once", () => {
  const series = fc.record({
    name: fc.constantFrom(
      "gen_ai.client.inference.usage.input_tokens",
      "gen_ai.client.token.usage",
      "claude_code.token.usage",
      "claude_code.cost.usage",
      "codex.turn.token_usage",
      "gemini_cli.token.usage",
      "shop.tokens",
      "http.server.requests",
    ),
    service: fc.constantFrom("shop", "claude-code", "codex", "gemini-cli"),
    type: fc.constantFrom("input", "output", "total"),
    value: fc.nat(3),
    isTotal: fc.boolean(),
    form: fc.constantFrom("sum", "sum", "gauge", "summary", "without temporality"),
  });
  fc.assert(
    fc.property(fc.array(series, { maxLength: 20 }), (list) => {
      const bodies = list.map(({ name, service, type, value, isTotal, form }, index) => {
        const { body } = exportPoints([{ start: 1.79e9, time: 1.79e9 + 60 + index, value }], {
          ...{ name, service, isTotal },
          attributes: { type, "gen_ai.token.type": type, model: "gpt-4o", "gen_ai.request.model": "gpt-4o" },
        });
        return body.resourceMetrics.map((of) => inForm(of, form));
      });
      const body = { resourceMetrics: bodies.flat() };
      const told = list.filter(({ name, value }) => value > 0 && name !== "http.server.requests");
      for (const encoding of ["json", "protobuf"] as const) {
        const { records, leftOut } = mapped({ signal: "metrics", body }, encoding);
        expect(records.length + sumOf(leftOut)).toBe(told.length);
        expect(records.length).toBeLessThanOrEqual(told.filter(({ form }) => form === "sum").length);
      }
    }),
    { numRuns: 300 },
  );
});

type ResourceMetrics = ReturnType<typeof exportPoints>["body"]["resourceMetrics"][number];

/** The same metric in a form whose points cannot be added up. */
function inForm({ resource, scopeMetrics }: ResourceMetrics, form: string) {
  const changed = scopeMetrics.map(({ scope, metrics }) => ({
    scope,
    metrics: metrics.map(({ sum, ...metric }) => {
      if (form === "gauge") return { ...metric, gauge: { dataPoints: sum.dataPoints } };
      if (form === "without temporality") return { ...metric, sum: { ...sum, aggregationTemporality: 0 } };
      if (form === "sum") return { ...metric, sum };
      const dataPoints = sum.dataPoints.map(({ asInt, ...point }) => ({ ...point, sum: Number(asInt) }));
      return { ...metric, summary: { dataPoints } };
    }),
  }));
  return { resource, scopeMetrics: changed };
}
