import fc from "fast-check";
import { expect, test } from "vitest";
import { marksAround } from "@/lib/ledger/ingest/call";
import { mapped, tokensOf } from "@/tests/helpers/mapped-exports";
import { chatCall, exportSpans, type TestSpan } from "@/tests/helpers/otlp";
import { insideKey } from "./call-keys";

type Tree = {
  parent: number | undefined;
  isCall: boolean;
  user: string | undefined;
  feature: string | undefined;
}[];

const idOf = (index: number) => (index + 1).toString(16);
const trace = "a1".padStart(32, "0");
const markOf = (index: number) => insideKey(trace, idOf(index).padStart(16, "0"));

/** Spans in any order, each inside an earlier one or inside one that is not in the export. */
const trees = fc
  .array(
    fc.record({
      parent: fc.option(fc.nat(), { nil: undefined }),
      isCall: fc.boolean(),
      user: fc.option(fc.constantFrom("ada", "bob"), { nil: undefined }),
      feature: fc.option(fc.constantFrom("chat", "search"), { nil: undefined }),
    }),
    { minLength: 1, maxLength: 20 },
  )
  .map(
    (spans): Tree =>
      spans.map((span, index) => ({
        ...span,
        parent:
          span.parent === undefined || index === 0
            ? undefined
            : span.parent % (index + 1) === index
              ? 99
              : span.parent % index,
      })),
  );

const exported = (tree: Tree) =>
  exportSpans(
    tree.map(
      ({ parent, isCall, user, feature }, index): TestSpan => ({
        id: idOf(index),
        ...(parent !== undefined && { parent: idOf(parent) }),
        attributes: {
          ...(isCall ? { ...chatCall, "gen_ai.response.id": `chatcmpl-of-a-unique-name-${index}` } : {}),
          ...(user && { "user.id": user }),
          ...(feature && { feature }),
        },
      }),
    ),
  );

/** The expected result, computed with a walk to the root for each span. */
function expected(tree: Tree) {
  const around = (index: number): number[] => {
    const parent = tree[index]?.parent;
    return parent === undefined ? [] : [parent, ...around(parent)];
  };
  const calls = tree.flatMap(({ isCall }, index) => (isCall ? [index] : []));
  const outer = new Set(calls.flatMap(around));
  return calls
    .filter((index) => !outer.has(index))
    .map((index) => {
      const places = [index, ...around(index)].map((place) => tree[place]);
      return {
        own: `chatcmpl-of-a-unique-name-${index}`,
        user: places.find((place) => place?.user)?.user,
        feature: places.find((place) => place?.feature)?.feature,
        within: around(index).map(markOf).sort(),
      };
    });
}

test("Counts the innermost spans, with the names and marks of all around them, as a walk to the root for each would", () => {
  fc.assert(
    fc.property(trees, fc.boolean(), (tree, isReversed) => {
      const sent = exported(tree);
      const [resource] = sent.body.resourceSpans;
      if (isReversed) resource?.scopeSpans[0]?.spans.reverse();
      const records = mapped(sent, "protobuf").records.map(({ keys, user, feature }) => ({
        own: keys.own
          .find((key) => key.includes("chatcmpl"))
          ?.split(":")
          .at(-1),
        user,
        feature,
        within: marksAround(keys.within, new Set()).sort(),
      }));
      const order = (list: { own?: string | undefined }[]) =>
        list.toSorted((a, b) => (String(a.own) < String(b.own) ? -1 : 1));
      expect(order(records)).toEqual(order(expected(tree)));
    }),
    { numRuns: 500 },
  );
});

test("Remembers each span once, however many are inside it", () => {
  const depth = 2_000;
  const spans = Array.from(
    { length: 2 * depth },
    (_, index): TestSpan => ({
      id: idOf(index),
      ...(index > 0 && { parent: idOf(Math.min(index, depth) - 1) }),
      attributes: chatCall,
    }),
  );
  const { records } = mapped(exportSpans(spans), "json");
  expect(records).toHaveLength(depth);
  const seen = new Set<never>();
  const marks = records.flatMap(({ keys }) => marksAround(keys.within, seen as never));
  expect(marks).toHaveLength(depth);
  expect(new Set(marks).size).toBe(depth);
});

test("Counts a call of spans that are around each other, once", () => {
  const ring = (length: number) =>
    Array.from(
      { length },
      (_, index): TestSpan => ({
        id: idOf(index),
        parent: idOf((index + 1) % length),
        attributes: chatCall,
      }),
    );
  for (const length of [1, 2, 5]) expect(mapped(exportSpans(ring(length)), "json").records).toHaveLength(1);
});

