import { beforeEach, describe, expect, test } from "vitest";
import { monthOf } from "@/lib/contract/values/month";
import { apiClient, costMessage } from "@/tests/helpers/client";
import type { KeyOptions } from "@/tests/helpers/keys";
import { withSharedHarness } from "@/tests/helpers/shared-harness";

const harness = withSharedHarness();

let workspace: string;
let projects: Record<"checkout" | "search", string>;

beforeEach(async () => {
  workspace = await harness.fixtures.workspace();
  projects = {
    checkout: await harness.fixtures.project(workspace, "checkout"),
    search: await harness.fixtures.project(workspace, "search"),
  };
});

async function clientWith(options: KeyOptions) {
  const { id, secret } = await harness.fixtures.key(workspace, options);
  return { id, ...apiClient(harness.services[0]?.baseUrl ?? "", secret) };
}

async function setBudget(name: string, columns: Record<string, unknown> = {}): Promise<void> {
  const given = Object.entries({
    workspace_id: workspace,
    name,
    amount: 1,
    scope_type: "global",
    ...columns,
  });
  await harness.fixtures.sql.query(
    `insert into public.budgets (${given.map(([column]) => column)}) values (${given.map((_, index) => `$${index + 1}`)})`,
    given.map(([, value]) => value),
  );
}

type Limits = { key: Record<string, unknown>; budgets: Record<string, unknown>[] };
const limitsOf = async (client: { get: ReturnType<typeof apiClient>["get"] }) => {
  const { status, body } = await client.get("/api/v1/limits");
  expect(status).toBe(200);
  return body as Limits;
};
const namesOf = ({ budgets }: Limits) =>
  budgets.map(({ name, limit_usd: limit }) => `${name}${limit === null ? " (no figures)" : ""}`);

const reader = ["log_usage", "read_summaries"];
const writer = ["log_usage"];

/** A budget of each scope that blocks, and one of all that warns. */
async function setAll(keyId: string): Promise<void> {
  await setBudget("all", { blocks: true });
  await setBudget("all warns");
  await setBudget("checkout", { blocks: true, scope_type: "project", scope_value: projects.checkout });
  await setBudget("search", { blocks: true, scope_type: "project", scope_value: projects.search });
  await setBudget("this key", { blocks: true, scope_type: "key", scope_value: keyId });
  const other = await harness.fixtures.key(workspace);
  await setBudget("other key", { blocks: true, scope_type: "key", scope_value: other.id });
  await setBudget("chat", { blocks: true, scope_type: "feature", scope_value: "chat" });
  await setBudget("draw", { blocks: true, scope_type: "feature", scope_value: "draw" });
  await setBudget("anna", { blocks: true, scope_type: "user", scope_value: "anna" });
  await setBudget("ben", { blocks: true, scope_type: "user", scope_value: "ben" });
  await setBudget("gpt-5", { blocks: true, scope_type: "model", scope_value: "gpt-5" });
}

