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

/** A span: inside one before it, or inside none. `repeats`: it tells the counts of the span around it, as an SDK inside an SDK does. */
const spans = fc.array(
  fc.record({
    parent: fc.nat({ max: 30 }),
    isRoot: fc.boolean(),
    isCall: fc.boolean(),
    repeats: fc.boolean(),
    divides: fc.boolean(),
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
  return tree.map(({ parent, isRoot, isCall, repeats, divides, ...names }, index): TestSpan => {
    const around = index === 0 || (isRoot && index % 4 === 3) ? undefined : parent % index;
    outputs[index] = repeats && around !== undefined ? (outputs[around] as number) : 100 * number + index + 2;
    const said = { "user.id": names.user, "session.id": names.session, ...names, user: undefined, session: undefined };
    return {
      id: (index + 1).toString(16),
      trace: `a${(number + 1).toString(16)}`,
      ...(around !== undefined && { parent: (around + 1).toString(16) }),
      startMs: at + index,
      endMs: at + 60_000 - index,
      attributes: {
        ...(isCall && { ...chatCall, "gen_ai.usage.output_tokens": outputs[index] as number }),
        ...(isCall && divides && { "gen_ai.usage.cache_read.input_tokens": 4 }),
        ...Object.fromEntries(Object.entries(said).flatMap(([name, value]) => (value ? [[name, value]] : []))),
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
    { numRuns: 40, endOnFailure: true },
  );
});
