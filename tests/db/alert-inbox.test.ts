import { randomUUID } from "node:crypto";
import pg from "pg";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
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
