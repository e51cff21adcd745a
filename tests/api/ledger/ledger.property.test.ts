import fc from "fast-check";
import { expect, test } from "vitest";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { instant, steps } from "@/tests/helpers/ledger/arbitraries";
import { checkBudgets, checkSpend, checkStored, checkSummary } from "@/tests/helpers/ledger/checks";
import { LedgerModel } from "@/tests/helpers/ledger/model";
import { Player } from "@/tests/helpers/ledger/play";
import { setUpWorkspace } from "@/tests/helpers/ledger/workspace";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();

/** `LEDGER_RUNS` sets how many; more for a nightly run. Long sequences, because the checks at the end cost more than the steps. */
const runs = Number(process.env.LEDGER_RUNS ?? 30);
const lengths = { minLength: 2, maxLength: 60 };
const now = Date.now();

const everything = { from: "2000-01-01T00:00:00Z", to: "2100-01-01T00:00:00Z" };
const projects = ["alpha", "beta", "gamma", "delta"];

/** Two different instants in order, at boundaries or anywhere. */
const cut = fc
  .tuple(instant(now), instant(now))
  .filter(([a, b]) => Date.parse(a) !== Date.parse(b))
  .map(([a, b]) => (Date.parse(a) < Date.parse(b) ? { from: a, to: b } : { from: b, to: a }));

test("Answers any sequence of calls exactly as an independent model does", {
  timeout: 300_000 * Math.max(1, runs / 30),
}, async () => {
  await fc.assert(
    fc.asyncProperty(
      steps(now, lengths),
      fc.array(cut, { minLength: 2, maxLength: 3 }),
      async (sequence, cuts) => {
        const today = new Date().toISOString().slice(0, 10);
        const workspace = await setUpWorkspace(harness.fixtures, harness.services[0]?.baseUrl ?? "");
        const model = new LedgerModel();
        const player = new Player(workspace, model);
        for (const step of sequence) await player.play(step);
        const checks = (["full", "trial"] as const).flatMap((key) => [
          checkSummary(workspace, model, key, now),
          checkBudgets(workspace, model, key, now),
          ...projects.flatMap((project) =>
            [undefined, everything, ...cuts].map((range) =>
              checkSpend(workspace, model, key, project, now, range),
            ),
          ),
        ]);
        const confined = (["allowed", "denied", "bound"] as const).flatMap((key) => [
          checkSummary(workspace, model, key, now),
          ...projects.map((project) => checkSpend(workspace, model, key, project, now, everything)),
        ]);
        const outcomes = await Promise.allSettled([
          ...checks,
          ...confined,
          checkStored(harness.fixtures, workspace, model),
        ]);
        // When the day changes during a sequence, the model is of the wrong day and proves nothing.
        fc.pre(today === new Date().toISOString().slice(0, 10) && Date.now() - now < 86_400_000);
        for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
        expect(await ledgerDifferences(harness.fixtures, workspace.id)).toEqual([]);
      },
    ),
    // A run that is cut short fails: every one of them must count, on a busy machine too.
    {
      numRuns: runs,
      endOnFailure: false,
      interruptAfterTimeLimit: 270_000 * Math.max(1, runs / 30),
      markInterruptAsFailure: true,
    },
  );
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
});
