import { beforeEach, describe, expect, test } from "vitest";
import { blockingBudgetsOf } from "@/tests/helpers/blocking-budgets";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

const harness = withSharedHarness();

let team: Team;

beforeEach(async () => {
  team = await makeTeam(harness);
});

const dayMs = 86_400_000;
const dayBefore = (days: number) => new Date(Date.now() - days * dayMs).toISOString().slice(0, 10);

type Answer = Record<string, unknown>;
const preview = (body: Answer, who: keyof Team["users"] = "admin") =>
  team.users[who].call("POST", `${team.path}/budgets/preview`, { scope_type: "global", ...body });
const { create } = blockingBudgetsOf(() => team);

/** Records costs of a workspace, each at an instant. @returns the statuses */
async function record(of: Team, costs: { at: string; usd: number; feature?: string; project?: string }[]) {
  const key = await harness.fixtures.key(of.workspace);
  const client = apiClient(harness.services[0]?.baseUrl ?? "", key.secret);
  const statuses: number[] = [];
  for (const { at, usd, feature, project } of costs) {
    const message = { estimated_cost: usd, occurred_at: at, ...(feature && { feature }) };
    const { status } = await client.post(costMessage(message, project ? { project } : {}));
    statuses.push(status);
  }
  return statuses;
}

const at = (daysAgo: number, time = "12:00:00") => `${dayBefore(daysAgo)}T${time}.000Z`;

describe("A preview of a budget", () => {
  test.each<[string, Answer]>([
    ["everything, a month", {}],
    [
      "a project, a week, that blocks",
      { scope_type: "project", scope_value: "search", period: "week", blocks: true },
    ],
    [
      "a feature, a day, in Auckland",
      { scope_type: "feature", scope_value: "chat", period: "day", time_zone: "Pacific/Auckland" },
    ],
    [
      "a provider, a quarter, in euros",
      { scope_type: "provider", scope_value: "OPENAI", period: "quarter", currency: "EUR" },
    ],
    [
      "once, of some days, with a raise",
      {
        period: "once",
        starts_on: dayBefore(2),
        ends_on: dayBefore(-9),
        raise: { amount: 90, until: dayBefore(-3) },
      },
    ],
    [
      "a year of a tag that no cost names",
      { scope_type: "tag", scope_value: "team:none", period: "year", allow_unknown_scope: true },
    ],
  ])("Shows exactly what the budget shows that is then set: %s", async (_, body) => {
    await record(team, [
      { at: at(3), usd: 7.1, feature: "chat" },
      { at: at(2, "23:30:00"), usd: 0.3, project: "search" },
      { at: at(1), usd: 11.7, feature: "chat" },
      { at: at(0, "00:00:01"), usd: 5.25, project: "search" },
      { at: at(0, "00:00:00"), usd: 3 },
    ]);
    const request = { amount: 20, alert_at: { percent: [25, 50, 100], usd: [12.5] }, ...body };
    const { status, body: shown } = await preview(request);
    expect(status).toBe(200);
    const {
      id,
      held_usd: held,
      created_at: _at,
      ...real
    } = (await create({ blocks: false, ...request })) as Answer;
    const { would_warn: warned, would_refuse: refused, is_known_scope: isKnown, ...rest } = shown;
    expect(rest).toEqual(real);
    expect(isKnown).toBe(body.allow_unknown_scope !== true);
    const levels = (warned as { level: string }[]).map(({ level }) => level).sort();
    const reached = real.reached as unknown as { percent: number[]; usd: number[] };
    expect(levels).toEqual([...reached.percent.map(String), ...reached.usd.map((usd) => `$${usd}`)].sort());
    const isUsedUp = Number(real.percent_used) >= 1;
    expect((refused as Answer | null)?.now ?? null).toBe(body.blocks ? isUsedUp : null);
    expect(id).toBeDefined();
    expect(held).toBe(0);
  });

  test("Leaves nothing behind, and warns nobody", async () => {
    await record(team, [{ at: at(0, "00:00:01"), usd: 5 }]);
    const tables = ["budgets", "budget_counts", "alerts", "audit_log"];
    const counts = async () =>
      Promise.all(
        tables.map(async (table) => {
          const found = `select count(*)::int as rows from public.${table} where workspace_id = $1`;
          return (await harness.fixtures.sql.query(found, [team.workspace])).rows[0].rows;
        }),
      );
    const before = await counts();
    expect((await preview({ amount: 1, blocks: true })).body).toMatchObject({
      spent: 5,
      would_refuse: { now: true },
    });
    expect(await counts()).toEqual(before);
    expect(await record(team, [{ at: at(0, "00:00:02"), usd: 5 }])).toEqual([201]);
  });

  test("Says on which day each threshold was reached, as the rows add up, without what was voided", async () => {
    const budget = { period: "once", starts_on: dayBefore(6), ends_on: dayBefore(-6), amount: 100 };
    await record(team, [
      { at: at(7), usd: 500 },
      { at: at(6, "00:00:00"), usd: 49.999999 },
      { at: at(4, "23:59:59"), usd: 0.000001 },
      { at: at(3), usd: 29.9 },
      { at: at(1), usd: 0.1 },
      { at: at(0, "00:00:00"), usd: 20 },
    ]);
    const { body } = await preview(budget);
    expect(body.would_warn).toEqual([
      { level: "50", usd: 50, on: dayBefore(4) },
      { level: "80", usd: 80, on: dayBefore(1) },
      { level: "100", usd: 100, on: dayBefore(0) },
    ]);
    const { rows } = await harness.fixtures.sql.query(
      "select id from public.messages where workspace_id = $1 and amount_usd = 29.9",
      [team.workspace],
    );
    const voided = await team.users.admin.call("POST", `${team.path}/messages/${rows[0].id}/void`, {
      reason: "wrong",
    });
    expect(voided.status).toBeLessThan(300);
    expect((await preview(budget)).body.would_warn).toEqual([{ level: "50", usd: 50, on: dayBefore(4) }]);
  });

  test.each([1, 2, 3])(
    "Counts the costs of yesterday that the budget refuses when they are recorded again (%i)",
    async (seed) => {
      let state = seed * 7919;
      const random = (below: number) => {
        state = (state * 48271) % 2147483647;
        return state % below;
      };
      const earlier = [{ at: at(2), usd: 4 }];
      const yesterday = Array.from({ length: 30 }, (_, index) => ({
        at: at(1, `10:${String(index).padStart(2, "0")}:00`),
        usd: random(100) / 100,
      }));
      await record(team, [...earlier, ...yesterday]);
      const request = {
        period: "once",
        starts_on: dayBefore(3),
        ends_on: dayBefore(-3),
        amount: 9.5,
        blocks: true,
      };
      const { body } = await preview(request);

      const again = await makeTeam(harness);
      await record(again, earlier);
      const set = await again.users.admin.call("POST", `${again.path}/budgets`, {
        scope_type: "global",
        ...request,
      });
      expect(set.status).toBe(201);
      const statuses = await record(again, yesterday);
      const refused = statuses.filter((status) => status === 402).length;
      expect(refused).toBeGreaterThan(2);
      expect(refused).toBeLessThan(28);
      expect(body.would_refuse).toEqual({
        now: expect.any(Boolean),
        yesterday: { day: dayBefore(1), cost_count: 30, refused_count: refused },
      });
    },
  );

  test("Is for admins, and names the wrong field", async () => {
    for (const who of ["member", "viewer"] as const)
      expect((await preview({ amount: 1 }, who)).status).toBe(403);
    expect((await preview({ amount: 1 }, "stranger")).status).toBe(404);
    const wrong: [Answer, string][] = [
      [{ scope_type: "project", scope_value: "none" }, "scope_value"],
      [{ period: "month", ends_on: dayBefore(5) }, "ends_on"],
      [{ raise: { amount: 0.5, until: dayBefore(-1) } }, "raise.amount"],
    ];
    for (const [body, path] of wrong) {
      const answer = await preview({ amount: 1, ...body });
      expect(answer.status).toBe(400);
      expect(JSON.stringify(answer.body)).toContain(`"${path}"`);
    }
  });
});

