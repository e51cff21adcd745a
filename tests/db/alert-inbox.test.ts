import { randomUUID } from "node:crypto";
import pg from "pg";
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { countEntries, selectEntries } from "@/lib/alerts/inbox/inbox-queries";
import { selectCrossings } from "@/lib/alerts/log/alert-log-queries";
import { crossing, raise } from "@/tests/helpers/alerts";
import type { TestDatabase } from "@/tests/helpers/database";
import type { Fixtures } from "@/tests/helpers/keys";
import { withDatabase } from "@/tests/helpers/with-database";

// The entries of the inbox: one for each rule, subject and period, which holds as long as what it is about.

let database: TestDatabase;
let fixtures: Fixtures;
let service: pg.Client;
let workspace: string;

withDatabase((open) => {
  ({ database, fixtures, service } = open);
});

beforeAll(() => fixtures.sql.query("select private.ensure_messages_month(now())"));

beforeEach(async () => {
  workspace = await fixtures.workspace();
});

const rows = async (sql: string, values: unknown[] = [workspace]) =>
  (await fixtures.sql.query(sql, values)).rows;

/** The entries of the workspace, as `rule level of the last alert: open`, or why each is resolved. */
const entries = async () =>
  (
    await rows(
      `select e.rule, a.level, coalesce(e.resolved_because, 'open') as status
       from public.alert_entries as e join public.alerts as a on a.workspace_id = e.workspace_id and a.number = e.last_number
       where e.workspace_id = $1 order by e.rule, e.period`,
    )
  ).map(({ rule, level, status }) => `${rule} ${level}: ${status}`);

const settle = (at?: string) =>
  at
    ? service.query("select private.settle_alert_entries(null, $1::timestamptz)", [at])
    : service.query("select private.settle_alert_entries()");

/** Records spend in the workspace, as a message does. */
const spend = async (usd: string, client = service) =>
  client.query("select private.store_messages('[]', $1, '[]')", [
    JSON.stringify([
      {
        workspace_id: workspace,
        id: randomUUID(),
        created_at: new Date().toISOString(),
        occurred_at: new Date().toISOString(),
        project_id: await fixtures.project(workspace, `p-${randomUUID()}`),
        type: "usage",
        source: "api",
        environment: "live",
        amount_usd: usd,
        cost_status: "client",
      },
    ]),
  ]);

async function addBudget(): Promise<string> {
  const [row] = await rows(
    `insert into public.budgets (workspace_id, name, scope_type, amount, alert_percents)
     values ($1, 'All', 'global', 100, '{50,80,100}') returning id`,
  );
  return row.id;
}

const verdict = (state: string, more: object = {}) => ({
  workspace_id: workspace,
  rule: "key_limit",
  subject_type: "key",
  subject_id: "k1",
  period: "2026-11-01",
  state,
  details: { subject: "Key", amount_usd: "100", spent_usd: "90", percent: "90" },
  ...more,
});
const judge = (...verdicts: object[]) =>
  service.query("select private.settle_alert_states($1)", [JSON.stringify(verdicts)]);

test("Is settled whichever plan Postgres chooses, also beside alerts whose levels are no numbers", async () => {
  await addBudget();
  await spend("60");
  await judge(verdict("warning"));
  const joins = ["enable_nestloop", "enable_hashjoin", "enable_mergejoin"];
  onTestFinished(async () => {
    for (const join of joins) await service.query(`reset ${join}`);
  });
  for (const kept of joins) {
    for (const join of joins) await service.query(`set ${join} = ${join === kept ? "on" : "off"}`);
    await service.query("discard plans");
    await settle();
  }
  expect(await entries()).toEqual(["budget_threshold 50: open", "key_limit warning: open"]);
});

