import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import { makeActivityWorkspace, rowsOf } from "@/tests/helpers/activity";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();
let workspace: Awaited<ReturnType<typeof makeActivityWorkspace>>;
let untouched: typeof workspace;
let project: string;

const usage = (occurred_at: string) => ({
  project,
  source: "api",
  message: {
    type: "usage",
    provider: "p",
    model: "m",
    unit_type: "requests",
    quantity: 1,
    estimated_cost: 2,
    occurred_at,
  },
});

beforeAll(async () => {
  project = `p-${randomUUID()}`;
  workspace = await makeActivityWorkspace(harness);
  untouched = await makeActivityWorkspace(harness);
  for (const at of ["2026-02-10T12:00:00Z", "2026-03-31T23:59:59Z", "2026-05-02T12:00:00Z"]) {
    expect((await workspace.key.call("POST", "/api/v1/messages", usage(at))).status).toBe(201);
  }
  await untouched.key.call("POST", "/api/v1/messages", usage("2026-05-02T12:00:00Z"));
  for (const month of ["2026-02-01", "2026-03-01"]) {
    await harness.fixtures.sql.query("select private.remove_messages_month($1)", [month]);
  }
});

const range = (from: string, to: string) => `period=range&from=${from}&to=${to}`;

test("Activity says at its end where messages were removed, and not elsewhere", async () => {
  const all = await workspace.activity("period=all");
  expect([rowsOf(all).length, all.removed_before]).toEqual([1, "2026-04-01"]);
  const removed = await workspace.activity(range("2026-02-01", "2026-02-28"));
  expect([rowsOf(removed), removed.removed_before]).toEqual([[], "2026-04-01"]);
  const kept = await workspace.activity(range("2026-04-01", "2026-05-31"));
  expect([rowsOf(kept).length, kept.removed_before]).toEqual([1, null]);
  expect((await untouched.activity("period=all")).removed_before).toBeNull();
});

test("Metrics still count what was removed", async () => {
  const metrics = await workspace.metrics("period=all");
  expect(metrics.totals).toMatchObject({ total_usd: 6, message_count: 3 });
});

test("An export says what is missing, and a period without any messages left is refused", async () => {
  const path = `/api/v1/workspaces/${workspace.slug}/export`;
  const all = await workspace.viewer.get(`${path}?period=all`);
  expect([all.status, all.headers.get("outlay-removed-before")]).toEqual([200, "2026-04-01"]);
  const kept = await workspace.viewer.get(`${path}?${range("2026-05-01", "2026-05-31")}`);
  expect([kept.status, kept.headers.get("outlay-removed-before")]).toEqual([200, null]);
  const removed = await workspace.viewer.get(`${path}?${range("2026-02-01", "2026-03-31")}`);
  expect([removed.status, removed.body]).toEqual([
    409,
    expect.objectContaining({ error: "conflict", removed_before: "2026-04-01" }),
  ]);
  // It does not count as one that is still being sent.
  expect((await workspace.viewer.get(`${path}?period=all`)).status).toBe(200);
});

test("A project's spend is refused for a part of a day whose messages were removed", async () => {
  const spend = (from: string, to: string) =>
    workspace.key.get(`/api/v1/projects/${project}/spend?from=${from}&to=${to}`);
  const whole = await spend("2026-02-01T00:00:00Z", "2026-06-01T00:00:00Z");
  expect([whole.status, whole.body.total_usd]).toEqual([200, 6]);
  const cut = await spend("2026-02-10T06:00:00Z", "2026-03-01T12:00:00Z");
  expect([cut.status, cut.body.issues]).toEqual([
    400,
    ["from", "to"].map((path) => ({
      path,
      message:
        "must be midnight in UTC: messages before 2026-04-01 were removed, and only the sums of whole days were kept",
    })),
  ]);
  const later = await spend("2026-02-01T00:00:00Z", "2026-05-02T13:00:00Z");
  expect([later.status, later.body.total_usd]).toEqual([200, 6]);
});
