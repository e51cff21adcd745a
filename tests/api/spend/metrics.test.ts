import { randomUUID } from "node:crypto";
import { expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { exactClient } from "@/tests/helpers/ledger/client";
import { exact, show, total } from "@/tests/helpers/ledger/exact";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { addUser } from "@/tests/helpers/team";
import { withMetrics } from "@/tests/helpers/with-metrics";

const harness = withSharedHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

const workspace = withMetrics(harness);
const { read, post } = workspace;

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

test("Sums further groups and slices as the rest", async () => {
  const messages = Array.from({ length: 130 }, (_, index) =>
    costMessage({
      provider: "many",
      model: `model-${index}`,
      estimated_cost: 130 - index,
      occurred_at: "2025-03-03T00:00:00Z",
    }),
  );
  await workspace.key.call("POST", "/api/v1/messages/batch", { messages });
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
  await workspace.key.call("POST", "/api/v1/messages/batch", {
    messages: [costOf("giver", 100, 1), ...spent],
  });
  const moved = await workspace.key.post({
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
  const client = exactClient(baseUrl(), workspace.token);
  let isOver = false;
  const writer = (async () => {
    for (let index = 0; !isOver; index += 1) {
      await post({ feature: `f-${index % 3}`, model: `m-${index % 5}`, estimated_cost: 0.1 });
    }
  })();
  const seen = new Set<string>();
  for (let attempt = 0; attempt < 25; attempt += 1) {
    const { body } = await client.get(
      `/api/v1/workspaces/${workspace.slug}/metrics?period=day&group_by=model`,
    );
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

test("Tells what is spent up to today from what is booked ahead, in the rows too", async () => {
  const before = await read("period=all&provider=Yearly");
  expect(before.booked_ahead).toBeNull();
  const today = new Date();
  const answer = await workspace.key.post({
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
  const rows = await workspace.viewer.get(
    `/api/v1/workspaces/${workspace.slug}/activity?period=all&provider=Yearly`,
  );
  expect(rows.body.count).toBe(12);
  const { from, to } = body.booked_ahead ?? { from: "", to: "" };
  expect(await read(`from=${from}&to=${to}&provider=Yearly`)).toMatchObject({
    totals: { total_usd: 0 },
    booked_ahead: { total_usd: 1100, to },
  });
});

test("Answers 304, and HEAD without a body, as long as the figures of the range are the same", async () => {
  const path = `/api/v1/workspaces/${workspace.slug}/metrics?from=2026-04-01&to=2026-04-30&compare=previous`;
  const ask = (method: string, tag?: string, more = "") =>
    fetch(`${baseUrl()}${path}${more}`, {
      method,
      headers: {
        Authorization: `Bearer ${workspace.token}`,
        ...(tag !== undefined && { "If-None-Match": tag }),
      },
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
  // So does a cost that moves to another feature, which leaves the totals as they were.
  const { rows } = await harness.fixtures.sql.query(
    "select m.id, w.id as workspace from public.messages as m join public.workspaces as w on w.id = m.workspace_id where w.slug = $1 and m.feature = 'tagged' and m.occurred_at = $2 limit 1",
    [workspace.slug, recorded.occurred_at],
  );
  const admin = await addUser(harness, rows[0].workspace, "admin");
  const unmoved = (await ask("HEAD")).headers.get("etag") ?? "";
  const move = await apiClient(baseUrl(), admin.token).call(
    "POST",
    `/api/v1/workspaces/${workspace.slug}/messages/bulk-actions`,
    { action: "correct", messages: [rows[0].id], set: { feature: "moved" }, reason: "Wrong feature." },
  );
  expect(move.status).toBe(201);
  expect((await ask("HEAD", unmoved)).status).toBe(200);
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
