import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import type { Metrics } from "@/lib/contract/metrics";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import { exactClient } from "@/tests/helpers/ledger/client";
import { exact, show, total } from "@/tests/helpers/ledger/exact";
import { addUser } from "@/tests/helpers/team";

const harness = withHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

let slug: string;
let key: ReturnType<typeof apiClient>;
let viewer: ReturnType<typeof apiClient>;
let token: string;

beforeAll(async () => {
  slug = `w-${randomUUID()}`;
  const id = await harness.fixtures.workspace(slug);
  key = apiClient(baseUrl(), (await harness.fixtures.key(id)).secret);
  token = (await addUser(harness, id, "viewer")).token;
  viewer = apiClient(baseUrl(), token);
});

const read = async (query: string) =>
  (await viewer.get(`/api/v1/workspaces/${slug}/metrics?${query}`)).body as unknown as Metrics &
    Record<string, unknown>;
const post = (message: Record<string, unknown>) => key.post(costMessage({ estimated_cost: 1, ...message }));
const dayMs = 86_400_000;

test("Answers zeros for a workspace without messages", async () => {
  const body = await read("period=week");
  expect(body).toMatchObject({
    period: "week",
    environment: "live",
    totals: { total_usd: 0, message_count: 0 },
    previous: { totals: { total_usd: 0 }, to_point_usd: 0 },
    forecast_usd: null,
    by_project: [],
  });
  expect(body.series.points).toHaveLength(7);
  expect((await read("period=all")).series.points).toEqual([]);
});

