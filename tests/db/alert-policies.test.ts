import type pg from "pg";
import { beforeAll, describe, expect, test } from "vitest";
import { addChannel, crossing, raise } from "@/tests/helpers/alerts";
import type { Fixtures } from "@/tests/helpers/keys";
import { createMembers } from "@/tests/helpers/sql-user";
import { withDatabase } from "@/tests/helpers/with-database";

// What users and keys can do to alerts by SQL: on a hosted project, PostgREST runs it without our service.

const members = ["owner", "admin", "member", "viewer"] as const;
type Who = (typeof members)[number] | "stranger";

let fixtures: Fixtures;
let service: pg.Client;
let workspace: string;
let channel: string;
let users: Record<Who, string>;
const snooze = crypto.randomUUID();

withDatabase((open) => {
  ({ fixtures, service } = open);
});

beforeAll(async () => {
  workspace = await fixtures.workspace();
  const other = await fixtures.workspace();
  users = await createMembers(fixtures, workspace, other);
  channel = await addChannel(fixtures, workspace, { address: "https://receiver.example/SECRET" });
  await raise(fixtures, crossing(workspace));
  await fixtures.sql.query(
    `with rule as (insert into public.alert_rules (workspace_id, rule) values ($1, 'key_limit'))
     , state as (
       insert into public.alert_states (workspace_id, rule, subject_type, subject_id, period, state, since)
       values ($1, 'key_limit', 'key', 'k1', '2026-11-01', 'warning', now())
     )
     insert into public.alert_snoozes (workspace_id, id, rule, until) values ($1, $2, 'key_limit', now() + interval '1 day')`,
    [workspace, snooze],
  );
  // Mails wait in the same table, and are nobody's to read.
  await fixtures.sql.query(
    `with reader as (
       insert into public.weekly_reports (workspace_id, user_id, time_zone) values ($1, $2, 'UTC') returning workspace_id, user_id
     ), mail as (insert into public.deliveries (kind, recipient, details) values ('account_deleted', 'x@example.com', '{}'))
     insert into public.deliveries (kind, workspace_id, reader_id, week)
     select 'weekly_report', workspace_id, user_id, '2026-11-16' from reader`,
    [workspace, users.viewer],
  );
});

/** Runs a statement in a transaction with settings, and rolls it back. @returns its rows, or the state of its error */
async function run(settings: Record<string, string>, sql: string, values: unknown[] = []): Promise<unknown> {
  await service.query("begin");
  try {
    for (const [name, value] of Object.entries(settings)) {
      await service.query("select set_config($1, $2, true)", [name, value]);
    }
    return (await service.query(sql, values)).rows;
  } catch (error) {
    return (error as { code: string }).code;
  } finally {
    await service.query("rollback");
  }
}

const claimsOf = (who: Who) => JSON.stringify({ sub: users[who], role: "authenticated" });
const as = (who: Who, sql: string, values: unknown[] = []) =>
  run({ "request.jwt.claims": claimsOf(who), role: "authenticated" }, sql, values);
const refused = "42501";

const tables = [
  "alerts",
  "alert_entries",
  "alert_channels",
  "deliveries",
  "alert_rules",
  "alert_states",
  "alert_snoozes",
];

describe.each(tables)("public.%s", (table) => {
  test.each(members)("Is read by a member with the role %s", async (who) => {
    expect(await as(who, `select 1 from public.${table}`)).toHaveLength(1);
  });

  test("Is empty for a stranger, and closed to keys and to anybody who is not signed in", async () => {
    expect(await as("stranger", `select 1 from public.${table}`)).toEqual([]);
    const claims = JSON.stringify({
      id: crypto.randomUUID(),
      workspace_id: workspace,
      environment: "live",
      allow: null,
      deny: [],
    });
    expect(
      await run({ "request.api_key": claims, role: "outlay_key" }, `select 1 from public.${table}`),
    ).toBe(refused);
    expect(await run({ role: "anon" }, `select 1 from public.${table}`)).toBe(refused);
  });

  test.each(members)("Is not written by a member with the role %s, whatever the statement", async (who) => {
    for (const sql of [
      `update public.${table} set workspace_id = workspace_id`,
      `delete from public.${table}`,
      `insert into public.${table} (workspace_id) values ('${workspace}')`,
    ]) {
      expect(await as(who, sql), sql).toBe(refused);
    }
  });
});

