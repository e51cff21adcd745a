import { describe, expect, test } from "vitest";
import { monthOf } from "@/lib/contract/values/month";
import { costMessage } from "@/tests/helpers/client";
import type { KeyOptions } from "@/tests/helpers/keys";
import { clientIn } from "@/tests/helpers/recording";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();

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

describe("Budget status", () => {
  test("Shows the spend of every scope and alerts from 80% on", async () => {
    const workspace = await harness.fixtures.workspace();
    const key = await clientIn(harness, workspace);
    await key.post(costMessage({ estimated_cost: 0.5, feature: "chat" }, { project: "a" }));
    const other = await clientIn(harness, workspace);
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
    const { from: period_from, until: period_until } = monthOf(Date.now());
    const month = {
      period: "month",
      period_from,
      period_until,
      time_zone: "UTC",
      blocks: false,
      warns: { people: 0, channels: 0 },
      currency: "USD",
    };
    expect(body.budgets).toEqual([
      {
        id,
        name: "1 global",
        scope_type: "global",
        ...month,
        amount: 1,
        spent: 0.8,
        remaining: 0.2,
        percent_used: 0.8,
        alert: true,
        reached: { percent: [50, 80], usd: [] },
      },
      {
        id,
        name: "2 project",
        scope_type: "project",
        ...month,
        amount: 2,
        spent: 0.5,
        remaining: 1.5,
        percent_used: 0.25,
        alert: false,
        reached: { percent: [], usd: [] },
      },
      {
        id,
        name: "3 feature",
        scope_type: "feature",
        ...month,
        amount: 0.4,
        spent: 0.5,
        remaining: -0.1,
        percent_used: 1.25,
        alert: true,
        reached: { percent: [50, 80, 100], usd: [] },
      },
      {
        id,
        name: "4 provider",
        scope_type: "provider",
        ...month,
        amount: 3,
        spent: 0.3,
        remaining: 2.7,
        percent_used: 0.1,
        alert: false,
        reached: { percent: [], usd: [] },
      },
      {
        id,
        name: "5 key",
        scope_type: "key",
        ...month,
        amount: 0.6250000001,
        spent: 0.5,
        remaining: 0.1250000001,
        percent_used: expect.closeTo(0.8, 8),
        alert: false,
        reached: { percent: [50], usd: [] },
      },
    ]);
  });

  test("Shows a confined key only the budgets whose whole spend it may see", async () => {
    const workspace = await harness.fixtures.workspace();
    const a = await harness.fixtures.project(workspace, "a");
    const b = await harness.fixtures.project(workspace, "b");
    const confined = await clientIn(harness, workspace, { conditions: { project_slugs: ["a"] } });
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
    const answerOf = async (options: KeyOptions) => {
      const { body } = await (await clientIn(harness, workspace, options)).get("/api/v1/budgets/status");
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
