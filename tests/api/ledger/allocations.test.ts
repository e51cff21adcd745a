import { describe, expect, test } from "vitest";
import { apiClient } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import { expense, newClient, record, spendOf } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness({ services: 2 });

describe("An allocation", () => {
  test("Moves an amount in two entries that sum to zero, and its key spends nothing", async () => {
    const client = await newClient(harness, { monthly_limit: "1.5" });
    await record(
      client,
      { type: "usage", provider: "p", unit_type: "requests", quantity: 1, estimated_cost: 1 },
      "shared",
    );
    const { body } = await record(
      client,
      { type: "allocation", from_project: "shared", amount: 0.4 },
      "search",
    );
    expect(body).toMatchObject({ amount_usd: 0.4, cost_status: "client" });
    const summary = (await client.get("/api/v1/summary/month")).body;
    expect(summary).toMatchObject({
      total_usd: 1,
      usage_usd: 1,
      by_project: { shared: 0.6, search: 0.4 },
      message_count: 2,
    });
    expect((await record(client, expense(0.5))).status).toBe(201);
  });

  test("Moves at most what its source has spent in the month and environment, earlier allocations included", async () => {
    const client = await newClient(harness);
    const { secret } = await harness.fixtures.key(client.workspace, { environment: "test" });
    const trial = { ...client, ...apiClient(harness.services[0]?.baseUrl ?? "", secret) };
    await record(client, expense(1), "shared");
    await record(client, { ...expense(50), occurred_at: "2026-01-31T23:59:59Z" }, "shared");
    await record(trial, expense(500), "shared");
    const move = (amount: number, more = {}, by = client) =>
      record(by, { type: "allocation", from_project: "shared", amount, ...more }, "search");
    const month = new Date().toISOString().slice(0, 7);
    expect((await move(1.000000000000001)).body).toMatchObject({
      error: "validation_failed",
      issues: [
        {
          path: "message.amount",
          message: `must move no more than from_project has spent in ${month} (UTC)`,
        },
      ],
    });
    expect((await move(0.75)).status).toBe(201);
    expect((await move(0.2500000000000001)).status).toBe(400);
    expect((await move(0.25)).status).toBe(201);
    expect((await move(1e-18)).status).toBe(400);
    const january = { occurred_at: "2026-01-15T00:00:00Z" };
    expect((await move(50.01, january)).status).toBe(400);
    expect((await move(50, january)).status).toBe(201);
    expect((await move(500.01, {}, trial)).status).toBe(400);
    expect((await move(500, {}, trial)).status).toBe(201);
    expect((await client.get("/api/v1/summary/month")).body).toMatchObject({
      total_usd: 1,
      by_project: { shared: 0, search: 1 },
    });
  });

  test("Moves by percent at most what the month has left, even when the day has more", async () => {
    const client = await newClient(harness);
    await record(client, { ...expense(10), occurred_at: "2026-01-10T00:00:00Z" }, "shared");
    const move = (fields: object) =>
      record(client, { type: "allocation", from_project: "shared", ...fields }, "search");
    expect((await move({ amount: 8, occurred_at: "2026-01-20T00:00:00Z" })).status).toBe(201);
    // By the 10th all 10 had been spent, but 8 of them were moved on the 20th.
    const refused = await move({ percent: 50, occurred_at: "2026-01-10T12:00:00Z" });
    expect([refused.status, refused.body.issues]).toMatchObject([400, [{ path: "message.percent" }]]);
    expect((await move({ percent: 20, occurred_at: "2026-01-10T12:00:00Z" })).body.amount_usd).toBe(2);
  });

  test.each([1, 2, 3, 4, 5])(
    "Moves exactly what there is when sixteen are sent at once (round %i)",
    async () => {
      const client = await newClient(harness);
      await record(client, expense(1), "shared");
      const { secret } = await harness.fixtures.key(client.workspace);
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, index) =>
          apiClient(harness.services[index % 2]?.baseUrl ?? "", secret).post({
            project: `p${index}`,
            source: "api",
            message: { type: "allocation", from_project: "shared", amount: 0.3 },
          }),
        ),
      );
      expect(answers.map(({ status }) => status).sort()).toEqual([
        ...Array(3).fill(201),
        ...Array(13).fill(400),
      ]);
      expect(await spendOf(client, "shared")).toMatchObject({ total_usd: 0.1 });
    },
  );

  test("Reveals nothing of its source's spend to a key without read_summaries", async () => {
    const reader = await newClient(harness);
    await record(reader, expense(7.77), "shared");
    const { secret } = await harness.fixtures.key(reader.workspace, { permissions: ["log_usage"] });
    const writer = apiClient(harness.services[0]?.baseUrl ?? "", secret);
    const post = (fields: object, query = "", outer = {}) =>
      writer.post(
        {
          project: "search",
          source: "api",
          message: { type: "allocation", from_project: "shared", ...fields },
          ...outer,
        },
        {},
        query,
      );
    const denied = { error: "permission_denied", permission: "read_summaries" };
    expect((await post({ percent: 10 })).body).toMatchObject(denied);
    expect((await post({ percent: 10 }, "?dry_run=true")).body).toMatchObject(denied);
    // With dry runs, a caller could find the amount by bisection without a trace.
    expect((await post({ amount: 4 }, "?dry_run=true")).body).toMatchObject(denied);
    const bulk = await writer.call("POST", "/api/v1/messages/batch?dry_run=true", {
      messages: [
        {
          project: "search",
          source: "api",
          message: { type: "allocation", from_project: "shared", amount: 4 },
        },
      ],
    });
    expect((bulk.body.results as unknown[])[0]).toMatchObject(denied);
    const once = { project: "search", source: "api", idempotency_key: "percent" };
    const message = { type: "allocation", from_project: "shared", percent: 10 };
    expect((await reader.post({ ...once, message })).body.amount_usd).toBe(0.777);
    // The answer given to another caller is refused too.
    expect((await writer.post({ ...once, message })).body).toMatchObject(denied);
    const refused = await post({ amount: 100 });
    expect(refused.status).toBe(400);
    expect(JSON.stringify(refused.body)).not.toMatch(/6\.99|7\.77/);
    expect((await post({ amount: 1 })).status).toBe(201);
  });

  test("Computes a percentage of what the source has spent so far this month", async () => {
    const client = await newClient(harness);
    for (const cost of [0.1, 0.2]) {
      await record(
        client,
        { type: "usage", provider: "p", unit_type: "requests", quantity: 1, estimated_cost: cost },
        "shared",
      );
    }
    const { body } = await record(
      client,
      { type: "allocation", from_project: "shared", percent: 33.3 },
      "search",
    );
    expect(body.amount_usd).toBe(0.0999);
    expect((await client.get("/api/v1/summary/month")).body.by_project).toEqual({
      shared: 0.2001,
      search: 0.0999,
    });
  });

  test.each([
    [{ from_project: "nowhere", amount: 1 }, "message.from_project"],
    [{ from_project: "search", amount: 1 }, "message.from_project"],
    [{ from_project: "shared", amount: 1, percent: 1 }, "message.amount"],
    [{ from_project: "shared" }, "message.amount"],
    [{ from_project: "shared", percent: 101 }, "message.percent"],
    [{ from_project: "empty", percent: 10 }, "message.percent"],
  ])("Of %j is refused, naming %s", async (fields, path) => {
    const client = await newClient(harness);
    for (const project of ["shared", "search"]) {
      await record(
        client,
        { type: "usage", provider: "p", unit_type: "requests", quantity: 1, estimated_cost: 1 },
        project,
      );
    }
    await record(
      client,
      { type: "usage", provider: "p", unit_type: "requests", quantity: 1, estimated_cost: 0 },
      "empty",
    );
    const { status, body } = await record(client, { type: "allocation", ...fields }, "search");
    expect(status).toBe(400);
    expect(body.issues).toEqual([{ path, message: expect.any(String) }]);
  });

  test("Requires both projects in the key's scope", async () => {
    const client = await newClient(harness, { conditions: { project_slugs: ["search"] } });
    const { status, body } = await record(
      client,
      { type: "allocation", from_project: "shared", amount: 1 },
      "search",
    );
    expect([status, body.error, body.project]).toEqual([403, "project_not_allowed", "shared"]);
  });
});

test("Keeps every derived figure equal to the sum of its messages", async () => {
  expect(await ledgerDifferences(harness.fixtures)).toEqual([]);
});