test("Asks before a budget is set for a name that no cost has", async () => {
  await record(team, [{ at: at(0, "00:00:01"), usd: 1, feature: "chat" }]);
  const set = (body: Answer) => team.users.admin.call("POST", `${team.path}/budgets`, { amount: 1, ...body });
  const unknown = { scope_type: "feature", scope_value: "chta" };
  const refused = await set(unknown);
  expect(refused.status).toBe(400);
  expect(JSON.stringify(refused.body)).toMatch(
    /"scope_value".*no cost names the feature chta yet.*allow_unknown_scope/,
  );
  expect((await set({ ...unknown, allow_unknown_scope: true })).status).toBe(201);
  expect((await set({ scope_type: "feature", scope_value: "chat" })).status).toBe(201);
  // Providers are compared without regard to case, everything else with it.
  expect((await set({ scope_type: "provider", scope_value: "OpenAI" })).status).toBe(201);
  expect((await set({ scope_type: "model", scope_value: "GPT-4o" })).status).toBe(400);
});

test("Forecasts the day of a daily budget", async () => {
  await record(team, [
    ...Array.from({ length: 21 }, (_, index) => ({ at: at(index + 1), usd: 8 })),
    { at: at(0, "00:00:01"), usd: 3 },
  ]);
  const daily = await create({ period: "day", amount: 7, blocks: false });
  expect(daily).toMatchObject({
    period_from: dayBefore(0),
    spent: 3,
    forecast: 8,
    forecast_details: { days_left: 1, added_usd: 5 },
    runs_out_on: dayBefore(0),
  });
});