/** The names of the calls of an export in which only the last span is a call of a model, and the spans around it are not. */
const namesIn = (attributes: TestSpan["attributes"][], ...more: [object?]) => {
  const spans = attributes.map(
    (own, index): TestSpan => ({
      id: idOf(index),
      ...(index > 0 && { parent: idOf(index - 1) }),
      attributes: index === attributes.length - 1 ? { ...chatCall, ...own } : own,
    }),
  );
  return mapped(exportSpans(spans, ...more), "protobuf").records;
};

test("Takes each name from the nearest span around a call that has it, counted or not", () => {
  const records = namesIn([
    { "user.id": "far", "session.id": "s_1", team: "growth", cost_center: "far", feature: "answer" },
    { "gen_ai.operation.name": "invoke_agent", "user.id": "near", cost_center: "near" },
    { "http.request.method": "POST" },
    { feature: "search" },
  ]);
  expect(records).toMatchObject([
    { user: "near", session: "s_1", feature: "search", tags: { team: "growth", cost_center: "near" } },
  ]);
});

test("Prefers a span around a call to its resource, and the call itself to both", () => {
  const resource = { resource: { project: "resource", feature: "resource", "user.id": "resource" } };
  const records = namesIn([{ project: "around", feature: "around" }, { feature: "own" }], resource);
  expect(records).toMatchObject([{ project: "around", feature: "own", user: "resource" }]);
});

test("Takes the AI SDK's function from the agent's span, two levels above a call", () => {
  const records = namesIn(
    [
      { "gen_ai.operation.name": "invoke_agent", "gen_ai.agent.name": "greeting" },
      { "gen_ai.operation.name": "agent_step" },
      {},
    ],
    { scope: "gen_ai" },
  );
  expect(records).toMatchObject([{ emitter: "ai-sdk", feature: "greeting" }]);
});

test("Offers what spans around a call say to the settings of the source", () => {
  const [record] = namesIn([{ "agent.name": "far" }, { "agent.name": "near" }, {}], {
    resource: { "agent.name": "resource" },
  });
  expect(record?.offered.get("agent.name")).toBe("near");
});

test("Leaves out a name around a call that cannot be kept", () => {
  expect(namesIn([{ "user.id": "x".repeat(400) }, {}])).toMatchObject([{ user: undefined }]);
});

test("Does not take the names of spans that come in another export", () => {
  const spans: TestSpan[] = [
    { id: "1", attributes: { feature: "answer" } },
    { id: "2", parent: "1", attributes: chatCall },
  ];
  const [outer, call] = spans.map((span) => mapped(exportSpans([span]), "json").records);
  expect(outer).toEqual([]);
  expect(call).toMatchObject([{ feature: undefined }]);
});

test("Takes time in proportion to the spans of a chain with names", () => {
  const chain = (length: number) =>
    Array.from(
      { length },
      (_, index): TestSpan => ({
        id: idOf(index),
        ...(index > 0 && { parent: idOf(index - 1) }),
        attributes: { ...(index % 2 ? chatCall : {}), feature: `f${index}`, team: `t${index}` },
      }),
    );
  const cpuMs = (length: number) => {
    const exported = exportSpans(chain(length));
    const began = process.cpuUsage();
    mapped(exported, "json");
    return process.cpuUsage(began).user / 1000;
  };
  cpuMs(1_000);
  const short = Math.max(cpuMs(2_000), 2);
  // Eight times as many spans; with a walk to the root for each, that would take 64 times as long.
  expect(cpuMs(16_000)).toBeLessThan(24 * short);
});

test.each([
  ["divides the same counts into more kinds", {}, { input: "4", cacheRead: "6", output: "5" }],
  ["has other counts", { "gen_ai.usage.output_tokens": 6 }, { input: "10", output: "5" }],
  ["has another model", { "gen_ai.response.model": "gpt-4o-mini" }, { input: "10", output: "5" }],
])("Counts the kinds of a span around a call where that %s", (_, outer, expected) => {
  const attributes = { ...chatCall, "gen_ai.usage.cache_read.input_tokens": 6, ...outer };
  const spans = [
    { id: "1", attributes },
    { id: "2", parent: "1", attributes: {} },
    { id: "3", parent: "2", attributes: chatCall },
  ];
  const { records } = mapped(exportSpans(spans), "json");
  expect(records.map(tokensOf)).toEqual([expected]);
});
