import pg from "pg";
import { describe, expect, test } from "vitest";
import { crossing, raise } from "@/tests/helpers/alerts";
import { withInbox } from "@/tests/helpers/inbox";

// Entries of the inbox for thresholds of budgets: one for each budget and period.
const inbox = withInbox();
const { rows, entries, settle, spend, addBudget } = inbox;

describe("An entry of thresholds", () => {
  test("Is one for the thresholds of a period, and another in the next period", async () => {
    for (const level of ["50", "80", "100"])
      await raise(inbox.fixtures, crossing(inbox.workspace, { level }));
    expect(await entries()).toEqual(["budget_threshold 100: open"]);
    await raise(inbox.fixtures, crossing(inbox.workspace, { level: "50", period: "2026-12-01" }));
    expect(await entries()).toEqual(["budget_threshold 100: open", "budget_threshold 50: open"]);
  });

  test("Is one, whatever number of transactions cross its thresholds at the same time", async () => {
    const clients = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const client = new pg.Client({ connectionString: inbox.database.adminUrl });
        await client.connect();
        return client;
      }),
    );
    const levels = Array.from({ length: 30 }, (_, index) => String(index + 10));
    try {
      // Each transaction tells every level, beginning with another one.
      await Promise.all(
        clients.map(async (client, index) => {
          for (const level of [...levels.slice(index * 5), ...levels.slice(0, index * 5)]) {
            await client.query("select private.raise_alerts($1)", [
              JSON.stringify([crossing(inbox.workspace, { level })]),
            ]);
          }
        }),
      );
    } finally {
      await Promise.all(clients.map((client) => client.end()));
    }
    expect(
      await rows(
        `select count(*)::integer as alerts,
           (select count(*)::integer from public.alert_entries where workspace_id = $1) as entries,
           (select max(number) from public.alerts where workspace_id = $1)
             = (select last_number from public.alert_entries where workspace_id = $1) as is_last
         from public.alerts where workspace_id = $1`,
      ),
    ).toEqual([{ alerts: 30, entries: 1, is_last: true }]);
  });

  test("Is of the alert with the highest number, whichever of two transactions enters its own last", async () => {
    await raise(inbox.fixtures, crossing(inbox.workspace, { level: "80" }));
    // An alert whose number was drawn before and that is entered now.
    await rows(
      `insert into public.alerts (workspace_id, number, rule, subject_type, subject_id, period, level, state, is_quiet, details)
       overriding system value
       select workspace_id, 0, rule, subject_type, subject_id, period, '50', state, is_quiet, details
       from public.alerts where workspace_id = $1`,
    );
    expect(await entries()).toEqual(["budget_threshold 80: open"]);
  });

  test("Is resolved when the budget is raised above its spend, and opens when a threshold of the new limit is crossed", async () => {
    const budget = await addBudget();
    await spend("105");
    await settle();
    expect(await entries()).toEqual(["budget_threshold 100: open"]);
    await rows("update public.budgets set amount = 150 where id = $1", [budget]);
    expect(await entries()).toEqual(["budget_threshold 100: recovered"]);
    await spend("20");
    await settle();
    expect(await entries()).toEqual(["budget_threshold 80: open"]);
  });

  test("Is resolved when costs are voided below the threshold that fired last, and opens when the spend is there again", async () => {
    await addBudget();
    await spend("85");
    await spend("-10");
    await settle();
    expect(await entries()).toEqual(["budget_threshold 80: recovered"]);
    await spend("10");
    await settle();
    expect(await entries()).toEqual(["budget_threshold 80: open"]);
  });

  test("Is resolved when its period ends, and when its budget is deleted", async () => {
    const budget = await addBudget();
    await spend("60");
    await settle(new Date(Date.now() + 32 * 86_400_000).toISOString());
    expect(await entries()).toEqual(["budget_threshold 50: period_over"]);
    await settle();
    expect(await entries()).toEqual(["budget_threshold 50: open"]);
    await rows("delete from public.budgets where id = $1", [budget]);
    await settle();
    expect(await entries()).toEqual(["budget_threshold 50: gone"]);
  });

  test("Is left for the next judgement while another transaction changes it, and no budget waits for it", async () => {
    const budget = await addBudget();
    await spend("105");
    const other = new pg.Client({ connectionString: inbox.database.adminUrl });
    await other.connect();
    try {
      await other.query("begin");
      await other.query("select from public.alert_entries where workspace_id = $1 for update", [
        inbox.workspace,
      ]);
      await rows("update public.budgets set amount = 1000 where id = $1", [budget]);
      // The entry is held: the change does not wait for it.
      expect(await entries()).toEqual(["budget_threshold 100: open"]);
      await other.query("commit");
    } finally {
      await other.end();
    }
    await settle();
    expect(await entries()).toEqual(["budget_threshold 100: recovered"]);
  });
});

test("A rule that is off has no open entry, and its thresholds make none", async () => {
  await addBudget();
  await spend("60");
  await rows(
    "insert into public.alert_rules (workspace_id, rule, is_on) values ($1, 'budget_threshold', false)",
  );
  await settle();
  expect(await entries()).toEqual(["budget_threshold 50: rule_off"]);
  await spend("25");
  expect(await entries()).toEqual(["budget_threshold 50: rule_off"]);
});
