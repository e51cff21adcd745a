import fc from "fast-check";
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import {
  budget as anyBudget,
  posting as anyPosting,
  setBudget,
  workspaceOfProjects,
} from "@/tests/helpers/budget-arbitraries";
import { type Event, eventOf, type Message, play } from "@/tests/helpers/budget-events";
import {
  localDay,
  type ModelBudget,
  periodOf,
  reachedLevels,
  spentByPeriod,
} from "@/tests/helpers/budget-model";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { moveClock } from "@/tests/helpers/moved-clock";
import { withDatabase } from "@/tests/helpers/with-database";

// A year of messages, corrections and repricings while the clock of the database moves through it: months of every length, the
// changes of the clock in three zones, raises that begin and end. What fires, and in which period, equals a model that knows
// nothing of SQL.

let database: TestDatabase;
let fixtures: Fixtures;
let service: pg.Client;
let setClock: (at: Date) => Promise<void>;

withDatabase((open) => {
  ({ database, fixtures, service } = open);
});

const dayMs = 86_400_000;
const minuteMs = 60_000;
const runs = Number(process.env.BUDGET_RUNS ?? 12);

beforeAll(async () => {
  setClock = await moveClock(database, fixtures);
  for (let month = 0; month < 42; month += 1) {
    await fixtures.sql.query("select private.ensure_messages_month($1)", [
      new Date(Date.UTC(2023, month, 1)),
    ]);
  }
});

/** When a year begins: some are leap years, none at a midnight of UTC. */
const start = fc
  .tuple(fc.integer({ min: 0, max: 600 }), fc.integer({ min: 1, max: 1_400 }))
  .map(([days, minutes]) => Date.UTC(2023, 4, 1) + days * dayMs + minutes * minuteMs);

/** Days of no interest, of a few, or to the hours around a midnight. */
const pause = fc.oneof(
  fc.integer({ min: 1, max: 600 }).map((minutes) => minutes * minuteMs),
  fc.integer({ min: 1, max: 25 }).map((days) => days * dayMs),
  fc.integer({ min: 20, max: 28 }).map((hours) => hours * 60 * minuteMs),
);

/** How far from the present a message occurred: now, some days back, or booked ahead. */
const distance = fc.oneof(
  { weight: 4, arbitrary: fc.constant(0) },
  { weight: 2, arbitrary: fc.integer({ min: -40, max: 0 }) },
  { weight: 1, arbitrary: fc.integer({ min: 1, max: 40 }) },
);

const step = fc.record({ pause, distance, event: eventOf(anyPosting) });

