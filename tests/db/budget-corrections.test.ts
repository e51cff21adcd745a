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

// Budgets while the ledger is corrected: messages get other prices and are voided in any order. What is spent and what fires
// equal a model that knows nothing of SQL.

let fixtures: Fixtures;
let service: pg.Client;

withDatabase((open) => {
  ({ fixtures, service } = open);
});

beforeAll(() => ensureMonths(fixtures));

const event = eventOf(posting);

const runs = Number(process.env.BUDGET_RUNS ?? 25);

/** The levels that the present period of a budget has reached. */
function reachedNow(model: ModelBudget, postings: ModelPosting[]): string[] {
  const today = periodOf(model, localDay(model.time_zone, Date.now()));
  return today === undefined ? [] : reachedLevels(model, spentByPeriod(model, postings).get(today) ?? 0);
}

test("What is spent and what fires equal a model, while messages get other prices and are voided", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(event, { maxLength: 8 }),
      fc.array(event, { minLength: 5, maxLength: 25 }),
      fc.array(budget, { minLength: 1, maxLength: 4 }),
      async (earlier, later, models) => {
        const workspace = await workspaceOfProjects(fixtures);
        const ledger = { fixtures, service, workspace };
        const messages: Message[] = [];
        const postings = () => messages.map(({ posting }) => posting);
        for (const each of earlier) await play(ledger, messages, each);
        const budgets = [];
        for (const model of models) {
          const raised = new Set(reachedNow(model, postings()));
          budgets.push({ model, raised, id: await setBudget(fixtures, workspace, model) });
        }
        const quiet = budgets.map(({ raised }) => new Set(raised));
        for (const each of later) {
          await play(ledger, messages, each);
          for (const { model, raised } of budgets) {
            for (const level of reachedNow(model, postings())) raised.add(level);
          }
        }
        for (const [index, { model, raised, id }] of budgets.entries()) {
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
          const wanted = [...raised].map((level) => (quiet[index]?.has(level) ? `${level} quiet` : level));
          expect(found.sort()).toEqual(wanted.sort());
        }
      },
    ),
    { numRuns: runs, endOnFailure: true },
  );
});
