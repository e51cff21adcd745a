import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { judgeBudgets } from "@/lib/spend/budgets/judge-budgets";
import { connectService } from "@/tests/helpers/connect-service";
import type { TestDatabase } from "@/tests/helpers/database";
import { insertStatement } from "@/tests/helpers/insert-statement";
import type { Fixtures } from "@/tests/helpers/keys";
import { withDatabase } from "@/tests/helpers/with-database";
import { instantOf, periodsOf } from "@/tests/helpers/zone-clock";

// The forecast and the pace of budgets, judged by the service's code at moments that the test chooses.

let database: TestDatabase;
let fixtures: Fixtures;
let workspace: string;

withDatabase((open) => {
  ({ database, fixtures } = open);
});
connectService(() => database);
beforeEach(async () => {
  workspace = await fixtures.workspace();
});
afterEach(async () => {
  await fixtures.sql.query("delete from public.workspaces where id = $1", [workspace]);
});

const rows = async (sql: string, values: unknown[] = []) => (await fixtures.sql.query(sql, values)).rows;
const judge = (at: string) => judgeBudgets(new Date(at));

/** The fields of a budget that differ from those of one over everything, of 100 USD a month in UTC. */
async function budget(columns: Record<string, unknown> = {}): Promise<string> {
  const all = { workspace_id: workspace, name: "All", scope_type: "global", scope_value: null, amount: 100 };
  const [made] = await rows(...insertStatement("public.budgets", { ...all, ...columns }));
  return made.id;
}
const spend = (id: string, from: string, usd: number, booked = 0) =>
  rows(
    `insert into public.budget_counts (workspace_id, budget_id, environment, period_from, spent_usd, booked_usd)
     values ($1, $2, 'live', $3, $4, $5)
     on conflict (workspace_id, budget_id, environment, period_from) do update
       set spent_usd = excluded.spent_usd, booked_usd = excluded.booked_usd`,
    [workspace, id, from, usd, booked],
  );
const total = (day: string, usd: number) =>
  rows(
    `insert into public.daily_totals (workspace_id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count)
     values ($1, 'live', 'provider', $2, 'openai', 'usage', $3, 1, 0)`,
    [workspace, day, usd],
  );
/** Makes usage cost the same on each of some days up to a last one, in place of what it cost. */
async function usage(lastDay: string, days: number, usd: number): Promise<void> {
  for (let ago = 0; ago < days; ago += 1) {
    const day = new Date(Date.parse(lastDay) - ago * 86_400_000).toISOString().slice(0, 10);
    await rows("delete from public.daily_totals where workspace_id = $1 and day = $2", [workspace, day]);
    await total(day, usd);
  }
}
async function fired(): Promise<string[]> {
  const all = await rows(
    "select rule, state, period::text, details ->> 'because' as because from public.alerts where workspace_id = $1 order by number",
    [workspace],
  );
  return all.map((row) => [row.rule, row.state, row.period, row.because].filter(Boolean).join(" "));
}
const lastDetails = async () =>
  (
    await rows("select details from public.alerts where workspace_id = $1 order by number desc limit 1", [
      workspace,
    ])
  )[0].details;

