import fc from "fast-check";
import { expect, test } from "vitest";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { chatCall, exportSpans, type TestSpan } from "@/tests/helpers/otlp";
import { makeSource } from "@/tests/helpers/otlp-source";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

// Spans around each other, which exporters send in different exports: each when it ends, and a collector in any order.

const harness = withSharedHarness();

type Source = Awaited<ReturnType<typeof makeSource>>;

/** What stands in the ledger: a row for each message, with its names and its counts. */
async function standing(source: Source): Promise<string[]> {
  const { rows } = await harness.fixtures.sql.query(
    `select min(p.slug) as project, min(m.feature) as feature, min(m.end_user) as end_user, min(m.session) as session,
       min(m.tags::text) as tags, jsonb_object_agg(m.unit_type, m.quantity order by m.unit_type)::text as counts,
       trim_scale(sum(m.amount_usd))::text as usd
     from public.messages as m join public.projects as p on p.id = m.project_id
     where m.workspace_id = $1 and m.voids is null and m.voided_by is null group by m.id`,
    [source.workspace],
  );
  return rows.map((row) => JSON.stringify(row)).sort();
}

const at = Date.UTC(2026, 10, 21, 9);
const maybe = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 });

/**
 * A span: inside one before it, or inside none. `repeats`: it tells the counts of the span around it, as an SDK inside an SDK does; one
 * inside each.
 */
const spans = fc.array(
  fc.record({
    parent: fc.nat({ max: 30 }),
    isRoot: fc.boolean(),
    isCall: fc.boolean(),
    repeats: fc.boolean(),
    user: maybe(fc.constantFrom("ada", "bob")),
    session: maybe(fc.constantFrom("s_1", "s_2")),
    feature: maybe(fc.constantFrom("chat", "search")),
    project: maybe(fc.constantFrom("one", "two")),
    team: maybe(fc.constantFrom("growth", "core")),
  }),
  { minLength: 2, maxLength: 9 },
);

type Tree = typeof spans extends fc.Arbitrary<infer T> ? T : never;

function spansOf(tree: Tree, number: number): TestSpan[] {
  const outputs: number[] = [];
  const repeated = new Set<number>();
  return tree.map(({ parent, isRoot, isCall, repeats, ...names }, index): TestSpan => {
    const around = index === 0 || (isRoot && index % 4 === 3) ? undefined : parent % index;
    const isRepeat = repeats && around !== undefined && !repeated.has(around);
    if (isRepeat) repeated.add(around);
    outputs[index] = isRepeat ? (outputs[around] as number) : 100 * number + index + 2;
    const said = {
      "user.id": names.user,
      "session.id": names.session,
      ...names,
      user: undefined,
      session: undefined,
    };
    return {
      id: (index + 1).toString(16),
      trace: `a${(number + 1).toString(16)}`,
      ...(around !== undefined && { parent: (around + 1).toString(16) }),
      startMs: at + index,
      endMs: at + 60_000 - index,
      attributes: {
        ...(isCall && { ...chatCall, "gen_ai.usage.output_tokens": outputs[index] as number }),
        ...Object.fromEntries(
          Object.entries(said).flatMap(([name, value]) => (value ? [[name, value]] : [])),
        ),
      },
    };
  });
}

test("Records spans of trees as if all came in one export, however they are cut and in whatever order they come", {
  timeout: 600_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(spans, { minLength: 8, maxLength: 8 }),
      fc.array(fc.nat({ max: 5 }), { minLength: 72, maxLength: 72 }),
      fc.boolean(),
      async (trees, places, hasResource) => {
        const told = trees.flatMap(spansOf);
        const options = hasResource ? { resource: { feature: "of-resource", "user.id": "resource" } } : {};
        const whole = await makeSource(harness);
        await whole.accept(exportSpans(told, options));
        const exports = Array.from({ length: 6 }, (_, place) =>
          told.filter((_, index) => places[index] === place),
        ).filter(({ length }) => length > 0);
        const source = await makeSource(harness);
        for (const sent of exports) await source.accept(exportSpans(sent, options));
        expect(await standing(source)).toEqual(await standing(whole));
        // Sent again, nothing changes.
        for (const sent of exports) await source.accept(exportSpans(sent, options));
        expect(await standing(source)).toEqual(await standing(whole));
        expect(await ledgerDifferences(harness.fixtures, source.workspace)).toEqual([]);
      },
    ),
    { numRuns: 15, endOnFailure: true },
  );
});

