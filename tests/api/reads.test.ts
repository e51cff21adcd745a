import { describe, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { withHarness } from "@/tests/helpers/harness";
import type { KeyOptions } from "@/tests/helpers/keys";

const harness = withHarness();
const baseUrl = () => harness.services[0]?.baseUrl ?? "";

const clientIn = async (workspace: string, options: KeyOptions = {}) => {
  const { id, secret } = await harness.fixtures.key(workspace, options);
  return { id, ...apiClient(baseUrl(), secret) };
};

const setBudget = (
  workspace: string,
  name: string,
  amount: string,
  scope = "global",
  value: string | null = null,
) =>
  harness.fixtures.sql.query(
    "insert into public.budgets (workspace_id, name, amount, scope_type, scope_value) values ($1, $2, $3, $4, $5)",
    [workspace, name, amount, scope, value],
  );

describe("The month summary", () => {
  test("Has the specification's fields, and its slices sum to its headline", async () => {
    const client = await clientIn(await harness.fixtures.workspace());
    expect((await client.get("/api/v1/summary/month")).body).toEqual({
      period: "month",
      total_usd: 0,
      usage_usd: 0,
      subscription_usd: 0,
      expense_usd: 0,
      by_project: {},
      top_project: null,
      message_count: 0,
      unpriced_count: 0,
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
      by_project: { search: 0.9, checkout: 0.1 },
      top_project: { slug: "search", name: "search", total_usd: 0.9 },
      message_count: 4,
      unpriced_count: 0,
    });
  });

  test("Counts this UTC month only", async () => {
    const client = await clientIn(await harness.fixtures.workspace());
    const now = new Date();
    const monthStart = Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1);
    await client.post(costMessage({ occurred_at: new Date(monthStart - 1).toISOString() }));
    expect((await client.get("/api/v1/summary/month")).body.total_usd).toBe(0);
    await client.post(costMessage({ occurred_at: new Date(monthStart).toISOString() }));
    expect((await client.get("/api/v1/summary/month")).body.total_usd).toBe(0.01);
  });

  test("Shows a key the projects in its scope only", async () => {
    const workspace = await harness.fixtures.workspace();
    const writer = await clientIn(workspace);
    for (const project of ["a", "b", "c"]) await writer.post(costMessage({}, { project }));
    await (await clientIn(await harness.fixtures.workspace())).post(costMessage({}, { project: "a" }));
    const projectId = (
      await harness.fixtures.sql.query(
        "select id from public.projects where workspace_id = $1 and slug = 'c'",
        [workspace],
      )
    ).rows[0].id;
    const seen = async (options: KeyOptions) =>
      Object.keys(
        (await (await clientIn(workspace, options)).get("/api/v1/summary/month")).body.by_project as object,
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
    const client = await clientIn(await harness.fixtures.workspace());
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
    const client = await clientIn(await harness.fixtures.workspace());
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
    const client = await clientIn(await harness.fixtures.workspace());
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
    // Until before midnight of the 1st is all of the month that ends then.
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
    const client = await clientIn(await harness.fixtures.workspace());
    await client.call("POST", "/api/v1/messages/batch", {
      messages: Array.from({ length: 250 }, () => costMessage()),
    });
    const { body } = await client.get("/api/v1/projects/checkout/spend");
    expect(body.total_usd).toBe(2.5);
    expect(body.rows).toHaveLength(200);
  });
});

describe("Budget status", () => {
  test("Shows the spend of every scope and alerts from 80 % on", async () => {
    const workspace = await harness.fixtures.workspace();
    const key = await clientIn(workspace);
    await key.post(costMessage({ estimated_cost: 0.5, feature: "chat" }, { project: "a" }));
    const other = await clientIn(workspace);
    await other.post(costMessage({ estimated_cost: 0.3, provider: "anthropic" }, { project: "b" }));
    const { rows } = await harness.fixtures.sql.query(
      "select id from public.projects where workspace_id = $1 and slug = 'a'",
      [workspace],
    );
    await setBudget(workspace, "1 global", "1");
    await setBudget(workspace, "2 project", "2", "project", rows[0].id);
    await setBudget(workspace, "3 feature", "0.4", "feature", "chat");
    await setBudget(workspace, "4 provider", "3", "provider", "anthropic");
    await setBudget(workspace, "5 key", "0.6250000001", "key", key.id);
    const { body } = await key.get("/api/v1/budgets/status");
    const id = expect.stringMatching(/^[0-9a-f-]{36}$/);
    expect(body.budgets).toEqual([
      {
        id,
        name: "1 global",
        scope_type: "global",
        amount: 1,
        spent: 0.8,
        remaining: 0.2,
        percent_used: 0.8,
        alert: true,
      },
      {
        id,
        name: "2 project",
        scope_type: "project",
        amount: 2,
        spent: 0.5,
        remaining: 1.5,
        percent_used: 0.25,
        alert: false,
      },
      {
        id,
        name: "3 feature",
        scope_type: "feature",
        amount: 0.4,
        spent: 0.5,
        remaining: -0.1,
        percent_used: 1.25,
        alert: true,
      },
      {
        id,
        name: "4 provider",
        scope_type: "provider",
        amount: 3,
        spent: 0.3,
        remaining: 2.7,
        percent_used: 0.1,
        alert: false,
      },
      {
        id,
        name: "5 key",
        scope_type: "key",
        amount: 0.6250000001,
        spent: 0.5,
        remaining: 0.1250000001,
        percent_used: expect.closeTo(0.8, 8),
        alert: false,
      },
    ]);
  });

  test("Shows a confined key only the budgets whose whole spend it may see", async () => {
    const workspace = await harness.fixtures.workspace();
    const a = await harness.fixtures.project(workspace, "a");
    const b = await harness.fixtures.project(workspace, "b");
    const confined = await clientIn(workspace, { conditions: { project_slugs: ["a"] } });
    await setBudget(workspace, "global", "1");
    await setBudget(workspace, "a", "1", "project", a);
    await setBudget(workspace, "b", "1", "project", b);
    await setBudget(workspace, "feature", "1", "feature", "chat");
    await setBudget(workspace, "own", "1", "key", confined.id);
    const { body } = await confined.get("/api/v1/budgets/status");
    expect((body.budgets as { name: string }[]).map(({ name }) => name)).toEqual(["a", "own"]);
  });

  test("Reports the number of budgets hidden from the key, and nothing else of them", async () => {
    const workspace = await harness.fixtures.workspace();
    await setBudget(await harness.fixtures.workspace(), "of another workspace", "1");
    const [a, b] = [
      await harness.fixtures.project(workspace, "a"),
      await harness.fixtures.project(workspace, "b"),
    ];
    await setBudget(workspace, "everything", "1");
    await setBudget(workspace, "a", "1", "project", a);
    await setBudget(workspace, "b", "1", "project", b);
    const answerOf = async (options: Parameters<typeof clientIn>[1]) => {
      const { body } = await (await clientIn(workspace, options)).get("/api/v1/budgets/status");
      const { budgets, ...rest } = body as { budgets: { name: string }[] };
      return { names: budgets.map(({ name }) => name), ...rest };
    };
    const all = { names: ["a", "b", "everything"], hidden_count: 0 };
    expect(await answerOf({})).toEqual(all);
    expect(await answerOf({ environment: "test" })).toEqual(all);
    expect(await answerOf({ project_id: a })).toEqual({ names: ["a"], hidden_count: 2 });
    for (const environment of ["live", "test"] as const)
      expect(await answerOf({ environment, conditions: { project_slugs: ["a"] } })).toEqual({
        names: ["a"],
        hidden_count: 2,
      });
    expect(await answerOf({ conditions: { deny_project_slugs: ["a"] } })).toEqual({
      names: ["b"],
      hidden_count: 2,
    });
    expect(await answerOf({ conditions: { project_slugs: ["none-of-these"] } })).toEqual({
      names: [],
      hidden_count: 3,
    });
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
