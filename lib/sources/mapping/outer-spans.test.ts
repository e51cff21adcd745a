import fc from "fast-check";
import { expect, test } from "vitest";
import { marksAround } from "@/lib/ledger/ingest/call";
import { mapped } from "@/tests/helpers/mapped-exports";
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

/** Spans, of which each is inside one before it or inside one that is not in the export; in any order. */
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

/** What the export should come to, span by span, with a walk to the root for each. */
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
      const places = [index, ...around(index)].flatMap((place) => (tree[place]?.isCall ? [tree[place]] : []));
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