/** A workflow that ends after its calls: each export has some of them, and the last one the workflow alone. */
const calls = (count: number, from = 0): TestSpan[] =>
  Array.from({ length: count }, (_, index) => ({
    id: (from + index + 16).toString(16),
    parent: "f",
    attributes: { ...chatCall, "gen_ai.usage.output_tokens": from + index + 2 },
  }));
const workflow: TestSpan = {
  id: "f",
  attributes: { feature: "report", "user.id": "ada", project: "secret" },
};

const namesOf = async (source: Source) => {
  const { rows } = await harness.fixtures.sql.query(
    `select m.feature, m.end_user, p.slug, count(*)::int from public.messages as m join public.projects as p on p.id = m.project_id
     where m.workspace_id = $1 and m.part = 0 and m.voids is null and m.voided_by is null group by 1, 2, 3 order by 4`,
    [source.workspace],
  );
  return rows.map((row) => Object.values(row));
};

test("Names the calls of a workflow that ends after them, and sums stay the sums of their rows", async () => {
  const source = await makeSource(harness);
  for (const from of [0, 300, 600]) await source.accept(exportSpans(calls(300, from)));
  await source.accept(exportSpans([workflow]));
  expect(await namesOf(source)).toEqual([["report", "ada", "secret", 900]]);
  expect(await ledgerDifferences(harness.fixtures, source.workspace)).toEqual([]);
});

test("A key gives no names to the calls of another key, nor takes them back", async () => {
  const source = await makeSource(harness);
  await source.accept(exportSpans(calls(3)));
  const other = await makeSource(harness, {}, source.workspace);
  await other.accept(exportSpans([workflow]));
  await other.accept(
    exportSpans([{ id: "99", parent: "10", attributes: { ...chatCall, "gen_ai.usage.output_tokens": 9 } }]),
  );
  expect(await namesOf(source)).toEqual([[null, null, "shop", 3]]);
});

test("A key names no project, feature or person that it may not use", async () => {
  const source = await makeSource(harness, { conditions: { project_slugs: ["shop"], features: ["search"] } });
  const named = calls(2).map((span) => ({ ...span, attributes: { ...span.attributes, feature: "search" } }));
  await source.accept(exportSpans(named));
  await source.accept(exportSpans([workflow]));
  expect(await namesOf(source)).toEqual([["search", null, "shop", 2]]);
  // A key that records nothing remembers no spans.
  const { secret } = await harness.fixtures.key(source.workspace, { permissions: ["read_summaries"] });
  const count = async () =>
    (
      await harness.fixtures.sql.query(
        "select count(*)::int from private.call_tellings where workspace_id = $1",
        [source.workspace],
      )
    ).rows[0].count;
  const before = await count();
  await source.send(exportSpans([{ ...workflow, id: "77" }]), {
    headers: { authorization: `Bearer ${secret}` },
  });
  expect(await count()).toBe(before);
});

test("Reads a bounded number of spans for an export, however long the chain is and however many spans are inside", async () => {
  const source = await makeSource(harness);
  const chain = Array.from(
    { length: 2_500 },
    (_, index): TestSpan => ({
      id: (index + 2).toString(16),
      parent: (index + 1).toString(16),
      attributes: {},
    }),
  );
  for (let from = 0; from < chain.length; from += 500)
    await source.accept(exportSpans(chain.slice(from, from + 500)));
  await source.accept(
    exportSpans(
      Array.from({ length: 2_500 }, (_, index) => ({
        id: (0x5000 + index).toString(16),
        parent: "2",
        attributes: {},
      })),
    ),
  );
  const wanted = [{ key: source.id, trace: 0xa1, spans: [1, 2], parents: [2_400] }];
  const { rows } = await harness.fixtures.sql.query(
    "select jsonb_array_length(private.load_tellings(array[$1::uuid], array[$2::uuid], $3, '{}') -> 'calls') as count",
    [source.id, source.workspace, JSON.stringify(wanted)],
  );
  expect(rows[0].count).toBeGreaterThan(2_000);
  expect(rows[0].count).toBeLessThan(4_100);
});
