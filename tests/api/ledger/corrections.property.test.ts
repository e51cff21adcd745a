import fc from "fast-check";
import { expect, test } from "vitest";
import { reconcile } from "@/lib/ledger/reconcile/service";
import { connectService } from "@/tests/helpers/connect-service";
import { foldPastDays } from "@/tests/helpers/folds";
import { ledgerDifferences, withHarness } from "@/tests/helpers/harness";
import { clientIn } from "@/tests/helpers/recording";
import { addUser } from "@/tests/helpers/team";

// A database of its own: reconciling compares every month that the database has, and a shared one has those of many files.
const harness = withHarness({ services: 2 });
connectService(() => harness.database);

const rows = async (text: string, values: unknown[]) => (await harness.fixtures.sql.query(text, values)).rows;

/** `LEDGER_RUNS` sets how many; more for a nightly run. */
const runs = Math.ceil(Number(process.env.LEDGER_RUNS ?? 30) / 3);

const amount = fc.integer({ min: 1, max: 10 ** 9 }).map((n) => n / 10 ** 6);
const day = fc.constantFrom("2026-01-31", "2026-07-14", "2026-11-20");
const line = fc.record({
  model: fc.constantFrom("ranker", "gpt-4o"),
  unit_type: fc.constantFrom("requests", "output_tokens"),
  quantity: amount,
});
const message = fc.oneof(
  line.map((one) => ({ type: "usage", provider: "in-house", user: "bo", tags: { team: "a" }, ...one })),
  fc.tuple(line, line).map((items) => ({ type: "batch", provider: "in-house", batch_id: "b", items })),
  fc.tuple(line, line).map((lines) => ({
    ...{ type: "usage", provider: "in-house", model: "ranker" },
    lines: lines.map(({ unit_type, quantity }) => ({ unit_type, quantity })),
  })),
  line.map((one) => ({ type: "usage", provider: "in-house", included: true, ...one })),
  amount.map((usd) => ({ type: "expense", vendor: "v", amount: usd })),
  amount.map((usd) => ({ type: "subscription", vendor: "v", amount: usd, interval: "year" })),
);
const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ does: fc.constant("record" as const), message, day }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("void" as const), which: fc.nat() }) },
  { weight: 2, arbitrary: fc.record({ does: fc.constant("correct" as const), which: fc.nat(), message }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("reprice" as const), rate: amount }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("fold" as const) }) },
);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;

/** A workspace with budgets, whose costs are recorded on one process and voided on another. */
async function newWorkspace() {
  const slug = `w-${crypto.randomUUID()}`;
  const workspace = await harness.fixtures.workspace(slug);
  const client = await clientIn(harness, workspace);
  const owner = await addUser(harness, workspace, "owner");
  const path = `/api/v1/workspaces/${slug}`;
  for (const budget of [
    { scope_type: "global", amount: 10, time_zone: "Pacific/Auckland" },
    { scope_type: "user", scope_value: "bo", amount: 1, period: "year", allow_unknown_scope: true },
  ]) {
    expect((await owner.call("POST", `${path}/budgets`, budget)).status).toBe(201);
  }
  return { workspace, slug, client, owner, path };
}

test("After any costs, voids, corrections, repricings and folding, at once or in turn, sums are those of the rows", {
  timeout: 300_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 4, maxLength: 20 }),
      async (rounds) => {
        const { workspace, slug, client, owner, path } = await newWorkspace();
        const known: string[] = [];
        const play = async (one: Step) => {
          if (one.does === "record") {
            const at = `${one.day}T12:00:00Z`;
            const answer = await client.post({
              ...{ project: "checkout", source: "api" },
              message: { ...one.message, occurred_at: at },
            });
            expect(answer.status).toBe(201);
            known.push(String(answer.body.id));
          } else if (one.does === "fold") {
            await foldPastDays(harness.fixtures);
          } else if (one.does === "reprice") {
            for (const model of ["ranker", "gpt-4o"]) {
              const { status } = await owner.call("PUT", `${path}/prices`, {
                ...{ provider: "in-house", model, unit_type: "requests" },
                ...{ rate: one.rate, starts_at: "2026-01-01T00:00:00Z" },
              });
              expect(status).toBe(200);
            }
          } else {
            const id = known[one.which % Math.max(1, known.length)];
            if (id === undefined) return;
            const more = one.does === "correct" && { project: "checkout", message: one.message };
            const answer = await owner.call("POST", `${path}/messages/${id}/${one.does}`, {
              reason: "x",
              ...more,
            });
            expect([201, 409]).toContain(answer.status);
            if (answer.status === 409) return;
            known.push(String(answer.body.id));
            if (answer.body.correction) known.push(String((answer.body.correction as { id: string }).id));
          }
        };
        for (const round of rounds) {
          const outcomes = await Promise.allSettled(round.map(play));
          for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
        }
        await expect
          .poll(
            () =>
              rows("select from public.repricings where workspace_id = $1 and status <> 'done'", [workspace]),
            { timeout: 20_000 },
          )
          .toEqual([]);
        expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
        expect((await reconcile({ workspace: slug, repair: false })).found).toEqual([]);
        // What stands is what was neither voided nor voids: the total is its sum, and voided messages are nothing in it.
        const [sums] = await rows(
          `select (select coalesce(sum(amount_usd), 0) from public.messages where workspace_id = $1 and voids is null and voided_by is null)
             = (select coalesce(sum(amount_usd), 0) from public.daily_totals where workspace_id = $1 and dimension = 'provider') as total,
           (select count(*) from public.messages where workspace_id = $1 and voids is null and voided_by is null and part = 0)
             = (select coalesce(sum(message_count), 0) from public.daily_totals where workspace_id = $1 and dimension = 'provider') as messages,
           (select coalesce(sum(quantity), 0) from public.messages where workspace_id = $1 and (voids is not null or voided_by is not null)) = 0 as quantity`,
          [workspace],
        );
        expect(sums).toEqual({ total: true, messages: true, quantity: true });
      },
    ),
    { numRuns: runs, endOnFailure: false, interruptAfterTimeLimit: 270_000, markInterruptAsFailure: true },
  );
});
