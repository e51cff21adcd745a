import { beforeEach, expect, test } from "vitest";
import { apiClient, costMessage } from "@/tests/helpers/client";
import { ledgerDifferences } from "@/tests/helpers/harness";
import type { KeyOptions } from "@/tests/helpers/keys";
import { withSharedHarness } from "@/tests/helpers/shared-harness";
import { toolCall } from "@/tests/helpers/tool-call";

// An assistant asks what is left before it begins.

const harness = withSharedHarness();
let workspace: string;

beforeEach(async () => {
  workspace = await harness.fixtures.workspace();
});

async function setBudget(name: string, amount: number, scope = "global", value: string | null = null) {
  const { rows } = await harness.fixtures.sql.query(
    `insert into public.budgets (workspace_id, name, amount, scope_type, scope_value, period, blocks)
     values ($1, $2, $3, $4, $5, 'month', true) returning id`,
    [workspace, name, amount, scope, value],
  );
  return String(rows[0].id);
}

type Check = {
  isError?: boolean;
  content: { text: string }[];
  structuredContent: Record<string, unknown> & { budgets: { name: string }[] };
};

async function assistant(options: KeyOptions = {}) {
  const { secret } = await harness.fixtures.key(workspace, options);
  const client = apiClient(harness.services[0]?.baseUrl ?? "", secret);
  const check = async (args: Record<string, unknown>) => {
    const { body, headers } = toolCall("2026", "check_budget", { project: "checkout", ...args });
    const { result } = (await client.call("POST", "/api/mcp", body, headers)).body as { result: Check };
    const [content] = result.content;
    const isError = result.isError ?? false;
    return { isError, text: content?.text ?? "", data: result.structuredContent ?? { text: content?.text } };
  };
  const spend = async (usd: number, message: object = {}) =>
    (await client.post(costMessage({ estimated_cost: usd, ...message }))).status;
  return { client, check, spend };
}

test("Says what is admitted and what is left, holds what is held against it, and changes nothing", async () => {
  const id = await setBudget("All", 10);
  const { client, check, spend } = await assistant({ monthly_limit: "100" });
  expect(await spend(4)).toBe(201);
  const held = await client.call("POST", "/api/v1/reservations", costMessage({ estimated_cost: 1 }));
  expect(held.status).toBe(201);
  const fits = await check({ estimated_cost: 5 });
  expect(fits.data).toMatchObject({
    admitted: true,
    estimated_usd: 5,
    refusal: null,
    is_partial: false,
    monthly_limit: { remaining_usd: 95 },
    budgets: [{ name: "All", limit_usd: 10, spent_usd: 4, held_usd: 1, remaining_usd: 5 }],
  });
  expect(fits.text).toContain("Admitted: $5 in the project checkout fits into every limit now.");
  expect(fits.text).toContain("- All: $5 of $10 left, until ");
  const over = await check({ estimated_cost: 5.01 });
  expect(over.isError).toBe(false);
  expect(over.data).toMatchObject({
    admitted: false,
    estimated_usd: 5.01,
    refusal: { error: "budget_exceeded", remaining_usd: 5, budget: { id }, how_to_ask: { budget_id: id } },
  });
  expect(over.text).toMatch(/^Not admitted in the project checkout: This would take the budget "All" past/);
  expect(over.text).toContain(`ask with request_budget, the budget ${id}`);
  // Neither was reserved or refused: what is left is the same.
  expect(await spend(5)).toBe(201);
  const usedUp = await check({});
  expect(usedUp.data).toMatchObject({ admitted: false, estimated_usd: null });
  const { body } = await client.get("/api/v1/limits");
  expect(body.budgets).toMatchObject([{ spent_usd: 9, held_usd: 1, refused_usd: 0 }]);
  expect(await ledgerDifferences(harness.fixtures, workspace)).toEqual([]);
});

