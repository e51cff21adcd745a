import { describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import type { KeyOptions } from "@/tests/helpers/keys";
import { clientIn } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();

describe("The month summary", () => {
  test("Has the specification's fields, and its slices sum to its headline", async () => {
    const client = await clientIn(harness, await harness.fixtures.workspace());
    expect((await client.get("/api/v1/summary/month")).body).toEqual({
      period: "month",
      total_usd: 0,
      usage_usd: 0,
      subscription_usd: 0,
      expense_usd: 0,
      adjustment_usd: 0,
      by_project: {},
      top_project: null,
      message_count: 0,
      unpriced_count: 0,
      included_usd: 0,
    });
    await client.post(costMessage({ estimated_cost: 0.1 }));
    await client.post(costMessage({ estimated_cost: 0.2 }, { project: "search" }));
    await client.post({
      project: "search",
      source: "api",
      message: { type: "expense", vendor: "v", amount: 0.3 },
    });
    await client.post({
      project: "search",
      source: "api",
      message: { type: "subscription", vendor: "v", amount: 0.4 },
    });
    expect((await client.get("/api/v1/summary/month")).body).toEqual({
      period: "month",
      total_usd: 1,
      usage_usd: 0.3,
      subscription_usd: 0.4,
      expense_usd: 0.3,
      adjustment_usd: 0,
      by_project: { search: 0.9, checkout: 0.1 },
      top_project: { slug: "search", name: "search", total_usd: 0.9 },
      message_count: 4,
      unpriced_count: 0,
      included_usd: 0,
    });
  });

  test("Counts this UTC month only", async () => {
    const client = await clientIn(harness, await harness.fixtures.workspace());
    const now = new Date();
    const monthStart = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
    await client.post(costMessage({ occurred_at: new Date(monthStart - 1).toISOString() }));
    expect((await client.get("/api/v1/summary/month")).body.total_usd).toBe(0);
    await client.post(costMessage({ occurred_at: new Date(monthStart).toISOString() }));
    expect((await client.get("/api/v1/summary/month")).body.total_usd).toBe(0.01);
  });

  test("Shows a key the projects in its scope only", async () => {
    const workspace = await harness.fixtures.workspace();
    const writer = await clientIn(harness, workspace);
    for (const project of ["a", "b", "c"]) await writer.post(costMessage({}, { project }));
    await (await clientIn(harness, await harness.fixtures.workspace())).post(
      costMessage({}, { project: "a" }),
    );
    const projectId = (
      await harness.fixtures.sql.query(
        "select id from public.projects where workspace_id = $1 and slug = 'c'",
        [workspace],
      )
    ).rows[0].id;
    const seen = async (options: KeyOptions) =>
      Object.keys(
        (await (await clientIn(harness, workspace, options)).get("/api/v1/summary/month")).body
          .by_project as object,
      ).sort();
    expect(await seen({})).toEqual(["a", "b", "c"]);
    expect(await seen({ conditions: { project_slugs: ["a", "b"] } })).toEqual(["a", "b"]);
    expect(await seen({ conditions: { deny_project_slugs: ["a"] } })).toEqual(["b", "c"]);
    expect(await seen({ conditions: { project_slugs: ["not-there"] } })).toEqual([]);
    expect(await seen({ project_id: projectId, conditions: { project_slugs: ["a"] } })).toEqual(["c"]);
  });
});

describe("Project spend", () => {
  test("Accepts any range of instants; days, models, features and rows sum to its total", async () => {
    const client = await clientIn(harness, await harness.fixtures.workspace());
    const moments = [
      "2026-03-01T00:00:00Z",
      "2026-03-01T12:00:00Z",
      "2026-03-02T23:59:59.999Z",
      "2026-03-03T00:00:00Z",
    ];
    for (const [index, occurred_at] of moments.entries()) {
      await client.post(
        costMessage({ occurred_at, estimated_cost: 10 ** -index, feature: index % 2 ? "chat" : undefined }),
      );
    }
    const total = async (from: string, to: string) => {
      const { body } = await client.get(
        `/api/v1/projects/checkout/spend?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`,
      );
      const sum = (list: unknown, key = "total_usd") =>
        Math.round((list as Record<string, number>[]).reduce((all, row) => all + (row[key] ?? 0), 0) * 1e6) /
        1e6;
      expect([
        sum(body.daily),
        sum(body.by_model),
        sum(body.by_feature),
        sum(body.rows, "amount_usd"),
      ]).toEqual(Array(4).fill(body.total_usd));
      return body.total_usd;
    };
    expect(await total("2026-03-01T00:00:00Z", "2026-03-04T00:00:00Z")).toBe(1.111);
    expect(await total("2026-03-01T00:00:00.001Z", "2026-03-03T00:00:00Z")).toBe(0.11);
    expect(await total("2026-03-01T06:00:00Z", "2026-03-01T18:00:00Z")).toBe(0.1);
    expect(await total("2026-03-02T00:00:00Z", "2026-03-02T23:59:59.999Z")).toBe(0);
    expect(await total("2026-03-01T13:00:00+14:00", "2026-03-03T00:00:00.001Z")).toBe(1.111);
  });

  test("Requires from before to, and instants", async () => {
    const client = await clientIn(harness, await harness.fixtures.workspace());
    await client.post(costMessage());
    const paths = async (query: string) =>
      ((await client.get(`/api/v1/projects/checkout/spend?${query}`)).body.issues as { path: string }[]).map(
        ({ path }) => path,
      );
    expect(await paths("from=2026-03-02T00:00:00Z&to=2026-03-02T00:00:00Z")).toEqual(["query.to"]);
    expect(await paths("from=yesterday")).toEqual(["query.from"]);
    expect(await paths("since=2026-03-02T00:00:00Z")).toEqual(["query.since"]);
  });

  test("Completes a range with one end by the month of that end", async () => {
    const client = await clientIn(harness, await harness.fixtures.workspace());
    for (const [occurred_at, estimated_cost] of [
      ["2026-03-31T23:59:59.999Z", 1],
      ["2026-04-01T00:00:00Z", 10],
      ["2026-04-20T00:00:00Z", 100],
    ])
      await client.post(costMessage({ occurred_at, estimated_cost }));
    await client.post(costMessage({ estimated_cost: 1000 }));
    const spend = async (query: string) => {
      const { body } = await client.get(`/api/v1/projects/checkout/spend?${query}`);
      return [body.total_usd, body.from, body.to];
    };
    const start = (year: number, month: number) =>
      new Date(Date.UTC(year, month - 1)).toISOString().replace("Z", "+00:00");
    expect(await spend("to=2026-04-15T00:00:00Z")).toEqual([
      10,
      start(2026, 4),
      "2026-04-15T00:00:00.000+00:00",
    ]);
    // Until midnight of the 1st means all of the month that ends then.
    expect(await spend("to=2026-05-01T00:00:00Z")).toEqual([110, start(2026, 4), start(2026, 5)]);
    expect(await spend("to=2026-04-01T00:00:00Z")).toEqual([1, start(2026, 3), start(2026, 4)]);
    const now = new Date();
    const [thisMonth, nextMonth] = [1, 2].map((ahead) =>
      start(now.getUTCFullYear(), now.getUTCMonth() + ahead),
    );
    expect(await spend("")).toEqual([1000, thisMonth, nextMonth]);
    expect(await spend("to=2999-01-01T00:00:00Z")).toEqual([1000, thisMonth, start(2999, 1)]);
    expect(await spend("from=2026-04-20T00:00:00Z")).toEqual([
      1100,
      start(2026, 4).replace("-01T", "-20T"),
      nextMonth,
    ]);
    expect(await spend("from=2999-01-15T00:00:00Z")).toEqual([
      0,
      "2999-01-15T00:00:00.000+00:00",
      start(2999, 2),
    ]);
    expect(await spend("to=0001-01-01T00:00:00Z")).toEqual([
      0,
      "0001-01-01T00:00:00.000+00:00",
      "0001-01-01T00:00:00.000+00:00",
    ]);
    expect(await spend("from=9999-12-15T00:00:00Z")).toEqual([
      0,
      "9999-12-15T00:00:00.000+00:00",
      "9999-12-31T23:59:59.999+00:00",
    ]);
  });

  test("Lists the latest 200 rows and sums all", async () => {
    const client = await clientIn(harness, await harness.fixtures.workspace());
    await client.call("POST", "/api/v1/messages/batch", {
      messages: Array.from({ length: 250 }, () => costMessage()),
    });
    const { body } = await client.get("/api/v1/projects/checkout/spend");
    expect(body.total_usd).toBe(2.5);
    expect(body.rows).toHaveLength(200);
  });
});

describe("The key of SVC_API_KEY", () => {
  const secret = "a-secret-of-the-environment";

  test.each([
    [{ NODE_ENV: "production" }, 401],
    [{ NODE_ENV: "production", SVC_ALLOW_ENV_API_KEY: "false" }, 401],
    [{ NODE_ENV: "production", SVC_ALLOW_ENV_API_KEY: "true" }, 201],
    [{ NODE_ENV: "development" }, 201],
  ])("With %j gets %i", async (settings, status) => {
    const service = await harness.start({ SVC_API_KEY: secret, ...settings });
    const answer = await apiClient(service.baseUrl, secret).post(costMessage());
    expect(answer.status).toBe(status);
    const other = await apiClient(service.baseUrl, `${secret}x`).post(costMessage());
    expect([other.status, other.body.error]).toEqual([401, "invalid_credentials"]);
    if (status !== 201) return;
    const { rows } = await harness.fixtures.sql.query(
      "select w.slug from public.messages as m join public.workspaces as w on w.id = m.workspace_id where m.id = $1",
      [answer.body.id],
    );
    expect(rows).toEqual([{ slug: "demo" }]);
  });
});