describe("The secrets of channels", () => {
  test.each(members)("Are out of reach of a member with the role %s", async (who) => {
    for (const sql of [
      "select * from private.channel_secrets",
      "select private.claim_deliveries(1, 1, 1, 1, true)",
      "select private.begin_channel_test(null, null, 1)",
      "select private.raise_alerts('[]')",
      "select private.queue_scheduled(1)",
      "select private.set_channel_digest(null, null, '{}')",
      "select * from private.report_links",
      "select private.claim_weekly_reports(1, 1)",
      "select private.finish_weekly_report('{}')",
      "select private.add_report_link(null, null, '')",
      "select private.end_weekly_report('')",
      "select private.next_local_time(now(), 'UTC', '09:00', null)",
      "select private.judge_key_rules()",
      "select private.judge_usage_rules()",
      "select private.budgets_to_judge(now(), 1)",
      "select private.settle_alert_states('[]')",
      "select private.set_alert_rule(null, 'key_limit', '{}')",
      "select private.snooze_alerts(null, 'key_limit', null, now(), 1)",
      "select private.end_alert_snooze(null, null)",
      "select private.settle_alert_entries()",
      "select private.change_alert_entry(null, null, '{}')",
      "select private.alert_rule_parameter(null, 'key_limit')",
      "select * from private.budget_checks",
      "select * from private.slack_offers",
      "select * from private.slack_clicks",
      "select private.set_slack_secret(null, null, null)",
      "select private.slack_app(null)",
      "select private.reseal_slack_secret(null, '', '')",
      "select private.take_slack_click(null, null, '{}')",
      "select private.slack_offer('')",
      "select private.link_slack_user('')",
      "insert into public.slack_links (slack_name) values ('')",
      "update public.slack_links set user_id = user_id",
    ]) {
      expect(await as(who, sql), sql).toBe(refused);
    }
  });

  test("Are not read by the service's login either, but through its functions", async () => {
    expect(await run({}, "select * from private.channel_secrets")).toBe(refused);
  });
});

describe("The function that changes an entry of the inbox", () => {
  test("Checks the role of the user again: members, not viewers", async () => {
    const [{ id }] = (
      await fixtures.sql.query("select id from public.alert_entries where workspace_id = $1", [workspace])
    ).rows as [{ id: string }];
    const outcome = (claims: Record<string, string>) =>
      run(claims, "select private.change_alert_entry($1, $2, '{\"is_resolved\":true}') as refusal", [
        workspace,
        id,
      ]);
    for (const who of ["owner", "admin", "member"] as const)
      expect(await outcome({ "request.jwt.claims": claimsOf(who) }), who).toEqual([{ refusal: null }]);
    for (const who of ["viewer", "stranger"] as const)
      expect(await outcome({ "request.jwt.claims": claimsOf(who) }), who).toBe(refused);
    expect(await outcome({})).toBe(refused);
  });
});

describe("The functions that change channels", () => {
  const calls: [string, () => unknown[]][] = [
    [
      'select private.add_alert_channel($1, \'{"name":"x","kind":"webhook","target":"x"}\', \'{"address":"x"}\', 20)',
      () => [workspace],
    ],
    ['select private.change_alert_channel($1, $2, \'{"name":"x"}\')', () => [workspace, channel]],
    [
      "select private.rotate_channel_secret($1, $2, 'whsec_0123456789abcdef', 60)",
      () => [workspace, channel],
    ],
    ["select private.remove_alert_channel($1, $2)", () => [workspace, channel]],
    ["select private.begin_channel_test($1, $2, 60)", () => [workspace, channel]],
    ['select private.set_channel_digest($1, $2, \'{"cadence":"daily"}\')', () => [workspace, channel]],
    ["select private.resend_delivery($1, $2)", () => [workspace, channel]],
    ["select private.set_alert_rule($1, 'key_limit', '{\"is_on\":false}')", () => [workspace]],
    [
      "select private.snooze_alerts($1, 'key_limit', 'k1', now() + interval '1 hour', 366)",
      () => [workspace],
    ],
    ["select private.end_alert_snooze($1, $2)", () => [workspace, snooze]],
  ];

  test.each(calls)("Check the role of the user again: %s", async (sql, values) => {
    const outcome = async (who: Who) => {
      const result = await run({ "request.jwt.claims": claimsOf(who) }, sql, values());
      return Array.isArray(result) ? "done" : result;
    };
    expect(await Promise.resolve(outcome("owner"))).toBe("done");
    expect(await outcome("admin")).toBe("done");
    for (const who of ["member", "viewer", "stranger"] as const)
      expect(await outcome(who), who).toBe(refused);
    expect(await run({}, sql, values())).toBe(refused);
  });
});