describe("A forecast over the limit", () => {
  test("Is told once in a period, and when it is over", async () => {
    const id = await budget();
    await spend(id, "2030-06-01", 12);
    await usage("2030-06-03", 3, 4);
    await judge("2030-06-04T00:00:00Z");
    expect(await fired()).toEqual(["budget_forecast warning 2030-06-01"]);
    expect(await lastDetails()).toMatchObject({
      ...{
        subject: "All",
        amount_usd: "100",
        spent_usd: "12",
        forecast_usd: "120",
        percent: "120",
        data_days: 3,
      },
      ...{ period_from: "2030-06-01", period_until: "2030-07-01" },
    });
    await spend(id, "2030-06-01", 12.5);
    await judge("2030-06-04T00:00:30Z");
    // A correction lowers it, and later spend raises it again.
    await spend(id, "2030-06-01", 9);
    await usage("2030-06-03", 3, 3);
    await judge("2030-06-04T00:01:00Z");
    await spend(id, "2030-06-01", 20);
    await judge("2030-06-04T00:02:00Z");
    await spend(id, "2030-06-01", 9);
    await judge("2030-06-04T00:03:00Z");
    expect(await fired()).toEqual(["budget_forecast warning 2030-06-01", "budget_forecast ok 2030-06-01"]);
  });

  test("Is told again in a period for a limit that was raised", async () => {
    const id = await budget();
    await spend(id, "2030-06-01", 12);
    await usage("2030-06-03", 3, 4);
    await judge("2030-06-04T00:00:00Z");
    await rows("update public.budgets set amount = 200 where id = $1", [id]);
    await judge("2030-06-04T00:01:00Z");
    await usage("2030-06-03", 3, 10);
    await spend(id, "2030-06-01", 30);
    await judge("2030-06-04T00:02:00Z");
    await judge("2030-06-04T02:00:00Z");
    expect(await fired()).toEqual([
      ...["budget_forecast warning 2030-06-01", "budget_forecast ok 2030-06-01"],
      "budget_forecast warning 2030-06-01",
    ]);
  });

  test("Ends with its period, and begins anew in the next one", async () => {
    const id = await budget();
    await spend(id, "2030-06-01", 50);
    await usage("2030-06-04", 10, 10);
    await judge("2030-06-05T00:00:00Z");
    // Usage has come to a stop since.
    await judge("2030-07-01T00:00:00Z");
    await spend(id, "2030-07-01", 50);
    await usage("2030-07-04", 20, 10);
    await judge("2030-07-05T00:00:00Z");
    // The pace, which is above June's, is told apart from it.
    expect((await fired()).filter((each) => each.startsWith("budget_forecast"))).toEqual([
      ...["budget_forecast warning 2030-06-01", "budget_forecast ok 2030-06-01 period_over"],
      "budget_forecast warning 2030-07-01",
    ]);
  });

  test("Needs three whole days of usage, and is silent above the limit", async () => {
    const [week, month, over] = [
      await budget({ period: "week" }),
      await budget(),
      await budget({ alert_percents: [] }),
    ];
    await usage("2030-06-03", 3, 27);
    await spend(week, "2030-06-03", 80);
    await spend(month, "2030-06-01", 80);
    await spend(over, "2030-06-01", 100);
    await judge("2030-06-03T23:59:59Z");
    expect(await fired()).toEqual([]);
    // Time alone is noticed within an hour.
    await judge("2030-06-04T01:00:00Z");
    expect((await fired()).sort()).toEqual([
      "budget_forecast warning 2030-06-01",
      "budget_forecast warning 2030-06-03",
    ]);
  });

  test("Does not extend what is booked once", async () => {
    const id = await budget();
    await spend(id, "2030-06-01", 60, 58);
    await usage("2030-06-03", 3, 0.5);
    await judge("2030-06-04T00:00:00Z");
    expect(await fired()).toEqual([]);
  });

  test("Is over with a budget that is deleted, and where the rule is off nothing is told", async () => {
    const id = await budget();
    await spend(id, "2030-06-01", 50);
    await usage("2030-06-03", 3, 10);
    await judge("2030-06-04T00:00:00Z");
    await rows("delete from public.budgets where id = $1", [id]);
    await judge("2030-06-04T00:01:00Z");
    expect(await fired()).toEqual([
      "budget_forecast warning 2030-06-01",
      "budget_forecast ok 2030-06-01 gone",
    ]);
    await rows(
      "insert into public.alert_rules (workspace_id, rule, is_on) values ($1, 'budget_forecast', false)",
      [workspace],
    );
    await spend(await budget(), "2030-06-01", 50);
    await judge("2030-06-04T00:02:00Z");
    expect(await fired()).toHaveLength(2);
  });

  test("Is recorded once by several processes that judge at the same time", async () => {
    const id = await budget({ amount: 120 });
    await usage("2030-06-03", 3, 4);
    for (const usd of [20, 8, 30]) {
      await spend(id, "2030-06-01", usd);
      await Promise.all(Array.from({ length: 4 }, () => judge("2030-06-04T00:00:00Z")));
    }
    expect(await fired()).toEqual(["budget_forecast warning 2030-06-01", "budget_forecast ok 2030-06-01"]);
  });

  test("Is judged again only where something has changed, or an hour has passed", async () => {
    const id = await budget();
    await spend(id, "2030-06-01", 1);
    const checked = async () =>
      (
        await rows("select checked_at from private.budget_checks where budget_id = $1", [id])
      )[0].checked_at.toISOString();
    await judge("2030-06-04T00:00:00Z");
    await judge("2030-06-04T00:59:00Z");
    expect(await checked()).toBe("2030-06-04T00:00:00.000Z");
    await spend(id, "2030-06-01", 2);
    await judge("2030-06-04T00:59:30Z");
    expect(await checked()).toBe("2030-06-04T00:59:30.000Z");
    await judge("2030-06-04T02:00:00Z");
    expect(await checked()).toBe("2030-06-04T02:00:00.000Z");
  });
});

