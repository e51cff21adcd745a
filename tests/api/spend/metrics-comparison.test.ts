import { expect, test } from "vitest";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { withMetrics } from "@/tests/helpers/with-metrics";

const harness = withSharedHarness();
const workspace = withMetrics(harness);
const { read, post } = workspace;
const dayMs = 86_400_000;

test("Compares with the previous period up to the same time of the day, to the message", async () => {
  const now = Date.now();
  const yesterday = (ms: number) => new Date(Math.floor(now / dayMs) * dayMs - dayMs + ms).toISOString();
  await post({ feature: "yesterday", estimated_cost: 24, occurred_at: yesterday(0) });
  await post({ feature: "yesterday", estimated_cost: 5, occurred_at: yesterday((now % dayMs) - 1) });
  // Far enough ahead that it stays so until the answer, unless midnight is near.
  const later = Math.min((now % dayMs) + 600_000, dayMs - 1);
  await post({ feature: "yesterday", estimated_cost: 7, occurred_at: yesterday(later) });
  const { previous } = await read("period=day&feature=yesterday");
  expect(previous?.totals.total_usd).toBe(36);
  expect(previous?.to_point_usd).toBe(29);
  expect(previous?.to_point).toMatchObject({ from: yesterday(0).slice(0, 10), is_estimate: false });
});

test("Compares a past period as a whole, and a range with as many days before", async () => {
  await post({ feature: "range", estimated_cost: 3, occurred_at: "2026-02-28T23:59:59.999Z" });
  await post({ feature: "range", estimated_cost: 5, occurred_at: "2026-03-01T00:00:00Z" });
  await post({ feature: "range", estimated_cost: 7, occurred_at: "2026-03-02T12:00:00Z" });
  const body = await read("period=range&from=2026-03-01&to=2026-03-02&feature=range");
  expect(body).toMatchObject({
    from: "2026-03-01",
    to: "2026-03-02",
    totals: { total_usd: 12 },
    previous: { from: "2026-02-27", to: "2026-02-28", totals: { total_usd: 3 }, to_point_usd: 3 },
    forecast_usd: null,
  });
  expect(body.series.points.map(({ from, total_usd }) => [from, total_usd])).toEqual([
    ["2026-03-01", 5],
    ["2026-03-02", 7],
  ]);
  expect(body.series.previous.map((point) => point.total_usd)).toEqual([0, 3]);
  const long = await read("period=range&from=2026-01-15&to=2026-06-15&feature=range");
  expect(long.series.bucket).toBe("month");
  expect(long.series.points.map(({ from, total_usd }) => [from, total_usd]).slice(0, 3)).toEqual([
    ["2026-01-01", 0],
    ["2026-02-01", 3],
    ["2026-03-01", 12],
  ]);
});

test("Compares a whole month with the month before, and any days with the same ones last year or chosen ones", async () => {
  const days = {
    "2024-01-31": 2,
    "2024-02-01": 3,
    "2024-02-29": 5,
    "2024-03-01": 7,
    "2024-03-31": 11,
    "2023-03-31": 13,
  };
  for (const [day, cost] of Object.entries(days))
    await post({ feature: "compared", estimated_cost: cost, occurred_at: `${day}T12:00:00Z` });
  const march = "from=2024-03-01&to=2024-03-31&feature=compared";
  expect(await read(march)).toMatchObject({
    period: "range",
    compare: "previous",
    totals: { total_usd: 18 },
    previous: { from: "2024-02-01", to: "2024-02-29", totals: { total_usd: 8 }, to_point_usd: 8 },
  });
  expect(await read(`${march}&compare=last_year`)).toMatchObject({
    compare: "last_year",
    previous: { from: "2023-03-01", to: "2023-03-31", totals: { total_usd: 13 } },
  });
  // Days that overlap the range itself count in both.
  const chosen = await read(`${march}&compare_from=2024-01-31&compare_to=2024-03-01`);
  expect(chosen).toMatchObject({
    compare: "range",
    totals: { total_usd: 18 },
    previous: { totals: { total_usd: 17 } },
  });
  expect(chosen.series.previous.reduce((sum, point) => sum + Number(point.total_usd), 0)).toBe(17);
  expect(await read(`${march}&compare=none`)).toMatchObject({ compare: "none", previous: null });
  const activity = await workspace.viewer.get(
    `/api/v1/workspaces/${workspace.slug}/activity?${march}&compare=last_year`,
  );
  expect(activity.body).toMatchObject({
    period: "range",
    compare: "last_year",
    previous: { from: "2023-03-01", to: "2023-03-31" },
    count: 2,
  });
});