test("Compares with the previous period up to the same point, the current day in part", async () => {
  const now = Date.now();
  const yesterday = (ms: number) => new Date(Math.floor(now / dayMs) * dayMs - dayMs + ms).toISOString();
  await post({ feature: "yesterday", estimated_cost: 24, occurred_at: yesterday(0) });
  const { previous } = await read("period=day&feature=yesterday");
  expect(previous?.totals.total_usd).toBe(24);
  const part = (now % dayMs) / dayMs;
  expect(Number(previous?.to_point_usd)).toBeGreaterThanOrEqual(24 * part - 0.001);
  expect(Number(previous?.to_point_usd)).toBeLessThan(24 * part + 0.05);
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

test("Sums further groups and slices as the rest", async () => {
  const messages = Array.from({ length: 130 }, (_, index) =>
    costMessage({
      provider: "many",
      model: `model-${index}`,
      estimated_cost: 130 - index,
      occurred_at: "2025-03-03T00:00:00Z",
    }),
  );
  await key.call("POST", "/api/v1/messages/batch", { messages });
  const body = await read("period=range&from=2025-03-01&to=2025-03-31&group_by=model");
  expect(body.series.groups).toHaveLength(8);
  expect(body.series.groups.map(({ is_rest }) => is_rest)).toEqual([...Array(7).fill(false), true]);
  expect(body.by_model).toHaveLength(101);
  expect(body.by_model.at(-1)).toEqual({
    value: null,
    name: null,
    is_rest: true,
    total_usd: (30 * 31) / 2,
    message_count: 30,
  });
});

test("Gives what is far below zero a group of its own, and shows what was allocated apart", async () => {
  const at = (day: number) => ({ occurred_at: `2025-05-0${day}T12:00:00Z` });
  const costOf = (project: string, cost: number, day: number) =>
    costMessage({ estimated_cost: cost, ...at(day) }, { project });
  const spent = Array.from({ length: 9 }, (_, index) => costOf(`small-${index}`, index + 1, 2));
  await key.call("POST", "/api/v1/messages/batch", { messages: [costOf("giver", 100, 1), ...spent] });
  const moved = await key.post({
    project: "small-8",
    source: "api",
    message: { type: "allocation", from_project: "giver", amount: 90, ...at(2) },
  });
  expect(moved.status, JSON.stringify(moved.body)).toBe(201);
  const { series, by_project: listed } = await read(
    "period=range&from=2025-05-02&to=2025-05-02&group_by=project",
  );
  expect(series.groups[0]).toMatchObject({ value: "small-8", total_usd: 99 });
  expect(series.groups[1]).toMatchObject({ value: "giver", total_usd: -90 });
  expect(series.groups.at(-1)).toMatchObject({ is_rest: true, total_usd: 1 + 2 + 3 });
  expect(series.layers.map(({ kind, value, total_usd: total }) => [kind, value, total])).toEqual([
    ...[9, 8, 7, 6, 5, 4].map((cost) => ["value", `small-${cost - 1}`, cost]),
    ["rest", null, 6],
    ["allocated_in", null, 90],
    ["allocated_out", null, -90],
  ]);
  expect(listed.at(-1)).toMatchObject({ value: "giver", total_usd: -90 });
  const byModel = await read("period=range&from=2025-05-02&to=2025-05-02&group_by=model");
  expect(byModel.series.layers.map(({ kind }) => kind)).not.toContain("allocated_in");
  const byType = await read("period=range&from=2025-05-02&to=2025-05-02&group_by=type");
  expect(byType.series.layers.map(({ kind, value, total_usd: total }) => [kind, value, total])).toEqual([
    ["value", "usage", 45],
    ["allocated_in", null, 90],
    ["allocated_out", null, -90],
  ]);
});

test("Sums every breakdown and series to its total while others record", async () => {
  const client = exactClient(baseUrl(), token);
  let isOver = false;
  const writer = (async () => {
    for (let index = 0; !isOver; index += 1) {
      await post({ feature: `f-${index % 3}`, model: `m-${index % 5}`, estimated_cost: 0.1 });
    }
  })();
  const seen = new Set<string>();
  for (let attempt = 0; attempt < 25; attempt += 1) {
    const { body } = await client.get(`/api/v1/workspaces/${slug}/metrics?period=day&group_by=model`);
    type Sum = { total_usd: string };
    const whole = show(exact((body.totals as Sum).total_usd));
    seen.add(whole);
    const sum = (of: unknown) => show(total((of as Sum[]).map(({ total_usd }) => exact(total_usd))));
    for (const name of ["by_project", "by_type", "by_provider", "by_model", "by_feature", "by_key"]) {
      expect(sum(body[name]), name).toBe(whole);
    }
    const series = body.series as { points: Sum[]; groups: Sum[] };
    expect([sum(series.points), sum(series.groups)]).toEqual([whole, whole]);
  }
  isOver = true;
  await writer;
  expect(seen.size).toBeGreaterThan(3);
});

/** How many rows of the rollup were read so far, by any plan. */
async function rowsRead(): Promise<number> {
  const { rows } = await harness.fixtures.sql.query(
    "select seq_tup_read + idx_tup_fetch as read from pg_stat_user_tables where relid = 'public.daily_spend'::regclass",
  );
  return Number(rows[0].read);
}

test("Reads a feature, model or key without reading all others", async () => {
  const crowded = `w-${randomUUID()}`;
  const id = await harness.fixtures.workspace(crowded);
  const { token: member } = await addUser(harness, id, "viewer");
  const inAll = 40_000;
  await harness.fixtures.sql.query(
    `insert into public.daily_spend
     select $1, (now() at time zone 'UTC')::date, gen_random_uuid(), format('00000000-0000-4000-8000-%s', lpad((number % 100)::text, 12, '0'))::uuid, 'usage', 'openai', 'm' || number % 101,
       'f' || number % 103, 'api', 'live', 1, 1, 1, 0
     from generate_series(1, $2::int) as number`,
    [id, inAll],
  );
  await harness.fixtures.sql.query("analyze public.daily_spend");
  const spend = apiClient(baseUrl(), member);
  const someKey = "00000000-0000-4000-8000-000000000001";
  for (const filter of ["feature=f1", "model=m1", `key=${someKey}`]) {
    const before = await rowsRead();
    const { body } = await spend.get(`/api/v1/workspaces/${crowded}/metrics?period=day&${filter}`);
    const found = Number((body as unknown as Metrics).totals.message_count);
    expect(found).toBeGreaterThan(300);
    // Postgres reports what was read with a delay.
    await expect.poll(rowsRead, { timeout: 20_000 }).toBeGreaterThanOrEqual(before + found);
    expect((await rowsRead()) - before, filter).toBeLessThan(inAll / 10);
  }
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
  const activity = await viewer.get(`/api/v1/workspaces/${slug}/activity?${march}&compare=last_year`);
  expect(activity.body).toMatchObject({
    period: "range",
    compare: "last_year",
    previous: { from: "2023-03-01", to: "2023-03-31" },
    count: 2,
  });
});

test("Tells what is spent up to today from what is booked ahead, in the rows too", async () => {
  const before = await read("period=all&provider=Yearly");
  expect(before.booked_ahead).toBeNull();
  const today = new Date();
  const answer = await key.post({
    project: "alpha",
    source: "api",
    message: {
      type: "subscription",
      vendor: "Yearly",
      amount: 1200,
      interval: "year",
      starts_on: today.toISOString().slice(0, 10),
    },
  });
  expect(answer.status, JSON.stringify(answer.body)).toBe(201);
  const body = await read("period=all&provider=Yearly");
  expect(body).toMatchObject({
    totals: { total_usd: 100, subscription_usd: 100 },
    booked_ahead: { total_usd: 1100 },
  });
  expect(body.by_project.map(({ total_usd }) => total_usd)).toEqual([100]);
  // The chart ends now.
  expect(body.series.points.at(-1)?.from.slice(0, 7)).toBe(today.toISOString().slice(0, 7));
  const rows = await viewer.get(`/api/v1/workspaces/${slug}/activity?period=all&provider=Yearly`);
  expect(rows.body.count).toBe(12);
  const { from, to } = body.booked_ahead ?? { from: "", to: "" };
  expect(await read(`from=${from}&to=${to}&provider=Yearly`)).toMatchObject({
    totals: { total_usd: 0 },
    booked_ahead: { total_usd: 1100, to },
  });
});

test("Answers 304, and HEAD without a body, as long as the figures of the range are the same", async () => {
  const path = `/api/v1/workspaces/${slug}/metrics?from=2026-04-01&to=2026-04-30&compare=previous`;
  const ask = (method: string, tag?: string, more = "") =>
    fetch(`${baseUrl()}${path}${more}`, {
      method,
      headers: { Authorization: `Bearer ${token}`, ...(tag !== undefined && { "If-None-Match": tag }) },
    });
  const recorded = { feature: "tagged", occurred_at: "2026-04-05T12:00:00Z" };
  await post(recorded);
  const first = await ask("GET");
  const tag = first.headers.get("etag") ?? "";
  expect(tag).toMatch(/^W\/"[\w-]{22}"$/);
  await first.text();
  for (const method of ["GET", "HEAD"]) {
    const same = await ask(method, `"other", ${tag.replace("W/", "")}`);
    expect([same.status, same.headers.get("etag"), await same.text()]).toEqual([304, tag, ""]);
  }
  const head = await ask("HEAD");
  expect([head.status, head.headers.get("etag"), await head.text()]).toEqual([200, tag, ""]);
  // A cost of another range changes nothing; one of the range, or of the days compared with, does.
  await post({ ...recorded, occurred_at: "2026-05-05T12:00:00Z" });
  expect((await ask("HEAD", tag)).status).toBe(304);
  await post(recorded);
  const second = await ask("HEAD", tag);
  expect(second.status).toBe(200);
  await post({ ...recorded, occurred_at: "2026-03-05T12:00:00Z" });
  expect((await ask("HEAD", second.headers.get("etag") ?? "")).status).toBe(200);
  // The figures and their tag are of one snapshot, whether they were asked for with a tag or without, converted or not.
  const latest = (await ask("HEAD")).headers.get("etag");
  for (const each of [
    await ask("GET"),
    await ask("GET", tag),
    await ask("GET", undefined, "&currency=EUR"),
  ]) {
    expect([each.status, each.headers.get("etag")]).toEqual([200, latest]);
    expect(await each.json()).toMatchObject({ totals: { message_count: 2 } });
  }
  // A stranger learns nothing from a tag.
  const stranger = await addUser(harness, await harness.fixtures.workspace(`w-${randomUUID()}`), "owner");
  const hidden = await fetch(`${baseUrl()}${path}`, {
    headers: { Authorization: `Bearer ${stranger.token}`, "If-None-Match": "*" },
  });
  expect([hidden.status, hidden.headers.get("etag")]).toEqual([404, null]);
});
