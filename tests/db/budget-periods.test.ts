import { randomUUID } from "node:crypto";
import fc from "fast-check";
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import {
  localDay,
  type ModelBudget,
  type ModelPosting,
  periodOf,
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
const dayMs = 86_400_000;
const now = Date.now();
const projects = [randomUUID(), randomUUID()];

beforeAll(async () => {
  for (let ahead = -14; ahead <= 3; ahead += 1) {
    const month = new Date(now);
    month.setUTCMonth(month.getUTCMonth() + ahead, 1);
    await fixtures.sql.query("select private.ensure_messages_month($1)", [month.toISOString()]);
  }
});

const zone = fc.constantFrom("UTC", "Europe/Berlin", "America/New_York", "Asia/Kolkata", "Pacific/Auckland");
const pick = <T>(...values: T[]) => fc.constantFrom(...values);

const posting: fc.Arbitrary<ModelPosting> = fc.record({
  // Most near now, some a year back and some booked ahead; many close to a midnight somewhere.
  occurred_at: fc
    .tuple(
      fc.oneof(fc.integer({ min: -3, max: 3 }), fc.integer({ min: -380, max: 60 })),
      fc.integer({ min: -90, max: 90 }),
      zone,
    )
    .map(([days, minutes, near]) => {
      const midnight = Date.parse(`${localDay("UTC", now + days * dayMs)}T00:00:00Z`);
      const offset = Date.parse(`${localDay(near, midnight)}T00:00:00Z`) - midnight;
      return new Date(midnight + offset + minutes * 60_000).toISOString();
    }),
  type: pick("usage" as const, "usage" as const, "expense" as const),
  cents: fc.integer({ min: 1, max: 3_000 }),
  project_id: fc.constantFrom(...projects),
  provider: pick("openai", "OpenAI", "anthropic", null),
  model: pick("gpt-5", "claude", null),
  feature: pick("chat", null),
  end_user: pick("anna@example.com", null),
  tags: pick(["team:growth"], ["cost:1", "team:growth"], null),
});

const day = (min: number, max: number) =>
  fc.integer({ min, max }).map((days) => localDay("UTC", now + days * dayMs));

const budget: fc.Arbitrary<ModelBudget> = fc
  .record({
    scope: pick<[ModelBudget["scope_type"], string | null]>(
      ["global", null],
      ["project", projects[0] ?? ""],
      ["provider", "OPENAI"],
      ["model", "gpt-5"],
      ["feature", "chat"],
      ["user", "anna@example.com"],
      ["tag", "team:growth"],
    ),
    period: pick(
      "day" as const,
      "week" as const,
      "month" as const,
      "quarter" as const,
      "year" as const,
      "once" as const,
    ),
    week_start: fc.integer({ min: 1, max: 7 }),
    time_zone: zone,
    from: fc.option(day(-100, 2), { freq: 3 }),
    last: fc.option(day(3, 60), { freq: 3 }),
    amount_cents: fc.integer({ min: 500, max: 20_000 }),
    alert_percents: fc.subarray([50, 80, 100]),
    alert_cents: fc.subarray([1_000, 5_000]),
  })
  .map(({ scope: [scope_type, scope_value], from, last, ...rest }) => ({
    ...rest,
    scope_type,
    scope_value,
    starts_on: from ?? (rest.period === "once" ? localDay("UTC", now - 20 * dayMs) : null),
    ends_on: last ?? (rest.period === "once" ? localDay("UTC", now + 20 * dayMs) : null),
  }));

async function store(workspace: string, { cents, ...columns }: ModelPosting): Promise<void> {
  await service.query("select private.store_messages('[]', $1, '[]')", [
    JSON.stringify([
      {
        workspace_id: workspace,
        id: randomUUID(),
        created_at: new Date(now).toISOString(),
        source: "api",
        environment: "live",
        amount_usd: String(cents / 100),
        cost_status: "client",
        ...columns,
      },
    ]),
  ]);
}

async function setBudget(workspace: string, model: ModelBudget): Promise<string> {
  const { amount_cents: amount, alert_cents: amounts, ...rest } = model;
  const columns = Object.entries({
    workspace_id: workspace,
    name: "b",
    ...rest,
    amount: amount / 100,
    alert_amounts: amounts.map((cents) => cents / 100),
  });
  const { rows } = await fixtures.sql.query(
    `insert into public.budgets (${columns.map(([name]) => name)})
     values (${columns.map((_, index) => `$${index + 1}`)}) returning id`,
    columns.map(([, value]) => value),
  );
  return rows[0].id;
}

/** The period that a budget shows now: while it has not begun its first, after its end its last. */
function presentPeriod(model: ModelBudget): string | undefined {
  const today = localDay(model.time_zone, Date.now());
  const shown = model.starts_on && today < model.starts_on ? model.starts_on : today;
  return periodOf(model, model.ends_on && shown > model.ends_on ? model.ends_on : shown);
}

const cents = (usd: string) => Math.round(Number(usd) * 100);

test("Counts each period's postings exactly, recorded before or after the budget was set, and raises each alert once", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(posting, { maxLength: 15 }),
      fc.array(posting, { maxLength: 15 }),
      fc.array(budget, { minLength: 1, maxLength: 5 }),
      async (earlier, later, models) => {
        const workspace = await fixtures.workspace();
        for (const project of projects.keys()) {
          await fixtures.sql.query(
            "insert into public.projects (workspace_id, id, slug, name) values ($1, $2, $3, $3)",
            [workspace, projects[project], `p${project}`],
          );
        }
        for (const each of earlier) await store(workspace, each);
        const ids: string[] = [];
        for (const model of models) ids.push(await setBudget(workspace, model));
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