describe("A pace above that of the last period", () => {
  test("Is told once, with both figures, and when it is over", async () => {
    const id = await budget({ amount: 1000 });
    for (let day = 1; day <= 31; day += 1) await total(`2030-05-${String(day).padStart(2, "0")}`, 10);
    await spend(id, "2030-06-01", 149.99);
    await judge("2030-06-11T00:00:00Z");
    expect(await fired()).toEqual([]);
    await spend(id, "2030-06-01", 150);
    await judge("2030-06-11T00:00:00Z");
    expect(await fired()).toEqual(["budget_pace warning 2030-06-01"]);
    expect(await lastDetails()).toMatchObject({ before_usd: "100", spent_usd: "150", percent: "150" });
    await judge("2030-06-21T00:00:00Z");
    expect(await fired()).toEqual(["budget_pace warning 2030-06-01", "budget_pace ok 2030-06-01"]);
  });

  test("Says nothing of little spend, of a young period, and without a last one", async () => {
    const [little, young, first] = [
      await budget({ amount: 5000 }),
      await budget({ amount: 1000 }),
      await budget({ amount: 1000, starts_on: "2030-06-01" }),
    ];
    for (let day = 1; day <= 31; day += 1) await total(`2030-05-${String(day).padStart(2, "0")}`, 1);
    await spend(little, "2030-06-01", 300);
    await spend(young, "2030-06-01", 200);
    await spend(first, "2030-06-01", 200);
    await judge("2030-06-03T00:00:00Z");
    expect((await fired()).filter((each) => each.startsWith("budget_pace"))).toEqual([]);
    await judge("2030-06-05T00:00:00Z");
    expect((await fired()).filter((each) => each.startsWith("budget_pace"))).toEqual([
      "budget_pace warning 2030-06-01",
    ]);
  });
});

test("What was spent at the same point of the last period equals a model's, over changes of the clock in three zones", async () => {
  const hourMs = 3_600_000;
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom("Europe/Berlin", "America/New_York", "Pacific/Auckland", "UTC"),
      fc.constantFrom("day" as const, "week" as const, "month" as const),
      // Days around the changes of the clock in 2030, by noon and in the evening.
      fc.constantFrom(
        "2030-03-11",
        "2030-03-12",
        "2030-04-02",
        "2030-04-08",
        "2030-10-07",
        "2030-10-29",
        "2030-11-05",
      ),
      fc.constantFrom(9, 12, 20.5),
      fc.array(fc.integer({ min: 1, max: 500 }), { minLength: 75, maxLength: 75 }),
      async (zone, period, day, hour, cents) => {
        const own = await fixtures.workspace();
        const localNow = Date.parse(`${day}T00:00:00Z`) + hour * hourMs;
        const [last, before] = periodsOf(period, day);
        const firstDay = Date.parse(`${day}T00:00:00Z`) - 70 * 24 * hourMs;
        for (const [index, each] of cents.entries()) {
          const of = new Date(firstDay + index * 24 * hourMs).toISOString().slice(0, 10);
          await rows(
            `insert into public.daily_totals (workspace_id, environment, dimension, day, value, type, amount_usd, message_count, unpriced_count)
             values ($1, 'live', 'provider', $2, null, 'usage', $3::numeric / 100, 1, 0)`,
            [own, of, each],
          );
        }
        const [{ id }] = await rows(
          `insert into public.budgets (workspace_id, name, scope_type, amount, period, time_zone) values ($1, 'b', 'global', 1000, $2, $3) returning id`,
          [own, period, zone],
        );
        await rows(
          `insert into public.budget_counts (workspace_id, budget_id, environment, period_from, spent_usd, booked_usd) values ($1, $2, 'live', $3, 5, 0)`,
          [own, id, new Date(last).toISOString().slice(0, 10)],
        );
        const [{ answer }] = await rows("select private.budgets_to_judge($1, 100) as answer", [
          new Date(instantOf(zone, localNow)).toISOString(),
        ]);
        const judged = answer.find((each: { id: string }) => each.id === id);
        const begins = instantOf(zone, before);
        const ends = instantOf(zone, Math.min(before + (localNow - last), last));
        const expected = cents.reduce((sum, each, index) => {
          const from = firstDay + index * 24 * hourMs;
          const within = Math.min(from + 24 * hourMs, ends) - Math.max(from, begins);
          return sum + (Math.max(0, within) / (24 * hourMs)) * (each / 100);
        }, 0);
        expect(Number(judged.before_usd)).toBeCloseTo(expected, 8);
        expect(judged.period_from).toBe(new Date(last).toISOString().slice(0, 10));
        await rows("delete from public.workspaces where id = $1", [own]);
      },
    ),
    { numRuns: Number(process.env.RULE_RUNS ?? 25), seed: Number(process.env.RULE_SEED ?? Date.now()) },
  );
}, 240_000);
