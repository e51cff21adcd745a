import { beforeEach, describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

const harness = withSharedHarness({ services: 2 });

let team: Team;
let key: { id: string; secret: string };

beforeEach(async () => {
  team = await makeTeam(harness);
  key = await harness.fixtures.key(team.workspace);
});

const create = (body: Record<string, unknown>) =>
  team.users.admin.call("POST", `${team.path}/budgets`, { scope_type: "global", amount: 100, ...body });
const edit = (id: unknown, body: Record<string, unknown>) =>
  team.users.admin.call("PATCH", `${team.path}/budgets/${id}`, body);
const read = async (id: unknown) => (await team.users.viewer.get(`${team.path}/budgets/${id}`)).body;

/** Records a cost in USD through one of the processes. */
const record = (process: number, amount = 1) =>
  apiClient(harness.services[process]?.baseUrl ?? "", key.secret).post(
    costMessage({ estimated_cost: amount }),
  );

const raised = async (id: unknown) => {
  const { rows } = await harness.fixtures.sql.query(
    "select level, is_quiet from public.alerts where subject_id = $1 order by number",
    [id],
  );
  return rows.map((row) => `${row.level}${row.is_quiet ? " quiet" : ""}`);
};

describe("A budget's period", () => {
  test("Is answered with its days, its zone and its thresholds", async () => {
    const { status, body } = await create({
      period: "week",
      week_starts_on: "sunday",
      time_zone: "Europe/Berlin",
      alert_at: { percent: [100, 50, 50.0], usd: [12.5] },
      ends_on: "2999-01-01",
    });
    expect(status).toBe(201);
    const { period_from: from, period_until: until } = body as { period_from: string; period_until: string };
    expect(new Date(`${from}T00:00:00Z`).getUTCDay()).toBe(0);
    expect(Date.parse(until) - Date.parse(from)).toBe(7 * 86_400_000);
    expect(body).toMatchObject({
      period: "week",
      week_starts_on: "sunday",
      time_zone: "Europe/Berlin",
      alert_at: { percent: [50, 100], usd: [12.5] },
      starts_on: null,
      ends_on: "2999-01-01",
      usual_amount: 100,
      raise: null,
    });
    expect(await read(body.id)).toEqual(body);
  });

  test.each<[string, Record<string, unknown>, string]>([
    ["one period without days", { period: "once", starts_on: "2026-01-01" }, "ends_on"],
    ["an end before its start", { starts_on: "2026-02-01", ends_on: "2026-01-01" }, "ends_on"],
    ["an end that is over", { ends_on: "2020-01-01" }, "ends_on"],
    ["an offset for a time zone", { time_zone: "+02:00" }, "time_zone"],
    ["an unknown time zone", { time_zone: "Mars/Base" }, "time_zone"],
    ["an unknown period", { period: "fortnight" }, "period"],
    ["a raise that lowers", { raise: { amount: 99, until: "2999-01-01" } }, "raise.amount"],
    ["a threshold of nothing", { alert_at: { percent: [0] } }, "alert_at.percent.0"],
    ["a threshold far above the limit", { alert_at: { percent: [1001] } }, "alert_at.percent"],
    [
      "too many thresholds",
      { alert_at: { usd: Array.from({ length: 21 }, (_, i) => i + 1) } },
      "alert_at.usd",
    ],
    ["a tag for all spend", { scope_value: "team:growth" }, "scope_value"],
  ])("Refuses %s, and names the field", async (_, body, path) => {
    const { status, body: answer } = await create(body);
    expect([status, answer.error]).toEqual([400, "validation_failed"]);
    expect((answer.issues as { path: string }[])[0]?.path).toBe(path);
  });

  test("Cannot be changed later, nor what it covers", async () => {
    const { body } = await create({});
    for (const change of [{ period: "day" }, { time_zone: "Europe/Berlin" }, { scope_type: "project" }]) {
      expect((await edit(body.id, change)).status).toBe(400);
    }
  });

  test("Has a raised limit until and with a day", async () => {
    const { body } = await create({ raise: { amount: 250, until: "2999-01-01" } });
    expect(body).toMatchObject({
      amount: 250,
      usual_amount: 100,
      raise: { amount: 250, until: "2999-01-01" },
    });
    expect((await edit(body.id, { amount: 300 })).body.issues).toMatchObject([{ path: "raise.amount" }]);
    expect((await edit(body.id, { raise: null })).body).toMatchObject({ amount: 100, raise: null });
    const ended = await edit(body.id, { raise: { amount: 250, until: "2020-01-01" } });
    expect(ended.body).toMatchObject({ amount: 100, raise: null });
  });
});

describe("A threshold that is reached", () => {
  test("Is raised once, by messages of two processes at once", async () => {
    const { body } = await create({ alert_at: { percent: [25, 50, 75], usd: [100] } });
    const answers = await Promise.all(Array.from({ length: 120 }, (_, index) => record(index % 2)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
    expect(await read(body.id)).toMatchObject({ spent: 120 });
    expect(await raised(body.id)).toEqual(["25", "50", "75", "$100"]);
  });

  test("Is not told where the budget was made above it", async () => {
    await record(0, 60);
    const { body } = await create({});
    await record(1, 60);
    expect(await raised(body.id)).toEqual(["50 quiet", "80", "100"]);
  });

  test("Is raised by a lower limit, and again by another one after a higher limit", async () => {
    const { body } = await create({ amount: 1000 });
    await record(0, 60);
    expect(await raised(body.id)).toEqual([]);
    await edit(body.id, { amount: 100 });
    expect(await raised(body.id)).toEqual(["50"]);
    await edit(body.id, { amount: 1000 });
    expect(await raised(body.id)).toEqual(["50"]);
    await edit(body.id, { amount: 70 });
    await record(1, 1);
    expect(await raised(body.id)).toEqual(["50", "50", "80"]);
  });

  test("Is listed with the share of the limit that an amount is", async () => {
    const { body } = await create({ alert_at: { usd: [12.5] } });
    await record(0, 13);
    const list = (await team.users.viewer.get(`${team.path}/alerts`)).body as { alerts: unknown[] };
    expect(list.alerts).toMatchObject([
      { level: "$12.5", figures: { percent: 12.5, spent_usd: 13 }, subject: { id: body.id } },
    ]);
  });

  test("Says what was spent, of which limit, in which period", async () => {
    const { body } = await create({ name: "All of it" });
    await record(0, 80.01);
    const { rows } = await harness.fixtures.sql.query(
      "select details from public.alerts where subject_id = $1 and level = '80'",
      [body.id],
    );
    expect(rows[0].details).toEqual({
      budget: "All of it",
      scope_type: "global",
      percent: "80",
      threshold_usd: "80",
      amount_usd: "100",
      spent_usd: "80.01",
      period_from: body.period_from,
      period_until: body.period_until,
      time_zone: "UTC",
    });
  });
});

test("A budget that is made while costs are recorded counts each of them once", async () => {
  const recording = Promise.all(
    Array.from({ length: 8 }, async (_, client) => {
      for (let count = 0; count < 12; count += 1) await record(client % 2);
    }),
  );
  const ids: unknown[] = [];
  for (const time_zone of ["UTC", "Asia/Kolkata", "America/New_York", "Pacific/Auckland"]) {
    ids.push((await create({ time_zone, period: "year" })).body.id);
  }
  await recording;
  for (const id of ids) expect(await read(id)).toMatchObject({ spent: 96 });
});
