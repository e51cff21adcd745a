import { beforeEach, describe, expect, test } from "vitest";
import { judgeKeyRules } from "@/tests/helpers/alerts";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

// The rules of a workspace: who may change and snooze them, and what they answer.

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";
let team: Team;

beforeEach(async () => {
  team = await makeTeam(harness);
});

type Who = keyof Team["users"];
const rulesPath = () => `${team.path}/alert-rules`;
const edit = (rule: string, body: Record<string, unknown>, who: Who = "admin") =>
  team.users[who].call("PATCH", `${rulesPath()}/${rule}`, body);
const snooze = (body: Record<string, unknown>, who: Who = "admin") =>
  team.users[who].call("POST", `${team.path}/alert-snoozes`, body);
const inDays = (days: number) => new Date(Date.now() + days * 86_400_000).toISOString();

type Rule = {
  rule: string;
  enabled: boolean;
  state: string;
  parameter: unknown;
  subjects: unknown[];
  snooze: unknown;
};
async function rulesOf(who: Who = "viewer"): Promise<Record<string, Rule>> {
  const { body } = await team.users[who].get(rulesPath());
  return Object.fromEntries((body.rules as Rule[]).map((rule) => [rule.rule, rule]));
}
const judge = () => judgeKeyRules(harness.fixtures);
const errorOf = ({ status, body }: { status: number; body: Record<string, unknown> }) => {
  const [issue] = (body.issues as { path: string }[] | undefined) ?? [];
  return `${status} ${body.error}${issue ? ` ${issue.path}` : ""}`;
};

/** The alerts of a subject, the newest first. */
async function alertsOf(subject: string) {
  const { body } = await team.users.viewer.get(`${team.path}/alerts`);
  return (body.alerts as { subject: { id: string }; snooze: unknown }[]).filter(
    (alert) => alert.subject.id === subject,
  );
}

/** A key that has spent 90 of 100 USD. */
async function keyNearItsLimit(): Promise<{ id: string; secret: string }> {
  const key = await harness.fixtures.key(team.workspace, { monthly_limit: "100" });
  const { status } = await apiClient(baseUrl(), key.secret).post(costMessage({ estimated_cost: 90 }));
  expect(status).toBe(201);
  return key;
}

describe("The rules of a workspace", () => {
  test("Are all on with their defaults, and without data say so", async () => {
    const rules = await rulesOf();
    expect(Object.values(rules).map(({ rule, enabled, state }) => `${rule} ${enabled} ${state}`)).toEqual(
      [
        ...["budget_threshold", "budget_forecast", "budget_pace", "unusual_day", "key_limit", "key_expiry"],
        ...["unpriced_usage", "silent_source", "bill_coverage", "bill_difference", "provider_limit"],
        "refused_costs",
      ].map((rule) => `${rule} true no_data`),
    );
    expect(rules.key_limit?.parameter).toEqual({
      value: 80,
      default: 80,
      unit: "percent",
      least: 1,
      most: 99,
    });
    expect(rules.unpriced_usage?.parameter).toBeNull();
    expect((await team.users.viewer.get(rulesPath())).body.can_edit).toBe(false);
    expect((await team.users.admin.get(rulesPath())).body.can_edit).toBe(true);
  });

  test("Show what is not OK, with why, and that it is over", async () => {
    const { id } = await keyNearItsLimit();
    expect((await rulesOf()).key_limit).toMatchObject({ state: "ok", subjects: [] });
    await judge();
    expect((await rulesOf()).key_limit).toMatchObject({
      state: "warning",
      subjects: [
        {
          type: "key",
          id,
          name: "Test key",
          title: "The key Test key is near its monthly limit",
          snooze: null,
        },
      ],
    });
    const [alert] = (await team.users.viewer.get(`${team.path}/alerts`)).body.alerts as [
      Record<string, unknown>,
    ];
    expect(alert).toMatchObject({
      ...{ rule: "key_limit", state: "warning", severity: "warning", level: "warning" },
      subject: { type: "key", id, name: "Test key" },
      summary: "$90.00 of $100.00 is spent in the month.",
      figures: { rule: "key_limit", amount_usd: 100, spent_usd: 90, percent: 90 },
      links: [{ url: `/${team.slug}/spend/key?name=${id}` }, { url: expect.stringContaining(`key=${id}`) }],
    });
    await harness.fixtures.sql.query("update public.api_keys set monthly_limit = null where id = $1", [id]);
    await judge();
    expect((await rulesOf()).key_limit).toMatchObject({ state: "no_data", subjects: [] });
    const [over] = (await team.users.viewer.get(`${team.path}/alerts`)).body.alerts as [
      Record<string, unknown>,
    ];
    expect(over).toMatchObject({
      state: "ok",
      severity: "info",
      title: "The key Test key is no longer near its monthly limit",
      figures: { amount_usd: null, percent: null },
    });
  });

  test("Show the worst threshold that a budget exceeds in its present period, and the budget", async () => {
    const body = { scope_type: "global", amount: 100 };
    await team.users.admin.call("POST", `${team.path}/budgets`, body);
    expect((await rulesOf()).budget_threshold).toMatchObject({ state: "ok", subjects: [] });
    const { secret } = await harness.fixtures.key(team.workspace);
    const client = apiClient(baseUrl(), secret);
    await client.post(costMessage({ estimated_cost: 60 }));
    expect((await rulesOf()).budget_threshold?.state).toBe("warning");
    await client.post(costMessage({ estimated_cost: 40 }));
    const { state, subjects } = (await rulesOf()).budget_threshold ?? {};
    expect(state).toBe("alert");
    expect(subjects).toMatchObject([
      { type: "budget", state: "alert", title: expect.stringContaining("is used up") },
    ]);
  });

  test("Are changed by admins alone, with an entry in the audit log", async () => {
    expect((await edit("key_limit", { parameter: 90 })).body).toMatchObject({
      enabled: true,
      parameter: { value: 90 },
    });
    expect((await edit("key_limit", { enabled: false })).body).toMatchObject({
      state: "off",
      parameter: { value: 90 },
    });
    expect((await edit("key_limit", { enabled: true, parameter: null }, "owner")).body).toMatchObject({
      enabled: true,
      parameter: { value: 80 },
    });
    for (const who of ["member", "viewer"] as const)
      expect(errorOf(await edit("key_limit", { enabled: false }, who)), who).toBe("403 permission_denied");
    expect((await rulesOf()).key_limit).toMatchObject({ enabled: true, parameter: { value: 80 } });
    // What is set already leaves no entry.
    await edit("key_limit", { enabled: true });
    const { rows } = await harness.fixtures.sql.query(
      "select actor_email, subject, after ->> 'parameter' as parameter from public.audit_log where workspace_id = $1 and action = 'alert_rule.changed' order by at",
      [team.workspace],
    );
    expect(rows.map(({ subject, parameter }) => `${subject} ${parameter}`)).toEqual([
      ...["alert_rule key_limit 90", "alert_rule key_limit 90", "alert_rule key_limit null"],
    ]);
    expect(rows[0].actor_email).toBe(team.users.admin.email);
  });

  test.each<[string, string, Record<string, unknown>, string]>([
    ["a share of 100%", "key_limit", { parameter: 100 }, "400 validation_failed parameter"],
    ["half an hour", "silent_source", { parameter: 1.5 }, "400 validation_failed parameter"],
    ["nothing", "unusual_day", { parameter: 0 }, "400 validation_failed parameter"],
    [
      "a parameter of a rule without one",
      "unpriced_usage",
      { parameter: 1 },
      "400 validation_failed parameter",
    ],
    ["text", "key_limit", { parameter: "80" }, "400 validation_failed parameter"],
    ["an unknown field", "key_limit", { percent: 80 }, "400 validation_failed percent"],
    ["an unknown rule", "budget_mood", { enabled: false }, "400 validation_failed path.rule"],
  ])("Refuse %s", async (_, rule, body, expected) => {
    expect(errorOf(await edit(rule, body))).toBe(expected);
  });
});

