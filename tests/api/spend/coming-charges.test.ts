import { beforeAll, expect, test } from "vitest";
import { judgeBudgets } from "@/lib/spend/budgets/judge-budgets";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { connectService } from "@/tests/helpers/connect-service";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { makeTeam, type Team } from "@/tests/helpers/team";

// $10 of usage on each of the last days, and recurring subscriptions that are charged within the next days.

const harness = withSharedHarness();
connectService(() => harness.database);

const dayMs = 86_400_000;
const today = Date.parse(new Date().toISOString().slice(0, 10));
const day = (distance: number) => new Date(today + distance * dayMs).toISOString().slice(0, 10);
const range = { from: day(-26), to: day(10) };

let team: Team;
let key: { id: string; secret: string };
type Forecast = { forecast: number; coming: number; low: number; high: number };

const budgetOf = async (scope: Record<string, unknown>): Promise<Forecast & { id: string }> => {
  const { status, body } = await team.users.admin.call("POST", `${team.path}/budgets`, {
    ...{ period: "once", starts_on: range.from, ends_on: range.to, amount: 1000, ...scope },
  });
  expect(status).toBe(201);
  const {
    forecast,
    forecast_details: details,
    id,
  } = body as { forecast: number; forecast_details: Details; id: string };
  return { id, forecast, coming: details.coming_usd, low: details.low_usd, high: details.high_usd };
};
type Details = { coming_usd: number; low_usd: number; high_usd: number };

const metricsOf = async (filter = ""): Promise<Forecast> => {
  const { body } = await team.users.viewer.get(
    `${team.path}/metrics?period=range&from=${range.from}&to=${range.to}${filter}`,
  );
  const { forecast_usd: forecast, forecast: details } = body as { forecast_usd: number; forecast: Details };
  return { forecast, coming: details.coming_usd, low: details.low_usd, high: details.high_usd };
};

beforeAll(async () => {
  team = await makeTeam(harness);
  key = await harness.fixtures.key(team.workspace);
  const client = apiClient(harness.services[0]?.baseUrl ?? "", key.secret);
  const usage = Array.from({ length: 35 }, (_, ago) =>
    costMessage({ estimated_cost: 10, provider: "openai", occurred_at: `${day(-1 - ago)}T12:00:00Z` }),
  );
  const subscribe = (fields: Record<string, unknown>) => ({
    project: "design",
    source: "api",
    message: { type: "subscription", recurring: true, vendor: "Figma", starts_on: day(-27), ...fields },
  });
  const messages = [
    ...usage,
    // Charged again in one to four days, as long as its month is.
    subscribe({ amount: 100, tags: { team: "growth" } }),
    subscribe({ amount: 7, vendor: "Other", ends_on: day(0) }),
    // Its next year begins within the range: one of twelve parts counts.
    subscribe({
      amount: 1200,
      interval: "year",
      vendor: "Atlassian",
      starts_on: `${Number(day(5).slice(0, 4)) - 1}${day(5).slice(4).replace("02-29", "02-28")}`,
    }),
  ];
  const { body } = await client.call("POST", "/api/v1/messages/batch", { messages });
  expect(body).toMatchObject({ refused: 0 });
});

test("Nothing is forecast of days that end today", async () => {
  for (const period of ["year_to_date", "last_30_days"]) {
    const { body } = await team.users.viewer.get(`${team.path}/metrics?period=${period}`);
    expect(body).toMatchObject({ forecast_usd: null, forecast: null });
  }
});

test("The forecast of a budget and of metrics counts recurring charges that are due, once, by the same function", async () => {
  const everything = await budgetOf({ scope_type: "global" });
  // 26 days and today's of eleven more at 10; the year's monthly parts of the last 27 days and of the coming period; 100.
  expect(everything.coming).toBe(200);
  expect(await metricsOf()).toMatchObject({
    coming: 200,
    forecast: everything.forecast,
    low: everything.low,
    high: everything.high,
  });
});

test("Each scope and filter counts the charges that would be its rows, also without usage", async () => {
  const filters = [
    "project=design",
    "provider=Figma",
    "provider=openai",
    "type=usage",
    "key=",
    `key=${key.id}`,
    "tag=team:growth",
  ];
  const found = await Promise.all(
    filters.map(async (filter) => [filter, (await metricsOf(`&${filter}`)).coming]),
  );
  expect(Object.fromEntries(found)).toEqual({
    ...{ "project=design": 200, "provider=Figma": 100, "provider=openai": 0, "type=usage": 0 },
    ...{ "key=": 200, [`key=${key.id}`]: 0, "tag=team:growth": 100 },
  });
  expect(
    await budgetOf({ scope_type: "provider", scope_value: "figma", allow_unknown_scope: true }),
  ).toMatchObject({
    coming: 100,
    forecast: 100,
  });
  expect(
    (await budgetOf({ scope_type: "tag", scope_value: "team:growth", allow_unknown_scope: true })).coming,
  ).toBe(100);
  expect((await budgetOf({ scope_type: "project", scope_value: "design" })).coming).toBe(200);
});

test("A budget's alert on its forecast counts them", async () => {
  // 260 of usage, 110 to come, and the year's part are below the limit without the charge that is due.
  const { forecast } = await metricsOf();
  const { id } = await budgetOf({ scope_type: "global", amount: forecast - 50 });
  const forecasts = async () => {
    // Does nothing while the service's own job judges.
    await judgeBudgets();
    const { rows } = await harness.fixtures.sql.query(
      "select details ->> 'forecast_usd' as forecast from public.alerts where rule = 'budget_forecast' and subject_id = $1",
      [id],
    );
    return rows.map((row) => Number(row.forecast));
  };
  await expect.poll(forecasts).toEqual([forecast]);
});

test("A subscription that is stopped is not counted", async () => {
  const { body } = await team.users.viewer.get(`${team.path}/subscriptions`);
  const { id } =
    (body.subscriptions as { id: string; vendor: string }[]).find(({ vendor }) => vendor === "Figma") ?? {};
  await team.users.member.call("DELETE", `${team.path}/subscriptions/${id}`);
  expect((await metricsOf()).coming).toBe(100);
});