describe("An entry of thresholds", () => {
  test("Is one for the thresholds of a period, and another in the next period", async () => {
    for (const level of ["50", "80", "100"]) await raise(fixtures, crossing(workspace, { level }));
    expect(await entries()).toEqual(["budget_threshold 100: open"]);
    await raise(fixtures, crossing(workspace, { level: "50", period: "2026-12-01" }));
    expect(await entries()).toEqual(["budget_threshold 100: open", "budget_threshold 50: open"]);
  });

  test("Is one, whatever number of transactions cross its thresholds at the same time", async () => {
    const clients = await Promise.all(
      Array.from({ length: 6 }, async () => {
        const client = new pg.Client({ connectionString: database.adminUrl });
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
              JSON.stringify([crossing(workspace, { level })]),
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
    await raise(fixtures, crossing(workspace, { level: "80" }));
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
    const other = new pg.Client({ connectionString: database.adminUrl });
    await other.connect();
    try {
      await other.query("begin");
      await other.query("select from public.alert_entries where workspace_id = $1 for update", [workspace]);
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
    await service.query("select private.settle_alert_entries($1)", [await fixtures.workspace()]);
    expect(await entries()).toEqual(["budget_threshold 80: open"]);
  });

  /**
   * Runs a judgement, which waits after it has begun to read, until `meanwhile` is done and committed: here, asking for the period of
   * a budget waits for a lock.
   */
  async function settleAround(meanwhile: () => Promise<unknown>): Promise<void> {
    const [holder, judge] = await Promise.all(
      [0, 1].map(async () => {
        const client = new pg.Client({ connectionString: database.adminUrl });
        await client.connect();
        return client;
      }),
    );
    if (!holder || !judge) throw new Error("There are two clients.");
    try {
      await holder.query("select pg_advisory_lock(4711)");
      await fixtures.sql.query(`
        alter function private.budget_period(public.budgets, timestamptz) rename to known_budget_period;
        create function private.budget_period(budget public.budgets, instant timestamptz) returns date
        language plpgsql security definer set search_path = '' as $$
        begin
          perform pg_catalog.pg_advisory_xact_lock_shared(4711);
          return private.known_budget_period(budget, instant);
        end $$`);
      const { rows: pids } = await judge.query("select pg_backend_pid() as pid");
      const judged = judge.query("select private.settle_alert_entries($1)", [workspace]);
      await expect
        .poll(
          async () =>
            (
              await fixtures.sql.query(
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
      await fixtures.sql.query(`
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
      raise(fixtures, crossing(workspace, { subject_id: budget, level: "80", period })),
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

test("A snooze ends at its very instant, of one subject or of the whole rule", async () => {
  await raise(fixtures, crossing(workspace));
  const client = new pg.Client({ connectionString: database.adminUrl });
  await client.connect();
  const seen = async () => {
    const page = { after: null, atMost: 10 };
    const [open, snoozed] = await Promise.all(
      (["open", "snoozed"] as const).map((status) => selectEntries(client, workspace, { status }, page)),
    );
    const counts = await countEntries(client, workspace, randomUUID());
    return [open?.length, snoozed?.length, counts.open, counts.snoozed];
  };
  try {
    for (const subject of [crossing(workspace).subject_id, null]) {
      // One instant for all: that of the transaction.
      await client.query("begin");
      const until = (offset: string) =>
        client.query(
          `insert into public.alert_snoozes (workspace_id, rule, subject_id, until)
           values ($1, 'budget_threshold', $2, now() + $3::interval)
           on conflict (workspace_id, rule, subject_id) do update set until = excluded.until`,
          [workspace, subject, offset],
        );
      await until("1 microsecond");
      expect(await seen()).toEqual([0, 1, 0, 1]);
      await until("0");
      expect(await seen()).toEqual([1, 0, 1, 0]);
      await client.query("rollback");
    }
  } finally {
    await client.end();
  }
});

describe("An entry of a state", () => {
  test("Is resolved when the state ends, for the same reason, and opens when it fires again", async () => {
    await judge(verdict("warning"));
    await settle();
    expect(await entries()).toEqual(["key_limit warning: open"]);
    await judge(verdict("alert"));
    expect(await entries()).toEqual(["key_limit alert: open"]);
    await judge(verdict("ok"));
    expect(await entries()).toEqual(["key_limit alert: recovered"]);
    await judge(verdict("warning", { period: "2026-12-01" }));
    await judge(verdict("ok", { period: "2027-01-01" }));
    expect(await entries()).toEqual(["key_limit alert: recovered", "key_limit warning: period_over"]);
  });

  test("Opens again without an alert where the state returns in a period in which it fired already", async () => {
    await judge(verdict("warning"));
    await judge(verdict("ok"));
    await judge(verdict("warning"));
    expect(await rows("select 1 from public.alerts where workspace_id = $1 and state <> 'ok'")).toHaveLength(
      1,
    );
    await settle();
    expect(await entries()).toEqual(["key_limit warning: open"]);
  });

  test("Stays resolved by hand while its state goes on, until something new fires", async () => {
    await judge(verdict("warning"));
    await rows(
      "update public.alert_entries set resolved_at = now(), resolved_because = 'by_hand' where workspace_id = $1",
    );
    await settle();
    expect(await entries()).toEqual(["key_limit warning: by_hand"]);
    await judge(verdict("alert"));
    expect(await entries()).toEqual(["key_limit alert: open"]);
  });

  test("Of an unusual day stays for a week", async () => {
    const day = {
      rule: "unusual_day",
      subject_type: "workspace",
      subject_id: workspace,
      period: "2026-11-10",
    };
    await judge(verdict("warning", day));
    await judge(verdict("forget", day));
    await settle("2026-11-16T23:00:00Z");
    expect(await entries()).toEqual(["unusual_day warning: open"]);
    await settle("2026-11-17T00:00:00Z");
    expect(await entries()).toEqual(["unusual_day warning: period_over"]);
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

test("A threshold that is crossed during a snooze is not one that spend had reached before", async () => {
  const quiet = (level: string, reason: string) =>
    crossing(workspace, { level, is_quiet: true, quiet_reason: reason });
  await raise(
    fixtures,
    quiet("50", "was_above"),
    quiet("80", "snoozed"),
    quiet("90", "rule_off"),
    crossing(workspace, { level: "100" }),
  );
  const client = await fixtures.sql.connect();
  try {
    const crossings = await selectCrossings(client, workspace, "2026-11-01", 10);
    expect(crossings.map(({ level, was_above: wasAbove }) => `${level} ${wasAbove}`)).toEqual([
      "100 false",
      "90 false",
      "80 false",
      "50 true",
    ]);
  } finally {
    client.release();
  }
});

test("Removing a member leaves what they had to nobody", async () => {
  const [{ id: user }] = await rows(
    "insert into auth.users (id, email) values (gen_random_uuid(), $1) returning id",
    [`${randomUUID()}@example.com`],
  );
  await rows("insert into public.workspace_members (workspace_id, user_id, role) values ($1, $2, 'member')", [
    workspace,
    user,
  ]);
  await raise(fixtures, crossing(workspace));
  await rows("update public.alert_entries set assignee_id = $2 where workspace_id = $1", [workspace, user]);
  await rows("delete from public.workspace_members where workspace_id = $1 and user_id = $2", [
    workspace,
    user,
  ]);
  expect(await rows("select assignee_id from public.alert_entries where workspace_id = $1")).toEqual([
    { assignee_id: null },
  ]);
});