describe("The limits of a key", () => {
  test("Has what it may do, what it spent and what is left", async () => {
    const client = await clientWith({
      monthly_limit: "0.5",
      rate_limit_rpm: 600,
      expires_at: "2999-01-01T00:00:00Z",
      conditions: { project_slugs: ["checkout"], features: ["chat"], sources: ["api"], users: ["anna"] },
    });
    const sent = costMessage({ feature: "chat", user: "anna", estimated_cost: 0.125 });
    expect((await client.post(sent)).status).toBe(201);
    expect((await limitsOf(client)).key).toEqual({
      id: client.id,
      environment: "live",
      permissions: ["log_usage", "add_expenses", "manage_subscriptions", "read_summaries"],
      projects: ["checkout"],
      features: ["chat"],
      sources: ["api"],
      is_limited_to_users: true,
      expires_at: "2999-01-01T00:00:00.000+00:00",
      rate_limit_rpm: 600,
      monthly_limit: {
        limit_usd: 0.5,
        spent_usd: 0.125,
        remaining_usd: 0.375,
        on_limit: "refuse",
        refused_usd: 0,
        held_usd: 0,
        resets_at: `${monthOf(Date.now()).until}T00:00:00.000+00:00`,
      },
    });
  });

  test("Has nothing where it has none, and says what its budgets leave", async () => {
    const client = await clientWith({ project_id: projects.search });
    await setBudget("search", {
      scope_type: "project",
      scope_value: projects.search,
      amount: "0.02",
      blocks: true,
    });
    await client.post(costMessage({}, { project: "search" }));
    const { key, budgets } = await limitsOf(client);
    expect(key).toMatchObject({
      projects: ["search"],
      features: null,
      sources: null,
      is_limited_to_users: false,
      expires_at: null,
      rate_limit_rpm: null,
      monthly_limit: null,
    });
    const { from, until } = monthOf(Date.now());
    const first = {
      name: "search",
      scope_type: "project",
      blocks: true,
      is_used_up: false,
      period: "month",
      period_from: from,
      period_until: until,
      time_zone: "UTC",
      resets_at: `${until}T00:00:00.000+00:00`,
      limit_usd: 0.02,
      spent_usd: 0.01,
      remaining_usd: 0.01,
    };
    expect(budgets).toMatchObject([first]);
    await client.post(costMessage({}, { project: "search" }));
    expect((await limitsOf(client)).budgets).toMatchObject([
      { ...first, is_used_up: true, spent_usd: 0.02, remaining_usd: 0 },
    ]);
  });

  test("Leaves out budgets that are over or not begun", async () => {
    await setBudget("later", { starts_on: "2999-01-01", blocks: true });
    await setBudget("now", { ends_on: "2999-01-01", blocks: true });
    const today = new Date().toISOString().slice(0, 10);
    await setBudget("today", { period: "once", starts_on: today, ends_on: today, blocks: true });
    await setBudget("today, with figures", { period: "once", starts_on: today, ends_on: today });
    for (const [permissions, names] of [
      [reader, ["now", "today", "today, with figures"]],
      [writer, ["now", "today"]],
    ] as const) {
      const limits = await limitsOf(await clientWith({ permissions: [...permissions] }));
      expect(limits.budgets.map(({ name }) => name)).toEqual(names);
      // A budget that ends within a period holds nothing back after its end.
      expect(limits.budgets[1]?.resets_at).toBe(
        `${new Date(Date.parse(today) + 86_400_000).toISOString().slice(0, -1)}+00:00`,
      );
    }
  });

  test("Names no budget for a key that records test data, which none counts", async () => {
    await setBudget("all", { blocks: true });
    await setBudget("all warns");
    const client = await clientWith({ permissions: reader, environment: "test" });
    await client.post(costMessage({ estimated_cost: 5 }));
    expect(namesOf(await limitsOf(client))).toEqual([]);
    expect(namesOf(await limitsOf(await clientWith({ permissions: writer, environment: "test" })))).toEqual(
      [],
    );
  });
});

describe("The budgets that a key is told of", () => {
  test.each<[string, KeyOptions, string[]]>([
    [
      "may read everything: all that can cover it, with figures",
      { permissions: reader },
      ["all", "all warns", "anna", "ben", "chat", "checkout", "draw", "gpt-5", "search", "this key"],
    ],
    [
      "reads everything and records some features: no other features",
      { permissions: reader, conditions: { features: ["chat"] } },
      ["all", "all warns", "anna", "ben", "chat", "checkout", "gpt-5", "search", "this key"],
    ],
    [
      "may not read: what blocks for certain, without figures",
      { permissions: writer },
      ["all (no figures)", "this key (no figures)"],
    ],
    [
      "may not read and records some features in a project: those, too",
      { permissions: writer, conditions: { features: ["chat"], project_slugs: ["checkout"] } },
      ["all (no figures)", "chat (no figures)", "checkout (no figures)", "this key (no figures)"],
    ],
    [
      "reads one project: its figures, and what else blocks without them",
      { permissions: reader, conditions: { project_slugs: ["checkout"] } },
      ["all (no figures)", "checkout", "this key"],
    ],
    [
      "may not use a project: figures of the others",
      { permissions: reader, conditions: { deny_project_slugs: ["search"] } },
      ["all (no figures)", "checkout", "this key"],
    ],
    [
      "is limited to a user: that user's figures, and no other name",
      { permissions: reader, conditions: { users: ["anna"] } },
      ["all (no figures)", "anna", "this key (no figures)"],
    ],
    [
      "is limited to a user and may not read: no name of a person",
      { permissions: writer, conditions: { users: ["anna"] } },
      ["all (no figures)", "this key (no figures)"],
    ],
  ])("For a key that %s", async (_, options, expected) => {
    const client = await clientWith(options);
    await setAll(client.id);
    expect(namesOf(await limitsOf(client))).toEqual(expected);
  });

  test("Never have a figure that the key may not read, in any field", async () => {
    const client = await clientWith({ permissions: writer });
    await setBudget("all", { amount: "7331.77", blocks: true });
    const rich = await clientWith({});
    await rich.post(costMessage({ estimated_cost: 4242.42 }));
    // Random ids may have these digits.
    const text = JSON.stringify(await limitsOf(client)).replace(
      /[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}/g,
      "",
    );
    expect(text).toContain("is_used_up");
    expect(text).not.toMatch(/7331|4242|3089/);
  });
});