/** A budget of one of three zones that change their clocks, or of UTC; with or without a raise until a day of the year. */
const yearBudget = fc.record({
  model: anyBudget,
  zone: fc.constantFrom("Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "UTC"),
  from: fc.option(fc.integer({ min: -60, max: 60 }), { freq: 3 }),
  last: fc.option(fc.integer({ min: 90, max: 300 }), { freq: 3 }),
  raise: fc.option(fc.record({ factor: fc.constantFrom(2, 5), days: fc.integer({ min: 0, max: 200 }) })),
});

type Drawn = typeof yearBudget extends fc.Arbitrary<infer T> ? T : never;
type YearBudget = ModelBudget & { raised_cents: number | null; raised_until: string | null };

/** Places a random budget into the year. */
function placed({ model, zone, from, last, raise }: Drawn, begin: number): YearBudget {
  const day = (days: number) => localDay(zone, begin + days * dayMs);
  const isOnce = model.period === "once";
  return {
    ...model,
    time_zone: zone,
    starts_on: from !== null ? day(from) : isOnce ? day(-20) : null,
    ends_on: last !== null ? day(last) : isOnce ? day(150) : null,
    raised_cents: raise && model.amount_cents * raise.factor,
    raised_until: raise && day(raise.days),
  };
}

/** A budget's alerts as the model has them, and the limit in force when it was last looked at. Limits are in cents. */
type Alerts = { limit?: number; fired: Alert[] };

/** `limit`: in force when it fired. `isRearmed`: another limit came into force, and less than this level of it was spent. */
type Alert = { name: string; limit: number; told: "quiet" | "told"; isRearmed: boolean };

/** The period of an instant, the limit and what is spent, in cents, and the levels that are reached. */
function reachedAt(
  budget: YearBudget,
  messages: Message[],
  at: number,
): { period: string; limit: number; spent: number; levels: string[] } | undefined {
  const today = localDay(budget.time_zone, at);
  const period = periodOf(budget, today);
  if (period === undefined) return undefined;
  const isRaised = budget.raised_until !== null && today <= budget.raised_until;
  const limit = (isRaised ? budget.raised_cents : null) ?? budget.amount_cents;
  const spent =
    spentByPeriod(
      budget,
      messages.map(({ posting }) => posting),
    ).get(period) ?? 0;
  return { period, limit, spent, levels: reachedLevels({ ...budget, amount_cents: limit }, spent) };
}

/** Adds what fires at an instant: each level once in a period, and again once another limit is in force that it lay below. */
function fire(alerts: Alerts, reached: ReturnType<typeof reachedAt>, told: Alert["told"]): void {
  if (!reached) return;
  const { period, limit, spent, levels } = reached;
  if (alerts.limit !== limit)
    for (const alert of alerts.fired) {
      const [of, level = ""] = alert.name.split(" ");
      if (of === period && !level.startsWith("$") && limit * Number(level) > spent * 100)
        alert.isRearmed = true;
    }
  alerts.limit = limit;
  for (const level of levels) {
    const name = `${period} ${level}`;
    const isFired = alerts.fired.some(
      (alert) => alert.name === name && (!alert.isRearmed || alert.limit === limit),
    );
    if (!isFired) alerts.fired.push({ name, limit, told, isRearmed: false });
  }
}

/** An event at a moment of the year: what it records occurs as far from it as the step says. */
function eventAt(happened: Event, at: number, days: number): Event {
  if (happened.kind !== "record") return happened;
  return {
    ...happened,
    posting: { ...happened.posting, occurred_at: new Date(at + days * dayMs).toISOString() },
  };
}

test("What fires in a year equals a model, while the clock moves and the ledger is corrected", async () => {
  await fc.assert(
    fc.asyncProperty(
      start,
      fc.array(step, { maxLength: 6 }),
      fc.array(step, { minLength: 20, maxLength: 45 }),
      fc.array(yearBudget, { minLength: 1, maxLength: 4 }),
      async (begin, earlier, later, drawn) => {
        const workspace = await workspaceOfProjects(fixtures);
        const ledger = { fixtures, service, workspace };
        const messages: Message[] = [];
        let at = begin;
        await setClock(new Date(at));
        for (const { event, distance } of earlier) await play(ledger, messages, eventAt(event, at, distance));
        const budgets: { model: YearBudget; alerts: Alerts; id: string }[] = [];
        for (const each of drawn) {
          const model = placed(each, begin);
          const { raised_cents: raised, raised_until, ...columns } = model;
          const alerts: Alerts = { fired: [] };
          fire(alerts, reachedAt(model, messages, at), "quiet");
          const more = { raised_amount: raised === null ? null : raised / 100, raised_until };
          budgets.push({ model, alerts, id: await setBudget(fixtures, workspace, columns, more) });
        }
        const note = () => {
          for (const { model, alerts } of budgets) fire(alerts, reachedAt(model, messages, at), "told");
        };
        for (const { pause: ms, distance, event } of later) {
          at += ms;
          await setClock(new Date(at));
          await service.query("select private.alert_on_due_budgets()");
          note();
          await play(ledger, messages, eventAt(event, at, distance));
          note();
        }
        for (const { alerts, id } of budgets) {
          const { rows } = await fixtures.sql.query(
            "select period || ' ' || level as name, is_quiet from public.alerts where rule = 'budget_threshold' and subject_id = $1",
            [id],
          );
          const found = rows.map(({ name, is_quiet: isQuiet }) => [name, isQuiet ? "quiet" : "told"]);
          expect(found.sort()).toEqual(alerts.fired.map(({ name, told }) => [name, told]).sort());
        }
        // The next run's watcher has less to look at.
        await fixtures.sql.query("delete from public.workspaces where id = $1", [workspace]);
      },
    ),
    { numRuns: runs, endOnFailure: true },
  );
}, 180_000);
