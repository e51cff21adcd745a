import { randomUUID } from "node:crypto";
import fc from "fast-check";
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import {
  budget,
  ensureMonths,
  posting,
  rowOf,
  setBudget,
  workspaceOfProjects,
} from "@/tests/helpers/budget-arbitraries";
import {
  localDay,
  type ModelPosting,
  periodOf,
  presentPeriod,
  reachedLevels,
  spentByPeriod,
} from "@/tests/helpers/budget-model";
import type { Fixtures } from "@/tests/helpers/keys";
import { withDatabase } from "@/tests/helpers/with-database";

// Budgets of every scope, period and time zone against a model that knows nothing of SQL: what is spent in each period, and
// which alerts are raised, each once.

let fixtures: Fixtures;
let service: pg.Client;

withDatabase((open) => {
  ({ fixtures, service } = open);
});

const runs = Number(process.env.BUDGET_RUNS ?? 25);

beforeAll(() => ensureMonths(fixtures));

async function store(workspace: string, posting: ModelPosting): Promise<void> {
  await service.query("select private.store_messages('[]', $1, '[]')", [
    JSON.stringify([rowOf(workspace, randomUUID(), posting)]),
  ]);
}

const cents = (usd: string) => Math.round(Number(usd) * 100);

test("Counts each period's postings exactly, recorded before or after the budget was set, and raises each alert once", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(posting, { maxLength: 15 }),
      fc.array(posting, { maxLength: 15 }),
      fc.array(budget, { minLength: 1, maxLength: 5 }),
      async (earlier, later, models) => {
        const workspace = await workspaceOfProjects(fixtures);
        for (const each of earlier) await store(workspace, each);
        const ids: string[] = [];
        for (const model of models) ids.push(await setBudget(fixtures, workspace, model));
        const raised = models.map((model) => {
          const today = periodOf(model, localDay(model.time_zone, Date.now()));
          const spent = spentByPeriod(model, earlier).get(today ?? "") ?? 0;
          return new Set(reachedLevels(model, spent).map((level) => `${level} quiet`));
        });
        const before = [...earlier];
        for (const each of later) {
          await store(workspace, each);
          before.push(each);
          for (const [index, model] of models.entries()) {
            const today = periodOf(model, localDay(model.time_zone, Date.now()));
            if (today === undefined) continue;
            for (const level of reachedLevels(model, spentByPeriod(model, before).get(today) ?? 0)) {
              if (!raised[index]?.has(`${level} quiet`)) raised[index]?.add(level);
            }
          }
        }
        for (const [index, model] of models.entries()) {
          const id = ids[index] ?? "";
          const first = presentPeriod(model) ?? "";
          const expected = [...spentByPeriod(model, before)].filter(([period]) => period >= first).sort();
          const { rows: counted } = await fixtures.sql.query(
            "select period_from::text, spent_usd from public.budget_spend where budget_id = $1 order by 1",
            [id],
          );
          expect(counted.map((row) => [row.period_from, cents(row.spent_usd)])).toEqual(expected);
          const { rows: shown } = await fixtures.sql.query(
            "select period_from::text, spent_usd from public.budget_status where id = $1 and environment = 'live'",
            [id],
          );
          const present = spentByPeriod(model, before).get(first) ?? 0;
          expect(shown.map((row) => [row.period_from, cents(row.spent_usd)])).toEqual([[first, present]]);
          const { rows: alerts } = await fixtures.sql.query(
            "select level, is_quiet from public.alerts where subject_id = $1",
            [id],
          );
          const found = alerts.map((row) => `${row.level}${row.is_quiet ? " quiet" : ""}`);
          expect(found.sort()).toEqual([...(raised[index] ?? [])].sort());
        }
      },
    ),
    { numRuns: runs, endOnFailure: true },
  );
});
