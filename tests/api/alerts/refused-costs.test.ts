import { beforeEach, expect, test } from "vitest";
import { judgeKeyRules } from "@/tests/helpers/alerts";
import { blockingBudgetsOf } from "@/tests/helpers/blocking-budgets";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

// The rule about what budgets and limits of keys refused.

const harness = withSharedHarness();
let team: Team;
beforeEach(async () => {
  team = await makeTeam(harness);
});
const { create } = blockingBudgetsOf(() => team);

type Entry = { rule: string; resolved: { because: string } | null };
type Alert = Record<string, unknown> & { subject: { id: string; type: string } };
const alerts = async () =>
  ((await team.users.viewer.get(`${team.path}/alerts`)).body.alerts as Alert[]).filter(
    ({ rule }) => rule === "refused_costs",
  );
const spender = (secret: string) => (amount: number) =>
  apiClient(harness.services[0]?.baseUrl ?? "", secret).post(costMessage({ estimated_cost: amount }));

test("Alerts once a period of a budget and of a key, from the amount that the rule names, and resolves itself", async () => {
  const budget = await create({ name: "All", amount: 100 });
  const key = await harness.fixtures.key(team.workspace, { monthly_limit: "20" });
  const [any, limited] = [spender((await harness.fixtures.key(team.workspace)).secret), spender(key.secret)];
  expect((await limited(15)).status).toBe(201);
  expect((await limited(9.99)).status).toBe(402);
  await judgeKeyRules(harness.fixtures);
  expect(await alerts()).toEqual([]);
  expect((await limited(15.01)).status).toBe(402);
  expect((await any(109.99)).status).toBe(402);
  await judgeKeyRules(harness.fixtures);
  expect((await any(50.01)).status).toBe(201);
  expect((await any(50)).status).toBe(402);
  await judgeKeyRules(harness.fixtures);
  const fired = await alerts();
  expect(fired.find(({ subject }) => subject.id === budget.id)).toMatchObject({
    state: "warning",
    title: "The budget All refused $109.99",
    figures: { refused_usd: 109.99, message_count: 1 },
    links: [
      { url: expect.stringContaining(budget.id) },
      { url: expect.stringContaining(`?budget=${budget.id}`) },
    ],
  });
  expect(fired.find(({ subject }) => subject.id === key.id)).toMatchObject({
    title: "The monthly limit of the key Test key refused $25.00",
    figures: { refused_usd: 25, message_count: 2 },
    links: [{}, { url: expect.stringContaining(`?key=${key.id}`) }],
  });
  expect(fired).toHaveLength(2);
  const inbox = async () => {
    const { body } = await team.users.viewer.get(`${team.path}/alerts/inbox?status=all`);
    return (body.entries as Entry[]).filter(({ rule }) => rule === "refused_costs");
  };
  expect(await inbox()).toMatchObject([{ resolved: null }, { resolved: null }]);

  // As if it had been recorded after all.
  await harness.fixtures.sql.query("delete from public.refused_spend where workspace_id = $1", [
    team.workspace,
  ]);
  await judgeKeyRules(harness.fixtures);
  expect((await alerts()).map(({ state }) => state).sort()).toEqual(["ok", "ok", "warning", "warning"]);
  const over = { resolved: { because: "recovered" } };
  expect(await inbox()).toMatchObject([over, over]);
});

test("Does not alert below the amount, and is off where the workspace turns it off", async () => {
  await create({ amount: 1 });
  const spend = spender((await harness.fixtures.key(team.workspace)).secret);
  expect((await spend(9.99)).status).toBe(402);
  await judgeKeyRules(harness.fixtures);
  expect(await alerts()).toEqual([]);
  const edit = (body: object) =>
    team.users.admin.call("PATCH", `${team.path}/alert-rules/refused_costs`, body);
  expect((await edit({ parameter: 5, enabled: false })).body).toMatchObject({ state: "off" });
  await judgeKeyRules(harness.fixtures);
  expect(await alerts()).toEqual([]);
  expect((await edit({ enabled: true })).body).toMatchObject({ parameter: { value: 5, default: 10 } });
  await judgeKeyRules(harness.fixtures);
  expect(await alerts()).toMatchObject([{ state: "warning", figures: { refused_usd: 9.99 } }]);
});

test.each<[string, string, string, string, string[]]>([
  ["exactly the rule's amount, by its limit", "10", "null", "this_month", ["key"]],
  ["less than that", "9.999999999999999999", "null", "this_month", []],
  ["more, in the month before", "50", "null", "this_month - interval '1 month'", []],
  ["more, by a budget", "50", "budget", "this_month", ["budget"]],
  ["more, by a budget in its former period", "50", "budget", "this_month - interval '1 month'", []],
])(
  "Is judged of a key of which was refused %s: %s %s in %s alerts about %o",
  async (_, usd, by, period, about) => {
    const { id: budget } = await create({ amount: 100 });
    const keys = {
      key: await harness.fixtures.key(team.workspace, { monthly_limit: "20" }),
      revoked: await harness.fixtures.key(team.workspace, { monthly_limit: "20", revoked_at: "2026-01-01" }),
      expired: await harness.fixtures.key(team.workspace, { monthly_limit: "20", expires_at: "2026-01-01" }),
    };
    await harness.fixtures.sql.query(
      `insert into public.refused_spend (workspace_id, environment, api_key_id, day, budget_id, period_from, made_on, amount_usd, message_count)
     select $1::uuid, 'live', key, this_month, ${by}, ${period}, this_month, $4, 1
     from unnest($2::uuid[]) as key, (select $3::uuid as budget, date_trunc('month', now() at time zone 'UTC')::date as this_month) as given`,
      [
        team.workspace,
        Object.values(keys).map(({ id }) => id),
        budget,
        by === "budget" ? Number(usd) / 3 : usd,
      ],
    );
    await judgeKeyRules(harness.fixtures);
    const named: Record<string, string> = { [budget]: "budget", [keys.key.id]: "key" };
    expect((await alerts()).map(({ subject }) => named[subject.id] ?? "another")).toEqual(about);
  },
);

test("Ends with its budget, and with its key", async () => {
  const budget = await create({ amount: 1 });
  const { secret } = await harness.fixtures.key(team.workspace);
  expect((await spender(secret)(20)).status).toBe(402);
  const limited = await harness.fixtures.key(team.workspace, { monthly_limit: "0" });
  expect((await spender(limited.secret)(20)).status).toBe(402);
  await judgeKeyRules(harness.fixtures);
  expect((await alerts()).map(({ state }) => state)).toEqual(["warning", "warning"]);
  await team.users.admin.call("DELETE", `${team.path}/budgets/${budget.id}`);
  await team.users.admin.call("DELETE", `${team.path}/api-keys/${limited.id}`);
  await judgeKeyRules(harness.fixtures);
  expect((await alerts()).map(({ state }) => state).sort()).toEqual(["ok", "ok", "warning", "warning"]);
});