describe("A snooze", () => {
  test("Keeps a rule or a subject quiet until its end, for admins alone", async () => {
    const { id } = await keyNearItsLimit();
    await judge();
    const { status, body } = await snooze({ rule: "key_limit", subject_id: id, until: inDays(2) });
    expect(status).toBe(201);
    expect(body).toMatchObject({ rule: "key_limit", subject_id: id });
    const again = await snooze({ rule: "key_limit", subject_id: id, until: inDays(3) });
    expect(again.body.id).toBe(body.id);
    expect((await rulesOf()).key_limit?.subjects).toMatchObject([
      { id, snooze: { id: body.id, until: again.body.until } },
    ]);
    const snoozeOfAlert = async () => (await alertsOf(id))[0]?.snooze;
    expect(await snoozeOfAlert()).toEqual({ id: body.id, until: again.body.until });
    for (const who of ["member", "viewer"] as const) {
      expect(errorOf(await snooze({ rule: "key_limit", until: inDays(1) }, who)), who).toBe(
        "403 permission_denied",
      );
      const ended = await team.users[who].call("DELETE", `${team.path}/alert-snoozes/${body.id}`);
      expect(errorOf(ended), who).toBe("403 permission_denied");
    }
    const ended = await team.users.admin.call("DELETE", `${team.path}/alert-snoozes/${body.id}`);
    expect([ended.status, ended.body.id]).toEqual([200, body.id]);
    expect((await rulesOf()).key_limit?.subjects).toMatchObject([{ id, snooze: null }]);
    expect(await snoozeOfAlert()).toBeNull();
    expect(errorOf(await team.users.admin.call("DELETE", `${team.path}/alert-snoozes/${body.id}`))).toBe(
      "404 not_found",
    );
  });

  test.each([
    ["until", { rule: "key_limit", until: "2020-01-01T00:00:00Z" }],
    ["until", { rule: "key_limit", until: inDays(367) }],
    ["subject_id", { rule: "key_limit", subject_id: "unknown", until: inDays(1) }],
    ["rule", { rule: "budget_mood", until: inDays(1) }],
  ])("Refuses what is wrong in %s", async (path, body) => {
    expect(errorOf(await snooze(body))).toBe(`400 validation_failed ${path}`);
  });

  test("Of another workspace is not there, nor its subjects", async () => {
    const { body } = await snooze({ rule: "key_limit", until: inDays(1) });
    const { id } = await keyNearItsLimit();
    await judge();
    const other = await makeTeam(harness);
    const ended = await other.users.owner.call("DELETE", `${other.path}/alert-snoozes/${body.id}`);
    expect(errorOf(ended)).toBe("404 not_found");
    const own = { rule: "key_limit", subject_id: id, until: inDays(1) };
    const foreign = await other.users.owner.call("POST", `${other.path}/alert-snoozes`, own);
    expect(errorOf(foreign)).toBe("400 validation_failed subject_id");
    expect(errorOf(await other.users.owner.get(rulesPath()))).toBe("404 not_found");
  });
});