test("Prices tokens, and says where there is no price", async () => {
  await setBudget("All", 10);
  const { check } = await assistant();
  const tokens = { provider: "openai", model: "gpt-4o", input_tokens: 1_000_000, output_tokens: 500_000 };
  expect((await check(tokens)).data).toMatchObject({ admitted: true, estimated_usd: 7.5 });
  expect((await check({ ...tokens, output_tokens: 1_000_000 })).data).toMatchObject({ admitted: false });
  const unknown = await check({ ...tokens, model: "no-such-model" });
  expect(unknown.data).toMatchObject({ admitted: true, estimated_usd: null });
  expect(unknown.text).toContain("no price is known for this usage: give estimated_cost");
  expect(await check({ input_tokens: 1 })).toMatchObject({ isError: true });
  expect((await check({})).data).toMatchObject({ admitted: true, estimated_usd: null });
});

test("Lists the budgets that count the usage, and no others", async () => {
  const [checkout, search] = await Promise.all(
    ["checkout", "search"].map((slug) => harness.fixtures.project(workspace, slug)),
  );
  await setBudget("all", 100);
  await setBudget("checkout", 100, "project", checkout);
  await setBudget("search", 100, "project", search);
  await setBudget("chat", 100, "feature", "chat");
  await setBudget("draw", 100, "feature", "draw");
  await setBudget("anna", 100, "user", "anna");
  await setBudget("gpt-4o", 100, "model", "gpt-4o");
  await setBudget("OpenAI", 100, "provider", "OpenAI");
  const { check } = await assistant();
  const namesFor = async (args: object) => (await check({ ...args })).data.budgets.map(({ name }) => name);
  const usage = { feature: "chat", user: "anna", model: "gpt-4o", provider: "openai" };
  expect(await namesFor(usage)).toEqual(["OpenAI", "all", "anna", "chat", "checkout", "gpt-4o"]);
  expect(await namesFor({ ...usage, user: "ben", model: "o3", provider: "x", feature: "y" })).toEqual([
    "all",
    "checkout",
  ]);
  expect(await namesFor({ ...usage, project: "new" })).toEqual(["OpenAI", "all", "anna", "chat", "gpt-4o"]);
});

test("Tells a key no figures that it may not read, and nothing of what it may not record", async () => {
  const search = await harness.fixtures.project(workspace, "search");
  await setBudget("all", 10);
  await setBudget("search", 7.77, "project", search);
  await setBudget("ben", 6.66, "user", "ben");
  const rich = await assistant();
  expect(await rich.spend(3.21)).toBe(201);
  const writer = await assistant({ permissions: ["log_usage"] });
  // It cannot try out what is left of a budget that it may not read.
  for (const estimated_cost of [1, 6.78, 6.8, 9, 500]) {
    const { data, text } = await writer.check({ estimated_cost });
    expect(data).toMatchObject({
      ...{ admitted: true, is_partial: true },
      budgets: [{ name: "all", is_used_up: false, limit_usd: null, spent_usd: null, remaining_usd: null }],
    });
    expect(text).toContain("Budgets that this key may not read can still refuse");
    expect(text + JSON.stringify(data.budgets)).not.toMatch(/3\.21|6\.79|\$10|7\.77|6\.66|search|ben/);
  }
  expect(await rich.spend(6.79)).toBe(201);
  const refused = await writer.check({ estimated_cost: 1 });
  expect(refused.data).toMatchObject({
    admitted: false,
    refusal: { error: "budget_exceeded", budget: { name: "all" } },
  });
  expect(refused.data.refusal).not.toHaveProperty("remaining_usd");
  expect(refused.text).not.toMatch(/3\.21|6\.79|\$10/);
  const confined = await assistant({ conditions: { project_slugs: ["checkout"], users: ["anna"] } });
  const other = await confined.check({ project: "search", user: "ben", estimated_cost: 1 });
  expect(other.data).toMatchObject({
    admitted: false,
    refusal: { error: "project_not_allowed" },
  });
  expect(JSON.stringify(other.data.budgets)).not.toMatch(/search|ben|3\.21/);
  expect(other.data.refusal).not.toHaveProperty("budget");
  const reader = await assistant({ permissions: ["read_summaries"] });
  expect(await reader.check({})).toMatchObject({ isError: true });
  const stranger = await assistant({ environment: "test" });
  expect((await stranger.check({ estimated_cost: 1000 })).data).toMatchObject({
    admitted: true,
    budgets: [],
  });
});
