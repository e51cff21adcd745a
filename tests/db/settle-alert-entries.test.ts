import pg from "pg";
import { describe, expect, onTestFinished, test } from "vitest";
import { crossing, raise } from "@/tests/helpers/alerts";
import { withInbox } from "@/tests/helpers/inbox";

// The job that resolves entries of the inbox whose reason has ended.
const inbox = withInbox();
const { rows, entries, settle, spend, addBudget, verdict, judge } = inbox;

test("Is settled whichever plan Postgres chooses, also beside alerts whose levels are no numbers", async () => {
  await addBudget();
  await spend("60");
  await judge(verdict("warning"));
  const joins = ["enable_nestloop", "enable_hashjoin", "enable_mergejoin"];
  onTestFinished(async () => {
    for (const join of joins) await inbox.service.query(`reset ${join}`);
  });
  for (const kept of joins) {
    for (const join of joins) await inbox.service.query(`set ${join} = ${join === kept ? "on" : "off"}`);
    await inbox.service.query("discard plans");
    await settle();
  }
  expect(await entries()).toEqual(["budget_threshold 50: open", "key_limit warning: open"]);
});

describe("A judgement", () => {
  test("Keeps an entry of thresholds open while the spend equals the threshold, and not a cent below it", async () => {
    await addBudget();
    await spend("80");
    await settle();
    expect(await entries()).toEqual(["budget_threshold 80: open"]);
    await spend("-0.01");
    await settle();
    expect(await entries()).toEqual(["budget_threshold 80: recovered"]);
  });

  test("Of one workspace changes no entry of another", async () => {
    await addBudget();
    await spend("85");
    await inbox.service.query("select private.settle_alert_entries($1)", [await inbox.fixtures.workspace()]);
    expect(await entries()).toEqual(["budget_threshold 80: open"]);
  });

  /**
   * Runs a judgement, which waits after it has begun to read, until `meanwhile` is done and committed: here, asking for the period of
   * a budget waits for a lock.
   */
  async function settleAround(meanwhile: () => Promise<unknown>): Promise<void> {
    const [holder, judge] = await Promise.all(
      [0, 1].map(async () => {
        const client = new pg.Client({ connectionString: inbox.database.adminUrl });
        await client.connect();
        return client;
      }),
    );
    if (!holder || !judge) throw new Error("There are two clients.");
    try {
      await holder.query("select pg_advisory_lock(4711)");
      await inbox.fixtures.sql.query(`
        alter function private.budget_period(public.budgets, timestamptz) rename to known_budget_period;
        create function private.budget_period(budget public.budgets, instant timestamptz) returns date
        language plpgsql security definer set search_path = '' as $$
        begin
          perform pg_catalog.pg_advisory_xact_lock_shared(4711);
          return private.known_budget_period(budget, instant);
        end $$`);
      const { rows: pids } = await judge.query("select pg_backend_pid() as pid");
      const judged = judge.query("select private.settle_alert_entries($1)", [inbox.workspace]);
      await expect
        .poll(
          async () =>
            (
              await inbox.fixtures.sql.query(
                "select wait_event_type as waits_for from pg_stat_activity where pid = $1",
                [pids[0].pid],
              )
            ).rows[0].waits_for,
          { timeout: 30_000 },
        )
        .toBe("Lock");
      await meanwhile();
      await holder.query("select pg_advisory_unlock(4711)");
      await judged;
    } finally {
      await inbox.fixtures.sql.query(`
        drop function private.budget_period(public.budgets, timestamptz);
        alter function private.known_budget_period(public.budgets, timestamptz) rename to budget_period`);
      await Promise.all([holder.end(), judge.end()]);
    }
  }

  test("Leaves an entry of which an alert fired since it was read", async () => {
    const budget = await addBudget();
    await spend("60");
    await spend("-20");
    const [{ period }] = await rows("select period::text from public.alert_entries where workspace_id = $1");
    await settleAround(() =>
      raise(inbox.fixtures, crossing(inbox.workspace, { subject_id: budget, level: "80", period })),
    );
    expect(await entries()).toEqual(["budget_threshold 80: open"]);
  });

  test("Leaves an entry that a member resolved since it was read", async () => {
    await addBudget();
    await spend("60");
    await spend("-20");
    await settleAround(() =>
      rows(
        "update public.alert_entries set resolved_at = now(), resolved_because = 'by_hand' where workspace_id = $1",
      ),
    );
    expect(await entries()).toEqual(["budget_threshold 50: by_hand"]);
  });
});
