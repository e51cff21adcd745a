import fc from "fast-check";
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import {
  budget,
  ensureMonths,
  posting,
  setBudget,
  workspaceOfProjects,
} from "@/tests/helpers/budget-arbitraries";
import { eventOf, type Message, play } from "@/tests/helpers/budget-events";
import {
  localDay,
  type ModelBudget,
  type ModelPosting,
  periodOf,
  presentPeriod,
  reachedLevels,
  spentByPeriod,
} from "@/tests/helpers/budget-model";
import type { Fixtures } from "@/tests/helpers/keys";
import { withDatabase } from "@/tests/helpers/with-database";

// Budgets while the ledger is corrected and limits are changed: messages get other prices and are voided in any order. What is
// spent and what fires equal a model that knows nothing of SQL.

let fixtures: Fixtures;
let service: pg.Client;

withDatabase((open) => {
  ({ fixtures, service } = open);
});

beforeAll(() => ensureMonths(fixtures));

const event = eventOf(posting);
/** All budgets get another limit. A few amounts, so that earlier limits come back. */
const newLimit = fc.record({
  kind: fc.constant("limit" as const),
  cents: fc.constantFrom(1_000, 4_000, 9_000, 15_000),
});

const runs = Number(process.env.BUDGET_RUNS ?? 25);

/** A budget with what it raised: the levels that cannot fire again for the limit in force, and each alert. */
type Raised = { model: ModelBudget; id: string; settled: Set<string>; alerts: string[]; fired: Set<string> };

function spentNow(model: ModelBudget, postings: ModelPosting[]): number | undefined {
  const today = periodOf(model, localDay(model.time_zone, Date.now()));
  return today === undefined ? undefined : (spentByPeriod(model, postings).get(today) ?? 0);
}

/** Raises what is reached, each level once for a limit. */
function raise({ model, settled, alerts, fired }: Raised, postings: ModelPosting[], isQuiet = false): void {
  const spent = spentNow(model, postings);
  for (const level of spent === undefined ? [] : reachedLevels(model, spent)) {
    const ofLimit = `${level} of ${model.amount_cents}`;
    if (settled.has(level) || fired.has(ofLimit)) continue;
    settled.add(level);
    fired.add(ofLimit);
    alerts.push(isQuiet ? `${level} quiet` : level);
  }
}

/** Gives a budget another limit: what lies above the present spend is armed again. */
function limit({ model, settled }: Raised, cents: number, postings: ModelPosting[]): void {
  if (model.amount_cents === cents) return;
  model.amount_cents = cents;
  const reached = new Set(reachedLevels(model, spentNow(model, postings) ?? 0));
  for (const level of settled) if (!level.startsWith("$") && !reached.has(level)) settled.delete(level);
}

test("What is spent and what fires equal a model, while messages get other prices, are voided, and limits change", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { maxLength: 8 }),
      fc.array(fc.oneof({ weight: 4, arbitrary: event }, { weight: 1, arbitrary: newLimit }), {
        minLength: 5,
        maxLength: 25,
      }),
      fc.array(budget, { minLength: 1, maxLength: 4 }),
      async (earlier, later, models) => {
        const workspace = await workspaceOfProjects(fixtures);
        const ledger = { fixtures, service, workspace };
        const messages: Message[] = [];
        const postings = () => messages.map(({ posting }) => posting);
        for (const each of earlier) await play(ledger, messages, each);
        const budgets: Raised[] = [];
        for (const model of models.map((each) => ({ ...each }))) {
          const id = await setBudget(fixtures, workspace, model);
          const made = { model, id, settled: new Set<string>(), alerts: [], fired: new Set<string>() };
          raise(made, postings(), true);
          budgets.push(made);
        }
        for (const each of later) {
          if (each.kind === "limit") {
            await fixtures.sql.query("update public.budgets set amount = $2 where workspace_id = $1", [
              workspace,
              each.cents / 100,
            ]);
            for (const made of budgets) limit(made, each.cents, postings());
          } else {
            await play(ledger, messages, each);
          }
          for (const made of budgets) raise(made, postings());
        }
        for (const { model, id, alerts: wanted } of budgets) {
          const first = presentPeriod(model) ?? "";
          const expected = [...spentByPeriod(model, postings())]
            .filter(([period, spent]) => period >= first && spent !== 0)
            .sort();
          const { rows: counted } = await fixtures.sql.query(
            `select period_from::text, round(spent_usd * 100)::int as cents from public.budget_spend
             where budget_id = $1 and spent_usd <> 0 order by 1`,
            [id],
          );
          expect(counted.map((row) => [row.period_from, row.cents])).toEqual(expected);
          const { rows: alerts } = await fixtures.sql.query(
            "select level, is_quiet from public.alerts where rule = 'budget_threshold' and subject_id = $1",
            [id],
          );
          const found = alerts.map((row) => `${row.level}${row.is_quiet ? " quiet" : ""}`);
          expect(found.sort()).toEqual(wanted.sort());
        }
      },
    ),
    { numRuns: runs, endOnFailure: true },
  );
});
